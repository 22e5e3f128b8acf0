#include "ai/results/load_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kMostRuns = 10'000;
constexpr size_t kShownKeys = 8;
constexpr double kMs = 1e-3, kNs = 1e-9;

using Keys = std::vector<const char*>;

// The member at the end of a path of keys; null where one is missing.
const Json* member_at(const Json& json, const Keys& path) {
  const Json* at = &json;
  for (const char* const key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

// A part of a file, and what is found in it that no figure can be.
struct FilePart {
  const Json& json;
  std::vector<std::string>* odd;
};

// "inf" and "nan" are what tools write of a rate without a limit, and of what they couldn't measure.
void note_odd(const FilePart& part, const Keys& path, const Json& found) {
  const bool is_text = found.is_string();
  const std::string text = is_text ? lower_case(trim(found.get<std::string>())) : found.dump();
  if (is_text ? text.empty() || text == "inf" || text == "-inf" || text == "nan" : !found.is_number()) return;
  std::string note = join({path.begin(), path.end()}, ".") + " is '" + printable(text.substr(0, 40)) + "'";
  if (std::find(part.odd->begin(), part.odd->end(), note) == part.odd->end()) part.odd->push_back(std::move(note));
}

std::optional<double> number_at(const FilePart& part, const Keys& path, double unit = 1) {
  const Json* const found = member_at(part.json, path);
  if (found == nullptr) return std::nullopt;
  const double value = found->is_number() ? found->get<double>() * unit : NAN;
  if (std::isfinite(value) && value >= 0) return value;
  if (!std::isnan(unit)) note_odd(part, path, *found);
  return std::nullopt;
}

// The same of what can't be 0.
std::optional<double> positive_at(const FilePart& part, const Keys& path, double unit = 1) {
  const auto value = number_at(part, path, unit);
  return value && *value > 0 ? value : std::nullopt;
}

std::string text_at(const FilePart& part, const Keys& path) {
  const Json* const found = member_at(part.json, path);
  if (found == nullptr) return "";
  if (found->is_string()) return found->get<std::string>();
  if (found->is_array() && !found->empty() && found->front().is_string()) return found->front().get<std::string>();
  return "";
}

std::string rate_text(double rate) { return csv_number(rate) + "/s"; }
std::string at_once_text(double count) { return csv_number(count) + " at once"; }

std::optional<double> ratio(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b || *b <= 0) return std::nullopt;
  return *a / *b;
}

// --- perfcast

RunTimes own_times(const FilePart& json, const char* key) {
  return {positive_at(json, {key, "mean"}, kNs), positive_at(json, {key, "p50"}, kNs),
          positive_at(json, {key, "p90"}, kNs), positive_at(json, {key, "p95"}, kNs),
          positive_at(json, {key, "p99"}, kNs)};
}

LoadRun own_run(const FilePart& json) {
  LoadRun run;
  run.model = text_at(json, {"system"});
  const std::string scenario = text_at(json, {"scenario"});
  run.load = scenario;
  if (const auto count = number_at(json, {"settings", "concurrency"})) run.load = at_once_text(*count);
  if (scenario == "server") {
    if (const auto rate = number_at(json, {"settings", "target_qps"})) run.load = rate_text(*rate);
  }
  run.answered = number_at(json, {"answered"});
  const auto failed = number_at(json, {"failed"}), unanswered = number_at(json, {"unanswered"});
  if (failed) run.failed = *failed + unanswered.value_or(0);
  run.duration_s = number_at(json, {"seconds_s"});
  run.requests_per_s = number_at(json, {"samples_per_s"});
  run.output_tokens_per_s = positive_at(json, {"tokens_per_s"});
  run.output_tokens = ratio(positive_at(json, {"tokens"}), run.answered);
  run.prompt_tokens = ratio(positive_at(json, {"prompt_tokens"}), run.answered);
  run.latency = own_times(json, "latency_ns");
  run.ttft = own_times(json, "ttft_ns");
  run.tpot = own_times(json, "tpot_ns");
  run.gap = own_times(json, "inter_token_ns");
  run.lateness = own_times(json, "lateness_ns");
  return run;
}

// --- guidellm

RunTimes guidellm_times(const FilePart& metrics, const char* key, double unit) {
  const auto at = [&](const Keys& rest) {
    Keys path = {key, "successful"};
    path.insert(path.end(), rest.begin(), rest.end());
    return positive_at(metrics, path, unit);
  };
  return {at({"mean"}), at({"median"}), at({"percentiles", "p90"}), at({"percentiles", "p95"}),
          at({"percentiles", "p99"})};
}

LoadRun guidellm_run(const FilePart& report, const FilePart& benchmark) {
  LoadRun run;
  run.tool = LoadTool::kGuidellm;
  for (const Keys& path : {Keys{"config", "backend", "model"}, Keys{"benchmarker", "backend", "model"},
                           Keys{"worker", "backend_model"}, Keys{"config", "requests", "model"}}) {
    if (run.model.empty()) run.model = text_at(benchmark, path);
  }
  if (run.model.empty()) run.model = text_at(report, {"args", "model"});
  for (const Keys& path : {Keys{"config", "strategy"}, Keys{"args", "strategy"}, Keys{"scheduler", "strategy"}}) {
    const Json* const found = member_at(benchmark.json, path);
    if (found == nullptr || !run.load.empty()) continue;
    const FilePart strategy{*found, benchmark.odd};
    const std::string type = text_at(strategy, {"type_"});
    const auto rate = positive_at(strategy, {"rate"}), streams = positive_at(strategy, {"streams"});
    run.load = type;
    if (streams && type == "concurrent") run.load = at_once_text(*streams);
    if (rate) run.load = rate_text(*rate);
    if (type == "synchronous") run.load = at_once_text(1);
  }
  const Json empty = Json::object();
  const Json* const found = member_at(benchmark.json, {"metrics"});
  const FilePart metrics{found != nullptr ? *found : empty, benchmark.odd};
  run.answered = number_at(metrics, {"request_totals", "successful"});
  run.failed = number_at(metrics, {"request_totals", "errored"});
  run.duration_s = positive_at(benchmark, {"duration"});
  run.requests_per_s = positive_at(metrics, {"requests_per_second", "successful", "mean"});
  run.output_tokens_per_s = positive_at(metrics, {"output_tokens_per_second", "successful", "mean"});
  run.prompt_tokens = positive_at(metrics, {"prompt_token_count", "successful", "mean"});
  run.output_tokens = positive_at(metrics, {"output_token_count", "successful", "mean"});
  run.latency = guidellm_times(metrics, "request_latency", 1);
  run.ttft = guidellm_times(metrics, "time_to_first_token_ms", kMs);
  run.tpot = guidellm_times(metrics, "inter_token_latency_ms", kMs);
  return run;
}

// --- vLLM and SGLang

RunTimes script_times(const FilePart& json, const std::string& metric) {
  const auto at = [&](const std::string& statistic) {
    const std::string key = statistic + "_" + metric + "_ms";
    return positive_at(json, {key.c_str()}, kMs);
  };
  auto median = at("median");
  if (!median) median = at("p50");
  return {at("mean"), median, at("p90"), at("p95"), at("p99")};
}

LoadRun script_run(const FilePart& json, bool is_sglang) {
  LoadRun run;
  run.tool = is_sglang ? LoadTool::kSglang : LoadTool::kVllm;
  for (const char* const key : {"model_id", "model", "served_model_name"}) {
    if (run.model.empty()) run.model = text_at(json, {key});
  }
  for (const Keys& path : {Keys{"server_info", "model_path"}, Keys{"server_info", "served_model_name"}}) {
    if (run.model.empty()) run.model = text_at(json, path);
  }
  const auto rate = positive_at(json, {"request_rate"}), most = positive_at(json, {"max_concurrency"});
  run.load = rate ? rate_text(*rate) : member_at(json.json, {"request_rate"}) != nullptr ? "all at once" : "";
  if (most && !rate) run.load = at_once_text(*most);
  if (most && rate) run.load += ", at most " + at_once_text(*most);
  run.answered = number_at(json, {"completed"});
  run.failed = number_at(json, {"failed"});
  const auto asked = number_at(json, {"num_prompts"});
  if (!run.failed && asked && run.answered && *asked >= *run.answered) run.failed = *asked - *run.answered;
  run.duration_s = positive_at(json, {"duration"});
  run.requests_per_s = positive_at(json, {"request_throughput"});
  run.output_tokens_per_s = positive_at(json, {"output_throughput"});
  run.prompt_tokens = ratio(positive_at(json, {"total_input_tokens"}), run.answered);
  run.output_tokens = ratio(positive_at(json, {"total_output_tokens"}), run.answered);
  run.latency = script_times(json, is_sglang ? "e2e_latency" : "e2el");
  run.ttft = script_times(json, "ttft");
  run.tpot = script_times(json, "tpot");
  run.gap = script_times(json, "itl");
  return run;
}

// --- AIPerf and genai-perf

double seconds_of_unit(const std::string& unit) {
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  return unit == "s" || unit == "sec" ? 1 : NAN;
}

RunTimes aiperf_times(const FilePart& json, const char* metric) {
  const double unit = seconds_of_unit(text_at(json, {metric, "unit"}));
  const auto at = [&](const char* statistic) { return positive_at(json, {metric, statistic}, unit); };
  return {at("avg"), at("p50"), at("p90"), at("p95"), at("p99")};
}

LoadRun aiperf_run(const FilePart& json) {
  LoadRun run;
  const bool is_aiperf =
      json.json.contains("aiperf_version") || member_at(json.json, {"input_config", "endpoint"}) != nullptr;
  run.tool = is_aiperf ? LoadTool::kAiperf : LoadTool::kGenaiPerf;
  for (const Keys& path : {Keys{"input_config", "endpoint", "model_names"}, Keys{"input_config", "model_names"},
                           Keys{"input_config", "model"}}) {
    if (run.model.empty()) run.model = text_at(json, path);
  }
  for (const Keys& path :
       {Keys{"input_config", "loadgen"}, Keys{"input_config"}, Keys{"input_config", "perf_analyzer", "stimulus"}}) {
    const Json* const found = member_at(json.json, path);
    if (found == nullptr || !run.load.empty()) continue;
    const FilePart load{*found, json.odd};
    if (const auto count = positive_at(load, {"concurrency"})) run.load = at_once_text(*count);
    if (const auto rate = positive_at(load, {"request_rate"})) run.load = rate_text(*rate);
  }
  run.answered = number_at(json, {"request_count", "avg"});
  run.failed = number_at(json, {"error_request_count", "avg"});
  const double duration_unit = seconds_of_unit(text_at(json, {"benchmark_duration", "unit"}));
  run.duration_s = positive_at(json, {"benchmark_duration", "avg"}, duration_unit);
  run.requests_per_s = positive_at(json, {"request_throughput", "avg"});
  run.output_tokens_per_s = positive_at(json, {"output_token_throughput", "avg"});
  run.prompt_tokens = positive_at(json, {"input_sequence_length", "avg"});
  run.output_tokens = positive_at(json, {"output_sequence_length", "avg"});
  run.latency = aiperf_times(json, "request_latency");
  run.ttft = aiperf_times(json, "time_to_first_token");
  run.tpot = aiperf_times(json, "inter_token_latency");
  run.gap = aiperf_times(json, "inter_chunk_latency");
  return run;
}

// --- inference-perf

RunTimes inference_perf_times(const Json* json, const char* key, std::vector<std::string>* odd) {
  if (json == nullptr) return {};
  const auto at = [&](const char* statistic) { return positive_at({*json, odd}, {key, statistic}); };
  return {at("mean"), at("median"), at("p90"), at("p95"), at("p99")};
}

LoadRun inference_perf_run(const FilePart& json) {
  LoadRun run;
  run.tool = LoadTool::kInferencePerf;
  if (const auto rate = positive_at(json, {"load_summary", "requested_rate"})) run.load = rate_text(*rate);
  if (const auto count = positive_at(json, {"load_summary", "concurrency"})) run.load = at_once_text(*count);
  run.answered = number_at(json, {"successes", "count"});
  run.failed = number_at(json, {"failures", "count"});
  run.requests_per_s = positive_at(json, {"successes", "throughput", "requests_per_sec"});
  run.output_tokens_per_s = positive_at(json, {"successes", "throughput", "output_tokens_per_sec"});
  run.duration_s = ratio(run.answered, run.requests_per_s);
  run.prompt_tokens = positive_at(json, {"successes", "prompt_len", "mean"});
  run.output_tokens = positive_at(json, {"successes", "output_len", "mean"});
  const Json* times = member_at(json.json, {"successes", "latency"});
  if (times == nullptr) times = member_at(json.json, {"successes"});  // of early versions
  run.latency = inference_perf_times(times, "request_latency", json.odd);
  run.ttft = inference_perf_times(times, "time_to_first_token", json.odd);
  run.tpot = inference_perf_times(times, "time_per_output_token", json.odd);
  run.gap = inference_perf_times(times, "inter_token_latency", json.odd);
  run.lateness = inference_perf_times(member_at(json.json, {"load_summary"}), "schedule_delay", json.odd);
  return run;
}

// --- files

// Python writes numbers that JSON has no form for; outside of texts NaN becomes null and Infinity "inf".
std::string without_odd_numbers(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text && c == '\\' && i + 1 < text.size()) {
      clean.append(text.substr(i++, 2));
      continue;
    }
    in_text = in_text != (c == '"');
    const auto follows = [&](std::string_view word) { return !in_text && text.substr(i, word.size()) == word; };
    if (follows("NaN")) {
      clean += "null";
      i += 2;
    } else if (follows("-Infinity")) {
      clean += "\"-inf\"";
      i += 8;
    } else if (follows("Infinity")) {
      clean += "\"inf\"";
      i += 7;
    } else {
      clean += c;
    }
  }
  return clean;
}

