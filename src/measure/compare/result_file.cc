#include "measure/compare/result_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "measure/compare/result_reader.h"

namespace perfcast::measure {
namespace {

constexpr size_t kFileLimitBytes = size_t{256} << 20;
// What counts of a command repeat within from one machine to another, under the same instrumenter.
constexpr double kRecordedRepeats = 1e-3;

std::string schema_of(const Json& json) {
  const auto schema = json.is_object() ? json.find("schema") : json.end();
  return json.is_object() && schema != json.end() && schema->is_string() ? schema->get<std::string>() : "";
}

// What B did, and how far its counts repeated.
Result<WorkCounts> counts_of_comparison(const Json& json, const std::string& source) {
  WorkCounts counted;
  counted.repeats_within = kRecordedRepeats;
  JsonReader reader(json, source);
  if (reader.string("schema") != "perfcast.comparison/1") {
    return Error{"future-version", "it is of another version: " + schema_of(json), source, "perfcast.comparison/1"};
  }
  const Json* b = reader.require_object("b");
  const Json* counts = b == nullptr ? nullptr : JsonReader(*b, source + ": b").object("counts");
  if (b != nullptr && counts == nullptr) {
    return Error{"no-counts", "the comparison has no counts of B", source,
                 "one that counted: --measure instructions --json"};
  }
  if (counts != nullptr) {
    JsonReader values(*counts, source + ": b.counts");
    for (const auto& [metric, value] : counts->items()) {
      const double count = values.number(metric);
      if (count < 0) values.complain(metric, "a count below 0", "0 or more");
      counted.counts[metric] = count;
    }
    if (!counted.counts.contains("instructions_count")) values.complain("instructions_count", "nothing", "a count");
    if (Status read = values.finish(); !read) return read.error();
  }
  if (Status read = reader.finish(); !read) return read.error();
  return counted;
}

// The median times of its B, where it timed any, and the host that it ran on.
Result<ResultFile> results_of_comparison(const Json& json, const std::string& source) {
  ResultFile file;
  file.tool = "perfcast";
  file.path = source;
  JsonReader reader(json, source);
  if (const Json* host = reader.object("host")) {
    auto facts = host_facts_from_json(*host, source + ": host");
    if (!facts) return facts.error();
    file.host = std::move(*facts);
  }
  const Json* b = reader.object("b");
  if (b != nullptr) {
    JsonReader values(*b, source + ": b");
    BenchmarkRuns benchmark{values.string_or("command", ""), {}, {}};
    const int64_t pairs = std::max<int64_t>(reader.integer_or("pairs", 1), 1);
    for (auto [runs, key] : {std::pair{&benchmark.wall, "median_wall_s"}, {&benchmark.cpu, "median_cpu_s"}}) {
      const auto median_s = values.optional_amount(key);
      if (!median_s || !(*median_s > 0)) continue;
      runs->mean_s = *median_s;
      runs->count = pairs;
    }
    if (benchmark.wall.is_known() && benchmark.cpu.is_known())
      benchmark.busy_cpus = benchmark.cpu.mean_s / benchmark.wall.mean_s;
    if (Status read = values.finish(); !read) return read.error();
    if (benchmark.wall.is_known()) file.benchmarks.push_back(std::move(benchmark));
  }
  if (Status read = reader.finish(); !read) return read.error();
  return file;
}

// The standard deviation of a normal sample is its range over this (Tippett 1925), for 2 to 10 values.
double deviation_of_spread(double spread, int64_t count) {
  constexpr double kRanges[] = {1.128, 1.693, 2.059, 2.326, 2.534, 2.704, 2.847, 2.970, 3.078};
  const auto i = static_cast<size_t>(std::clamp<int64_t>(count, 2, 10) - 2);
  return spread / kRanges[i];
}

}  // namespace

ResultFile result_file_of(const Profile& profile, const std::string& source) {
  ResultFile file;
  file.tool = "perfcast";
  file.path = source;
  const auto value_of = [&](const char* name) {
    const auto found = profile.metrics.find(name);
    return found == profile.metrics.end() ? 0 : found->second;
  };
  file.host = profile.host;
  BenchmarkRuns benchmark{profile.program, {}, {}};
  const double runs = std::clamp(value_of("native_runs_count"), 1.0, 1e6);
  const auto take = [&](TimedRuns& of, const char* time, const char* spread) {
    of.mean_s = value_of(time);
    if (!(of.mean_s > 0)) return;
    of.count = static_cast<int64_t>(runs);
    of.deviation_s = deviation_of_spread(value_of(spread) * of.mean_s, of.count);
  };
  take(benchmark.wall, "wall_s", "wall_spread_ratio");
  take(benchmark.cpu, "cpu_s", "cpu_spread_ratio");
  if (benchmark.wall.is_known() && benchmark.cpu.is_known())
    benchmark.busy_cpus = benchmark.cpu.mean_s / benchmark.wall.mean_s;
  if (benchmark.wall.is_known()) file.benchmarks.push_back(std::move(benchmark));
  return file;
}

Result<ComparedFile> read_compared_file(const std::string& path, bool needs_counts) {
  const auto text = read_file(path, kFileLimitBytes);
  if (!text) return text.error();
  ComparedFile file;
  Json json;
  if (begins_as_json(*text) && text->find("\"perfcast.") != std::string::npos) {
    auto parsed = parse_json(*text, path);
    if (!parsed) return parsed.error();
    json = std::move(*parsed);
  }
  const std::string schema = schema_of(json);
  if (schema.starts_with("perfcast.comparison/")) {
    auto counts = counts_of_comparison(json, path);
    if (!counts && (needs_counts || counts.error().code != "no-counts")) return counts.error();
    if (counts) file.counts = std::move(*counts);
    auto results = results_of_comparison(json, path);
    if (!results) return results.error();
    file.results = std::move(*results);
    return file;
  }
  if (schema.starts_with("perfcast.profile/")) {
    auto profile = profile_from_json(json, path);
    if (!profile) return profile.error();
    file.results = result_file_of(*profile, path);
    file.profile = std::move(*profile);
    return file;
  }
  auto results = parse_result_file(*text, path);
  if (!results) return results.error();
  file.results = std::move(*results);
  return file;
}

bool is_compared_file(const std::string& path) {
  std::error_code problem;
  const auto facts = std::filesystem::status(path, problem);
  if (problem || !std::filesystem::is_regular_file(facts)) return false;
  std::ifstream in(path, std::ios::binary);
  std::string begin(64, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(in.gcount()));
  std::string_view content = begin;
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  const bool is_packed_or_wide =
      content.starts_with('\x1f') || content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF");
  if (is_packed_or_wide || begins_as_json(content) || begins_as_hyperfine_csv(content)) return true;
  // A file of another format, which can't be run: it is told so.
  const bool can_be_run =
      (facts.permissions() & (std::filesystem::perms::owner_exec | std::filesystem::perms::group_exec |
                              std::filesystem::perms::others_exec)) != std::filesystem::perms::none;
  return !can_be_run && std::filesystem::path(path).has_extension();
}

}  // namespace perfcast::measure
