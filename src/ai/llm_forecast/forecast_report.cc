#include "ai/llm_forecast/forecast_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ai/llm/analysis_notes.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

std::string refused_text(const SweepResult& result) {
  return std::to_string(result.refused) + (result.refused == 1 ? " configuration is" : " configurations are") +
         " left out, the first because: " + result.refusal->message;
}

MathMode wanted_mode(const LlmRequest& request) {
  switch (request.activations) {
    case Precision::kFp8:
      return MathMode::kFp8;
    case Precision::kInt8:
      return MathMode::kInt8;
    case Precision::kTf32:
      return MathMode::kTf32;
    case Precision::kFp32:
      return MathMode::kFp32;
    default:
      return MathMode::kHalf;
  }
}

// What engines were measured on, and what not.
void add_engine_notes(const LlmForecastReport& report, std::vector<std::string>& notes) {
  const EngineProfile* profile = nullptr;
  std::vector<std::string> lacking;  // devices without an engine
  bool alone = false, host_known = true;
  uint32_t unmeasured = 0;
  std::set<uint32_t> seen;
  std::set<std::string> hosts;  // that were named
  for (const ForecastRow& row : report.result.rows) {
    const EngineTerms& engine = report.engine(row);
    if (engine.profile == nullptr) continue;
    const bool first = seen.insert(row.device).second;
    if (row.basis == TimeBasis::kKernels) {
      if (first) lacking.push_back(report.device(row).name);
      continue;
    }
    profile = engine.profile.get();
    host_known = host_known && engine.host.known;
    if (first && engine.host.of_kin && hosts.insert(engine.host.cpu).second) {
      notes.push_back(fmt::format("nobody measured the host {}; perfcast takes it for as fast as others of its design",
                                  engine.host.cpu));
    }
    alone = alone || row.basis == TimeBasis::kEngine;
    unmeasured |= row.engine_unmeasured;
    if (first && engine.kernels) {
      notes.push_back(fmt::format("the products of {} were timed; the forecast uses its kernels instead of {}'s",
                                  report.device(row).name, profile->name));
    }
  }
  if (alone && profile->rows > 0) {
    notes.push_back(fmt::format(
        "{} {}: fitted to {} measured single streams of {} in 16 bits; source: {}", profile->name, profile->version,
        profile->rows, profile->models.empty() ? "dense models" : join(profile->models, ", "), profile->source));
  }
  if (alone && profile->basis != EngineBasis::kMeasured) {
    notes.push_back(fmt::format("{} {}, {}: {}", profile->name, profile->version, name_of(profile->basis),
                                profile->basis == EngineBasis::kPhysics
                                    ? "nobody measured it here"
                                    : "its own runs say little; most of its constants are another engine's"));
  }
  if (unmeasured != 0) {
    notes.push_back(
        fmt::format("+ kernels: nobody measured {} here with {}; what it does around its kernels is added to "
                    "the kernels' own times",
                    profile->name, unmeasured_in_words(unmeasured)));
  }
  if (profile != nullptr && !host_known) {
    notes.emplace_back(
        "the host's CPU is not known (--host): a usual server is assumed, and intervals are wider for it");
  }
  if (!lacking.empty()) {
    const auto row = std::ranges::find_if(
        report.result.rows, [&](const ForecastRow& each) { return report.device(each).name == lacking.front(); });
    notes.push_back(fmt::format("kernels only, no engine, on {}: {}{}", join(lacking, ", "),
                                why_no_engine(report.config, report.device(*row)),
                                profile != nullptr ? "; an engine would take longer" : ""));
  }
}

constexpr int64_t kUsualNode = 8;  // devices behind one switch