bool has_figures(const LoadRun& run) {
  for (const RunTimes* times : {&run.latency, &run.ttft, &run.tpot, &run.gap}) {
    if (times->mean_s || times->p50_s) return true;
  }
  return run.requests_per_s || run.output_tokens_per_s;
}

class RunReader {
 public:
  explicit RunReader(const std::string& source) : source_(source) {}

  Status take(const Json& json, const std::string& where) {
    if (json.is_array()) {
      for (const Json& each : json) {
        if (Status taken = take_object(each, where); !taken) return taken;
      }
      return {};
    }
    return take_object(json, where);
  }

  Result<std::vector<LoadRun>> finish(std::vector<std::string>* notes) {
    if (runs_.empty() && without_figures_) return *without_figures_;
    if (runs_.empty()) return unknown("a file without results", source_);
    if (count_ > 1) {
      for (size_t i = 0; i < runs_.size(); ++i) runs_[i].source += "#" + std::to_string(places_[i]);
    }
    if (count_ > runs_.size() && notes != nullptr) {
      notes->push_back(source_ + ": " + std::to_string(count_ - runs_.size()) + " of its " + std::to_string(count_) +
                       " runs left out, without a rate or a time");
    }
    if (!odd_.empty() && notes != nullptr) {
      const std::vector<std::string> shown(odd_.begin(), odd_.begin() + std::min(odd_.size(), kShownKeys));
      notes->push_back(source_ + ": left out what is no number of 0 or more: " + join(shown, ", ") +
                       (odd_.size() > kShownKeys ? ", ..." : ""));
    }
    return std::move(runs_);
  }

