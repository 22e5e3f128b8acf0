#include "program/corpus/croissant/croissant_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "program/corpus/croissant/croissant_distribution.h"
#include "program/corpus/croissant/croissant_export.h"
#include "program/corpus/croissant/croissant_record_sets.h"

namespace perfcast::program {
namespace {

constexpr size_t kMostMetadataBytes = size_t{64} << 20;
constexpr uintmax_t kMostFileBytes = uintmax_t{1} << 30;

void check_context(const Json& document, CroissantFindings& findings) {
  const Json* context = property(document, "@context");
  if (context == nullptr) {
    findings.mistake("@context", "is missing");
    return;
  }
  if (!context->is_object()) return;  // an address, or several: not fetched
  const auto at = [&](const char* key) {
    const auto found = context->find(key);
    return found == context->end() || !found->is_string() ? std::string() : found->get<std::string>();
  };
  if (at("@vocab") != "https://schema.org/" && at("@vocab") != "http://schema.org/") {
    findings.mistake("@context.@vocab", "is not https://schema.org/");
  }
  if (at("cr") != kCroissantNamespace) findings.mistake("@context.cr", std::string("is not ") + kCroissantNamespace);
  if (document.contains("recordSet") && !at("recordSet").starts_with("cr:")) {
    findings.mistake("@context.recordSet", "is not cr:recordSet, so that the property means nothing");
  }
}

void check_creators(const Json& document, CroissantFindings& findings) {
  const auto creators = values_of(property(document, "creator"));
  if (creators.empty()) findings.mistake("creator", "is missing");
  for (size_t i = 0; i < creators.size(); ++i) {
    const std::string where = creators.size() == 1 ? "creator" : fmt::format("creator[{}]", i);
    if (!creators[i]->is_object() || text_of_property(*creators[i], "name").empty()) {
      findings.mistake(where, "is no person or organisation with a name");
    } else if (!is_of_type(*creators[i], "Person") && !is_of_type(*creators[i], "Organization")) {
      findings.mistake(where + ".@type", "is neither sc:Person nor sc:Organization");
    }
  }
}

void check_dataset(const Json& document, CroissantFindings& findings) {
  check_context(document, findings);
  if (!is_of_type(document, "Dataset")) findings.mistake("@type", "is not sc:Dataset");
  std::vector<std::string> versions;
  for (const Json* version : values_of(property(document, "conformsTo"))) versions.push_back(id_in(*version));
  if (std::find(versions.begin(), versions.end(), kCroissantVersion) == versions.end()) {
    findings.mistake("conformsTo", versions.empty() ? std::string("is missing: ") + kCroissantVersion
                                                    : "is '" + join(versions, ", ") + "', not " + kCroissantVersion);
  }
  for (const char* name : {"name", "description", "url", "datePublished"}) {
    if (trim(text_of_property(document, name)).empty()) findings.mistake(name, "is missing");
  }
  const std::string url = text_of_property(document, "url"), date = text_of_property(document, "datePublished");
  if (!url.empty() && !is_url(url)) findings.mistake("url", "'" + url + "' is no URL");
  if (!date.empty() && !is_iso_date(date)) findings.mistake("datePublished", "'" + date + "' is no date of ISO 8601");
  const auto licences = values_of(property(document, "license"));
  if (licences.empty()) findings.mistake("license", "is missing");
  for (const Json* licence : licences) {
    const bool is_text = licence->is_string() && !trim(licence->get_ref<const std::string&>()).empty();
    const bool is_work = licence->is_object() && !licence->empty();
    if (!is_text && !is_work) findings.mistake("license", "is neither a URL nor a sc:CreativeWork");
    if (is_text && !is_url(licence->get_ref<const std::string&>())) {
      findings.advise("license", "should be the URL of a known licence, such as those of https://spdx.org/licenses/");
    }
  }
  check_creators(document, findings);
  const Json* version = property(document, "version");
  if (version == nullptr) {
    findings.advise("version", "is missing: recommended");
  } else if (!version->is_string() || !is_version(version->get_ref<const std::string&>())) {
    findings.advise("version", "should be MAJOR.MINOR.PATCH");
  }
  if (property(document, "citeAs") == nullptr) findings.advise("citeAs", "is missing: how is it cited?");
}

// A regular file that lies in the folder, links followed.
Result<std::string> read_inside(const std::filesystem::path& folder, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code problem;
  const fs::path root = fs::canonical(folder, problem), file = fs::canonical(folder / path, problem);
  if (problem) return Error{"file-not-found", "there is no such file", path, ""};
  const auto [end, rest] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  if (end != root.end()) return Error{"file-error", "a link leads out of the folder", path, ""};
  if (!fs::is_regular_file(file, problem)) return Error{"file-error", "it is no regular file", path, ""};
  if (const auto bytes = fs::file_size(file, problem); problem || bytes > kMostFileBytes) {
    return Error{"file-too-large", "it is larger than 1 GiB", path, ""};
  }
  std::ifstream in(file, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in && !in.eof()) return Error{"file-error", "it can't be read", path, ""};
  return content;
}

}  // namespace

CroissantCheck check_croissant(const Json& document, const CroissantFiles& files) {
  CroissantCheck check;
  if (!document.is_object()) {
    check.findings.mistake("", "the document is no object");
    return check;
  }
  check.name = text_of_property(document, "name");
  check_dataset(document, check.findings);
  std::set<std::string> ids;
  CroissantDistribution distribution(files, check, ids);
  distribution.read(document);
  CroissantRecordSets(distribution, check, ids).read(document);
  return check;
}

Result<CroissantCheck> check_croissant_folder(const std::string& folder) {
  const std::string path = folder + "/" + kCroissantFile;
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) {
    return Error{"file-not-found", "there is no croissant.json in the folder", printable(folder),
                 "a folder that perfcast corpus export --croissant wrote, or another data set with such a file"};
  }
  const auto text = read_file(path, kMostMetadataBytes);
  if (!text) return text.error();
  const auto json = parse_json(*text, path);
  if (!json) return json.error();
  return check_croissant(*json, [&folder](const std::string& file) { return read_inside(folder, file); });
}

