#include "program/corpus/croissant/croissant_export.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "program/corpus/croissant/croissant_rules.h"
#include "program/corpus/croissant/croissant_tables.h"
#include "program/corpus/croissant/sha256.h"
#include "program/corpus/quality/table_writer.h"

namespace perfcast::program {
namespace {

constexpr const char* kProfilesFile = "profiles.jsonl";
constexpr const char* kMappingFile = "samples.json";

struct PublishedFile {
  std::string name, format, description, text;
};

// Of the specification, appendix 1.
Json croissant_context() {
  return {{"@language", "en"},
          {"@vocab", "https://schema.org/"},
          {"citeAs", "cr:citeAs"},
          {"column", "cr:column"},
          {"conformsTo", "dct:conformsTo"},
          {"cr", "http://mlcommons.org/croissant/"},
          {"data", {{"@id", "cr:data"}, {"@type", "@json"}}},
          {"dataType", {{"@id", "cr:dataType"}, {"@type", "@vocab"}}},
          {"dct", "http://purl.org/dc/terms/"},
          {"extract", "cr:extract"},
          {"field", "cr:field"},
          {"fileObject", "cr:fileObject"},
          {"fileProperty", "cr:fileProperty"},
          {"fileSet", "cr:fileSet"},
          {"format", "cr:format"},
          {"includes", "cr:includes"},
          {"isLiveDataset", "cr:isLiveDataset"},
          {"jsonPath", "cr:jsonPath"},
          {"key", "cr:key"},
          {"md5", "cr:md5"},
          {"parentField", "cr:parentField"},
          {"path", "cr:path"},
          {"recordSet", "cr:recordSet"},
          {"references", "cr:references"},
          {"regex", "cr:regex"},
          {"repeated", "cr:repeated"},
          {"replace", "cr:replace"},
          {"sc", "https://schema.org/"},
          {"separator", "cr:separator"},
          {"source", "cr:source"},
          {"subField", "cr:subField"},
          {"transform", "cr:transform"}};
}

Json reference(const std::string& id) { return {{"@id", id}}; }

Json field_json(const PublishedTable& table, const PublishedColumn& column) {
  Json field{{"@type", "cr:Field"}, {"@id", table.name + "/" + column.name}, {"name", column.name}};
  if (!column.description.empty()) field["description"] = column.description;
  field["dataType"] = "sc:" + column.type;
  field["source"] = {{"fileObject", reference(table.name + ".csv")}, {"extract", {{"column", column.name}}}};
  if (!column.references.empty()) field["references"] = {{"field", reference(column.references)}};
  return field;
}

Json record_set_json(const PublishedTable& table) {
  Json set{{"@type", "cr:RecordSet"}, {"@id", table.name}, {"name", table.name}, {"description", table.description}};
  Json keys = Json::array(), fields = Json::array();
  for (const PublishedColumn& column : table.columns) {
    if (column.is_key) keys.push_back(reference(table.name + "/" + column.name));
    fields.push_back(field_json(table, column));
  }
  if (keys.size() == 1) set["key"] = keys[0];
  if (keys.size() > 1) set["key"] = keys;
  set["field"] = std::move(fields);
  return set;
}

std::string sources_in_words(const Corpus& corpus) {
  std::vector<std::string> parts;
  for (const Source& source : corpus.sources) {
    std::string part = source.id;
    if (!source.url.empty()) part += ", " + source.url;
    part += source.licence.empty() ? " (no licence stated)" : " (" + source.licence + ")";
    parts.push_back(std::move(part));
  }
  return join(parts, "; ");
}

std::string description_of(const Corpus& corpus, const CroissantInfo& info) {
  std::string text = info.description;
  if (text.empty()) {
    text = fmt::format(
        "Times of {} programs on {} machine configurations ({} runs), and profiles of what the programs do ({}).",
        corpus.programs.size(), corpus.platforms.size(), corpus.runs.size(), corpus.profiles.size());
  }
  if (!corpus.sources.empty()) text += " Sources: " + sources_in_words(corpus) + ".";
  return text +
         " A blank cell is a value that isn't known, never a zero; names of columns and metrics end in their unit.";
}

std::string citation_of(const CroissantInfo& info) {
  if (!info.citation.empty()) return info.citation;
  return fmt::format("@misc{{{}, title = {{{}}}, author = {{{}}}, year = {{{}}}, howpublished = {{\\url{{{}}}}}}}",
                     slug(info.name), info.name, info.creator, info.date_published.substr(0, 4), info.url);
}

Json sources_json(const Corpus& corpus) {
  Json sources = Json::array();
  for (const Source& source : corpus.sources) {
    Json entry{{"@type", "sc:CreativeWork"}, {"name", source.id}};
    if (!source.url.empty()) entry["url"] = source.url;
    if (!source.licence.empty()) entry["license"] = source.licence;
    sources.push_back(std::move(entry));
  }
  return sources;
}

std::vector<PublishedFile> files_of(const Corpus& corpus, const CroissantInfo& info,
                                    std::vector<PublishedTable>& tables) {
  std::vector<PublishedFile> files;
  files.reserve(tables.size());
  for (PublishedTable& table : tables) {
    files.push_back({table.name + ".csv", "text/csv", table.description, std::move(table.csv)});
  }
  for (TableFile& file : corpus_tables(corpus)) {
    if (file.name != kProfilesFile) continue;
    files.push_back({file.name, "application/jsonlines",
                     "All profiles whole, a perfcast.profile/1 in each line; perfcast import profiles reads it",
                     std::move(file.text)});
  }
  std::string mapping = samples_mapping(corpus, slug(info.name), info.license, info.url);
  if (!mapping.empty()) {
    files.push_back(
        {kMappingFile, "application/json", "How perfcast import table reads samples.csv", std::move(mapping)});
  }
  return files;
}

Json croissant_json(const Corpus& corpus, const CroissantInfo& info, const std::vector<PublishedFile>& files,
                    const std::vector<PublishedTable>& tables) {
  Json json{{"@context", croissant_context()},
            {"@type", "sc:Dataset"},
            {"conformsTo", kCroissantVersion},
            {"name", info.name},
            {"description", description_of(corpus, info)},
            {"license", info.license},
            {"url", info.url},
            {"creator", {{"@type", "sc:Organization"}, {"name", info.creator}}},
            {"datePublished", info.date_published},
            {"version", info.version},
            {"citeAs", citation_of(info)},
            {"keywords", {"performance", "workload characterisation", "cross-platform prediction"}}};
  if (!corpus.sources.empty()) json["isBasedOn"] = sources_json(corpus);
  Json distribution = Json::array(), record_sets = Json::array();
  for (const PublishedFile& file : files) {
    distribution.push_back({{"@type", "cr:FileObject"},
                            {"@id", file.name},
                            {"name", file.name},
                            {"description", file.description},
                            {"contentUrl", file.name},
                            {"contentSize", std::to_string(file.text.size()) + " B"},
                            {"encodingFormat", file.format},
                            {"sha256", sha256_hex(file.text)}});
  }
  for (const PublishedTable& table : tables) record_sets.push_back(record_set_json(table));
  json["distribution"] = std::move(distribution);
  json["recordSet"] = std::move(record_sets);
  return json;
}

Status check_info(const CroissantInfo& info) {
  std::vector<std::string> mistakes;
  for (const auto& [value, name] : {std::pair{&info.name, "--name"},
                                    {&info.license, "--license"},
                                    {&info.url, "--url"},
                                    {&info.creator, "--creator"}}) {
    if (trim(*value).empty()) mistakes.push_back(std::string(name) + " is missing");
  }
  if (!info.url.empty() && !is_url(info.url)) mistakes.push_back("--url is no URL");
  if (!is_iso_date(info.date_published)) mistakes.push_back("--date is no date such as 2026-11-24");
  if (!is_version(info.version)) mistakes.push_back("--data-version is not MAJOR.MINOR.PATCH");
  if (mistakes.empty()) return {};
  return usage_error("bad-usage", "Croissant's rules ask for more: " + join(mistakes, "; "), "--croissant",
                     "such as --license https://creativecommons.org/licenses/by/4.0/ --url https://example.org/data "
                     "--creator \"Example Lab\"");
}

Error folder_error(const std::string& what, const std::string& folder) {
  return Error{"file-error", what, folder, "a folder that you may write"};
}

}  // namespace

std::string common_licence(const Corpus& corpus) {
  std::string common;
  for (const Source& source : corpus.sources) {
    if (source.licence.empty() || (!common.empty() && source.licence != common)) return "";
    common = source.licence;
  }
  return common;
}

Status write_croissant(const Corpus& corpus, const CroissantInfo& info, const std::string& given) {
  namespace fs = std::filesystem;
  if (Status status = check_info(info); !status) return status;
  std::string folder = fs::path(given).lexically_normal().string();
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  std::error_code problem;
  const bool is_there = fs::exists(fs::symlink_status(folder, problem));
  if (is_there && (!fs::is_directory(folder, problem) || !fs::is_empty(folder, problem) || problem)) {
    return Error{"folder-not-empty", "something is there already", printable(given),
                 "a folder that doesn't exist yet, or an empty one"};
  }
  problem.clear();  // that nothing is there is as it should be
  const fs::path parent = fs::path(folder).parent_path();
  if (!parent.empty()) fs::create_directories(parent, problem);
  if (problem) return folder_error("cannot create the folder: " + problem.message(), printable(given));

  // Beside the target, then renamed: nobody sees half of it.
  std::string beside = folder + ".new-XXXXXX";
  if (mkdtemp(beside.data()) == nullptr) {
    return folder_error(std::string("cannot create a folder beside it: ") + std::strerror(errno), printable(given));
  }
  const auto write_all = [&]() -> Status {
    std::vector<PublishedTable> tables = published_tables(corpus);
    const std::vector<PublishedFile> files = files_of(corpus, info, tables);
    for (const PublishedFile& file : files) {
      if (Status status = write_file_atomically(beside + "/" + file.name, file.text); !status) return status;
    }
    const std::string text = perfcast::to_text(croissant_json(corpus, info, files, tables));
    if (Status status = write_file_atomically(beside + "/" + kCroissantFile, text); !status) return status;
    std::error_code failed;
    fs::permissions(beside,
                    fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                        fs::perms::others_exec,
                    failed);
    if (!failed) fs::rename(beside, folder, failed);
    if (failed) return folder_error("cannot put the folder in place: " + failed.message(), printable(given));
    return {};
  };
  Status written = write_all();
  if (!written) fs::remove_all(beside, problem);
  return written;
}

}  // namespace perfcast::program