 private:
  static Error unknown(const std::string& what, const std::string& where) {
    return {"unknown-results", what, where,
            "results of perfcast bench run --json, guidellm, vLLM's or SGLang's benchmark scripts, AIPerf, genai-perf "
            "or inference-perf"};
  }

  Status add(LoadRun run, const std::string& where) {
    run.source = source_;
    ++count_;
    if (!has_figures(run)) {
      if (!without_figures_) {
        without_figures_ = Error{"no-figures", "a run of " + to_string(run.tool) + " without a rate or a time", where,
                                 "a run with at least one answer"};
      }
      return {};
    }
    if (runs_.size() == kMostRuns) return Error{"too-many-runs", "more than 10,000 runs", source_, "fewer in a file"};
    runs_.push_back(std::move(run));
    places_.push_back(count_);
    return {};
  }

  Status take_own(const Json& json, const std::string& schema, const std::string& where) {
    if (schema == "perfcast.bench/1") return add(own_run({json, &odd_}), where);
    const bool is_sweep = schema == "perfcast.bench.sweep/1";
    if (!is_sweep && schema != "perfcast.bench.all/1") {
      return unknown("'" + printable(schema) + "' is no result of bench run", where);
    }
    const Json* const runs = member_at(json, {is_sweep ? "points" : "runs"});
    if (runs == nullptr || !runs->is_array()) return unknown("a result without runs", where);
    const bool by_rate = text_at({json, &odd_}, {"by"}) == "rate";
    for (const Json& each : *runs) {
      LoadRun run = own_run({each, &odd_});
      // With turns, what a point's scenario tells is no load.
      if (const auto load = number_at({each, &odd_}, {"load"}); is_sweep && load) {
        run.load = by_rate ? rate_text(*load) : at_once_text(*load);
      }
      if (Status added = add(std::move(run), where); !added) return added;
    }
    return {};
  }

