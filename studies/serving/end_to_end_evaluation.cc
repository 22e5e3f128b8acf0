#include "studies/serving/end_to_end_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "ai/engine/engine_fit.h"
#include "ai/serving/serving_summary.h"
#include "base/statistics.h"
#include "studies/serving/end_to_end_fit.h"
#include "studies/serving/end_to_end_widths.h"

namespace perfcast::ai::serving_study {
namespace {

constexpr const char *kNotFitted = "no point was fitted", *kFormatOut = "a format left out",
                     *kOtherEngine = "fitted on another engine, other models";
constexpr const char *kOurs = "perfcast", *kBorrowed = "constants of vLLM";
constexpr const char *kVllm = "vllm", *kSglang = "sglang", *kTensorRt = "tensorrt-llm";
constexpr const char* kFigures[] = {"further token", "first token"};

// SGLang launches the kernels of experts and latents one by one from Python where a step holds prompts.
const std::vector<FreeConstant>& free_constants() {
  static const std::vector<FreeConstant> free = {{&EngineConstants::eager_kernel_us, 30, 1.5}};
  return free;
}

constexpr EndToEndFigure kTimes[] = {kFurtherToken, kFirstToken};

using Times = std::vector<SimulatedTimes>;

// An engine's points.
struct EngineRun {
  EngineProfile start;  // the engine's rules with the constants of vLLM
  std::vector<EndToEndService> services;
  std::vector<std::string> groups;  // of each service: what is left out together
  Times times;                      // by constants that weren't fitted to the point
  const char* split = kNotFitted;
  std::vector<EngineProfile> without;  // fits without each group, in their order; empty: nothing was fitted

  std::set<std::string> names() const { return {groups.begin(), groups.end()}; }
  std::vector<bool> use(const std::string& group, bool is_in) const {
    std::vector<bool> use;
    for (const std::string& each : groups) use.push_back((each == group) == is_in);
    return use;
  }
};

double three_digits(double value) { return std::round(value * 1e3) / 1e3; }

// By groups, but `without` one.
LeftOutSpread spread_of(const EngineRun& run, const EndToEndFigure& figure, const std::string& without) {
  std::vector<LeftOutResidual> residuals;
  for (size_t i = 0; i < run.services.size(); ++i) {
    if (run.groups[i] == without) continue;
    residuals.push_back(
        {run.groups[i], std::log(run.services[i].point().*figure.measured / run.times[i].*figure.simulated)});
  }
  return left_out_spread(residuals);
}

// Nothing of a group is known from the others: one number says all, with the normal quantile. `new_models`: of points
// whose models are others.
void set_spread(const EngineRun& run, const std::string& without, const EngineRun* new_models, EngineProfile& profile) {
  EngineSpread& spread = profile.spread;
  spread = {};
  spread.token_one_log_sd = spread.token_several_log_sd = three_digits(spread_of(run, kTimes[0], without).log_sd);
  spread.first_one_log_sd = spread.first_several_log_sd = three_digits(spread_of(run, kTimes[1], without).log_sd);
  if (new_models == nullptr) return;
  spread.new_model_token_log_sd = three_digits(spread_of(*new_models, kTimes[0], {}).log_sd);
  spread.new_model_first_log_sd = three_digits(spread_of(*new_models, kTimes[1], {}).log_sd);
}

// By groups, but `without` one; `range` of the profile whose intervals are made wider or narrower.
double ratio_of(const EngineRun& run, const EndToEndFigure& figure, const EndToEndRange& range,
                const std::string& without) {
  std::vector<GroupedRatio> ratios;
  const auto of = figure.simulated;
  for (size_t i = 0; i < run.services.size(); ++i) {
    if (run.groups[i] == without) continue;
    // The error is that of constants without the point; the interval is the profile's.
    const double measured = run.services[i].point().*figure.measured * range.forecast[i].*of / run.times[i].*of;
    ratios.push_back(
        {run.groups[i], distance_ratio(measured, range.forecast[i].*of, range.lower[i].*of, range.upper[i].*of)});
  }
  return width_ratio(ratios);
}

std::string names_of_constants() {
  std::string names;
  for (const FreeConstant& free : free_constants()) {
    for (const EngineConstant& constant : engine_constants()) {
      if (constant.member == free.member) names += (names.empty() ? "" : ", ") + std::string(constant.name);
    }
  }
  return names;
}

class Evaluator {
 public:
  Evaluator(const std::vector<EndToEndPoint>& points, const DeviceCatalogue& devices, const EngineBundle& bundle,
            int threads)
      : points_(points), devices_(devices), bundle_(bundle), threads_(threads) {}

