// The engine of `perfcast bench serve` without its connections, on a clock that counts the CPU time of its steps alone:
// what else runs on a busy machine doesn't count. Beside it the forecast of the same requests from calibrated steps, at
// shares of the capacity. tools/bench-serving has the whole server by the clock on the wall.
//
//   perfcast_engine_clock [--model NAME] [--int8] [--requests N] [--shares 50,85,95] [--rounds N]

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "ai/serving/drawn_trace.h"
#include "ai/serving/measured_steps.h"
#include "ai/serving/serve.h"
#include "ai/serving/serving_summary.h"
#include "ai/transformer/generation.h"
#include "ai/transformer/transformer_files.h"
#include "ai/transformer_forecast/step_calibration.h"

namespace perfcast::ai {
namespace {

struct Settings {
  std::string model = "perfcast-15m";
  bool int8 = false;
  int64_t requests = 400, rounds = 5;
  std::vector<double> shares = {50, 85, 95};
};

// The medians and 95% of first tokens and of times per further token, in this order.
std::vector<double> figures_of(const ServingTrace& trace, const std::vector<RequestOutcome>& outcomes) {
  std::vector<double> first, further;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    first.push_back(outcomes[i].first_token_s - trace.requests[i].arrival_s);
    const auto output = static_cast<double>(trace.requests[i].output_tokens);
    if (output > 1) further.push_back((outcomes[i].last_token_s - outcomes[i].first_token_s) / (output - 1));
  }
  const Percentiles a = percentiles_of(first), b = percentiles_of(further);
  return {a.p50, a.p95, b.p50, b.p95};
}

// Requests as they come on the clock of steps; `pause` is called so often, evenly over the tokens.
std::vector<RequestOutcome> run(Transformer& transformer, const ServingTrace& trace, int64_t pauses,
                                const std::function<void()>& pause, double& end_s) {
  GenerationQueue queue(transformer, {.chunked_prefill = true, .step_tokens = kPassRows});
  int64_t paused = 0, tokens = 0, all_tokens = 0;
  for (const ServingRequest& request : trace.requests) all_tokens += request.output_tokens;
  std::vector<RequestOutcome> outcomes(trace.requests.size());
  const auto vocab = static_cast<size_t>(transformer.model().config.vocab);
  double now_s = 0;
  size_t next = 0;
  while (next < trace.requests.size() || !queue.is_idle()) {
    if (paused < pauses && paused * all_tokens <= tokens * pauses) {
      ++paused;
      pause();
    }
    if (queue.is_idle()) now_s = std::max(now_s, trace.requests[next].arrival_s);
    for (; next < trace.requests.size() && trace.requests[next].arrival_s <= now_s; ++next) {
      GenerationRequest request;
      request.new_tokens = trace.requests[next].output_tokens;
      for (int64_t i = 0; i < trace.requests[next].prompt_tokens; ++i) {
        request.prompt.push_back(static_cast<int32_t>((static_cast<size_t>(i) * 7919 + next * 31) % vocab));
      }
      if (!queue.add(std::move(request))) std::exit(1);
    }
    std::vector<std::pair<size_t, int64_t>> made;
    const double begin_s = seconds_now(StepClock::kThread);
    if (!queue.step([&made](size_t number, int64_t index, int32_t) {
          made.emplace_back(number, index);
          return true;
        })) {
      std::exit(1);
    }
    now_s += seconds_now(StepClock::kThread) - begin_s;
    tokens += static_cast<int64_t>(made.size());
    for (const auto& [number, index] : made) {
      if (index == 0) outcomes[number].first_token_s = now_s;
      outcomes[number].last_token_s = now_s;
    }
  }
  end_s = now_s;
  return outcomes;
}

int compare(const Settings& settings) {
  TransformerOptions with;
  with.precision = settings.int8 ? Precision::kInt8 : Precision::kFp32;
  with.slots = 8;
  auto served = open_transformer(settings.model, 1, with), calibrated = open_transformer(settings.model, 1, with);
  if (!served || !calibrated || !served->transformer.prepare(kPassRows)) return 1;
  TraceShape shape;
  shape.requests = settings.requests;
  shape.prompt_tokens = 96;
  shape.output_tokens = 48;
  shape.log_spread = 0.5;
  ServingTrace trace = draw_trace(shape);
  double capacity = 0;
  std::vector<double> shares = {0};  // first all at once
  shares.insert(shares.end(), settings.shares.begin(), settings.shares.end());
  const char* const names[] = {"first token, median", "first token, 95%", "per token, median", "per token, 95%"};
  for (const double share : shares) {
    if (share > 0) draw_arrivals(trace, capacity * share / 100, 1, 7);
    StepCalibration calibration(calibrated->transformer, kPassRows, 1);
    double end_s = 0;
    const auto outcomes = run(
        served->transformer, trace, settings.rounds,
        [&calibration] {
          if (!calibration.run_round()) std::exit(1);
        },
        end_s);
    const MeasuredSteps steps = calibration.fit();
    ServeOptions options;
    options.limits = steps.limits;
    const auto simulated = serve(trace, options, MeasuredStepTime(steps));
    if (!simulated) return 1;
    if (share == 0) {
      capacity = static_cast<double>(settings.requests) / end_s;
      fmt::print("{}{}: capacity {:.2f} requests/s, forecast {:.2f}\n", settings.model, settings.int8 ? " int8" : "",
                 capacity, static_cast<double>(settings.requests) / simulated->end_s);
      continue;
    }
    const auto measured = figures_of(trace, outcomes), forecast = figures_of(trace, simulated->outcomes);
    double largest = 0;
    for (size_t i = 0; i < measured.size(); ++i) {
      const double ratio = forecast[i] / measured[i];
      fmt::print("{:4.0f}%  {:20} {:8.2f} ms {:8.2f} ms {:6.3f}\n", share, names[i], 1e3 * forecast[i],
                 1e3 * measured[i], ratio);
      largest = std::max(largest, std::abs(ratio - 1));
    }
    fmt::print("largest error at {:g}%: {:.1f}%\n", share, 100 * largest);
  }
  return 0;
}

}  // namespace
}  // namespace perfcast::ai

int main(int argc, char** argv) {
  perfcast::ai::Settings settings;
  CLI::App app;
  app.add_option("--model", settings.model);
  app.add_flag("--int8", settings.int8);
  app.add_option("--requests", settings.requests);
  app.add_option("--rounds", settings.rounds);
  app.add_option("--shares", settings.shares)->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  return perfcast::ai::compare(settings);
}
