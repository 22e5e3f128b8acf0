#include "cli/ai/bench_run_options.h"

#include "base/text.h"
#include "cli/choices.h"
#include "cli/option_table.h"
#include "cli/shared/duration_option.h"

namespace perfcast::cli {
namespace {

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

void add_client_options(CLI::App& verb, BenchArguments& arguments) {
  const char* const group = "Load as clients send it";
  add_basic(verb, "--concurrency", arguments.concurrency, "N,...",
            "In place of a scenario: so many clients, each of which waits for its answer. Several numbers are a sweep, "
            "which stops where the system is saturated. 1,2,4,... goes on by itself.");
  add_basic(verb, "--rate", arguments.rates, "R,...",
            "In place of a scenario: requests per second at random times. Several numbers are a sweep.");
  add_basic(verb, "--trace", arguments.trace, "FILE",
            "In place of a scenario: replays the requests of this file at their times (CSV or lines of JSON). With "
            "--rate or --concurrency, only their lengths.");
  add_basic(verb, "--report", arguments.report, "FILE", "Of a sweep: writes a page (HTML) with latency against load.");
  add_advanced(verb, "--turns", arguments.shape.turns, "N",
               "With --rate or --concurrency: conversations of this many turns. Each turn holds what was said before.")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->group(group);
  takes_duration(add_advanced(verb, "--think-time", arguments.shape.think_s, "TIME",
                              "The time from the end of a turn to the next one. By default 0."),
                 true)
      ->group(group);
  add_advanced(verb, "--spread", arguments.shape.log_spread, "S",
               "With --turns: how much lengths differ, as the standard deviation of their logarithms.")
      ->check(CLI::Range(0.0, 4.0))
      ->group(group);
  add_advanced(verb, "--burst", arguments.shape.burst, "B",
               "With --turns or --trace, and --rate: how uneven arrivals are. 1 is at random, 0 even, above 1 in "
               "bursts.")
      ->check(CLI::Range(0.0, 1000.0))
      ->group(group);
  add_advanced(verb, "--ignore-eos", arguments.system.ignores_end,
               "Asks the server for answers of full length, as vLLM, SGLang and llama.cpp can give them.")
      ->group(group);
  add_advanced(verb, "--all-points", arguments.all_points, "Of a sweep: runs all loads, saturated or not.")
      ->group(group);
  add_advanced(verb, "--no-overhead", arguments.no_overhead,
               "Doesn't measure what this client adds to the times of an endpoint. That takes a second.")
      ->group(group);
}

}  // namespace

void add_bench_run_options(CLI::App& verb, BenchArguments& arguments) {
  add_load_options(verb, arguments);
  add_client_options(verb, arguments);
  add_rule_options(verb, arguments);
  add_system_options(verb, arguments);
  add_advanced(verb, "--log", arguments.log, "FOLDER",
               "The folder for the logs; it overwrites earlier logs there. The word none writes no logs. Default: "
               "bench/last in your data folder.");
  add_advanced(
      verb, "--meter", arguments.meters, "NAME",
      "Reads only this energy meter, by name, by kind, or as a file. Repeatable. Default: all meters of this machine.")
      ->take_all()
      ->allow_extra_args(false);
  add_advanced(verb, "--no-energy", arguments.no_energy, "Reads no energy meter.");
  add_advanced(verb, "--forecast", arguments.forecast,
               "Shows the forecast for this machine beside the measurement. It is for the built-in transformer.");
  add_advanced(verb, "--forecast-rounds", arguments.forecast_rounds, "N",
               "Learns the forecast in this many rounds of some 20 s. 0 makes a rough one in a few seconds.")
      ->check(CLI::Range(int64_t{0}, int64_t{100}))
      ->capture_default_str();
}

}  // namespace perfcast::cli