  Result<EndToEndEvaluation> run() {
    auto vllm = run_of(kVllm), tensor_rt = run_of(kTensorRt), sglang = run_of(kSglang);
    for (auto* one : {&vllm, &tensor_rt, &sglang}) {
      if (!*one) return one->error();
    }
    if (Status done = add_with_intervals(*vllm); !done) return done.error();
    if (Status done = add_with_intervals(*tensor_rt); !done) return done.error();
    add_scores(*sglang, kBorrowed, kNotFitted, sglang->times, {});
    if (Status done = add_other_engine(*tensor_rt, *sglang); !done) return done.error();
    if (Status done = leave_formats_out(*sglang); !done) return done.error();
    if (Status done = add_with_intervals(*sglang); !done) return done.error();
    return finish(*vllm, *tensor_rt, *sglang);
  }

 private:
  Result<EngineRun> run_of(const std::string& name) const {
    const auto profile = bundle_.find(name), vllm = bundle_.find(kVllm);
    if (!profile) return profile.error();
    if (!vllm) return vllm.error();
    EngineRun run;
    run.start = **profile;
    for (const FreeConstant& free : free_constants()) {
      run.start.constants.*free.member = (*vllm)->constants.*free.member;
    }
    for (const EndToEndPoint& point : points_) {
      if (point.engine != name) continue;
      auto service = EndToEndService::of(point, devices_);
      if (!service) return service.error();
      run.groups.push_back(point.group());
      run.services.push_back(*std::move(service));
    }
    if (run.services.empty()) return Error{"too-few-rows", "no deployments of " + name, "", "one or more"};
    auto times = simulate_all(run.start, run.services, {}, threads_);
    if (!times) return times.error();
    run.times = *std::move(times);
    return run;
  }

  // The constants that another engine's points of other models show.
  Status add_other_engine(const EngineRun& other, const EngineRun& run) {
    std::set<std::string> models;
    for (const EndToEndService& service : run.services) models.insert(service.point().model);
    std::vector<bool> use;
    for (const EndToEndService& service : other.services) use.push_back(!models.contains(service.point().model));
    const auto fitted = fit_end_to_end(other.start, free_constants(), other.services, use, threads_);
    if (!fitted) return fitted.error();
    EngineProfile profile = run.start;
    for (const FreeConstant& free : free_constants()) {
      profile.constants.*free.member = fitted->constants.*free.member;
    }
    const auto times = simulate_all(profile, run.services, {}, threads_);
    if (!times) return times.error();
    add_scores(run, kOurs, kOtherEngine, *times, {});
    return {};
  }

  Status leave_formats_out(EngineRun& run) const {
    run.split = kFormatOut;
    for (size_t i = 0; i < run.groups.size(); ++i) run.groups[i] += " " + run.services[i].point().precision;
    for (const std::string& group : run.names()) {
      auto profile = fit_end_to_end(run.start, free_constants(), run.services, run.use(group, false), threads_);
      if (!profile) return profile.error();
      const std::vector<bool> out = run.use(group, true);
      const auto times = simulate_all(*profile, run.services, out, threads_);
      if (!times) return times.error();
      for (size_t i = 0; i < out.size(); ++i) {
        if (out[i]) run.times[i] = (*times)[i];
      }
      run.without.push_back(*std::move(profile));
    }
    return {};
  }

  // Ends of the intervals, as they would be without the point's group.
  Status add_with_intervals(const EngineRun& run) {
    std::pair<Times, Times> ends = {run.times, run.times};
    size_t at = 0;
    for (const std::string& group : run.names()) {
      EngineProfile profile = run.without.empty() ? run.start : run.without[at++];
      if (run.start.name != kVllm) set_spread(run, group, nullptr, profile);
      const auto range = range_of(profile, run.services, threads_);
      if (!range) return range.error();
      for (const EndToEndFigure& figure : kTimes) {
        const double ratio = ratio_of(run, figure, *range, group);
        const auto of = figure.simulated;
        for (size_t i = 0; i < run.groups.size(); ++i) {
          if (run.groups[i] != group) continue;
          ends.first[i].*of = moved_end(run.times[i].*of, range->lower[i].*of, ratio);
          ends.second[i].*of = moved_end(run.times[i].*of, range->upper[i].*of, ratio);
        }
      }
    }
    add_scores(run, kOurs, run.split, run.times, ends);
    return {};
  }

