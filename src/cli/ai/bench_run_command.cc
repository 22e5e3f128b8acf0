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
#include "ai/system/reference_answers.h"
#include "ai/system/system_spec.h"
#include "ai/system/transformer_system.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/process/duration.h"
#include "base/process/interrupt.h"
#include "base/text.h"
#include "cli/ai/bench_command.h"
#include "cli/ai/bench_text.h"
#include "cli/choices.h"
#include "cli/option_table.h"
#include "cli/shared/meter_options.h"
#include "cli/shared/named_file.h"
#include "machine/meter/meter.h"

namespace perfcast::cli {
namespace {

constexpr const char* kNone = "none";
enum class BenchMode { kPerformance, kAccuracy, kBoth };
enum class ScenarioChoice { kSingleStream, kMultiStream, kServer, kOffline, kAll };

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

struct BenchArguments {
  ScenarioChoice scenario = ScenarioChoice::kSingleStream;
  BenchMode mode = BenchMode::kPerformance;
  ai::SystemSpec system;
  double target_qps = 0, accuracy = 0, least_accuracy = 0, percentile = 0;
  std::string duration, max_duration, latency, ttft, tpot, answer_limit = "60s", ready_limit = "120s";
  std::string warm_up = "10", log, reference, rules_file;
  int64_t min_queries = 0, max_queries = 0, total_samples = 0, samples_per_query = 8;
  int64_t max_outstanding = ai::LoadSettings{}.max_outstanding;
  bool equal_issue = false, tokens = false, find_peak = false, high_accuracy = false, no_energy = false;
  bool forecast = false;
  int64_t forecast_rounds = 3;
  double peak_precision = 2;
  ai::BenchmarkChoice choice;
  std::vector<std::string> objectives, meters;
  const CLI::App* verb = nullptr;  // knows which options were given
};

// An error of a setting with the option that it comes from.
Error with_option(Error error) {
  static const std::pair<const char*, const char*> options[] = {{"total_samples", "--total-samples"},
                                                                {"loaded_samples", "--samples"},
                                                                {"target_qps", "--target-qps"},
                                                                {"min_duration_s", "--duration"},
                                                                {"max_duration_s", "--max-duration"},
                                                                {"answer_limit_s", "--answer-limit"},
                                                                {"min_queries", "--min-queries"},
                                                                {"max_queries", "--max-queries"},
                                                                {"samples_per_query", "--samples-per-query"},
                                                                {"max_outstanding", "--max-outstanding"}};
  for (const auto& [field, option] : options) {
    if (error.where == field) error.where = option;
  }
  return error;
}

class BenchRun {
 public:
  BenchRun(BenchArguments arguments, const CommandContext& context)
      : arguments_(std::move(arguments)), context_(context), options_(context.options) {}

