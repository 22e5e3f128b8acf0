#include "program/corpus/croissant/croissant_check.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "program/corpus/croissant/sha256.h"

namespace perfcast::program {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Two tables of which the second refers to the first.
struct Example {
  std::map<std::string, std::string> files = {{"machines.csv", "machine,cores\na,4\nb,\n"},
                                              {"runs.csv", "machine,time_s\na,1.5\nb,2e-3\na,\n"}};
  Json json;

  Example() {
    const auto file = [&](const std::string& name) {
      const std::string& text = files.at(name);
      return Json{{"@type", "cr:FileObject"},
                  {"@id", name},
                  {"name", name},
                  {"contentUrl", name},
                  {"encodingFormat", "text/csv"},
                  {"contentSize", std::to_string(text.size()) + " B"},
                  {"sha256", sha256_hex(text)}};
    };
    const auto field = [](const std::string& set, const std::string& column, const std::string& type) {
      return Json{{"@type", "cr:Field"},
                  {"@id", set + "/" + column},
                  {"name", column},
                  {"dataType", type},
                  {"source", {{"fileObject", {{"@id", set + ".csv"}}}, {"extract", {{"column", column}}}}}};
    };
    Json refers = field("runs", "machine", "sc:Text");
    refers["references"] = {{"field", {{"@id", "machines/machine"}}}};
    json = {
        {"@context",
         {{"@vocab", "https://schema.org/"}, {"cr", "http://mlcommons.org/croissant/"}, {"recordSet", "cr:recordSet"}}},
        {"@type", "sc:Dataset"},
        {"conformsTo", "http://mlcommons.org/croissant/1.0"},
        {"name", "example"},
        {"description", "an example"},
        {"license", "https://creativecommons.org/publicdomain/zero/1.0/"},
        {"url", "https://example.org"},
        {"creator", {{"@type", "sc:Person"}, {"name", "Ada"}}},
        {"datePublished", "2026-11-24"},
        {"version", "1.0.0"},
        {"citeAs", "Ada 2026"},
        {"distribution", {file("machines.csv"), file("runs.csv")}},
        {"recordSet",
         {{{"@type", "cr:RecordSet"},
           {"@id", "machines"},
           {"key", {{"@id", "machines/machine"}}},
           {"field", {field("machines", "machine", "sc:Text"), field("machines", "cores", "sc:Integer")}}},
          {{"@type", "cr:RecordSet"}, {"@id", "runs"}, {"field", {refers, field("runs", "time_s", "sc:Float")}}}}}};
  }

  // A table's text, with the checksum and size that it has.
  void put(const std::string& name, const std::string& text) {
    files[name] = text;
    Json& file = json["distribution"][name == "machines.csv" ? 0 : 1];
    file["sha256"] = sha256_hex(text);
    file["contentSize"] = std::to_string(text.size()) + " B";
  }

