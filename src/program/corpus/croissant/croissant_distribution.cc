#include "program/corpus/croissant/croissant_distribution.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "program/corpus/croissant/sha256.h"

namespace perfcast::program {
namespace {

constexpr size_t kIdsListed = 12;

bool is_hex(const std::string& text, size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
         });
}

// "25585843 B", "25585843": bytes; other units are rounded, and nothing to compare with.
std::optional<double> bytes_of(const std::string& size) {
  std::string text(trim(size));
  if (text.ends_with('B') && text.size() > 1 && (text[text.size() - 2] == ' ' || text[text.size() - 2] <= '9')) {
    text.pop_back();
  }
  return parse_number(trim(text));
}

// A path inside the folder, without tricks.
bool stays_inside(const std::string& path) {
  if (path.empty() || path.front() == '/' || path.find('\\') != std::string::npos ||
      path.find('\0') != std::string::npos) {
    return false;
  }
  const std::vector<std::string> parts = split(path, '/');
  return std::none_of(parts.begin(), parts.end(), [](const std::string& part) { return part == ".."; });
}

}  // namespace

std::string take_id(const Json& entry, const std::string& where, std::set<std::string>& ids,
                    CroissantFindings& findings) {
  std::string id = text_of_property(entry, "@id");
  if (id.empty()) {
    findings.mistake(where, "has no @id");
  } else if (!ids.insert(id).second) {
    findings.mistake(where, "the @id '" + id + "' is taken already");
  }
  return id;
}

void CroissantDistribution::read(const Json& document) {
  const auto entries = values_of(property(document, "distribution"));
  if (entries.empty()) check_.findings.mistake("distribution", "is missing: a data set has files");
  for (size_t i = 0; i < entries.size(); ++i) read_entry(*entries[i], fmt::format("distribution[{}]", i));
  check_containers(document);
}

void CroissantDistribution::read_entry(const Json& entry, const std::string& where) {
  ++check_.files;
  if (!entry.is_object()) {
    check_.findings.mistake(where, "is no object");
    return;
  }
  const std::string id = take_id(entry, where, ids_, check_.findings);
  const bool is_file = is_of_type(entry, "FileObject"), is_set = is_of_type(entry, "FileSet");
  if (is_file == is_set) check_.findings.mistake(where + ".@type", "is neither cr:FileObject nor cr:FileSet");
  const std::string format = text_of_property(entry, "encodingFormat");
  if (format.empty()) {
    check_.findings.mistake(where + ".encodingFormat", "is missing");
  } else if (format.find('/') == std::string::npos) {
    check_.findings.mistake(where + ".encodingFormat", "'" + format + "' is no media type such as text/csv");
  }
  if (text_of_property(entry, "name").empty()) check_.findings.mistake(where + ".name", "is missing");
  if (is_set) {
    file_sets_.insert(id);
    if (property(entry, "includes") == nullptr)
      check_.findings.mistake(where + ".includes", "is missing: which files?");
    return;
  }
  if (is_file) {
    file_objects_.insert(id);
    check_file(entry, id, where);
  }
}

void CroissantDistribution::check_file(const Json& entry, const std::string& id, const std::string& where) {
  CroissantFindings& findings = check_.findings;
  const std::string url = text_of_property(entry, "contentUrl");
  const bool is_contained = property(entry, "containedIn") != nullptr;
  if (url.empty()) {
    findings.mistake(where + ".contentUrl", "is missing");
    return;
  }
  const Json* sha256 = property(entry, "sha256");
  const Json* md5 = property(entry, "md5");
  if (sha256 != nullptr && !(sha256->is_string() && is_hex(sha256->get_ref<const std::string&>(), 64))) {
    findings.mistake(where + ".sha256", "is not 64 hexadecimal digits");
  }
  if (md5 != nullptr && !(md5->is_string() && is_hex(md5->get_ref<const std::string&>(), 32))) {
    findings.mistake(where + ".md5", "is not 32 hexadecimal digits");
  }
  if (sha256 == nullptr && md5 == nullptr && !is_contained) findings.mistake(where + ".sha256", "is missing");
  const Json* size = property(entry, "contentSize");
  if (size != nullptr && !size->is_string()) findings.mistake(where + ".contentSize", "is no text");
  if (is_contained || is_url(url)) return;  // elsewhere, or inside an archive
  if (!stays_inside(url)) {
    findings.mistake(where + ".contentUrl", "'" + url + "' leads out of the folder");
    return;
  }
  check_content(entry, id, url, where);
}

void CroissantDistribution::check_content(const Json& entry, const std::string& id, const std::string& path,
                                          const std::string& where) {
  CroissantFindings& findings = check_.findings;
  const auto content = files_(path);
  if (!content) {
    findings.mistake(where + ".contentUrl", "'" + path + "' can't be read: " + content.error().message);
    return;
  }
  ++check_.read_files;
  const std::string stated = lower_case(text_of_property(entry, "sha256"));
  if (is_hex(stated, 64)) {
    const std::string found = sha256_hex(*content);
    if (found != stated) findings.mistake(where + ".sha256", "is not that of " + path + ", which has " + found);
  }
  const std::string size = text_of_property(entry, "contentSize");
  const auto bytes = size.empty() ? std::nullopt : bytes_of(size);
  if (bytes && *bytes != static_cast<double>(content->size())) {
    findings.mistake(where + ".contentSize", fmt::format("is '{}'; {} has {} bytes", size, path, content->size()));
  }
  if (text_of_property(entry, "encodingFormat") != "text/csv" || content->starts_with("\x1f\x8b")) return;
  auto table = CsvTable::parse(*content, path);
  if (!table) {
    findings.mistake(table.error().where.empty() ? path : table.error().where, table.error().message);
    return;
  }
  tables_.emplace(id, std::move(*table));
}

// Where files lie in others, these are there, and none lies in itself.
void CroissantDistribution::check_containers(const Json& document) {
  std::map<std::string, std::vector<std::string>> inside;
  const auto entries = values_of(property(document, "distribution"));
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string where = fmt::format("distribution[{}].containedIn", i);
    for (const Json* reference : values_of(property(*entries[i], "containedIn"))) {
      const std::string container = id_in(*reference);
      if (!has_file(container) && !has_set(container)) {
        check_.findings.mistake(where, "there is no file '" + container + "' in the distribution");
        continue;
      }
      inside[text_of_property(*entries[i], "@id")].push_back(container);
    }
  }
  for (const auto& [id, containers] : inside) {
    std::set<std::string> seen;
    std::vector<std::string> next = containers;
    while (!next.empty() && !seen.contains(id)) {
      const std::string at = next.back();
      next.pop_back();
      if (!seen.insert(at).second || !inside.contains(at)) continue;
      next.insert(next.end(), inside[at].begin(), inside[at].end());
    }
    if (seen.contains(id)) check_.findings.mistake("distribution", "'" + id + "' is contained in itself");
  }
}

std::string CroissantDistribution::known() const {
  std::vector<std::string> ids(file_objects_.begin(), file_objects_.end());
  ids.insert(ids.end(), file_sets_.begin(), file_sets_.end());
  const size_t more = ids.size() > kIdsListed ? ids.size() - kIdsListed : 0;
  ids.resize(ids.size() - more);
  return ids.empty() ? "there is none" : "there are " + join(ids, ", ") + (more > 0 ? ", ..." : "");
}

const CsvTable* CroissantDistribution::table(const std::string& id) const {
  const auto found = tables_.find(id);
  return found == tables_.end() ? nullptr : &found->second;
}

}  // namespace perfcast::program