std::string to_text(const CroissantCheck& check, const std::string& folder) {
  std::string text;
  const CroissantFindings& findings = check.findings;
  for (const CroissantFinding& finding : findings.list()) {
    text += (finding.is_mistake ? "mistake: " : "advice: ") + (finding.where.empty() ? "" : finding.where + ": ") +
            finding.message + "\n";
  }
  const int64_t left = findings.mistakes() + findings.advice() - static_cast<int64_t>(findings.list().size());
  if (left > 0) text += fmt::format("... and {} more\n", left);
  text += fmt::format(
      "{}: '{}', {} files, {} of them read; {} record sets with {} fields, {} rows read: ", printable(folder),
      printable(check.name), check.files, check.read_files, check.record_sets, check.fields, check.rows);
  return text +
         (findings.mistakes() == 0
              ? "no mistake"
              : fmt::format("{} mistake{}", findings.mistakes(), findings.mistakes() == 1 ? "" : "s")) +
         " against Croissant 1.0\n";
}

Json to_json(const CroissantCheck& check, const std::string& folder) {
  Json json{{"schema", "perfcast.croissant-check/1"},
            {"folder", folder},
            {"name", check.name},
            {"valid", check.findings.mistakes() == 0},
            {"mistakes_count", check.findings.mistakes()},
            {"advice_count", check.findings.advice()},
            {"files_count", check.files},
            {"read_files_count", check.read_files},
            {"record_sets_count", check.record_sets},
            {"fields_count", check.fields},
            {"rows_count", check.rows},
            {"findings", Json::array()}};
  for (const CroissantFinding& finding : check.findings.list()) {
    json["findings"].push_back(
        {{"kind", finding.is_mistake ? "mistake" : "advice"}, {"where", finding.where}, {"message", finding.message}});
  }
  return json;
}

}  // namespace perfcast::program
