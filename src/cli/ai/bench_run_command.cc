// perfcast bench run: load on a system under test, by the field's scenarios and rules.

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ai/bench/bench_forecast.h"
#include "ai/bench/bench_suite.h"
#include "ai/rules/bench_rules.h"
#include "ai/rules/field_demand.h"
#include "ai/system/null_endpoint.h"
#include "ai/system/reference_answers.h"
#include "ai/system/system_spec.h"
#include "ai/system/transformer_system.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/process/duration.h"
#include "base/process/interrupt.h"
#include "base/text.h"
#include "cli/ai/bench_command.h"
#include "cli/ai/bench_run_load.h"
#include "cli/ai/bench_run_options.h"
#include "cli/ai/bench_run_sweep.h"
#include "cli/ai/bench_text.h"
#include "cli/choices.h"
#include "cli/option_table.h"
#include "cli/shared/meter_options.h"
#include "cli/shared/named_file.h"
#include "machine/meter/meter.h"

namespace perfcast::cli {
namespace {

constexpr double kUsualDuration_s = 10;

std::vector<ai::LoadScenario> scenarios_of(ScenarioChoice choice) {
  switch (choice) {
    case ScenarioChoice::kSingleStream:
      return {ai::LoadScenario::kSingleStream};
    case ScenarioChoice::kMultiStream:
      return {ai::LoadScenario::kMultiStream};
    case ScenarioChoice::kServer:
      return {ai::LoadScenario::kServer};
    case ScenarioChoice::kOffline:
      return {ai::LoadScenario::kOffline};
    case ScenarioChoice::kAll:
      break;
  }
  return ai::suite_scenarios();
}

class BenchRun {
 public:
  BenchRun(BenchArguments arguments, const CommandContext& context)
      : arguments_(std::move(arguments)), context_(context), options_(context.options) {}

  int run() {
    if (asks_for_clients(arguments_)) {
      if (Status taken = take_clients(); !taken) return report_error(taken.error(), options_);
      if (clients_.loads.size() > 1) return run_sweep();
      client_ = &clients_.loads.front();
    } else if (Status unused = check_without_clients(); !unused) {
      return report_error(unused.error(), options_);
    }
    ai::BenchSuiteRequest runs;
    const std::vector<ai::LoadScenario> scenarios =
        client_ != nullptr ? std::vector{client_->scenario} : scenarios_of(arguments_.scenario);
    for (const ai::LoadScenario scenario : scenarios) {
      if (const Status prepared = prepare(scenario); !prepared) return report_error(prepared.error(), options_);
      runs.runs.push_back(request_);
    }
    runs.rates_are_given = !is_suite() || given("--target-qps");
    auto system = ai::make_system(arguments_.system);
    if (!system) return report_error(as_named_file(system.error(), true), options_);
    const InterruptGuard guard;
    std::optional<ProgressLine> line(std::in_place, options_);
    for (ai::BenchRequest& run : runs.runs) {
      run.is_interrupted = [] { return interrupting_signal() != 0; };
      run.progress = [&line](const std::string& what, const ai::LoadProgress& progress) {
        line->show(bench_progress(what, progress));
      };
    }
    const auto suite = ai::run_bench_suite(std::move(runs), **system);
    system->reset();
    if (!suite) return report_error(with_option(suite.error()), options_);
    const bool interrupted = suite->breaks("interrupted");
    std::optional<Result<ai::BenchForecast>> forecast;
    if (arguments_.forecast && !interrupted && !suite->error) forecast = make_forecast(suite->reports, *line);
    line.reset();
    const int written = write_result(options_.json ? json_of(*suite, forecast) : text_of(*suite, forecast), options_);
    if (written != kExitDone) return written;
    if (interrupted) return kExitBySignal + interrupting_signal();
    if (suite->error) return report_behind_result(with_option(*suite->error), options_);
    if (forecast && !*forecast) return report_behind_result(forecast->error(), options_);
    return suite->succeeds() ? kExitDone : kExitFailure;
  }

 private:
  bool given(const char* option) const { return arguments_.given(option); }

  // What is of use with --concurrency, --rate or --trace alone.
  Status check_without_clients() const {
    Status unused = check_unused(*arguments_.verb, "a scenario", {"--turns", "--think-time", "--spread", "--burst"},
                                 "--rate or --concurrency with it");
    if (!unused) return unused;
    return check_unused(*arguments_.verb, "a single run", {"--report", "--all-points"},
                        "a sweep: several numbers, as in --concurrency 1,2,4,...");
  }

