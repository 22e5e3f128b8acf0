#include "program/corpus/importers/papi_importer.h"

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

std::optional<double> number_in(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return parse_number(json.get_ref<const std::string&>());
  if (json.is_object() && json.contains("total")) return number_in(json["total"]);
  return std::nullopt;
}

// Elapsed quantities of one thread.
struct Elapsed {
  double time_ns = 0, cycles = 0;
};

void read_region(const Json& region, ToolProfile& profile, Elapsed& elapsed) {
  for (const auto& [event, json] : region.items()) {
    if (event == "name" || event == "parent_region_id" || event == "region_count") continue;
    const auto value = number_in(json);
    const std::string_view unit = event == "perf::TASK-CLOCK" ? "ns" : "";
    if (!value) {
      profile.miss(event, unit, "no finite number");
    } else if (event == "real_time_nsec") {
      elapsed.time_ns += *value;
    } else if (event == "cycles") {
      elapsed.cycles += *value;
    } else {
      profile.add(event, *value, unit);
    }
  }
}

bool is_enclosed(const Json& region) {
  const auto parent = region.find("parent_region_id");
  if (parent == region.end()) return false;
  const auto id = number_in(*parent);
  return id && *id >= 0;
}

void read_thread(const Json& thread, ToolProfile& profile, double& longest_ns) {
  if (!thread.is_object() || !thread.contains("regions")) return;
  Elapsed elapsed;
  for (const Json& region : thread["regions"]) {
    if (!region.is_object() || is_enclosed(region)) continue;
    if (region.contains("name") || region.contains("cycles")) {
      read_region(region, profile, elapsed);
      continue;
    }
    for (const Json& named : region) {  // [{"computation": {...}}]
      if (named.is_object() && !is_enclosed(named)) read_region(named, profile, elapsed);
    }
  }
  longest_ns = std::max(longest_ns, elapsed.time_ns);
  if (elapsed.cycles > 0) profile.add_largest("elapsed_cycles", elapsed.cycles, "");
}

}  // namespace

Result<std::vector<StoredProfile>> read_papi(std::string_view text, const std::string& path) {
  const auto json = parse_json(text, path);
  if (!json) return json.error();
  const auto threads = json->is_object() ? json->find("threads") : json->end();
  if (!json->is_object() || threads == json->end() || !threads->is_structured()) {
    return Error{"bad-papi", "the document has no threads", path, "the JSON of PAPI's high-level interface"};
  }
  ToolProfile profile("papi", "papi", "papi_");
  for (const char* key : {"cpu info", "cpu_info"}) {
    if (json->contains(key) && (*json)[key].is_string()) profile.set_host((*json)[key].get<std::string>());
  }
  double longest_ns = 0;
  for (const Json& thread : *threads) read_thread(thread, profile, longest_ns);
  if (longest_ns > 0) profile.set("wall_s", longest_ns * 1e-9);
  if (profile.empty()) {
    return Error{"no-rows", "no event has a value", path, "threads with regions that hold counts"};
  }
  std::vector<StoredProfile> profiles;
  profiles.push_back(std::move(profile).finish(names_of_tool_file("", path).program));
  return profiles;
}

Result<Import> import_papi(const std::string& path, const ProgramCatalogue& catalogue) {
  return import_tool_files("papi", path, catalogue, read_papi);
}

}  // namespace perfcast::program
