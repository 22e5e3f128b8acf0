// Whole deployments of three engines, simulated, beside measured ones: `perfcast_end_to_end_reproduction FOLDER
// [--json]`. FOLDER holds aiconfigurator/. No constant of an engine was fitted to these points: vLLM's are of single
// streams on other devices, and the other engines borrow them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ai/engine/engine_bundle.h"
#include "ai/latency/model/device_catalogue.h"
#include "ai/serving/serving_forecast.h"
#include "base/statistics.h"
#include "studies/output.h"
#include "studies/serving/end_to_end_points.h"

namespace perfcast::ai::serving_study {
namespace {

struct Figure {
  const char* name;
  double EndToEndPoint::*measured;
  Percentiles ServingSummary::*simulated;
};
constexpr Figure kFigures[] = {{"further token", &EndToEndPoint::further_s, &ServingSummary::further_token},
                               {"first token", &EndToEndPoint::first_s, &ServingSummary::first_token}};
constexpr std::pair<const char*, const char*> kSystems[] = {
    {"h100_sxm", "h100"}, {"b200_sxm", "b200"}, {"gb200", "gb200"}};

struct Simulated {
  EndToEndPoint point;
  ServingSummary forecast, slow, fast;
};

class Simulator {
 public:
  Simulator(const EngineBundle& bundle, const DeviceCatalogue& devices) : bundle_(bundle), devices_(devices) {}

  Result<Simulated> simulate(const EndToEndPoint& point) const {
    auto config = model_of(point);
    if (!config) return config.error();
    const auto profile = bundle_.find(point.engine);
    if (!profile) return profile.error();
    ServingRequestFor request;
    request.profile = std::make_shared<EngineProfile>(**profile);
    for (const auto& [system, name] : kSystems) {
      if (point.system != system) continue;
      const auto device = find_device(devices_, name);
      if (!device) return device.error();
      request.devices.push_back({**device, {}});
    }
    if (request.devices.empty()) return Error{"unknown-device", point.system + " is not known", "", ""};
    if (config->stored_weight_bytes) {
      const auto count = count_parameters(*config);
      if (!count) return count.error();
      request.formats.weight_bits_per_value = *config->stored_weight_bytes * 8 / static_cast<double>(count->total);
      request.formats.activations = config->stored_activations.value_or(Precision::kBf16);
    }
    request.formats.tensor_parallel = point.tensor_parallel;
    // Groups of a mixture of experts share its experts; those of a dense model are engines of their own.
    (config->has_moe() ? request.data_parallel : request.replicas) = point.groups;
    request.expert_parallel = config->has_moe() && point.groups > 1;
    request.receive_steps = receive_steps_of(point);
    request.config = *std::move(config);
    ServingLoad load;
    load.concurrency = point.clients * point.groups;
    load.trace = [&] { return trace_of(point); };
    request.loads.push_back(std::move(load));
    const auto result = forecast_serving(std::move(request));
    if (!result) return result.error();
    const ServingRow& row = result->rows.front();
    return Simulated{point, row.forecast, row.slow, row.fast};
  }

 private:
  const EngineBundle& bundle_;
  const DeviceCatalogue& devices_;
};

struct Score {
  std::string engine, part, what;
  int64_t n = 0;
  double mean_error = kUnknown, median_error = kUnknown, bias = kUnknown, coverage = kUnknown;
};

Score score_of(const std::pair<std::string, std::string>& group, const std::vector<const Simulated*>& in,
               const Figure& figure) {
  std::vector<double> errors, ratios;
  int64_t held = 0;
  for (const Simulated* each : in) {
    const double measured = each->point.*figure.measured;
    const double ratio = (each->forecast.*figure.simulated).mean / measured - 1;
    errors.push_back(std::abs(ratio));
    ratios.push_back(ratio);
    held += (each->fast.*figure.simulated).mean <= measured && measured <= (each->slow.*figure.simulated).mean ? 1 : 0;
  }
  return {group.first,  group.second,   figure.name,    static_cast<int64_t>(in.size()),
          mean(errors), median(errors), median(ratios), static_cast<double>(held) / static_cast<double>(in.size())};
}

std::vector<Score> scores_of(const std::vector<Simulated>& all) {
  std::map<std::pair<std::string, std::string>, std::vector<const Simulated*>> groups;
  for (const Simulated& each : all) {
    const EndToEndPoint& point = each.point;
    groups[{point.engine, " all"}].push_back(&each);
    groups[{point.engine, fmt::format("{} {} {}", point.system, point.model, point.precision)}].push_back(&each);
  }
  std::vector<Score> scores;
  for (const auto& [group, in] : groups) {
    const auto named = std::pair(group.first, group.second == " all" ? "all" : group.second);
    for (const Figure& figure : kFigures) scores.push_back(score_of(named, in, figure));
  }
  return scores;
}

ReportTable scores_table(const std::vector<Score>& scores) {
  using enum Quantity;
  return table_of<Score>(
      "", scores,
      {{"engine", "engine", kText, [](const Score& score) { return score.engine; }},
       {"part", "part", kText, [](const Score& score) { return score.part; }},
       {"figure", "figure", kText, [](const Score& score) { return score.what; }},
       {"n", "n", kCount, [](const Score& score) { return score.n; }},
       {"mean_error", "mean error", kShare, [](const Score& score) { return score.mean_error; }, 1},
       {"median_error", "median error", kShare, [](const Score& score) { return score.median_error; }, 1},
       {"bias", "bias", kShare, [](const Score& score) { return score.bias; }, 1},
       {"coverage_90", "90% interval holds", kShare, [](const Score& score) { return score.coverage; }, 1}});
}

Status reproduce(const std::string& folder, bool as_json) {
  auto read = read_end_to_end(folder + "/aiconfigurator/end_to_end.csv.gz");
  if (!read) return read.error();
  const auto devices = read_device_catalogue(PERFCAST_SOURCE_DIR "/data/devices/devices.json");
  if (!devices) return devices.error();
  const auto bundle = read_engine_bundle(PERFCAST_SOURCE_DIR "/data/bundles/engines.json");
  if (!bundle) return bundle.error();
  const Simulator simulator(*bundle, *devices);
  std::vector<Simulated> simulated;
  std::map<std::string, int64_t> failed;
  for (const EndToEndPoint& point : read->points) {
    auto one = simulator.simulate(point);
    if (one) {
      simulated.push_back(*std::move(one));
    } else {
      ++failed[one.error().message];
    }
  }
  StudyOutput output("end-to-end", as_json);
  output.note(fmt::format("{} settings simulated; none of them was fitted", simulated.size()));
  for (const auto& [reason, rows] : read->left_out) output.note(fmt::format("left out: {} rows: {}", rows, reason));
  for (const auto& [reason, points] : failed) output.note(fmt::format("left out: {} settings: {}", points, reason));
  output.add("scores", scores_table(scores_of(simulated)));
  output.finish();
  return {};
}

}  // namespace
}  // namespace perfcast::ai::serving_study

int main(int argc, char** argv) try {
  std::string folder;
  bool as_json = false;
  CLI::App app("Simulates deployments of serving engines that were measured end to end");
  app.add_option("folder", folder, "holds aiconfigurator/")->required();
  app.add_flag("--json", as_json, "for programs");
  CLI11_PARSE(app, argc, argv);
  const perfcast::Status done = perfcast::ai::serving_study::reproduce(folder, as_json);
  if (!done) fmt::print(stderr, "{}\n", perfcast::to_text(done.error()));
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  return 1;
}