  CroissantCheck check() const {
    return check_croissant(json, [this](const std::string& path) -> Result<std::string> {
      const auto found = files.find(path);
      if (found == files.end()) return Error{"file-not-found", "there is no such file", path, ""};
      return found->second;
    });
  }
  // Of all findings, a line each.
  std::string found() const {
    std::string text;
    const CroissantCheck done = check();
    for (const CroissantFinding& finding : done.findings.list()) text += finding.where + ": " + finding.message + "\n";
    return text;
  }
};

TEST(CroissantCheck, AGoodSetHasNoFindings) {
  const Example example;
  EXPECT_EQ(example.found(), "");
  const CroissantCheck check = example.check();
  EXPECT_EQ(check.files, 2);
  EXPECT_EQ(check.read_files, 2);
  EXPECT_EQ(check.record_sets, 2);
  EXPECT_EQ(check.fields, 4);
  EXPECT_EQ(check.rows, 5);
  EXPECT_THAT(to_text(check, "f"), HasSubstr("no mistake against Croissant 1.0"));
  EXPECT_EQ(to_json(check, "f")["valid"], true);
}

TEST(CroissantCheck, EachRequiredProperty) {
  for (const char* name : {"@context", "@type", "conformsTo", "name", "description", "license", "url", "creator",
                           "datePublished", "distribution"}) {
    Example example;
    example.json.erase(name);
    EXPECT_GE(example.check().findings.mistakes(), 1) << name;
    EXPECT_THAT(example.found(), HasSubstr(std::string(name) + ": is")) << name;
  }
  for (const char* name : {"version", "citeAs"}) {
    Example example;
    example.json.erase(name);
    EXPECT_EQ(example.check().findings.mistakes(), 0) << name << " is recommended";
    EXPECT_EQ(example.check().findings.advice(), 1) << name;
  }
  Example other;
  other.json["conformsTo"] = "http://mlcommons.org/croissant/0.8";
  EXPECT_THAT(other.found(), HasSubstr("conformsTo: is 'http://mlcommons.org/croissant/0.8', not"));
}

// One mistake each, and what is said of it.
TEST(CroissantCheck, EachMistakeIsNamed) {
  const auto file = [](Example& of) -> Json& { return of.json["distribution"][1]; };
  const auto field = [](Example& of) -> Json& { return of.json["recordSet"][1]["field"][1]; };
  const std::vector<std::pair<std::function<void(Example&)>, std::string>> cases = {
      {[&](Example& of) { of.json["@context"]["cr"] = "http://example.org/"; }, "@context.cr: is not"},
      {[&](Example& of) { of.json["@context"].erase("recordSet"); }, "@context.recordSet: is not cr:recordSet"},
      {[&](Example& of) { of.json["url"] = "nowhere"; }, "url: 'nowhere' is no URL"},
      {[&](Example& of) { of.json["datePublished"] = "yesterday"; }, "datePublished: 'yesterday' is no date"},
      {[&](Example& of) { of.json["creator"] = "Ada"; }, "creator: is no person"},
      {[&](Example& of) { of.json["creator"].erase("@type"); }, "creator.@type: is neither"},
      {[&](Example& of) { file(of)["@id"] = "machines.csv"; }, "distribution[1]: the @id 'machines.csv' is taken"},
      {[&](Example& of) { file(of)["@type"] = "sc:DataDownload"; }, "distribution[1].@type: is neither cr:FileObject"},
      {[&](Example& of) { file(of).erase("encodingFormat"); }, "distribution[1].encodingFormat: is missing"},
      {[&](Example& of) { file(of)["encodingFormat"] = "csv"; }, "'csv' is no media type"},
      {[&](Example& of) { file(of).erase("contentUrl"); }, "distribution[1].contentUrl: is missing"},
      {[&](Example& of) { file(of)["contentUrl"] = "../runs.csv"; }, "'../runs.csv' leads out of the folder"},
      {[&](Example& of) { file(of)["contentUrl"] = "/etc/passwd"; }, "'/etc/passwd' leads out of the folder"},
      {[&](Example& of) { file(of)["contentUrl"] = "lost.csv"; }, "'lost.csv' can't be read: there is no such file"},
      {[&](Example& of) { file(of).erase("sha256"); }, "distribution[1].sha256: is missing"},
      {[&](Example& of) { file(of)["sha256"] = "abc"; }, "distribution[1].sha256: is not 64 hexadecimal digits"},
      {[&](Example& of) { file(of)["sha256"] = std::string(64, '0'); },
       "distribution[1].sha256: is not that of runs.csv"},
      {[&](Example& of) { file(of)["contentSize"] = "7 B"; },
       "distribution[1].contentSize: is '7 B'; runs.csv has 31 bytes"},
      {[&](Example& of) {
         file(of)["containedIn"] = {{"@id", "archive"}};
       },
       "there is no file 'archive'"},
      {[&](Example& of) {
         file(of)["containedIn"] = {{"@id", "runs.csv"}};
       },
       "'runs.csv' is contained in itself"},
      {[&](Example& of) { of.json["recordSet"][1].erase("field"); }, "recordSet[1].field: is missing"},
      {[&](Example& of) { of.json["recordSet"][1]["@type"] = "cr:Set"; }, "recordSet[1].@type: is not cr:RecordSet"},
      {[&](Example& of) {
         of.json["recordSet"][0]["key"] = {{"@id", "runs/machine"}};
       },
       "recordSet[0].key: the record set has no field 'runs/machine'"},
      {[&](Example& of) { field(of).erase("dataType"); }, "recordSet[1].field[1].dataType: is missing"},
      {[&](Example& of) { field(of)["dataType"] = "sc:Flaot"; }, "'sc:Flaot' is no data type"},
      {[&](Example& of) { field(of)["dataType"] = "wd:Q1"; }, "has no atomic type"},
      {[&](Example& of) { field(of).erase("name"); }, "recordSet[1].field[1].name: is missing"},
      {[&](Example& of) { field(of).erase("source"); }, "recordSet[1].field[1].source: is missing"},
      {[&](Example& of) {
         field(of)["source"]["fileObject"] = {{"@id", "time.csv"}};
       },
       "there is no 'time.csv' in the distribution; there are machines.csv, runs.csv"},
      {[&](Example& of) {
         field(of)["source"]["fileSet"] = {{"@id", "x"}};
       },
       "should name one of fileObject"},
      {[&](Example& of) { field(of)["source"].erase("extract"); }, "source.extract: is missing"},
      {[&](Example& of) { field(of)["source"]["extract"]["jsonPath"] = "$"; }, "should have one of column"},
      {[&](Example& of) { field(of)["source"]["extract"]["column"] = "tim_s"; },
       "'runs.csv' has no column 'tim_s'; near: time_s"},
      {[&](Example& of) {
         field(of)["source"]["extract"] = {{"fileProperty", "size"}};
       },
       "'size' is none of fullpath"},
      {[&](Example& of) {
         field(of)["source"] = {{"@id", "machines/speed"}};
       },
       "there is no field 'machines/speed'"},
      {[&](Example& of) {
         of.json["recordSet"][1]["field"][0]["references"] = {{"@id", "machines/name"}};
       },
       "recordSet[1].field[0].references: there is no field 'machines/name'"},
      {[&](Example& of) { of.put("runs.csv", "machine,time_s\na,fast\nb,2\na,slow\n"); },
       "runs.csv:2: 'fast' is no sc:Float, which runs/time_s has for type; 2 rows are so"},
      {[&](Example& of) { of.put("machines.csv", "machine,cores\na,4.5\nb,\n"); },
       "machines.csv:2: '4.5' is no sc:Integer"},
      {[&](Example& of) { of.put("machines.csv", "machine,cores\na,4\nb,\na,2\n"); },
       "machines.csv:4: a second row has the key a"},
      {[&](Example& of) { of.put("machines.csv", "machine,cores\na,4\nb,\n,2\n"); },
       "machines.csv:4: the key is blank"},
      {[&](Example& of) { of.put("runs.csv", "machine,time_s\na,1\nc,2\n"); },
       "runs.csv:3: 'c' in runs/machine is not in machines/machine"},
      {[&](Example& of) { of.put("runs.csv", "machine,time_s\na\n"); }, "runs.csv"},
      {[&](Example& of) {
         field(of)["source"]["fileObject"] = {{"@id", "machines.csv"}};
         field(of)["source"]["extract"]["column"] = "cores";
         of.json["recordSet"][1]["field"][0].erase("references");
       },
       "takes fields from machines.csv, runs.csv and no references say"},
      {[&](Example& of) {
         of.json["recordSet"][1]["data"] = {{{"runs/speed", 1}}};
       },
       "recordSet[1].data[0]: the record set has no field 'runs/speed'"},
  };
  for (const auto& [spoil, said] : cases) {
    Example example;
    spoil(example);
    EXPECT_THAT(example.found(), HasSubstr(said));
    EXPECT_GE(example.check().findings.mistakes(), 1) << said;
  }
}

TEST(CroissantCheck, WhatElseIsAllowed) {
  Example example;
  // Whole addresses instead of prefixes, several licences, an enumeration with its data, files elsewhere and in
  // archives.
  example.json["@type"] = "https://schema.org/Dataset";
  example.json["license"] = {"https://a.org/1", Json{{"@type", "CreativeWork"}, {"name", "own"}}};
  example.json["distribution"].push_back({{"@type", "cr:FileObject"},
                                          {"@id", "all.zip"},
                                          {"name", "all"},
                                          {"contentUrl", "https://example.org/all.zip"},
                                          {"encodingFormat", "application/zip"},
                                          {"sha256", std::string(64, 'a')}});
  example.json["distribution"].push_back({{"@type", "cr:FileSet"},
                                          {"@id", "images"},
                                          {"name", "images"},
                                          {"containedIn", {{"@id", "all.zip"}}},
                                          {"includes", "*.png"},
                                          {"encodingFormat", "image/png"}});
  example.json["recordSet"].push_back(
      {{"@type", "cr:RecordSet"},
       {"@id", "kinds"},
       {"key", {{"@id", "kinds/name"}}},
       {"field", {{{"@type", "cr:Field"}, {"@id", "kinds/name"}, {"name", "name"}, {"dataType", "sc:Text"}}}},
       {"data", {{{"kinds/name", "cpu"}}}}});
  EXPECT_EQ(example.found(), "");
  EXPECT_EQ(example.check().read_files, 2);
}

TEST(CroissantCheck, OddDocuments) {
  const CroissantFiles none = [](const std::string& path) { return Result<std::string>(Error{"x", "no", path, ""}); };
  EXPECT_EQ(check_croissant(Json::array(), none).findings.mistakes(), 1);
  EXPECT_GT(check_croissant(Json::object(), none).findings.mistakes(), 8);
  EXPECT_GT(
      check_croissant(Json{{"distribution", {1, "x", Json::array()}}, {"recordSet", 7}}, none).findings.mistakes(), 8);
}

TEST(CroissantCheck, FoldersAndLinks) {
  EXPECT_EQ(check_croissant_folder("/nonexistent").error().code, "file-not-found");
  std::string folder = testing::TempDir() + "perfcast-croissant-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  Example example;
  ASSERT_TRUE(write_file_atomically(folder + "/machines.csv", example.files["machines.csv"]).ok());
  std::filesystem::create_symlink("/etc/hostname", folder + "/runs.csv");
  ASSERT_TRUE(write_file_atomically(folder + "/croissant.json", perfcast::to_text(example.json)).ok());
  const auto check = check_croissant_folder(folder);
  ASSERT_TRUE(check.ok());
  EXPECT_THAT(to_text(*check, folder), HasSubstr("a link leads out of the folder"));
  ASSERT_TRUE(write_file_atomically(folder + "/croissant.json", "{").ok());
  EXPECT_EQ(check_croissant_folder(folder).error().code, "bad-json");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace perfcast::program