  Status take_clients() {
    Status unused = check_unused(*arguments_.verb, "a load as clients send it",
                                 {"--scenario", "--target-qps", "--find-peak", "--mode", "--benchmark", "--category",
                                  "--division", "--high-accuracy", "--forecast", "--equal-issue"},
                                 "--concurrency, --rate or --trace, or a --scenario");
    if (!unused) return unused;
    std::optional<double> duration_s;
    if (Status taken = take_time(arguments_.duration, "--duration", duration_s); !taken) return taken;
    auto loads = client_loads(arguments_, duration_s.value_or(kUsualDuration_s), options_.seed);
    if (!loads) return as_named_file(loads.error(), true);
    clients_ = *std::move(loads);
    const bool is_sweep = clients_.loads.size() > 1;
    if (!is_sweep) {
      unused = check_unused(*arguments_.verb, "a single run", {"--report", "--all-points"},
                            "a sweep: several numbers, as in --concurrency 1,2,4,...");
      if (!unused) return unused;
    }
    if (Status fits = check_output_file("--report", arguments_.report); !fits) return fits;
    if (clients_.trace && !ai::is_endpoint(arguments_.system)) {
      return usage_error("bad-usage", "lengths of prompts and answers are of use to an endpoint alone", "--system",
                         "--system http://HOST:PORT/v1/completions");
    }
    arguments_.system.trace = clients_.trace;
    // A client that waits for a connection of its own measures itself.
    if (clients_.loads.back().scenario == ai::LoadScenario::kConcurrency && !given("--connections")) {
      arguments_.system.most_connections = static_cast<int64_t>(clients_.loads.back().load);
    }
    for (const std::string& note : clients_.notes) {
      if (!options_.quiet) std::fprintf(stderr, "note: %s\n", printable(note).c_str());
    }
    return {};
  }

  int run_sweep() {
    ai::SweepRequest sweep;
    sweep.by_rate = clients_.by_rate;
    sweep.runs_all = arguments_.all_points;
    for (const ClientLoad& load : clients_.loads) {
      client_ = &load;
      if (const Status prepared = prepare(load.scenario); !prepared) return report_error(prepared.error(), options_);
      request_.settings.keeps_due = true;
      sweep.measures_overhead = request_.measures_overhead;
      request_.measures_overhead = false;
      if (!sweep.points.empty()) request_.warm_up_queries = 0;
      sweep.log_folder = request_.log_folder;
      if (!request_.log_folder.empty()) {
        request_.log_folder += (clients_.by_rate ? "/rate-" : "/concurrency-") + csv_number(load.load);
      }
      sweep.loads.push_back(load.load);
      sweep.points.push_back(request_);
    }
    return run_sweep_of(std::move(sweep), arguments_, options_);
  }

  bool is_suite() const { return arguments_.scenario == ScenarioChoice::kAll; }

  std::string json_of(const ai::BenchSuite& suite, const std::optional<Result<ai::BenchForecast>>& forecast) const {
    Json json = is_suite() ? to_json(suite) : to_json(suite.reports.front());
    if (forecast && *forecast) json["forecast"] = to_json(**forecast);
    if (forecast && !*forecast) json["forecast_error"] = to_json(forecast->error());
    return to_text(json);
  }

  std::string text_of(const ai::BenchSuite& suite, const std::optional<Result<ai::BenchForecast>>& forecast) const {
    std::string text = is_suite() ? bench_suite_text(suite) : bench_text(suite.reports.front());
    return forecast && *forecast ? text + "\n" + bench_forecast_text(**forecast) : text;
  }

  Result<ai::BenchForecast> make_forecast(const std::vector<ai::BenchReport>& reports, ProgressLine& line) const {
    const auto system = ai::transformer_options(arguments_.system);
    if (!system) return system.error();
    ai::ComparisonRequest request;
    request.models = {system->model};
    request.precision = system->precision;
    request.threads = system->threads;
    request.prompt_tokens = system->prompt_tokens;
    request.new_tokens = system->new_tokens;
    request.seed = system->seed;
    request.quick = arguments_.forecast_rounds == 0;
    request.rounds = request.quick ? 1 : arguments_.forecast_rounds;
    request.meters = arguments_.no_energy ? nullptr : &meters_;
    request.is_interrupted = [] { return interrupting_signal() != 0; };
    return ai::forecast_bench(request, system->slots, reports, [&line](const std::string& what) { line.show(what); });
  }

  Status prepare(ai::LoadScenario scenario) {
    request_ = {};
    scenario_ = scenario;
    for (const auto step :
         {&BenchRun::take_system, &BenchRun::take_settings, &BenchRun::take_rules, &BenchRun::take_objectives,
          &BenchRun::take_reference, &BenchRun::take_meters, &BenchRun::take_log}) {
      if (Status taken = (this->*step)(); !taken) return taken;
    }
    return {};
  }

