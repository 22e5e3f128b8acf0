#include "cli/measure/collect_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::cli {
namespace {

std::string rate_of(const Suite& suite, const SuiteOutcome& outcome) {
  const SuiteProgram* entry = suite.find(outcome.program);
  if (!outcome.time_per_unit_s || entry == nullptr) return "";
  return human_number(1 / *outcome.time_per_unit_s) + " " + entry->program.work_unit + "s/s";
}

}  // namespace

std::vector<CollectedProgram> of_this_machine(const std::vector<SuiteOutcome>& outcomes) {
  std::vector<CollectedProgram> programs;
  programs.reserve(outcomes.size());
  for (const SuiteOutcome& outcome : outcomes) programs.push_back({outcome, ""});
  return programs;
}

std::string collected_as_text(const Suite& suite, const std::vector<CollectedProgram>& programs) {
  const bool partitions = std::any_of(programs.begin(), programs.end(),
                                      [](const CollectedProgram& program) { return !program.partition.empty(); });
  TextTable table;
  if (partitions) table.add_column("partition", TextTable::Align::kLeft);
  table.add_column("program", TextTable::Align::kLeft);
  table.add_column("status", TextTable::Align::kLeft);
  table.add_column("rate by CPU time", TextTable::Align::kRight);
  table.add_column("spread", TextTable::Align::kRight);
  table.add_column("note", TextTable::Align::kLeft);
  std::map<std::string, int> counts;
  for (const auto& [outcome, partition] : programs) {
    ++counts[outcome.status];
    std::vector<std::string> cells;
    if (partitions) cells.push_back(partition);
    cells.insert(cells.end(), {outcome.program, outcome.status, rate_of(suite, outcome),
                               outcome.spread_ratio ? fmt::format("{:.1f}%", 100 * *outcome.spread_ratio) : "",
                               printable(outcome.reason)});
    table.add_row(std::move(cells));
  }
  std::string text = table.to_text() + "\n";
  for (const auto& [status, count] : counts) text += fmt::format("{} {}  ", count, status);
  return std::string(trim(text)) + "\n";
}

Json collected_as_json(const Suite& suite, const std::vector<CollectedProgram>& programs) {
  Json json;
  json["schema"] = "perfcast.collection/1";
  json["suite"] = suite.name;
  json["programs"] = Json::array();
  for (const auto& [outcome, partition] : programs) {
    Json row{{"id", outcome.program}, {"status", outcome.status}};
    if (!partition.empty()) row["partition"] = partition;
    if (!outcome.reason.empty()) row["reason"] = outcome.reason;
    if (outcome.time_per_unit_s) row["time_per_unit_s"] = *outcome.time_per_unit_s;
    if (outcome.spread_ratio) row["spread_ratio"] = *outcome.spread_ratio;
    row["took_s"] = outcome.seconds_s;
    json["programs"].push_back(std::move(row));
  }
  return json;
}

}  // namespace perfcast::cli
