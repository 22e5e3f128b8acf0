#include "program/corpus/importers/profile_importer.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "program/corpus/source_note.h"

namespace perfcast::program {
namespace {

constexpr size_t kMaximumLinesBytes = size_t{512} << 20;
constexpr const char* kSourceId = "perfcast-profiles";

Result<std::vector<StoredProfile>> read_folder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  if (problem) return Error{"file-error", "cannot read the folder: " + problem.message(), folder, ""};
  std::sort(files.begin(), files.end());
  std::vector<StoredProfile> profiles;
  for (const std::string& file : files) {
    auto profile = read_profile(file);
    if (!profile) return profile.error();
    StoredProfile stored;
    stored.program = profile->program;
    stored.profile = std::move(*profile);
    profiles.push_back(std::move(stored));
  }
  return profiles;
}

Result<std::vector<StoredProfile>> read_lines(const std::string& path) {
  auto text = read_file(path, kMaximumLinesBytes);
  if (!text) return text.error();
  std::vector<StoredProfile> profiles;
  size_t number = 0;
  for (const std::string& line : split(*text, '\n')) {
    const std::string where = path + ":" + std::to_string(++number);
    if (trim(line).empty()) continue;
    const auto json = parse_json(line, where);
    if (!json) return json.error();
    JsonReader in(*json, where);
    StoredProfile stored;
    stored.program = in.string("program");
    const Json* document = in.require_object("profile");
    if (const Status status = in.finish(); !status) return status.error();
    auto profile = profile_from_json(*document, where);
    if (!profile) return profile.error();
    stored.profile = std::move(*profile);
    profiles.push_back(std::move(stored));
  }
  return profiles;
}

}  // namespace

Result<Import> import_profiles(const std::string& path, const ProgramCatalogue& catalogue) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  auto profiles = is_folder ? read_folder(path) : read_lines(path);
  if (!profiles) return profiles.error();
  if (profiles->empty()) {
    return Error{"file-not-found", "there is no profile", path, "a folder of *.json profiles, or a file of JSON lines"};
  }

  Import result;
  result.report.format = "profiles";
  Corpus& corpus = result.corpus;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, ignored);
  const std::filesystem::path folder = is_folder ? whole : whole.parent_path();
  // The note of several folders of profiles may lie above them.
  std::string licence = read_source_note(folder.string()).licence;
  if (licence.empty()) licence = read_source_note(folder.parent_path().string()).licence;
  corpus.sources = {{kSourceId, "", licence.empty() ? "not stated" : licence, "", "profiles taken by perfcast"}};
  int64_t failed = 0;
  std::set<std::string> programs;
  for (StoredProfile& stored : *profiles) {
    if (stored.program.empty()) {
      return Error{"bad-json-field", "a profile names no program", path, "the id of a program in `program`"};
    }
    if (stored.profile.exit_code.value_or(0) != 0 || stored.profile.signal) {
      ++failed;
      continue;
    }
    if (programs.insert(stored.program).second) {
      corpus.programs.push_back(catalogue.describe(stored.program, kSourceId));
      if (catalogue.find(stored.program) == nullptr) result.report.unknown_programs.push_back(stored.program);
    }
    stored.source = kSourceId;
    corpus.profiles.push_back(std::move(stored));
  }
  if (failed > 0) corpus.exclusions.push_back({kSourceId, "profile", "the program failed", failed});
  return result;
}

}  // namespace perfcast::program