  // `text` of an option to seconds, where it is given.
  Status take_time(const std::string& text, const char* option, std::optional<double>& seconds) const {
    if (text.empty()) return {};
    const auto parsed = parse_duration_s(text, option);
    if (!parsed) return parsed.error();
    seconds = *parsed;
    return {};
  }

  Status take_system() {
    ai::SystemSpec& spec = arguments_.system;
    const bool command = !context_.command.empty();
    if (command && !given("--system")) spec.name = "pipe";
    if (command && spec.name != "pipe") {
      return usage_error("bad-usage", "a command after -- is of use with --system pipe alone", "--system",
                         "one of both");
    }
    if (!ai::is_endpoint(spec)) {
      Status unused = check_unused(*arguments_.verb, "a system that is no endpoint",
                                   {"--endpoint-model", "--prompts", "--header", "--connections"},
                                   "--system http://HOST:PORT/v1/completions");
      if (!unused) return unused;
    }
    if (!ai::is_streaming(spec)) {
      Status unused = check_unused(*arguments_.verb, "a system without tokens", {"--prompt-words", "--max-tokens"},
                                   "an endpoint, or --system transformer:MODEL");
      if (!unused) return unused;
    }
    if (!ai::is_transformer(spec)) {
      Status unused = check_unused(*arguments_.verb, "a system that is no transformer of ours",
                                   {"--forecast", "--forecast-rounds"}, "--system transformer:MODEL");
      if (!unused) return unused;
    }
    spec.command = context_.command;
    spec.max_tokens_given = given("--max-tokens");
    spec.show_stderr = options_.show_output;
    spec.threads = options_.threads;
    spec.seed = options_.seed;
    std::optional<double> ready_s;
    if (Status taken = take_time(arguments_.ready_limit, "--ready-limit", ready_s); !taken) return taken;
    spec.ready_limit_s = ready_s.value_or(spec.ready_limit_s);
    return {};
  }

  Status take_settings() {
    ai::LoadSettings& settings = request_.settings;
    settings.scenario = scenario_;
    settings.loaded_samples = arguments_.system.samples;
    settings.total_samples = given("--total-samples") ? arguments_.total_samples : settings.loaded_samples;
    settings.samples_per_query = arguments_.samples_per_query;
    settings.max_queries = arguments_.max_queries;
    settings.max_outstanding = arguments_.max_outstanding;
    settings.equal_issue = arguments_.equal_issue;
    settings.tokens = arguments_.tokens || ai::is_streaming(arguments_.system);
    if (options_.seed_given) settings.seeds = ai::seeds_from(options_.seed);
    std::optional<double> max_s, answer_s;
    if (Status taken = take_time(arguments_.max_duration, "--max-duration", max_s); !taken) return taken;
    if (Status taken = take_time(arguments_.answer_limit, "--answer-limit", answer_s); !taken) return taken;
    settings.max_duration_s = max_s.value_or(0);
    settings.answer_limit_s = answer_s.value_or(settings.answer_limit_s);
    arguments_.system.answer_limit_s = settings.answer_limit_s;
    request_.measures_overhead = !arguments_.no_overhead && arguments_.system.name.find("://") != std::string::npos &&
                                 ai::is_streaming(arguments_.system);
    if (arguments_.system.name.starts_with("null-endpoint")) {
      const auto endpoint = ai::parse_null_endpoint(arguments_.system.name, "--system");
      if (!endpoint) return endpoint.error();
      request_.null_endpoint = {endpoint->pieces, endpoint->gap_s};
    }
    if (client_ != nullptr) take_client_load();
    const bool needs_rate = scenario_ == ai::LoadScenario::kServer && !is_suite() && client_ == nullptr;
    if (needs_rate && !given("--target-qps")) {
      return usage_error("bad-usage", "a server needs a rate of arrivals", "--target-qps", "such as --target-qps 100");
    }
    if (client_ == nullptr) settings.target_qps = given("--target-qps") ? arguments_.target_qps : 1;
    const bool server = scenario_ == ai::LoadScenario::kServer;
    if (arguments_.find_peak && !server && !is_suite()) {
      return usage_error("bad-usage", "only a server has a rate to search", "--find-peak", "--scenario server");
    }
    request_.find_peak = arguments_.find_peak && server;
    request_.peak_precision = arguments_.peak_precision / 100;
    request_.accuracy = arguments_.mode != BenchMode::kPerformance;
    request_.performance = arguments_.mode != BenchMode::kAccuracy;
    if (arguments_.warm_up == kNone) return {};
    const auto queries = parse_number(arguments_.warm_up);
    if (!queries || *queries < 0 || *queries > 1e6) {
      return usage_error("bad-usage", "'" + printable(arguments_.warm_up) + "' is no number of queries", "--warm-up",
                         "0 to 1000000, or none");
    }
    request_.warm_up_queries = static_cast<int64_t>(*queries);
    return {};
  }

