#include "ai/transformer_forecast/transformer_comparison.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "ai/transformer/transformer_files.h"
#include "ai/transformer_forecast/host_calibration.h"
#include "base/file.h"
#include "base/statistics.h"
#include "base/text.h"
#include "machine/meter/energy_session.h"

namespace perfcast::ai {
namespace {

constexpr double kStepBudget_s = 0.2;
constexpr int64_t kMostRounds = 100;

struct Subject {
  OpenedTransformer opened;
  std::vector<StepMeasurement> steps;
};

// Of this process; not-a-number where the system doesn't tell.
double resident_bytes() {
  const auto text = read_file("/proc/self/statm");
  if (!text) return kUnknown;
  const auto parts = split(trim(*text), ' ');
  if (parts.size() < 2) return kUnknown;
  return std::strtod(parts[1].c_str(), nullptr) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

Status check_request(const ComparisonRequest& request) {
  const auto refuse = [](const std::string& option, const std::string& expected) {
    return usage_error("bad-usage", option + " can't be so", option, expected);
  };
  if (request.models.empty()) return refuse("models", "one model at least");
  if (request.batches.empty()) return refuse("batches", "one at least");
  for (const int64_t batch : request.batches) {
    if (batch < 1 || batch > kMostComparedBatch) return refuse("batches", "1 to " + std::to_string(kMostComparedBatch));
  }
  if (request.prompt_tokens < 1) return refuse("prompt-tokens", "1 and more");
  if (request.new_tokens < 1) return refuse("new-tokens", "1 and more");
  if (request.rounds < 1 || request.rounds > kMostRounds)
    return refuse("rounds", "1 to " + std::to_string(kMostRounds));
  return {};
}

ComparedStep compared(const StepPoint& point, const StepForecast& forecast, const StepTimes& times) {
  ComparedStep step;
  step.point = point;
  step.forecast = forecast;
  step.measured_s = times.seconds;
  step.runs = times.runs;
  step.wall_ratio = times.wall_ratio;
  step.halves_difference_ratio = times.halves_difference_ratio;
  step.operators.reserve(forecast.operators.size());
  for (const OperatorForecast& each : forecast.operators) {
    const auto found = times.operators.find(each.name);
    step.operators.push_back({each, std::nullopt});
    if (found != times.operators.end()) step.operators.back().measured_s = found->second;
  }
  return step;
}

Result<double> forecast_memory(const Transformer& transformer, const ComparisonRequest& request) {
  const int64_t batch = *std::max_element(request.batches.begin(), request.batches.end());
  double most = 0;
  for (const LlmPhase phase : {LlmPhase::kPrefill, LlmPhase::kDecode}) {
    const int64_t tokens =
        phase == LlmPhase::kPrefill ? request.prompt_tokens : request.prompt_tokens + request.new_tokens;
    const LlmWorkload workload = transformer.workload(phase, batch, tokens);
    OperatorGraph graph;
    if (auto status = build_operators(transformer.model().config, workload, graph); !status) return status.error();
    const auto totals = total_operators(transformer.model().config, workload, graph);
    if (!totals) return totals.error();
    most = std::max(most, totals->memory_bytes);
  }
  return most;
}

class ComparisonRun {
 public:
  ComparisonRun(const ComparisonRequest& request, const std::function<void(const std::string&)>& progress)
      : request_(request), progress_(progress) {
    comparison_.request = request;
  }

  Result<TransformerComparison> run() {
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string& model : request_.models) {
      if (auto status = open(model); !status) return status.error();
    }
    const auto most_weights = most_weights_of_step();
    if (!most_weights) return most_weights.error();
    say("calibration: transformers of other sizes are made");
    auto calibration =
        HostCalibration::create({request_.precision, request_.threads, request_.seed, request_.quick, *most_weights});
    if (!calibration) return calibration.error();
    for (int64_t round = 0; round < request_.rounds; ++round) {
      const std::string of = " " + std::to_string(round + 1) + " of " + std::to_string(request_.rounds);
      say("calibration, round" + of);
      if (auto status = calibrate(*calibration); !status) return status.error();
      for (Subject& subject : subjects_) {
        say(subject.opened.transformer.model().config.name + ", round" + of);
        for (StepMeasurement& step : subject.steps) {
          if (request_.is_interrupted && request_.is_interrupted()) return interrupted_forecast();
          const int64_t least = !request_.quick && step.point().phase == LlmPhase::kDecode ? 3 : 1;
          auto status = step.run(subject.opened.transformer, request_.quick ? 0 : kStepBudget_s, least);
          if (!status) return status.error();
        }
      }
    }
    auto model = calibration->fit();
    if (!model) return model.error();
    comparison_.host = std::make_shared<const HostModel>(std::move(*model));
    if (auto status = finish(*comparison_.host); !status) return status.error();
    comparison_.took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(comparison_);
  }

 private:
  void say(const std::string& what) const {
    if (progress_) progress_(what);
  }

  Status calibrate(HostCalibration& calibration) {
    if (request_.meters == nullptr || request_.meters->meters.empty()) {
      return calibration.run_round(request_.is_interrupted);
    }
    EnergySession session(request_.meters->all());
    session.start();
    auto status = calibration.run_round(request_.is_interrupted);
    energy_.push_back(session.stop());
    return status;
  }

  Status open(const std::string& name) {
    say(name + ": weights");
    TransformerOptions options;
    options.precision = request_.precision;
    options.threads = request_.threads;
    options.slots = *std::max_element(request_.batches.begin(), request_.batches.end());
    options.context = request_.prompt_tokens + request_.new_tokens;
    const double before = resident_bytes();
    auto opened = open_transformer(name, request_.seed, options);
    if (!opened) return opened.error();
    const double after = resident_bytes();
    ComparedTransformer model;
    model.config = opened->transformer.model().config;
    model.random_weights = opened->random_weights;
    const auto parameters = count_parameters(model.config);
    if (!parameters) return parameters.error();
    model.parameters = static_cast<double>(parameters->total);
    const auto memory = forecast_memory(opened->transformer, request_);
    if (!memory) return memory.error();
    model.forecast_memory_bytes = *memory;
    model.held_bytes = opened->transformer.memory().total_bytes();
    model.resident_bytes = after - before;
    comparison_.models.push_back(std::move(model));
    Subject subject{std::move(*opened), {}};
    for (const int64_t batch : request_.batches) {
      subject.steps.emplace_back(StepPoint{LlmPhase::kPrefill, batch, request_.prompt_tokens});
      // As forecasts of requests do: prompt and half of the new tokens.
      const int64_t context = request_.prompt_tokens + (request_.new_tokens + 1) / 2;
      subject.steps.emplace_back(StepPoint{LlmPhase::kDecode, batch, context});
    }
    subjects_.push_back(std::move(subject));
    return {};
  }

  Result<double> most_weights_of_step() const {
    double most = 0;
    for (const Subject& subject : subjects_) {
      for (const StepMeasurement& step : subject.steps) {
        const auto work = step_work(subject.opened.transformer.model().config, request_.precision, step.point());
        if (!work) return work.error();
        most = std::max(most, work->weights);
      }
    }
    return most;
  }

  void take_power() {
    const auto scope = scope_of_cpu_work(energy_);
    if (!scope) return;
    double joules = 0, seconds_s = 0;
    for (const EnergyReport& report : energy_) {
      joules += joules_of_scope(report, *scope).value_or(0);
      seconds_s += report.seconds_s;
    }
    if (!(seconds_s > 0)) return;
    comparison_.calibration_w = joules / seconds_s;
    comparison_.power_scope = scope;
  }

  Status finish(const HostModel& model) {
    take_power();
    comparison_.facts = model.facts();
    comparison_.left_out = model.left_out();
    comparison_.left_out_prefill_error = model.left_out_error(LlmPhase::kPrefill);
    comparison_.left_out_decode_error = model.left_out_error(LlmPhase::kDecode);
    for (size_t i = 0; i < subjects_.size(); ++i) {
      ComparedTransformer& compared_model = comparison_.models[i];
      for (const StepMeasurement& step : subjects_[i].steps) {
        const auto forecast = model.forecast(compared_model.config, step.point());
        if (!forecast) return forecast.error();
        const auto work = step_work(compared_model.config, request_.precision, step.point());
        if (!work) return work.error();
        compared_model.steps.push_back(compared(step.point(), *forecast, step.times()));
        compared_model.steps.back().footprint_bytes = work->footprint_bytes;
      }
    }
    return {};
  }

  const ComparisonRequest& request_;
  const std::function<void(const std::string&)>& progress_;
  std::vector<Subject> subjects_;
  TransformerComparison comparison_;
  std::vector<EnergyReport> energy_;  // of each round of the calibration
};

}  // namespace

const ComparedOperator* ComparedStep::farthest() const {
  const ComparedOperator* farthest = nullptr;
  double most_s = -1;
  for (const ComparedOperator& each : operators) {
    if (!each.measured_s) continue;
    const double off_s = std::abs(*each.measured_s - each.forecast.seconds);
    if (off_s <= most_s) continue;
    most_s = off_s;
    farthest = &each;
  }
  return farthest;
}

double ComparedStep::tokens_per_s(double seconds) const {
  const int64_t tokens = point.phase == LlmPhase::kDecode ? 1 : point.tokens;
  return static_cast<double>(point.batch * tokens) / seconds;
}

ComparisonScores scores_of(const std::vector<ComparedStep>& steps) {
  ComparisonScores scores;
  std::vector<double> differences;
  for (const ComparedStep& step : steps) {
    ++scores.steps;
    if (!std::isnan(step.halves_difference_ratio)) differences.push_back(step.halves_difference_ratio);
    scores.with_interval += step.has_interval() ? 1 : 0;
    scores.inside += step.has_interval() && !step.outside() ? 1 : 0;
    scores.mean_error += std::abs(step.error());
    scores.roofline_mean_error += std::abs(step.roofline_error());
    scores.worst_error = std::max(scores.worst_error, std::abs(step.error()));
  }
  if (!differences.empty()) scores.noise_floor = mean(differences);
  if (scores.steps == 0) return scores;
  scores.mean_error /= static_cast<double>(scores.steps);
  scores.roofline_mean_error /= static_cast<double>(scores.steps);
  return scores;
}

Result<TransformerComparison> compare_with_forecast(const ComparisonRequest& request,
                                                    const std::function<void(const std::string&)>& progress) {
  if (auto status = check_request(request); !status) return status.error();
  return ComparisonRun(request, progress).run();
}

}  // namespace perfcast::ai