  int run() {
    ai::BenchSuiteRequest runs;
    for (const ai::LoadScenario scenario : scenarios_of(arguments_.scenario)) {
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
    if (suite->error) return report_behind_result(with_option(*suite->error));
    if (forecast && !*forecast) return report_behind_result(forecast->error());
    return suite->succeeds() ? kExitDone : kExitFailure;
  }

 private:
  bool given(const char* option) const { return arguments_.verb->get_option(option)->count() > 0; }

  bool is_suite() const { return arguments_.scenario == ScenarioChoice::kAll; }

  // On stderr: a result, which under --json has it too, was written to stdout.
  int report_behind_result(const Error& error) const {
    CommonOptions how = options_;
    how.json = false;
    return report_error(error, how);
  }

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
    const bool needs_rate = scenario_ == ai::LoadScenario::kServer && !is_suite();
    if (needs_rate && !given("--target-qps")) {
      return usage_error("bad-usage", "a server needs a rate of arrivals", "--target-qps", "such as --target-qps 100");
    }
    settings.target_qps = given("--target-qps") ? arguments_.target_qps : 1;
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
      rules.min_duration_s = duration_s.value_or(10);
      rules.min_queries = 1;
    }
    settings.min_duration_s = duration_s.value_or(rules.min_duration_s);
    if (given("--min-queries")) {
      settings.min_queries = arguments_.min_queries;
      if (!by_field) rules.min_queries = arguments_.min_queries;
    } else {
      settings.min_queries = rules.min_queries;
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
  ai::FieldDemand demand_;                                       // with a benchmark or a category
  ai::BenchRequest request_;
  MeterSet meters_;
};

void add_load_options(CLI::App& verb, BenchArguments& arguments) {
  add_basic(verb, "--scenario", arguments.scenario, "NAME",
            "Who asks, and when: single-stream, multi-stream, server, offline or all.")
      ->transform(choices<ScenarioChoice>({{"single-stream", ScenarioChoice::kSingleStream},
                                           {"multi-stream", ScenarioChoice::kMultiStream},
                                           {"server", ScenarioChoice::kServer},
                                           {"offline", ScenarioChoice::kOffline},
                                           {"all", ScenarioChoice::kAll}}))
      ->default_str("single-stream");
  add_advanced(verb, "--mode", arguments.mode, "MODE",
               "What is measured: performance (speed), accuracy (answers), or accuracy first and then performance.")
      ->transform(choices<BenchMode>(
          {{"performance", BenchMode::kPerformance}, {"accuracy", BenchMode::kAccuracy}, {"both", BenchMode::kBoth}}))
      ->default_str("performance");
  add_basic(verb, "--target-qps", arguments.target_qps, "RATE",
            "The arrivals per second in the server scenario. Offline, the samples per second that you expect.");
  add_basic(verb, "--duration", arguments.duration, "TIME",
            "Runs at least this long. Default: 10s, or what the rules ask.");
  add_advanced(verb, "--max-duration", arguments.max_duration, "TIME",
               "Issues no query after this time. In the server scenario, no query is due after it.");
  add_advanced(verb, "--min-queries", arguments.min_queries, "N",
               "Issues at least this many queries; offline, samples.")
      ->check(CLI::Range(int64_t{1}, ai::kMostLoadSamples));
  add_advanced(verb, "--max-queries", arguments.max_queries, "N", "Ends after this many queries.")
      ->check(CLI::Range(int64_t{1}, ai::kMostLoadSamples));
  add_advanced(verb, "--samples", arguments.system.samples, "N",
               "Loads this many samples. Queries are drawn from them.")
      ->capture_default_str();
  add_advanced(verb, "--total-samples", arguments.total_samples, "N",
               "How many samples the data set has, for the accuracy. Default: as many as --samples.");
  add_advanced(verb, "--samples-per-query", arguments.samples_per_query, "N",
               "Puts this many samples into each query of multi-stream.")
      ->capture_default_str();
  add_advanced(verb, "--equal-issue", arguments.equal_issue, "Issues every sample equally often, in random order.");
  add_advanced(verb, "--tokens", arguments.tokens,
               "Measures the first token and the time per output token. The system must report its tokens.");
  add_advanced(verb, "--warm-up", arguments.warm_up, "N", "Issues this many queries before the measurement, or none.")
      ->capture_default_str();
  add_advanced(verb, "--max-outstanding", arguments.max_outstanding, "N",
               "In the server scenario: ends the run if more samples than this are unanswered.")
      ->capture_default_str();
  add_advanced(verb, "--answer-limit", arguments.answer_limit, "TIME",
               "Ends the run if the system gives no answer for this long.")
      ->capture_default_str();
}

void add_rule_options(CLI::App& verb, BenchArguments& arguments) {
  const char* const group = "Rules";
  add_basic(verb, "--benchmark", arguments.choice.benchmark, "NAME",
            "Applies the rules of this benchmark, such as resnet50 or llama2-70b.");
  add_advanced(verb, "--category", arguments.choice.category, "NAME",
               "The category of the rules: datacenter, edge, mobile or tiny.")
      ->group(group);
  add_advanced(verb, "--division", arguments.choice.division, "NAME",
               "The division of the rules. closed demands the model's quality, open only reports it.")
      ->transform(
          choices<ai::BenchDivision>({{"closed", ai::BenchDivision::kClosed}, {"open", ai::BenchDivision::kOpen}}))
      ->default_str("closed")
      ->group(group);
  add_advanced(verb, "--high-accuracy", arguments.high_accuracy,
               "Demands the stricter quality, if the benchmark has two.")
      ->group(group);
  add_advanced(verb, "--rules", arguments.rules_file, "FILE",
               "Reads the rules from this file (JSON) instead of the shipped ones.")
      ->group(group);
  add_advanced(verb, "--max-latency,--latency", arguments.latency, "TIME",
               "In the server scenario: the latency limit at the percentile.")
      ->group(group);
  add_advanced(verb, "--ttft", arguments.ttft, "TIME", "The limit on the time to the first token, at the percentile.")
      ->group(group);
  add_advanced(verb, "--tpot", arguments.tpot, "TIME", "The limit on the time per output token, at the percentile.")
      ->group(group);
  add_advanced(verb, "--percentile", arguments.percentile, "P",
               "The percentile at which latencies are judged. Default: 90 in single-stream, else 99.")
      ->check(CLI::Range(1.0, 99.99))
      ->group(group);
  add_basic(verb, "--objective", arguments.objectives, "LIMITS",
            "Says which share of requests keeps these limits, and how many do per second (goodput): "
            "ttft=2s,tpot=200ms,share=99%.")
      ->take_all()
      ->allow_extra_args(false);
  add_advanced(verb, "--accuracy", arguments.accuracy, "VALUE", "The quality that your own script measured.")
      ->check(CLI::Range(0.0, 1e6))
      ->group(group);
  add_advanced(verb, "--least-accuracy", arguments.least_accuracy, "VALUE",
               "The share of right answers that the system must reach.")
      ->check(CLI::Range(0.0, 1e6))
      ->group(group);
  add_advanced(verb, "--reference", arguments.reference, "FILE",
               "Reads the right answers from this file: a line {\"index\": 3, \"data\": \"text\"} for each sample.")
      ->group(group);
  add_basic(verb, "--find-peak", arguments.find_peak,
            "Searches the highest valid rate of a server, from --target-qps on.");
  add_advanced(verb, "--peak-precision", arguments.peak_precision, "PERCENT",
               "With --find-peak: stops when the rates are this close, in percent.")
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str()
      ->group(group);
}

void add_system_options(CLI::App& verb, BenchArguments& arguments) {
  const char* const group = "Systems";
  ai::SystemSpec& system = arguments.system;
  add_basic(
      verb, "--system", system.name, "NAME",
      "The system under test: " + join(ai::system_forms(), ", ") + ". MODEL is a built-in name, GGUF or config.json.")
      ->default_str("null, or pipe with a command");
  add_advanced(verb, "--batch", system.largest_batch, "N", "The largest batch of the built-in systems gemm and mlp.")
      ->check(CLI::Range(int64_t{1}, int64_t{4096}))
      ->capture_default_str()
      ->group(group);
  add_advanced(verb, "--ready-limit", arguments.ready_limit, "TIME",
               "Waits this long for a system behind a pipe to be ready.")
      ->capture_default_str()
      ->group(group);
  add_basic(verb, "--endpoint-model,--model", system.model, "NAME", "The name of the model to ask an endpoint for.");
  add_advanced(verb, "--prompts", system.prompts_file, "FILE",
               "Reads the prompts for an endpoint from this file, one line of JSON each. Default: made-up prompts.")
      ->group(group);
  add_advanced(verb, "--prompt-words", system.prompt_length, "N",
               "How many words a made-up prompt has; for the built-in transformer, how many tokens.")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}))
      ->capture_default_str()
      ->group(group);
  add_advanced(verb, "--max-tokens", system.max_tokens, "N",
               "The most tokens that an answer may have. 0 leaves it to the server. If you give this option, it also "
               "applies to prompts that have their own limit.")
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000}))
      ->capture_default_str()
      ->group(group);
  add_advanced(verb, "--header", system.headers, "TEXT", "Sends this header with each request. Repeatable.")
      ->take_all()
      ->allow_extra_args(false)
      ->group(group);
  add_advanced(verb, "--connections", system.most_connections, "N",
               "Opens this many connections to an endpoint at once. Requests beyond them wait.")
      ->check(CLI::Range(int64_t{1}, int64_t{65536}))
      ->capture_default_str()
      ->group(group);
}

}  // namespace