  void take_client_load() {
    ai::LoadSettings& settings = request_.settings;
    const bool is_timed = ai::is_timed(client_->scenario);
    settings.target_qps = is_timed ? client_->load : 1;
    if (!is_timed) settings.concurrency = static_cast<int64_t>(client_->load);
    settings.plan = client_->plan;
    if (client_->plan) {
      settings.loaded_samples = settings.total_samples = static_cast<int64_t>(client_->plan->size());
    }
  }

  Status take_rules() {
    ai::LoadRules& rules = request_.rules;
    ai::LoadSettings& settings = request_.settings;
    rules.percentile = ai::field_percentile_of(settings.scenario);
    std::optional<double> duration_s;
    if (Status taken = take_time(arguments_.duration, "--duration", duration_s); !taken) return taken;
    const bool by_field = !arguments_.choice.benchmark.empty() || !arguments_.choice.category.empty();
    if (by_field) {
      if (Status taken = take_rules_of_field(); !taken) return taken;
    } else if (given("--division") || arguments_.high_accuracy) {
      return usage_error("bad-usage", "a division or a quality of no benchmark", "--benchmark",
                         "a benchmark, or a --category");
    } else {
      rules.min_duration_s = duration_s.value_or(kUsualDuration_s);
      rules.min_queries = 1;
    }
    settings.min_duration_s = duration_s.value_or(rules.min_duration_s);
    if (given("--min-queries")) {
      settings.min_queries = arguments_.min_queries;
      if (!by_field) rules.min_queries = arguments_.min_queries;
    } else {
      settings.min_queries = rules.min_queries;
    }
    const bool of_the_field = scenario_ != ai::LoadScenario::kConcurrency && scenario_ != ai::LoadScenario::kTrace;
    rules.early_stopping = of_the_field;
    if (scenario_ == ai::LoadScenario::kTrace) {  // it lasts as long as it does
      rules.min_duration_s = settings.min_duration_s = 0;
      rules.min_queries = settings.min_queries = 1;
    }
    if (given("--percentile")) rules.percentile = arguments_.percentile / 100;
    if (Status taken = take_limits(); !taken) return taken;
    if ((rules.max_ttft_s || rules.max_tpot_s) && settings.scenario == ai::LoadScenario::kServer)
      settings.tokens = true;
    if (given("--least-accuracy")) rules.least_accuracy = arguments_.least_accuracy;
    if (given("--accuracy")) rules.accuracy = arguments_.accuracy;
    compare_with_demand();
    const bool limited = rules.max_latency_s || rules.max_ttft_s || rules.max_tpot_s;
    if (request_.find_peak && !limited) {
      return usage_error("bad-usage", "without a limit every rate is valid", "--find-peak",
                         "--max-latency, --ttft or --tpot");
    }
    return check(settings).ok() ? Status() : with_option(check(settings).error());
  }

  Status take_limits() {
    const bool given_any = given("--max-latency") || given("--ttft") || given("--tpot");
    if (given_any && scenario_ != ai::LoadScenario::kServer) {
      if (is_suite()) return {};
      return usage_error("bad-usage", "a limit of latency is a server's rule", "--scenario",
                         "--scenario server; elsewhere --objective says what share keeps it");
    }
    ai::LoadRules& rules = request_.rules;
    if (Status taken = take_time(arguments_.latency, "--max-latency", rules.max_latency_s); !taken) return taken;
    if (Status taken = take_time(arguments_.ttft, "--ttft", rules.max_ttft_s); !taken) return taken;
    return take_time(arguments_.tpot, "--tpot", rules.max_tpot_s);
  }