  Status set_ratios(const EngineRun& run, EngineProfile& profile) const {
    const auto range = range_of(profile, run.services, threads_);
    if (!range) return range.error();
    profile.spread.service_token_ratio = three_digits(ratio_of(run, kFurtherToken, *range, {}));
    profile.spread.service_first_ratio = three_digits(ratio_of(run, kFirstToken, *range, {}));
    return {};
  }

  // `ends`: empty where there are no intervals.
  void add_scores(const EngineRun& run, const char* predictor, const char* split, const Times& times,
                  const std::pair<Times, Times>& ends) {
    std::map<std::string, std::vector<size_t>> parts;
    for (size_t i = 0; i < run.services.size(); ++i) {
      const EndToEndPoint& point = run.services[i].point();
      parts[" all"].push_back(i);
      const std::string format = point.precision.empty() ? "" : " " + point.precision;
      parts[point.group() + format].push_back(i);
    }
    for (const auto& [part, in] : parts) {
      for (size_t figure = 0; figure < std::size(kTimes); ++figure) {
        EndToEndScore score{run.start.name, split, predictor, part == " all" ? "all" : part, kFigures[figure]};
        fill(run, kTimes[figure], in, times, ends, score);
        result_.scores.push_back(std::move(score));
      }
    }
  }

  static void fill(const EngineRun& run, const EndToEndFigure& figure, const std::vector<size_t>& in,
                   const Times& times, const std::pair<Times, Times>& ends, EndToEndScore& score) {
    std::vector<double> errors, ratios;
    double held = 0;
    for (const size_t i : in) {
      const double measured = run.services[i].point().*figure.measured;
      const double ratio = times[i].*figure.simulated / measured - 1;
      errors.push_back(std::abs(ratio));
      ratios.push_back(ratio);
      if (ends.first.empty()) continue;
      held += ends.first[i].*figure.simulated <= measured && measured <= ends.second[i].*figure.simulated ? 1 : 0;
    }
    score.n = static_cast<int64_t>(in.size());
    score.mean_error = mean(errors);
    score.median_error = median(errors);
    score.bias = median(ratios);
    if (!ends.first.empty()) score.coverage = held / static_cast<double>(in.size());
  }

  Result<EndToEndEvaluation> finish(const EngineRun& vllm, const EngineRun& tensor_rt, const EngineRun& sglang) {
    constexpr const char* kDatabase = "deployments of this engine in AIConfigurator's database";
    EngineProfile rt = tensor_rt.start;
    set_spread(tensor_rt, {}, nullptr, rt);
    rt.source = fmt::format("constants of vllm; widths of intervals by {} {}", tensor_rt.services.size(), kDatabase);
    auto fitted = fit_end_to_end(sglang.start, free_constants(), sglang.services, {}, threads_);
    if (!fitted) return fitted.error();
    set_spread(sglang, {}, &tensor_rt, *fitted);
    fitted->source =
        fmt::format("constants of vllm, but {}: by {} {}", names_of_constants(), sglang.services.size(), kDatabase);
    for (auto [run, profile] : {std::pair(&tensor_rt, &rt), std::pair(&sglang, &*fitted)}) {
      std::set<std::string> models, devices;
      for (const EndToEndService& service : run->services) {
        models.insert(service.point().model);
        devices.insert(service.device_name());
      }
      profile->models.assign(models.begin(), models.end());
      profile->devices.assign(devices.begin(), devices.end());
      profile->rows = static_cast<int64_t>(run->services.size());
      if (Status done = set_ratios(*run, *profile); !done) return done.error();
      result_.profiles.push_back(*profile);
    }
    EngineProfile shipped = vllm.start;
    if (Status done = set_ratios(vllm, shipped); !done) return done.error();
    result_.profiles.push_back(std::move(shipped));
    return std::move(result_);
  }

  const std::vector<EndToEndPoint>& points_;
  const DeviceCatalogue& devices_;
  const EngineBundle& bundle_;
  int threads_;
  EndToEndEvaluation result_;
};

}  // namespace

Result<EndToEndEvaluation> evaluate_end_to_end(const std::vector<EndToEndPoint>& points, const DeviceCatalogue& devices,
                                               const EngineBundle& bundle, int threads) {
  return Evaluator(points, devices, bundle, threads).run();
}

void set_profiles(const EndToEndEvaluation& evaluation, EngineBundle& bundle) {
  for (const EngineProfile& profile : evaluation.profiles) {
    for (EngineProfile& each : bundle.engines) {
      if (each.name == profile.name) each = profile;
    }
  }
}

}  // namespace perfcast::ai::serving_study
