#include "ai/results/load_run_report.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kWidth = 118;

std::string file_of(const std::string& path) { return printable(path.substr(path.rfind('/') + 1)); }

std::string per_second(const std::optional<double>& rate) { return rate ? human_number(*rate) : "-"; }

ReportTable runs_table(const std::vector<LoadRun>& runs) {
  using enum Quantity;
  using Row = LoadRun;
  std::vector<ColumnOf<Row>> columns = {
      {"source", "result", kText, &Row::source, [](const Row& run) { return file_of(run.source); }},
      {"tool", "tool", kText, [](const Row& run) { return to_string(run.tool); }},
      {"model", "", kText, [](const Row& run) { return unless_empty(run.model); }},
      {"load", "load", kText, [](const Row& run) { return unless_empty(run.load); },
       [](const Row& run) { return run.load.empty() ? "-" : printable(run.load); }},
      {"answered", "answered", kCount, &Row::answered},
      {"failed", "failed", kCount, &Row::failed},
      {"duration_s", "", kSeconds, &Row::duration_s},
      {"requests_per_s", "requests/s", kNumber, &Row::requests_per_s,
       [](const Row& run) { return per_second(run.requests_per_s); }},
      {"output_tokens_per_s", "tokens/s", kNumber, &Row::output_tokens_per_s,
       [](const Row& run) { return per_second(run.output_tokens_per_s); }},
      {"prompt_tokens", "", kNumber, &Row::prompt_tokens},
      {"output_tokens", "", kNumber, &Row::output_tokens}};
  struct Times {
    const char *name, *title;
    RunTimes Row::*of;
    bool shows_mean;
  };
  const Times all[] = {{"ttft_s", "TTFT", &Row::ttft, false},
                       {"tpot_s", "TPOT", &Row::tpot, false},
                       {"itl_s", "ITL", &Row::gap, false},
                       {"latency_s", "latency", &Row::latency, false},
                       {"lateness_s", "sent late", &Row::lateness, true}};
  struct Statistic {
    const char* name;
    std::optional<double> RunTimes::*of;
    bool is_shown, is_mean;
  };
  const Statistic statistics[] = {{"mean", &RunTimes::mean_s, false, true},
                                  {"p50", &RunTimes::p50_s, true, false},
                                  {"p90", &RunTimes::p90_s, false, false},
                                  {"p95", &RunTimes::p95_s, false, false},
                                  {"p99", &RunTimes::p99_s, true, false}};
  for (const Times& times : all) {
    for (const Statistic& statistic : statistics) {
      const bool shown = times.shows_mean ? statistic.is_mean : statistic.is_shown;
      const std::string title = std::string(times.title) + (times.shows_mean ? "" : std::string(" ") + statistic.name);
      columns.push_back({std::string(times.name) + "." + statistic.name, shown ? title : "", kSpreadSeconds,
                         [of = times.of, what = statistic.of](const Row& run) { return run.*of.*what; }});
    }
  }
  return table_of<Row>("", runs, columns);
}

ReportTable definitions_table(const std::vector<LoadRun>& runs) {
  using enum Quantity;
  struct Row {
    LoadTool tool;
    RunDefinitions by;
  };
  std::vector<Row> rows;
  for (const LoadRun& run : runs) {
    const bool known = std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.tool == run.tool; });
    if (!known) rows.push_back({run.tool, definitions_of(run.tool)});
  }
  return table_of<Row>("", rows,
                       {{"tool", "tool", kText, [](const Row& row) { return to_string(row.tool); }},
                        {"starts", "clock starts when", kText, [](const Row& row) { return row.by.starts; }},
                        {"tokens", "tokens counted by", kText, [](const Row& row) { return row.by.tokens; }},
                        {"tpot", "TPOT", kText, [](const Row& row) { return row.by.tpot; }},
                        {"itl", "ITL", kText, [](const Row& row) { return row.by.gap; }},
                        {"percentiles", "percentiles", kText, [](const Row& row) { return row.by.percentiles; }}});
}

// Models by name, where runs differ in it.
std::string models_text(const std::vector<LoadRun>& runs) {
  std::vector<std::string> names;
  for (const LoadRun& run : runs) {
    const std::string name = run.model.empty() ? "not named" : printable(run.model);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return wrapped((names.size() > 1 ? "models differ: " : "model: ") + join(names, ", "), kWidth) + "\n";
}

}  // namespace

std::string load_runs_text(const LoadRunsReport& report) {
  // In two parts, as the times of a run need the width.
  const ReportTable table = runs_table(report.runs);
  const auto part = [&](const std::vector<std::string_view>& names) {
    return rows_text(picked(table, names), {.width = kWidth});
  };
  std::string text = part({"source", "tool", "load", "answered", "failed", "requests_per_s", "output_tokens_per_s"}) +
                     "\n" +
                     part({"source", "ttft_s.p50", "ttft_s.p99", "tpot_s.p50", "tpot_s.p99", "itl_s.p50", "itl_s.p99",
                           "latency_s.p50", "latency_s.p99", "lateness_s.mean"});
  text += "\n" + models_text(report.runs);
  text += wrapped(
              "TTFT: time to the first token. TPOT: (last - first token) / (tokens - 1) of each answer. ITL: from one "
              "piece of "
              "a stream to the next, over all answers. \"-\": the file doesn't say.",
              kWidth) +
          "\n";
  text += "\nWhat these tools define differently:\n" + rows_text(definitions_table(report.runs), {.width = kWidth});
  for (const std::string& note : report.notes) text += wrapped("note: " + printable(note), kWidth, "", "  ") + "\n";
  for (const auto& [file, why] : report.unread) {
    text += wrapped("not read: " + printable(file) + ": " + printable(why), kWidth, "", "  ") + "\n";
  }
  return text;
}

Json load_runs_json(const LoadRunsReport& report) {
  Json json{{"schema", kLoadRunsSchema},
            {"rows", rows_json(runs_table(report.runs))},
            {"definitions", rows_json(definitions_table(report.runs))}};
  if (!report.notes.empty()) json["notes"] = report.notes;
  if (report.unread.empty()) return json;
  json["unread"] = Json::array();
  for (const auto& [file, why] : report.unread) json["unread"].push_back(Json{{"file", file}, {"reason", why}});
  return json;
}

}  // namespace perfcast::ai