  Status take_rules_of_field() {
    const std::string path = arguments_.rules_file.empty() ? shipped_file("bench/rules.json") : arguments_.rules_file;
    const auto all = ai::read_bench_rules(path);
    if (!all) return as_named_file(all.error(), !arguments_.rules_file.empty());
    arguments_.choice.high_accuracy = arguments_.high_accuracy;
    auto demand = ai::field_demand_of(*all, arguments_.choice, scenario_);
    if (!demand) return demand.error();
    demand_ = std::move(*demand);
    request_.rules = demand_.rules;
    request_.benchmark = demand_.benchmark;
    request_.category = arguments_.choice.category;
    request_.division = arguments_.choice.division == ai::BenchDivision::kOpen ? "open" : "closed";
    ai::LoadSettings& settings = request_.settings;
    if (!given("--samples-per-query")) settings.samples_per_query = demand_.samples_per_query;
    if (demand_.samples > 0 && !given("--samples")) {
      settings.loaded_samples = arguments_.system.samples = demand_.samples;
      settings.total_samples = given("--total-samples") ? arguments_.total_samples : demand_.samples;
    }
    settings.equal_issue = settings.equal_issue || demand_.equal_issue;
    settings.tokens = settings.tokens || demand_.streams;
    return {};
  }

  // Of a benchmark: what options made looser than its rules, or other than it is.
  void compare_with_demand() {
    if (request_.benchmark.empty()) return;
    const ai::SystemSpec& spec = arguments_.system;
    std::vector<std::string>& why_not = request_.not_comparable;
    why_not = ai::looser_than_field(demand_, request_.rules, request_.settings);
    if (!arguments_.rules_file.empty()) {
      why_not.push_back("its rules are those of " + printable(arguments_.rules_file) + ", not the shipped ones");
    }
    if (ai::is_streaming(spec) && spec.prompts_file.empty()) why_not.emplace_back("its prompts are made up");
    if (!ai::is_streaming(spec) && spec.name != "pipe") why_not.push_back(printable(spec.name) + " is not its model");
  }

  Status take_objectives() {
    for (const std::string& text : arguments_.objectives) {
      auto objective = ai::parse_load_objective(text, "--objective");
      if (!objective) return objective.error();
      const bool streams = objective->ttft_s || objective->tpot_s;
      if (streams) request_.settings.tokens = true;
      request_.objectives.push_back(std::move(*objective));
    }
    return {};
  }

  Status take_reference() {
    if (arguments_.reference.empty()) return {};
    auto references = ai::read_references(arguments_.reference);
    if (!references) return as_named_file(references.error(), true);
    if (request_.accuracy) {
      Status whole = ai::check_every_sample(*references, request_.settings.total_samples, arguments_.reference);
      if (!whole) return whole;
    }
    const auto shared = std::make_shared<ai::ReferenceAnswers>(std::move(*references));
    request_.judge = [shared](uint32_t index, std::string_view data) {
      return ai::is_right_answer(*shared, index, data);
    };
    return {};
  }

  Status take_meters() {
    if (arguments_.no_energy) return {};
    request_.meters = &meters_;
    if (!meters_.meters.empty() || !meters_.missing.empty()) return {};  // of the scenario before
    auto set = meters_of_option(arguments_.meters);
    if (!set) return set.error();
    meters_ = std::move(*set);
    return {};
  }

  Status take_log() {
    if (arguments_.log == kNone) return {};
    request_.log_folder = arguments_.log.empty() ? in_user_data("bench/last") : arguments_.log;
    if (is_suite()) request_.log_folder += "/" + to_string(scenario_);
    return check_output_file("-o", options_.output);
  }

  BenchArguments arguments_;
  const CommandContext& context_;
  const CommonOptions& options_;
  ai::LoadScenario scenario_ = ai::LoadScenario::kSingleStream;  // that request_ is of
  ClientLoads clients_;                                          // in the place of scenarios
  const ClientLoad* client_ = nullptr;                           // that request_ is of
  ai::FieldDemand demand_;                                       // with a benchmark or a category
  ai::BenchRequest request_;
  MeterSet meters_;
};

}  // namespace

void add_bench_run_command(CLI::App& bench, CommandContext& context) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* verb = add_verb(bench, {"run",
                                    "Puts load on a system under test: latency, throughput and a verdict.",
                                    "[-- COMMAND ARGS...]",
                                    {"perfcast bench run --scenario server --target-qps 100 --duration 10s",
                                     "perfcast bench run --system http://localhost:8000 --endpoint-model llama3-8b "
                                     "--concurrency 1,2,4,..."},
                                    "bench"});
  arguments->verb = verb;
  arguments->system.name = "null";
  add_bench_run_options(*verb, *arguments);
  verb->footer(
      "The latency of a query starts when the query was due, even if it was sent later. Without --seed, the order of "
      "samples and the times of arrivals are those of MLPerf's load generator.\nExit status: 0 if the run is VALID, 1 "
      "if not. The report shows each rule.");
  add_common_options(*verb, context, kShowOutputOption | kQuietOption | kSeedOption | kThreadsOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return BenchRun(*arguments, context).run(); }; });
}

}  // namespace perfcast::cli