void add_bench_run_command(CLI::App& bench, CommandContext& context) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* verb = add_verb(bench, {"run",
                                    "Puts load on a system under test: latency, throughput and a verdict.",
                                    "[-- COMMAND ARGS...]",
                                    {"perfcast bench run --scenario server --target-qps 100 --duration 10s",
                                     "perfcast bench run --system http://localhost:8000 --endpoint-model llama3-8b "
                                     "--scenario server --target-qps 5"},
                                    "bench"});
  arguments->verb = verb;
  arguments->system.name = "null";
  add_load_options(*verb, *arguments);
  add_rule_options(*verb, *arguments);
  add_system_options(*verb, *arguments);
  add_advanced(*verb, "--log", arguments->log, "FOLDER",
               "The folder for the logs; it overwrites earlier logs there. The word none writes no logs. Default: "
               "bench/last in your data folder.");
  add_advanced(
      *verb, "--meter", arguments->meters, "NAME",
      "Reads only this energy meter, by name, by kind, or as a file. Repeatable. Default: all meters of this machine.")
      ->take_all()
      ->allow_extra_args(false);
  add_advanced(*verb, "--no-energy", arguments->no_energy, "Reads no energy meter.");
  add_advanced(*verb, "--forecast", arguments->forecast,
               "Shows the forecast for this machine beside the measurement. It is for the built-in transformer.");
  add_advanced(*verb, "--forecast-rounds", arguments->forecast_rounds, "N",
               "Learns the forecast in this many rounds of some 20 s. 0 makes a rough one in a few seconds.")
      ->check(CLI::Range(int64_t{0}, int64_t{100}))
      ->capture_default_str();
  verb->footer(
      "The latency of a query starts when the query was due, even if it was sent later. Without --seed, the order of "
      "samples and the times of arrivals are those of MLPerf's load generator.\nExit status: 0 if the run is VALID, 1 "
      "if not. The report shows each rule.");
  add_common_options(*verb, context, kShowOutputOption | kQuietOption | kSeedOption | kThreadsOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return BenchRun(*arguments, context).run(); }; });
}

}  // namespace perfcast::cli
