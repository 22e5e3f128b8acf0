// Simulated services beside measured ones: vLLM's points at rates and at full throughput, each device left out of the
// fit, and logs of whole loads: `perfcast_serving_reproduction FOLDER [--json]`. FOLDER holds vllm_serving/,
// sparecores/ and serving_logs/.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ai/engine/engine_bundle.h"
#include "ai/engine/engine_fit.h"
#include "ai/latency/model/device_catalogue.h"
#include "ai/llm/model_catalogue.h"
#include "ai/serving/drawn_trace.h"
#include "ai/serving/engine_step_time.h"
#include "ai/serving/serving_summary.h"
#include "ai/serving/serving_trace.h"
#include "base/file.h"
#include "base/json.h"
#include "base/statistics.h"
#include "studies/output.h"
#include "studies/serving/client_load.h"
#include "studies/serving/load_scores.h"

namespace perfcast::ai::serving_study {
namespace {

constexpr const char* kOurs = "perfcast";
constexpr const char* kAlone = "a single stream's times";
constexpr const char* kFloor = "noise floor: other servers";

struct Point {
  EngineRow row;  // of the load
  PointStrategy strategy;
  double rate_per_s, concurrency, most_concurrency, seconds;
  Delivered measured, forecast, alone, other;
  Delivered slow, fast;  // the ends of the forecast's 90% intervals, as llm serve-sim has them
  std::string setting() const {
    return fmt::format("{}/{}/{}/{}/{}", row.device_name, row.model_name, row.work.request.prompt_tokens,
                       row.work.request.tensor_parallel, static_cast<int>(strategy));
  }
};

std::vector<Point> points_of(const VllmPoints& all, const DeviceCatalogue& devices, const HostLevels& hosts) {
  std::vector<Point> points;
  for (const VllmPoint& point : all.points) {
    if (!point.on_gpu || point.strategy == PointStrategy::kSynchronous) continue;
    if (!(point.most_concurrency >= 1) || !(point.seconds > 0)) continue;
    if (point.strategy == PointStrategy::kConstant && !(point.rate_per_s > 0)) continue;
    EngineRows joined = engine_rows({point}, devices, hosts);
    if (joined.rows.size() != 1) continue;
    points.push_back({joined.rows.front(),
                      point.strategy,
                      point.rate_per_s,
                      point.concurrency,
                      point.most_concurrency,
                      point.seconds,
                      {point.output_per_s, point.further_s, point.first_s, point.first_p95_s},
                      {},
                      {},
                      {},
                      {},
                      {}});
  }
  return points;
}

ClientLoad load_of(const Point& point) {
  const EngineRequest& sizes = point.row.work.request;
  return {.strategy = point.strategy,
          .rate_per_s = point.rate_per_s,
          .most_concurrency = point.most_concurrency,
          .seconds = point.seconds,
          .prompt_tokens = sizes.prompt_tokens,
          .output_tokens = sizes.output_tokens,
          .provider = point.row.server.substr(0, point.row.server.find('/'))};
}

// error: half widths of the engine's 90% interval by which all its times are longer.
Delivered simulate(const EngineProfile& profile, const Point& point, double error) {
  auto limits = default_limits(profile, point.row.work, point.row.device);
  if (!limits) return {};
  ServeOptions options;
  options.limits = *limits;
  const auto widths = forecast_engine(profile, point.row.work, point.row.device, point.row.host);
  if (!widths) return {};
  const double token = widths->token_log_half_width, first = widths->first_log_half_width;
  const StepScale scale{std::exp(error * token), std::exp(error * std::max(token, first))};
  options.front_end = front_end_time(profile, point.row.host, scale);
  options.most_in_flight = static_cast<int64_t>(point.most_concurrency);
  options.most_s = point.seconds;
  const EngineStepTime times(profile, point.row.work, point.row.device, point.row.host, scale);
  const ClientLoad load = load_of(point);
  const auto run = serve(client_trace(load), options, times);
  if (!run) return {};
  return delivered_of(*run, load);
}

// The end of an interval, moved as llm serve-sim moves it.
Delivered moved(const Delivered& forecast, Delivered end, const ServiceRatios& ratios) {
  end.tokens_per_s = moved_end(forecast.tokens_per_s, end.tokens_per_s, ratios.token);
  end.further_s = moved_end(forecast.further_s, end.further_s, ratios.token);
  end.first_s = moved_end(forecast.first_s, end.first_s, ratios.first);
  end.first_p95_s = moved_end(forecast.first_p95_s, end.first_p95_s, ratios.first);
  return end;
}

// As if each request were alone: what was to be had without a simulation.
Delivered alone(const EngineProfile& profile, const Point& point) {
  const EngineRowForecast one = forecast_row(profile, point.row);
  const double output = static_cast<double>(point.row.work.request.output_tokens);
  const double request_s = one.first_s + (output - 1) * one.further_s;
  const double per_s = point.strategy == PointStrategy::kConstant ? point.rate_per_s : point.concurrency / request_s;
  return {per_s * output, one.further_s, one.first_s, one.first_s};
}

// Medians of other servers in the same setting, at the same share of their load: constant rates lie elsewhere, so
// full throughput alone.
void set_others(std::vector<Point>& points) {
  for (Point& point : points) {
    if (point.strategy != PointStrategy::kThroughput) continue;
    for (const LoadFigure& figure : kLoadFigures) {
      std::vector<double> others;
      for (const Point& other : points) {
        if (other.setting() == point.setting() && other.row.server != point.row.server) {
          others.push_back(other.measured.*figure.member);
        }
      }
      point.other.*figure.member = median_of_known(others);
    }
  }
}

LoadScore score_of(const std::vector<const Point*>& points, const char* load, const LoadFigure& figure,
                   const std::string& part, const char* predictor, Delivered Point::*forecast) {
  std::vector<double> ratios;
  double held = 0;
  for (const Point* point : points) {
    const double measured = point->measured.*figure.member, slow = point->slow.*figure.member,
                 fast = point->fast.*figure.member;
    ratios.push_back(point->*forecast.*figure.member / measured);
    held += measured >= std::min(slow, fast) && measured <= std::max(slow, fast) ? 1 : 0;
  }
  LoadScore score = load_score(load, figure, part, predictor, ratios);
  if (predictor == kOurs) score.coverage_90 = held / static_cast<double>(score.n);
  return score;
}

std::vector<LoadScore> scores_of(const std::vector<Point>& points) {
  std::vector<LoadScore> scores;
  for (const auto& [strategy, load] :
       {std::pair{PointStrategy::kConstant, "constant rates"}, {PointStrategy::kThroughput, "full throughput"}}) {
    std::map<std::string, std::vector<const Point*>> parts;
    for (const Point& point : points) {
      if (point.strategy != strategy) continue;
      parts[" all"].push_back(&point);
      parts[point.row.device_name].push_back(&point);
      parts[point.row.model_name].push_back(&point);
    }
    for (const auto& [part, in] : parts) {
      const std::string name = part == " all" ? "all" : part;
      for (const LoadFigure& figure : kLoadFigures) {
        scores.push_back(score_of(in, load, figure, name, kOurs, &Point::forecast));
        if (name != "all") continue;
        scores.push_back(score_of(in, load, figure, name, kAlone, &Point::alone));
        if (strategy == PointStrategy::kThroughput) {
          scores.push_back(score_of(in, load, figure, name, kFloor, &Point::other));
        }
      }
    }
  }
  return scores;
}

// One log of a whole load.
struct LogScore {
  std::string log, what;
  double measured_s = kUnknown, forecast_s = kUnknown;
};

struct Log {
  const char *folder, *model;
  int64_t engines;  // that share its experts
};
constexpr Log kLogs[] = {{"RTXPRO6000_Llama-3.1-8B", "llama3.1-8b", 1},
                         {"RTXPRO6000_Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b", 2}};

Status add_log(const std::string& folder, const Log& log, const EngineProfile& profile, const DeviceFacts& device,
               std::vector<LogScore>& scores) {
  const std::string path = folder + "/serving_logs/" + log.folder + "/requests.jsonl";
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto read = read_serving_trace(*text, path);
  if (!read) return read.error();
  double ttft = 0, tpot = 0, latency = 0, count = 0;
  const Status measured = for_each_json_line(*text, path, [&](const Json& json, const std::string& where) -> Status {
    JsonReader in(json, where);
    const double queued = in.number("queued_ts"), first = in.number("first_token_ts"),
                 last = in.number("last_token_ts");
    const double output = in.number("output_toks");
    ttft += first - queued;
    latency += last - queued;
    tpot += (last - first) / std::max(1.0, output - 1);
    count += 1;
    return in.finish();
  });
  if (!measured) return measured;
  const auto config = built_in_model(log.model);
  if (!config) return Error{"no-model", log.model, "", ""};
  EngineRequest request;
  request.prompt_tokens = 1024;
  request.output_tokens = 512;
  request.sampler = sampler_defaults(*config);
  request.expert_ranks = log.engines;
  const auto work = engine_work(*config, request);
  if (!work) return work.error();
  const auto limits = default_limits(profile, *work, device);
  if (!limits) return limits.error();
  ServeOptions options;
  options.limits = *limits;
  options.limits.max_sequences = 128;
  options.limits.step_tokens = 2048;
  options.data_parallel = log.engines;
  const EngineHost host;  // not stated; times count from the engine's queue, so without a front end
  const EngineStepTime times(profile, *work, device, host);
  const auto run = serve(read->trace, options, times);
  if (!run) return run.error();
  const ServingSummary summary = summarise(read->trace, options, *run, {});
  scores.push_back({log.folder, "further token, mean", tpot / count, summary.further_token.mean});
  scores.push_back({log.folder, "request, mean", latency / count, summary.whole.mean});
  scores.push_back({log.folder, "first token, mean", ttft / count, summary.first_token.mean});
  return {};
}

ReportTable logs_table(const std::vector<LogScore>& scores) {
  using enum Quantity;
  return table_of<LogScore>(
      "", scores,
      {{"log", "log", kText, [](const LogScore& score) { return score.log; }},
       {"figure", "figure", kText, [](const LogScore& score) { return score.what; }},
       {"measured_s", "measured", kSpreadSeconds, [](const LogScore& score) { return score.measured_s; }},
       {"forecast_s", "forecast", kSpreadSeconds, [](const LogScore& score) { return score.forecast_s; }},
       {"error", "error", kShare, [](const LogScore& score) { return score.forecast_s / score.measured_s - 1; }, 1}});
}

Status reproduce(const std::string& folder, bool as_json) {
  const auto all = read_vllm_points(folder + "/vllm_serving");
  if (!all) return all.error();
  const auto hosts = HostLevels::read(folder + "/sparecores");
  if (!hosts) return hosts.error();
  const auto devices = read_device_catalogue(PERFCAST_SOURCE_DIR "/data/devices/devices.json");
  if (!devices) return devices.error();
  const auto bundle = read_engine_bundle(PERFCAST_SOURCE_DIR "/data/bundles/engines.json");
  if (!bundle) return bundle.error();
  const auto shipped = bundle->find(kDefaultEngine);
  if (!shipped) return shipped.error();
  const EngineRows streams = engine_rows(single_streams(*all), *devices, *hosts);
  std::vector<Point> points = points_of(*all, *devices, *hosts);
  std::set<std::string> names;
  for (const Point& point : points) names.insert(point.row.device_name);
  for (const std::string& name : names) {
    std::vector<bool> use(streams.rows.size());
    for (size_t i = 0; i < use.size(); ++i) use[i] = streams.rows[i].device_name != name;
    auto profile = fit_engine(vllm_rules(), streams.rows, use);
    if (!profile) return profile.error();
    // Widths come from devices that were left out in turn already.
    profile->spread = (*shipped)->spread;
    for (Point& point : points) {
      if (point.row.device_name != name) continue;
      const ServiceRatios ratios = service_ratios(**shipped, point.row.work);
      point.forecast = simulate(*profile, point, 0);
      point.slow = moved(point.forecast, simulate(*profile, point, 1), ratios);
      point.fast = moved(point.forecast, simulate(*profile, point, -1), ratios);
      point.alone = alone(*profile, point);
    }
  }
  set_others(points);
  StudyOutput output("serving", as_json);
  output.note(
      fmt::format("{} points at constant rates and full throughput; each device left out of the fit of single "
                  "streams; the two constants of steps with several requests are of all devices",
                  points.size()));
  output.add("scores", load_scores_table(scores_of(points)));
  const auto device = find_device(*devices, "rtx-pro-6000");
  if (!device) return device.error();
  std::vector<LogScore> logs;
  for (const Log& log : kLogs) {
    if (Status added = add_log(folder, log, **shipped, **device, logs); !added) return added;
  }
  output.add("logs", logs_table(logs));
  output.finish();
  return {};
}

}  // namespace
}  // namespace perfcast::ai::serving_study

int main(int argc, char** argv) try {
  std::string folder;
  bool as_json = false;
  CLI::App app("Simulates services of vLLM that were measured, each device left out");
  app.add_option("folder", folder, "holds vllm_serving/, sparecores/ and serving_logs/")->required();
  app.add_flag("--json", as_json, "for programs");
  CLI11_PARSE(app, argc, argv);
  const perfcast::Status done = perfcast::ai::serving_study::reproduce(folder, as_json);
  if (!done) fmt::print(stderr, "{}\n", perfcast::to_text(done.error()));
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  return 1;
}
