// perfcast bench compare-results: published results side by side, and forecasts of those that nobody published.

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ai/latency/model/device_catalogue.h"
#include "ai/results/inference_results.h"
#include "ai/results/results_report.h"
#include "ai/results/training_results.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/ai/bench_command.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"

namespace perfcast::cli {
namespace {

constexpr size_t kLargestTableBytes = size_t{256} << 20;

struct ResultsArguments {
  std::vector<std::string> files, predictions, models, scenarios, versions;
  std::string division = "closed", device_file, report, check;
  size_t most = 5;
  bool score = false;
};

Result<std::vector<DeviceFacts>> known_devices(const std::string& device_file) {
  std::vector<DeviceFacts> devices;
  if (!device_file.empty()) {
    auto own = ai::read_device_catalogue(device_file);
    if (!own) return as_named_file(own.error(), true);
    devices = std::move(own->devices);
  }
  // The user's before the shipped ones: the first of a name is taken.
  for (const char* file : {"devices/devices.json", "results/accelerators.json"}) {
    const auto shipped = ai::read_device_catalogue(shipped_file(file));
    if (!shipped) return shipped.error();
    devices.insert(devices.end(), shipped->devices.begin(), shipped->devices.end());
  }
  return devices;
}

// A table of runs has a column `benchmark`, one of inference results `model`.
bool is_training_table(const std::string& text) {
  const std::string head = text.substr(0, text.find('\n'));
  const std::vector<std::string> columns = split(head, ',');
  return std::any_of(columns.begin(), columns.end(),
                     [](const std::string& column) { return trim(column) == "benchmark"; });
}

class ResultsRun {
 public:
  ResultsRun(const ResultsArguments& arguments, const CommonOptions& options)
      : arguments_(arguments), options_(options) {}

  int run() {
    const Status done = work();
    if (!done) return report_error(done.error(), options_);
    if (!arguments_.report.empty()) {
      const Status written = write_file_atomically(arguments_.report, ai::results_report_page(report_));
      if (!written) return report_error(written.error(), options_);
    }
    if (options_.json) return write_result(to_text(ai::results_report_json(report_)), options_);
    const bool tables = !arguments_.score && arguments_.predictions.empty() && arguments_.check.empty();
    return write_result(ai::results_report_text(report_, tables || most_given_ ? arguments_.most : 0), options_);
  }
  void set_most_given() { most_given_ = true; }

 private:
  Status work() {
    for (const auto& [option, path] : {std::pair{"--report", arguments_.report}, std::pair{"-o", options_.output}}) {
      if (Status fits = check_output_file(option, path); !fits) return fits;
      std::vector<std::string> read = arguments_.files;
      read.insert(read.end(), {arguments_.device_file, arguments_.check});
      if (Status apart = check_not_read(option, path, read); !apart) return apart;
    }
    if (!arguments_.report.empty() && !arguments_.score)
      return usage_error("bad-usage", "the page shows how forecasts err", "--report", "--score with it");
    std::vector<ai::PublishedResult> asked;
    for (const std::string& text : arguments_.predictions) {
      auto query = ai::parse_result_query(text);
      if (!query) return query.error();
      asked.push_back(std::move(*query));
    }
    const auto devices = known_devices(arguments_.device_file);
    if (!devices) return devices.error();
    for (const std::string& path : arguments_.files) {
      if (Status taken = take_file(path); !taken) return taken;
    }
    if (Status chosen = choose(); !chosen) return chosen;
    report_.tables = ai::task_tables(results_, *devices);
    report_.rows = ai::result_rows(results_, *devices);
    ai::ResultFitOptions fit;
    fit.seed = options_.seed;
    fit.threads = options_.threads;
    ProgressLine line(options_);
    if (arguments_.score) {
      auto scores = ai::score_results(report_.rows, fit, [&line](const std::string& text) { line.show(text); });
      if (!scores) return scores.error();
      report_.scores = std::move(*scores);
    }
    line.show("learning from the results ...");
    if (!arguments_.check.empty()) {
      const auto kept_apart = kept_apart_rows(*devices);
      if (!kept_apart) return kept_apart.error();
      auto checked = ai::check_kept_apart(report_.rows, *kept_apart, fit);
      if (!checked) return checked.error();
      report_.kept_apart = std::move(*checked);
    }
    if (asked.empty()) return {};
    std::vector<ai::ResultRow> asked_rows;
    for (const ai::PublishedResult& each : asked) {
      auto row = ai::asked_row(report_.rows, each, *devices);
      if (!row) return row.error();
      asked_rows.push_back(std::move(*row));
    }
    auto forecasts = ai::forecast_rows(report_.rows, asked_rows, fit);
    if (!forecasts) return forecasts.error();
    report_.forecasts = std::move(*forecasts);
    return {};
  }

