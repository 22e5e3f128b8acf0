#include "program/corpus/importers/tool_profile.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "machine/facts/identifier.h"
#include "program/corpus/importers/exclusion_counter.h"
#include "program/corpus/importers/imported_columns.h"

namespace perfcast::program {
namespace {

constexpr size_t kMaximumToolBytes = size_t{256} << 20;
constexpr size_t kMaximumStem = 90;
constexpr size_t kMostNotes = 20;

struct ToolUnit {
  std::string_view name, suffix;
  double factor;
};
// As perf, nvprof and Nsight Compute print them; the latter's prefixes are powers of 1000.
constexpr ToolUnit kUnits[] = {{"msec", "_s", 1e-3},
                               {"ms", "_s", 1e-3},
                               {"msecond", "_s", 1e-3},
                               {"usec", "_s", 1e-6},
                               {"us", "_s", 1e-6},
                               {"usecond", "_s", 1e-6},
                               {"ns", "_s", 1e-9},
                               {"nsecond", "_s", 1e-9},
                               {"s", "_s", 1},
                               {"sec", "_s", 1},
                               {"second", "_s", 1},
                               {"%", "_ratio", 0.01},
                               {"B", "_bytes", 1},
                               {"Bytes", "_bytes", 1},
                               {"byte", "_bytes", 1},
                               {"byte/block", "_bytes", 1},
                               {"Kbyte", "_bytes", 1e3},
                               {"Kbyte/block", "_bytes", 1e3},
                               {"Mbyte", "_bytes", 1e6},
                               {"Gbyte", "_bytes", 1e9},
                               {"KB", "_bytes", 1024},
                               {"KiB", "_bytes", 1024},
                               {"MB", "_bytes", 1048576},
                               {"MiB", "_bytes", 1048576},
                               {"B/s", "_bytes_per_s", 1},
                               {"byte/second", "_bytes_per_s", 1},
                               {"byte/s", "_bytes_per_s", 1},
                               {"KB/s", "_bytes_per_s", 1e3},
                               {"Kbyte/s", "_bytes_per_s", 1e3},
                               {"Kbyte/second", "_bytes_per_s", 1e3},
                               {"MB/s", "_bytes_per_s", 1e6},
                               {"Mbyte/second", "_bytes_per_s", 1e6},
                               {"Mbyte/s", "_bytes_per_s", 1e6},
                               {"GB/s", "_bytes_per_s", 1e9},
                               {"Gbyte/second", "_bytes_per_s", 1e9},
                               {"Gbyte/s", "_bytes_per_s", 1e9},
                               {"Joules", "_joules", 1},
                               {"inst/cycle", "_ratio", 1},
                               {"ratio", "_ratio", 1}};

}  // namespace

std::pair<std::string, double> unit_suffix(std::string_view unit) {
  for (const ToolUnit& known : kUnits) {
    if (known.name == unit) return {std::string(known.suffix), known.factor};
  }
  return {"_count", 1};
}

ToolProfile::ToolProfile(std::string tool, std::string catalogue_name, std::string prefix)
    : tool_(std::move(tool)), catalogue_name_(std::move(catalogue_name)), prefix_(std::move(prefix)) {}

std::string ToolProfile::name_of(const std::string& event, std::string_view suffix, const std::string& variant) {
  const std::string identity = event + "\n" + variant;
  if (const std::string* metric = Catalogue::built_in().metric_of(catalogue_name_, event)) {
    if (event_of_.emplace(*metric, identity).first->second == identity) return *metric;
  }
  const std::string text = lower_case(event + (variant.empty() ? "" : "_" + variant));
  std::string stem = text.starts_with(prefix_) ? "" : prefix_;  // "PAPI_FP_OPS" says it already
  for (const char c : text) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (kept) {
      stem += c;
    } else if (!stem.empty() && stem.back() != '_') {
      stem += '_';
    }
  }
  while (!stem.empty() && stem.back() == '_') stem.pop_back();
  return stem.substr(0, kMaximumStem) + std::string(suffix);
}

void ToolProfile::add(const std::string& event, double value, std::string_view unit, const std::string& variant) {
  const auto [suffix, factor] = unit_suffix(unit);
  const std::string metric = name_of(event, suffix, variant);
  const auto found = profile_.metrics.find(metric);
  const double sum = value * factor + (found == profile_.metrics.end() ? 0 : found->second);
  if (!std::isfinite(sum) || !std::isfinite(value) || (value < 0 && is_amount(metric))) {
    profile_.missing.emplace(metric, std::isfinite(value) ? "negative" : "no finite number");
    return;
  }
  profile_.metrics[metric] = sum;
}

