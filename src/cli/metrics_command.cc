#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/last_profile.h"
#include "profile/metrics/catalogue.h"
#include "profile/profile.h"

namespace perfcast::cli {
namespace {

struct MetricsOptions {
  std::string name, group, profile;
  bool all = false, markdown = false;
};

// What groups tell, in the order of questions that people ask.
struct GroupWords {
  const char *name, *tells, *example;
};
constexpr GroupWords kGroups[] = {
    {"time", "wall and CPU time, and how far runs differ", "cpu_s"},
    {"work", "how many instructions a run takes", "instructions_count"},
    {"mix", "kinds of instructions: integer, floating point, vectors, branches", "op_fp_scalar_add_count"},
    {"memory", "caches of nine sizes, the TLB, strides, the working set", "llc_miss_per_access_ratio"},
    {"branch", "branches, and how many are mispredicted", "branch_misses_per_branch_ratio"},
    {"latency", "chains of instructions that wait for each other", "crit_load_per_instruction_ratio"},
    {"core", "cycles by models of cores, and what they go to", ""},
    {"system", "system calls, files, page faults, context switches, memory held", "syscalls_count"},
    {"energy", "joules of packages, memory, GPUs, by meters", "energy_package_joules"},
    {"hardware", "the CPU's own counters (perf events), where they can be read", "hw_instructions_per_cycle_ratio"},
    {"cross-check", "cachegrind's counts, beside those of the emulator", "cachegrind_instruction_agreement_ratio"},
    {"gpu", "counters of GPUs, imported from Nsight Compute and nvprof", "nvprof_ipc_ratio"},
    {"opencl", "OpenCL: launches, transfers, the host's part", ""},
    {"kernel", "what one launch of an OpenCL kernel does", "kernel_transactions_per_access_ratio"},
    {"aiwc", "features of OpenCL kernels that don't depend on the device, as AIWC defines them", ""}};

Json to_json(const Metric& metric) {
  Json json = {{"name", metric.name},
               {"unit", metric.unit},
               {"kind", metric.kind},
               {"group", metric.group},
               {"description", metric.description}};
  if (!metric.formula.empty()) json["formula"] = metric.formula;
  if (!metric.table1.empty()) json["table1"] = metric.table1;
  json["gpu_only"] = metric.gpu_only;
  json["imported"] = metric.imported;
  json["of_kernel"] = metric.of_kernel;
  json["sources"] = Json::object();
  for (const auto& [collector, event] : metric.sources) json["sources"][collector] = event;
  return json;
}

std::string sources_of(const Metric& metric) {
  std::vector<std::string> sources;
  for (const auto& [collector, event] : metric.sources) sources.push_back(fmt::format("{}:{}", collector, event));
  return join(sources, ", ");
}

// What a profile has of a metric: its value, or why there is none.
struct KnownValue {
  std::string value, why_missing;
};

KnownValue value_in(const Profile& profile, const Metric& metric) {
  const auto found = profile.metrics.find(metric.name);
  if (found != profile.metrics.end()) return {fmt::format("{:.6g}", found->second), ""};
  const auto why = profile.missing.find(metric.name);
  return {"-", why == profile.missing.end() ? "not measured, or an operand of its formula is missing" : why->second};
}

std::string as_table(const std::vector<const Metric*>& metrics, const Profile* profile) {
  TextTable table;
  table.add_column("metric", TextTable::Align::kLeft);
  if (profile != nullptr) table.add_column("value", TextTable::Align::kRight);
  table.add_column("unit", TextTable::Align::kLeft);
  table.add_column("group", TextTable::Align::kLeft);
  table.add_column("description", TextTable::Align::kLeft);
  for (const Metric* metric : metrics) {
    std::vector<std::string> cells = {metric->name, metric->unit, metric->group, metric->description};
    if (profile != nullptr) cells.insert(cells.begin() + 1, value_in(*profile, *metric).value);
    table.add_row(std::move(cells));
  }
  return table.to_text();
}

std::string as_page(const Metric& metric, const Profile* profile) {
  std::string text = metric.name + "\n  " + metric.description + "\n";
  if (profile != nullptr) {
    const KnownValue known = value_in(*profile, metric);
    text += "  value:    " + known.value +
            (known.why_missing.empty() ? "" : " (" + printable(known.why_missing) + ")") + "\n";
  }
  text += "  unit:     " + metric.unit + "\n  kind:     " + metric.kind + "\n  group:    " + metric.group + "\n";
  if (!metric.formula.empty()) text += "  formula:  " + metric.formula + "\n";
  if (!metric.sources.empty()) text += "  sources:  " + sources_of(metric) + "\n";
  if (!metric.table1.empty()) text += "  table I:  " + metric.table1 + "\n";
  if (metric.gpu_only) text += "  absent on CPU profiles\n";
  if (metric.of_kernel) text += "  of an OpenCL kernel: in `kernels` of a profile\n";
  return text;
}

// 722 rows are no answer: which groups there are, and how to get at one.
std::string as_overview(const Catalogue& catalogue) {
  std::map<std::string, int64_t> counts;
  for (const Metric& metric : catalogue.metrics()) ++counts[metric.group];
  TextTable table;
  table.add_column("group", TextTable::Align::kLeft);
  table.add_column("metrics", TextTable::Align::kRight);
  table.add_column("what they tell", TextTable::Align::kLeft);
  table.add_column("such as", TextTable::Align::kLeft);
  for (const GroupWords& group : kGroups) {
    table.add_row({group.name, std::to_string(counts[group.name]), group.tells, group.example});
  }
  return fmt::format("{} metrics in {} groups\n\n", catalogue.metrics().size(), counts.size()) + table.to_text() +
         "\nperfcast metrics --group branch      a group"
         "\nperfcast metrics 'cache misses'      all with these words; names of perf events are found, too"
         "\nperfcast metrics cpu_s               one: formula and sources"
         "\nperfcast metrics ipc --profile last  their values in your latest profile"
         "\nperfcast metrics --all               all\n";
}

// Without what people write or leave out between words: cachemiss, cache-misses, cache_misses.
std::string squeezed(std::string_view text) {
  std::string result = lower_case(text);
  std::erase_if(result, [](char c) { return c == '_' || c == '-' || c == ' '; });
  return result;
}

bool has_whole_word(std::string_view text, const std::string& word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

// An event as perf lists it: without modifiers and its PMU, and by the first of its names.
std::string event_named(std::string_view word) {
  std::string event = lower_case(word);
  if (const size_t colon = event.find(':'); colon != std::string::npos && colon > 0) event.resize(colon);
  if (const size_t slash = event.find('/'); slash != std::string::npos && event.ends_with('/')) {
    event = event.substr(slash + 1, event.size() - slash - 2);
  }
  static const std::map<std::string_view, const char*> kOtherNames = {
      {"cpu-cycles", "cycles"},
      {"branch-instructions", "branches"},
      {"faults", "page-faults"},
      {"cs", "context-switches"},
      {"migrations", "cpu-migrations"},
      {"cpu-clock", "task-clock"},
      {"idle-cycles-frontend", "stalled-cycles-frontend"},
      {"idle-cycles-backend", "stalled-cycles-backend"},
      {"duration_time", "wall_s"},
      {"user_time", "user_s"},
      {"system_time", "system_s"},
      {"llc-misses", "llc-load-misses"}};
  const auto other = kOtherNames.find(event);
  return other == kOtherNames.end() ? event : other->second;
}

bool is_event_of(const Metric& metric, const std::string& event) {
  return metric.name == event ||
         std::ranges::any_of(metric.sources, [&](const auto& each) { return lower_case(each.second) == event; });
}

// What perf lists under this name.
bool is_perf_event(const Metric& metric, const std::string& event) {
  const auto source = metric.sources.find("perf_event");
  return metric.name == event || (source != metric.sources.end() && lower_case(source->second) == event);
}

// How well a metric answers to all of these words, the least best, -1 the event itself; nothing where one of them is
// neither in its name, in what is said of it, nor in the events that it is read from. What our own collectors measure
// of programs comes first.
std::optional<int> rank_of_match(const Metric& metric, const std::vector<std::string>& words) {
  if (words.empty()) return 0;
  if (words.size() == 1 && is_perf_event(metric, event_named(words[0]))) return -1;
  const std::string description = lower_case(metric.description);
  int rank = has_whole_word(description, join(words, " ")) ? 0 : 1;
  for (const std::string& word : words) {
    const bool is_said = is_event_of(metric, event_named(word)) || has_whole_word(description, word);
    const bool is_there = is_said || description.find(word) != std::string::npos ||
                          squeezed(metric.name).find(squeezed(word)) != std::string::npos ||
                          lower_case(sources_of(metric)).find(word) != std::string::npos;
    if (!is_there) return std::nullopt;
    rank = std::max(rank, is_said ? 0 : has_whole_word(metric.name, word) ? 2 : 3);
  }
  if (metric.group == "cross-check" || metric.imported || metric.gpu_only || metric.of_kernel) rank += 4;
  return rank;
}

// Of the catalogue, in its order; of a search the best first.
std::vector<const Metric*> chosen_metrics(const Catalogue& catalogue, const MetricsOptions& chosen) {
  const bool is_exact = catalogue.find(chosen.name) != nullptr;
  std::vector<std::string> words = split(lower_case(chosen.name), ' ');
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  std::vector<std::pair<int, const Metric*>> found;
  for (const Metric& metric : catalogue.metrics()) {
    if (!chosen.group.empty() && metric.group != chosen.group) continue;
    const auto rank =
        is_exact ? (metric.name == chosen.name ? std::optional(0) : std::nullopt) : rank_of_match(metric, words);
    if (rank) found.emplace_back(*rank, &metric);
  }
  std::ranges::stable_sort(found, {}, &std::pair<int, const Metric*>::first);
  std::vector<const Metric*> metrics;
  for (const auto& [rank, metric] : found) metrics.push_back(metric);
  return metrics;
}

int run(const MetricsOptions& chosen, const CommonOptions& options) {
  const Catalogue& catalogue = Catalogue::built_in();
  if (chosen.markdown) return write_result(catalogue_as_markdown(catalogue), options);

  std::vector<std::string> groups;
  for (const Metric& metric : catalogue.metrics()) {
    if (std::find(groups.begin(), groups.end(), metric.group) == groups.end()) groups.push_back(metric.group);
  }
  const std::vector<const Metric*> metrics = chosen_metrics(catalogue, chosen);
  if (!chosen.group.empty() && std::find(groups.begin(), groups.end(), chosen.group) == groups.end()) {
    return report_error(
        usage_error("bad-usage", "no group '" + printable(chosen.group) + "'", "--group", join(groups, ", ")), options);
  }
  if (metrics.empty()) {
    const std::string where = chosen.group.empty() ? "" : " in group " + chosen.group;
    return report_error(
        usage_error("bad-usage", "no metric '" + printable(chosen.name) + "'" + where, "NAME",
                    "a metric of the catalogue, such as " + nearest_names(chosen.name, catalogue.names()) +
                        "; perfcast metrics lists the groups"),
        options);
  }
  std::optional<Profile> profile;
  if (!chosen.profile.empty()) {
    auto read = read_given_profile(chosen.profile);
    if (!read) return report_error(read.error(), options);
    profile = std::move(*read);
  }
  const Profile* const of = profile ? &*profile : nullptr;
  if (options.json) {
    Json json = {{"schema", "perfcast.metrics/1"}, {"metrics", Json::array()}};
    for (const Metric* metric : metrics) {
      json["metrics"].push_back(to_json(*metric));
      if (!profile) continue;
      const auto value = profile->metrics.find(metric->name);
      json["metrics"].back()["value"] = value == profile->metrics.end() ? Json() : Json(value->second);
    }
    return write_result(to_text(json), options);
  }
  const bool is_everything = chosen.name.empty() && chosen.group.empty();
  if (is_everything && !chosen.all && !profile) return write_result(as_overview(catalogue), options);
  const bool is_exact = catalogue.find(chosen.name) != nullptr;
  return write_result(is_exact ? as_page(*metrics.front(), of) : as_table(metrics, of), options);
}

}  // namespace

void add_metrics_command(CLI::App& app, CommandContext& context) {
  auto chosen = std::make_shared<MetricsOptions>();
  CLI::App* verb = add_verb(app, {"metrics",
                                  "Lists the metrics that profiles hold, with units, formulas and sources.",
                                  "",
                                  {"perfcast metrics 'cache misses'", "perfcast metrics --group branch --profile last"},
                                  "metrics"});
  add_basic(*verb, "NAME", chosen->name, "NAME",
            "Shows this metric with its formula and sources, or all that contain these words in name, description or "
            "event. Default: lists the groups.");
  add_basic(*verb, "--group", chosen->group, "NAME",
            "Shows only this group, such as work, mix, memory, branch or system.");
  add_basic(*verb, "--profile", chosen->profile, "FILE", "Also shows the values in this profile; last is your latest.");
  add_basic(*verb, "--all", chosen->all, "Lists every metric.");
  add_advanced(*verb, "--markdown", chosen->markdown, "Prints the whole catalogue as docs/metrics.md.");
  add_common_options(*verb, context, kNoFurtherOption);
  verb->callback([chosen, &context] { context.run = [chosen, &context] { return run(*chosen, context.options); }; });
}

}  // namespace perfcast::cli