  Result<std::vector<ai::ResultRow>> kept_apart_rows(const std::vector<DeviceFacts>& devices) const {
    const auto text = read_file(arguments_.check, kLargestTableBytes);
    if (!text) return as_named_file(text.error(), true);
    std::vector<ai::PublishedResult> results;
    if (is_training_table(*text)) {
      auto training = ai::parse_training_results(*text, arguments_.check);
      if (!training) return training.error();
      results = std::move(training->results);
    } else {
      auto inference = ai::parse_inference_results(*text, arguments_.check);
      if (!inference) return inference.error();
      results = std::move(*inference);
    }
    std::erase_if(results, [this](const ai::PublishedResult& each) { return each.division != arguments_.division; });
    return ai::result_rows(results, devices);
  }

  Status take_file(const std::string& path) {
    const auto text = read_file(path, kLargestTableBytes);
    if (!text) return as_named_file(text.error(), true);
    report_.sources.push_back(path);
    if (!is_training_table(*text)) {
      auto results = ai::parse_inference_results(*text, path);
      if (!results) return results.error();
      all_.insert(all_.end(), results->begin(), results->end());
      return {};
    }
    auto training = ai::parse_training_results(*text, path);
    if (!training) return training.error();
    all_.insert(all_.end(), training->results.begin(), training->results.end());
    report_.notes.push_back(std::to_string(training->results.size()) + " scores from " +
                            std::to_string(training->runs) + " runs in " + printable(path) +
                            ": the fastest and the slowest of each system dropped, the mean of the rest; " +
                            std::to_string(training->unfinished_runs) + " runs never finished, " +
                            std::to_string(training->without_score) + " systems have no score for it");
    return {};
  }

  Status choose() {
    std::set<std::string> models, scenarios, versions;
    std::set<std::pair<std::string, std::string>> with_power;
    for (const ai::PublishedResult& result : all_) {
      ++report_.divisions[result.division];
      if (result.division != arguments_.division) continue;
      models.insert(result.model);
      scenarios.insert(result.scenario);
      versions.insert(result.version);
      const auto wanted = [](const std::vector<std::string>& names, const std::string& name) {
        return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
      };
      if (!wanted(arguments_.models, result.model) || !wanted(arguments_.scenarios, result.scenario) ||
          !wanted(arguments_.versions, result.version))
        continue;
      ++report_.results;
      if (result.valid && ai::result_rate_per_s(result) > 0) ++report_.with_rate;
      if (!std::isnan(result.power_w)) {
        ++report_.with_power;
        with_power.emplace(result.submitter, result.platform);
      }
      results_.push_back(result);
    }
    report_.division = arguments_.division;
    report_.systems_with_power = with_power.size();
    if (models.empty()) {
      std::vector<std::string> names;
      names.reserve(report_.divisions.size());
      for (const auto& [name, rows] : report_.divisions) names.push_back(name);
      return Error{"no-results", "no result is of the division '" + printable(arguments_.division) + "'",
                   join(arguments_.files, ", "), "one of the divisions that are there: " + join(names, ", ")};
    }
    for (const auto& [option, given, known] : {std::tuple{"--benchmark", &arguments_.models, &models},
                                               std::tuple{"--scenario", &arguments_.scenarios, &scenarios},
                                               std::tuple{"--version", &arguments_.versions, &versions}}) {
      for (const std::string& name : *given) {
        if (known->count(name) == 0)
          return usage_error("bad-usage", "no result of the division is of '" + printable(name) + "'", option,
                             "one of: " + nearest_names(name, {known->begin(), known->end()}, 8));
      }
    }
    if (report_.with_rate == 0)
      return Error{"no-results", "none of the chosen results is valid and states a rate", join(arguments_.files, ", "),
                   "other models, scenarios or versions"};
    return {};
  }