std::vector<std::string> notes_of(const LlmForecastReport& report) {
  const LlmRequest& request = report.grid.request;
  LlmWorkload formats;
  formats.weights = request.weights;
  formats.weight_bits_per_value = request.weight_bits_per_value;
  std::vector<std::string> notes = model_notes(report.config, formats);
  std::set<uint32_t> seen;
  std::vector<std::string> unmeasured;
  for (const ForecastRow& row : report.result.rows) {
    if (!seen.insert(row.device).second) continue;
    const DeviceFacts& facts = report.device(row);
    if (!row.calibrated) {
      const bool by_engine = row.basis == TimeBasis::kEngine;
      unmeasured.push_back(facts.name + (by_engine ? "" : " (" + std::string(name_of(row.mode)) + ")"));
    }
    if (!report.devices[row.device].model->supports(wanted_mode(request))) {
      notes.push_back(facts.name + " has no units for " + std::string(name_of(wanted_mode(request))) +
                      ": it computes in " + std::string(name_of(row.mode)));
    }
    if (!row.memory_known) notes.push_back("the memory of " + facts.name + " is not known, nor whether the model fits");
    const StepSettings& step = report.devices[row.device].terms.step;
    if (step.launch == LaunchMode::kGraph) continue;
    if (row.bound() == Bound::kLaunch && row.basis == TimeBasis::kKernels) {
      notes.push_back(facts.name + " waits for launches; recorded graphs (--graph-launch) would hide them");
    }
  }
  const int64_t limit = report.config.max_positions;
  const auto longest =
      std::max_element(report.result.rows.begin(), report.result.rows.end(),
                       [](const ForecastRow& a, const ForecastRow& b) { return a.sequence < b.sequence; });
  const int64_t tokens = longest->sequence + (report.config.has_cache() ? request.output_tokens : 0);
  if (limit > 0 && tokens > limit) {
    notes.push_back(std::to_string(tokens) + " tokens are more than the " + std::to_string(limit) + " that " +
                    report.config.name + " was made for");
  }
  const bool wide = std::any_of(report.result.rows.begin(), report.result.rows.end(),
                                [](const ForecastRow& row) { return row.tensor_parallel > kUsualNode; });
  if (wide)
    notes.emplace_back("more than 8 devices share the model: links between nodes are slower than forecast here");
  const bool prompts_decide = std::any_of(report.details.begin(), report.details.end(), [](const LlmForecast& detail) {
    const MemoryNeed& memory = detail.memory;
    return memory.known() && !memory.fits() && memory.total - memory.activations <= memory.available;
  });
  if (prompts_decide) {
    notes.emplace_back(
        "what the prompts need at once decides whether it fits; an engine that reads them in smaller chunks needs "
        "less");
  }
  add_engine_notes(report, notes);
  for (const uint32_t device : seen) {
    const auto row =
        std::ranges::find_if(report.result.rows, [&](const ForecastRow& each) { return each.device == device; });
    if (row->basis == TimeBasis::kEngine || !(row->prefill_measured + row->token_measured > 0)) continue;
    notes.push_back(
        fmt::format("kernels measured on {} stand behind {:.0f}% of its kernels' time for the prompt{}",
                    report.device(*row).name, 100 * row->prefill_measured,
                    row->generates ? fmt::format(" and {:.0f}% for a token", 100 * row->token_measured) : ""));
  }
  if (!unmeasured.empty()) {
    notes.push_back("uncalibrated: nobody measured " + join(unmeasured, ", ") +
                    " here; their times follow from data sheets or from devices like them");
  }
  const bool modelled = std::any_of(report.result.rows.begin(), report.result.rows.end(),
                                    [](const ForecastRow& row) { return row.power_is_modelled; });
  if (modelled) {
    notes.push_back(fmt::format(
        "joules are modelled: the share of the stated power that such a load took on an H100 and an "
        "H200; on other devices they are right within a factor of {:.1f} in 90% of cases (--power-w: yours)",
        std::exp(kInterval90 * kOtherPowerLogDeviation)));
  }
  if (report.config.has_moe()) notes.emplace_back("tokens visit experts uniformly");
  const bool misses = std::any_of(report.result.rows.begin(), report.result.rows.end(),
                                  [](const ForecastRow& row) { return row.memory_known && !row.fits; });
  if (misses) notes.emplace_back(kTimesOfMisses);
  if (report.result.refused > 0) notes.push_back(refused_text(report.result));
  return notes;
}

}  // namespace

Result<LlmForecastReport> report_forecast(const LlmConfig& config, const std::vector<ForecastDevice>& devices,
                                          const SweepGrid& grid) {
  LlmForecastReport report;
  report.config = config;
  report.grid = grid;
  report.devices = devices;
  const auto parameters = count_parameters(config);
  if (!parameters) return parameters.error();
  report.parameters = parameters->total;
  std::vector<LlmForecaster> forecasters;
  for (const ForecastDevice& device : devices) {
    auto forecaster = LlmForecaster::create(config, device.model, device.terms);
    if (!forecaster) return forecaster.error();
    forecasters.push_back(*std::move(forecaster));
  }
  auto result = sweep_forecasts(forecasters, grid);
  if (!result) return result.error();
  if (result->rows.empty()) return *result->refusal;
  report.result = *std::move(result);

  const bool few = report.result.rows.size() <= kMostDetails;
  report.fits_on.assign(report.result.rows.size(), 0);
  LlmRequest request = grid.request;
  for (size_t i = 0; i < report.result.rows.size() && few; ++i) {
    const ForecastRow& row = report.result.rows[i];
    request.batch = row.batch;
    request.sequence = row.sequence;
    request.tensor_parallel = row.tensor_parallel;
    LlmForecaster& forecaster = forecasters[row.device];
    LlmForecast detail;
    if (Status status = forecaster.forecast(request, detail); !status) return status.error();
    report.details.push_back(detail);
    if (row.memory_known && !row.fits) report.fits_on[i] = forecaster.smallest_tensor_parallel(request).value_or(0);
  }
  report.notes = notes_of(report);
  return report;
}

}  // namespace perfcast::ai