  Status take_object(const Json& json, const std::string& where) {
    if (!json.is_object()) return unknown("no JSON object", where);
    if (const std::string schema = text_at({json, &odd_}, {"schema"}); schema.starts_with("perfcast.")) {
      return take_own(json, schema, where);
    }
    if (const Json* const benchmarks = member_at(json, {"benchmarks"}); benchmarks && benchmarks->is_array()) {
      for (const Json& benchmark : *benchmarks) {
        if (Status added = add(guidellm_run({json, &odd_}, {benchmark, &odd_}), where); !added) return added;
      }
      return {};
    }
    if (json.contains("load_summary") && json.contains("successes"))
      return add(inference_perf_run({json, &odd_}), where);
    for (const char* const metric : {"request_throughput", "request_latency", "time_to_first_token"}) {
      if (member_at(json, {metric, "avg"}) != nullptr) return add(aiperf_run({json, &odd_}), where);
    }
    if (json.contains("completed") && json.contains("request_throughput")) {
      const bool is_sglang = json.contains("mean_e2e_latency_ms") || json.contains("total_output_tokens_retokenized");
      return add(script_run({json, &odd_}, is_sglang), where);
    }
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) {
      if (keys.size() < kShownKeys) keys.push_back(printable(key));
    }
    return unknown("not the results of a tool that is known here: its members are " + join(keys, ", ") +
                       (json.size() > kShownKeys ? ", ..." : ""),
                   where);
  }

  const std::string& source_;
  std::vector<LoadRun> runs_;
  std::vector<size_t> places_;            // of these runs in the file, from 1
  size_t count_ = 0;                      // of all runs
  std::vector<std::string> odd_;          // members that are no figures, each once
  std::optional<Error> without_figures_;  // the first
};

}  // namespace