  const ResultsArguments& arguments_;
  const CommonOptions& options_;
  std::vector<ai::PublishedResult> all_, results_;
  ai::ResultsReport report_;
  bool most_given_ = false;
};

}  // namespace

void add_bench_results_command(CLI::App& bench, CommandContext& context) {
  auto arguments = std::make_shared<ResultsArguments>();
  CLI::App* verb =
      add_verb(bench, {"compare-results",
                       "Shows published results side by side, per accelerator and watt; forecasts missing ones.",
                       "",
                       {"perfcast bench compare-results mlperf.csv --benchmark bert-99 --scenario Offline",
                        "perfcast bench compare-results mlperf.csv --score --report scores.html"},
                       "bench-compare-results"});
  add_basic(*verb, "FILE", arguments->files, "FILE ...",
            "Tables of published MLPerf results (CSV, may be gzip), of inference or of training.")
      ->required();
  add_advanced(*verb, "--division", arguments->division, "NAME",
               "Reads the results of this division alone. Closed and open results are never mixed.")
      ->capture_default_str();
  const auto several = [verb](const char* name, std::vector<std::string>& values, const char* text) {
    add_basic(*verb, name, values, "NAME", text)->take_all()->allow_extra_args(false);
  };
  several("--benchmark,--model", arguments->models, "Shows only this benchmark, such as bert-99. Repeatable.");
  several("--scenario", arguments->scenarios, "Shows only this scenario, such as Offline. Repeatable.");
  several("--version", arguments->versions, "Shows only this round, such as v4.1. Repeatable.");
  CLI::Option* most = add_advanced(*verb, "--most", arguments->most, "N",
                                   "Lists this many accelerators for each model and scenario. 0 prints no tables.")
                          ->check(CLI::Range(size_t{0}, size_t{100000}))
                          ->capture_default_str();
  add_basic(*verb, "--score", arguments->score,
            "Says how well perfcast forecasts missing results: it leaves out each system, accelerator and generation "
            "in turn.");
  add_basic(*verb, "--predict", arguments->predictions, "SYSTEM",
            "Forecasts a result that nobody published, such as "
            "accelerator=h100,count=8,model=bert-99,scenario=Offline. Repeatable.")
      ->take_all()
      ->allow_extra_args(false);
  add_basic(*verb, "--check", arguments->check, "FILE",
            "Compares forecasts with the results in this file, from which perfcast does not learn.");
  add_basic(*verb, "--report", arguments->report, "FILE", "With --score: writes a page (HTML) with pictures.");
  add_advanced(*verb, "--device-file", arguments->device_file, "FILE",
               "Adds the facts of more devices from this file (JSON).");
  verb->footer("Power is that of the whole system. Few published results state it; perfcast never guesses it.");
  add_common_options(*verb, context, kQuietOption | kSeedOption | kThreadsOption);
  verb->callback([arguments, most, &context] {
    const bool most_given = most->count() > 0;
    context.run = [arguments, most_given, &context] {
      ResultsRun run(*arguments, context.options);
      if (most_given) run.set_most_given();
      return run.run();
    };
  });
}

}  // namespace perfcast::cli