void ToolProfile::add_largest(const std::string& event, double value, std::string_view unit) {
  const auto [suffix, factor] = unit_suffix(unit);
  const std::string metric = name_of(event, suffix, "");
  const auto found = profile_.metrics.find(metric);
  if (std::isfinite(value * factor) && value >= 0 &&
      (found == profile_.metrics.end() || found->second < value * factor)) {
    profile_.metrics[metric] = value * factor;
  }
}

void ToolProfile::set(const std::string& metric, double value) {
  if (std::isfinite(value) && value >= 0) profile_.metrics[metric] = value;
}

void ToolProfile::miss(const std::string& event, std::string_view unit, const std::string& reason) {
  profile_.missing.emplace(name_of(event, unit_suffix(unit).first, ""), reason);
}

void ToolProfile::warn(const std::string& code, const std::string& message, const std::string& advice) {
  profile_.warnings.push_back({code, message, advice});
}

void ToolProfile::set_host(std::string_view model) { profile_.host.name = printable(trim(model)); }

StoredProfile ToolProfile::finish(const std::string& program) && {
  profile_.program = program;
  profile_.exit_code = 0;
  profile_.collectors = {{tool_, "", 0, "ok", "read from its output"}};
  profile_.metrics = Catalogue::built_in().derive(profile_.metrics);
  // What another CPU or PMU did count is not missing.
  std::erase_if(profile_.missing, [&](const auto& entry) { return profile_.metrics.contains(entry.first); });
  std::erase_if(profile_.metrics, [](const auto& entry) { return !std::isfinite(entry.second); });
  StoredProfile stored;
  stored.program = program;
  stored.profile = std::move(profile_);
  return stored;
}

std::string program_id_of(std::string_view text) {
  std::string id = identifier(trim(text), "_-.=", '_');
  while (!id.empty() && (id.back() == '_' || id.back() == '.')) id.pop_back();
  return id.empty() ? "unnamed" : id;
}

ToolFileNames names_of_tool_file(std::string_view text, const std::string& path) {
  ToolFileNames names{program_id_of(std::filesystem::path(path).stem().string()), ""};
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    constexpr std::string_view kProgram = "# program:", kHost = "# host:";
    if (line.starts_with(kProgram)) names.program = program_id_of(line.substr(kProgram.size()));
    if (line.starts_with(kHost)) names.host = printable(trim(line.substr(kHost.size())));
  }
  return names;
}

Result<Import> import_tool_files(const std::string& format, const std::string& path, const ProgramCatalogue& catalogue,
                                 const ToolReader& read) {
  std::vector<std::string> files{path};
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) {
    files.clear();
    for (const auto& entry : std::filesystem::directory_iterator(path, problem)) {
      if (entry.is_regular_file(problem)) files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) return Error{"file-not-found", "the folder has no file", path, "output of " + format};
  }
  Import result;
  result.report.format = format;
  result.corpus.sources = {{format, "", "not stated", "", "profiles read from the output of " + format}};
  ExclusionCounter exclusions;
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> programs;
  for (const std::string& file : files) {
    const auto text = read_file(file, kMaximumToolBytes);
    if (!text) return text.error();
    auto profiles = read(*text, file);
    if (!profiles) return profiles.error();
    for (StoredProfile& stored : *profiles) {
      if (!seen.emplace(stored.program, stored.profile.host.name).second) {
        exclusions.add("profile", "a second one of the same program and host: the first stays");
        continue;
      }
      if (programs.insert(stored.program).second) {
        result.corpus.programs.push_back(catalogue.describe(stored.program, format));
        if (catalogue.find(stored.program) == nullptr) result.report.unknown_programs.push_back(stored.program);
      }
      for (const auto& [metric, reason] : stored.profile.missing) exclusions.add("counter", reason);
      for (const ProfileWarning& warning : stored.profile.warnings) {
        std::vector<std::string>& notes = result.report.notes;
        if (notes.size() < kMostNotes && std::find(notes.begin(), notes.end(), warning.message) == notes.end())
          notes.push_back(warning.message);
      }
      stored.source = format;
      result.corpus.profiles.push_back(std::move(stored));
    }
  }
  result.corpus.exclusions = exclusions.take(format);
  return result;
}

}  // namespace perfcast::program