std::string to_string(LoadTool tool) {
  static constexpr const char* kNames[] = {"perfcast", "guidellm",   "vLLM",          "SGLang",
                                           "AIPerf",   "genai-perf", "inference-perf"};
  return kNames[static_cast<size_t>(tool)];
}

Result<std::vector<LoadRun>> read_load_runs(std::string_view text, const std::string& source,
                                            std::vector<std::string>* notes) {
  const std::string clean = without_odd_numbers(text);
  RunReader reader(source);
  const auto whole = parse_json(clean, source);
  const std::string_view trimmed = trim(clean);
  const bool has_lines = trimmed.find('\n') != std::string_view::npos;
  Status taken = whole ? reader.take(*whole, source) : Status(whole.error());
  if (!whole && has_lines) {
    // A document spread over lines has its own error; that of its first line says nothing.
    const auto first = parse_json(trimmed.substr(0, trimmed.find('\n')), source);
    if (first && first->is_object()) {
      taken = for_each_json_line(clean, source,
                                 [&](const Json& json, const std::string& where) { return reader.take(json, where); });
    }
  }
  if (!taken) {
    Error error = taken.error();
    // What `bench run -o FILE` writes without --json.
    if (!trimmed.starts_with('{') && !trimmed.starts_with('[')) {
      error.expected = "JSON: of perfcast's own runs, bench run --json -o FILE";
    }
    return error;
  }
  return reader.finish(notes);
}

RunDefinitions definitions_of(LoadTool tool) {
  static const char* const kSent = "sent";
  static const char* const kEach = "of each answer";
  static const char* const kBetween = "interpolated";
  switch (tool) {
    case LoadTool::kPerfcast:
      return {"due (server, trace); else sent", "server, else pieces", "tpot_ns: of each answer",
              "inter_token_ns: from piece to piece", "a measured value"};
    case LoadTool::kGuidellm:
      return {kSent, "server, else pieces",
              "inter_token_latency_ms: of each answer, weighted by its tokens. Its time_per_output_token_ms holds the "
              "first token and is not shown",
              "not recorded", "a measured value, weighted as the mean is"};
    case LoadTool::kVllm:
      return {kSent, "server, else its tokenizer", std::string("tpot: ") + kEach, "itl: from piece to piece", kBetween};
    case LoadTool::kSglang:
      return {kSent, "server, else as asked for", std::string("tpot: ") + kEach,
              "itl: from piece to piece; with its own interface divided among the tokens of a piece", kBetween};
    case LoadTool::kAiperf:
      return {kSent, "its tokenizer", std::string("inter_token_latency: ") + kEach,
              "inter_chunk_latency: from piece to piece", kBetween};
    case LoadTool::kGenaiPerf:
      return {kSent, "its tokenizer", std::string("inter_token_latency: ") + kEach, "not recorded", kBetween};
    case LoadTool::kInferencePerf:
      break;
  }
  return {"sent; schedule_delay comes on top", "its tokenizer", "time_per_output_token: of each answer, by its pieces",
          "inter_token_latency: from piece to piece", kBetween};
}

}  // namespace perfcast::ai
