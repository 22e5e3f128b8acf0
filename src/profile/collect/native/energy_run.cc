#include "profile/collect/native/energy_run.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/process/interrupt.h"
#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/statistics.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kTwoSided90 = 0.95;

void add_once(const EnergyWarning& warning, std::vector<EnergyWarning>& warnings) {
  const bool known = std::any_of(warnings.begin(), warnings.end(), [&](const EnergyWarning& other) {
    return other.code == warning.code && (warning.code != "device-limited" || other.message == warning.message);
  });
  if (!known) warnings.push_back(warning);
}

// Waits, but for a signal that ends us.
Status rest(double seconds_s) {
  struct pollfd signal = {InterruptGuard::descriptor(), POLLIN, 0};
  const int noticed = poll(&signal, 1, static_cast<int>(std::ceil(seconds_s * 1e3)));
  if (noticed > 0) return interrupted_error("interrupted while idle was measured");
  return {};
}

MeterSummary summary_of(size_t meter, const std::vector<EnergyReport>& reports, const EnergyReport* idle,
                        const std::vector<double>& wall_s) {
  MeterSummary summary;
  std::vector<double> uncertainties, powers, above;
  for (const EnergyReport& report : reports) {
    MeterEnergy energy = report.meters[meter];
    if (idle != nullptr) subtract_idle(idle->meters[meter], energy);
    summary.meter = energy.meter;
    for (const EnergyWarning& warning : energy.warnings) add_once(warning, summary.warnings);
    if (energy.idle_w) summary.idle_w = energy.idle_w;
    if (!energy.joules) {
      if (summary.why_missing.empty()) summary.why_missing = energy.why_missing;
      continue;
    }
    summary.run_joules.push_back(*energy.joules);
    uncertainties.push_back(*energy.uncertainty_joules);
    powers.push_back(*energy.mean_w);
    if (energy.above_idle_joules) above.push_back(*energy.above_idle_joules);
  }
  if (summary.run_joules.empty()) return summary;
  if (const size_t runs = summary.run_joules.size(); runs < reports.size()) {
    summary.warnings.push_back(
        {"runs-without-joules",
         fmt::format("{} of {} runs have no joules: {}", reports.size() - runs, reports.size(), summary.why_missing)});
    summary.why_missing.clear();
  }
  summary.joules = median(summary.run_joules);
  double spread = 0;
  if (const auto runs = static_cast<double>(summary.run_joules.size()); runs > 1)
    spread = student_quantile(kTwoSided90, runs - 1) * standard_deviation(summary.run_joules) / std::sqrt(runs);
  summary.uncertainty_joules = std::hypot(median(uncertainties), spread);
  summary.mean_w = median(powers);
  if (!above.empty()) summary.above_idle_joules = median(above);
  summary.energy_delay_js = *summary.joules * median(wall_s);
  return summary;
}

Json warnings_as_json(const std::vector<EnergyWarning>& warnings) {
  Json items = Json::array();
  for (const EnergyWarning& warning : warnings) {
    items.push_back({{"code", warning.code}, {"message", warning.message}});
  }
  return items;
}

Json meter_as_json(const MeterSummary& summary) {
  const MeterFacts& meter = summary.meter;
  Json item = {{"name", meter.name},        {"kind", meter.kind}, {"scope", to_string(meter.scope)},
               {"covers", meter.covers},    {"unit", meter.unit}, {"reading", to_string(meter.reading)},
               {"accuracy", meter.accuracy}};
  if (!std::isnan(meter.interval_s)) item["interval_s"] = meter.interval_s;
  if (meter.accuracy_ratio) item["accuracy_ratio"] = *meter.accuracy_ratio;
  const auto put = [&item](const char* name, const std::optional<double>& value) {
    if (value) item[name] = *value;
  };
  put("energy_joules", summary.joules);
  put("energy_uncertainty_joules", summary.uncertainty_joules);
  put("mean_power_w", summary.mean_w);
  put("idle_power_w", summary.idle_w);
  put("above_idle_energy_joules", summary.above_idle_joules);
  put("energy_delay_joule_s", summary.energy_delay_js);
  if (!summary.run_joules.empty()) item["run_energy_joules"] = summary.run_joules;
  if (!summary.why_missing.empty()) item["missing"] = summary.why_missing;
  item["warnings"] = warnings_as_json(summary.warnings);
  return item;
}

}  // namespace

bool EnergyRun::has_joules() const {
  return std::any_of(meters.begin(), meters.end(), [](const MeterSummary& meter) { return meter.joules.has_value(); });
}

EnergyRun listed_meters(const MeterSet& set) {
  EnergyRun run;
  run.missing = set.missing;
  for (const auto& meter : set.meters) {
    MeterSummary summary;
    summary.meter = meter->facts();
    run.meters.push_back(std::move(summary));
  }
  return run;
}

Result<EnergyRun> measure_energy(const EnergyRunRequest& request, const MeterSet& set,
                                 const std::function<void(const std::string&)>& progress) {
  if (request.command.empty()) {
    return usage_error("bad-usage", "no command to measure", "", "perfcast energy -- CMD ARGS...");
  }
  const InterruptGuard guard;
  const auto program = inspect_program(request.command);
  if (!program) return program.error();
  EnergyRun run;
  run.command = request.command;
  run.missing = set.missing;
  EnergySessionOptions options;
  options.cpu_root = request.cpu_root;
  options.clock_offset = request.clock_offset;
  EnergySession session(set.all(), options);
  std::optional<EnergyReport> idle;
  if (request.idle_s > 0 && !set.meters.empty()) {
    progress("measuring idle for " + human_seconds(request.idle_s) + " ...");
    session.start();
    const Status rested = rest(request.idle_s);
    idle = session.stop();
    if (!rested) return rested.error();
    run.idle_s = idle->seconds_s;
  }
  ProcessRequest process;
  process.executable = program->path;
  process.arguments = request.command;
  process.output = request.show_output ? StreamTo::kStderr : StreamTo::kDiscard;
  process.error = request.show_output ? StreamTo::kPass : StreamTo::kTail;
  process.limit_s = request.limit_s;
  std::vector<EnergyReport> reports;
  for (int i = 0; i < std::max(1, request.repeats); ++i) {
    progress(fmt::format("run {} of {} ...", i + 1, std::max(1, request.repeats)));
    session.start();
    const auto outcome = run_process(process);
    EnergyReport report = session.stop();
    if (!outcome) return outcome.error();
    if (outcome->limit_reached) {
      return Error{"limit-reached",
                   "the command did not end within " + human_seconds(request.limit_s) + " and was ended",
                   join(request.command, " "), "a longer time limit, or less work"};
    }
    if (!outcome->ok() && !request.accept_failure) {
      const std::string how = outcome->signal ? "was killed by signal " + signal_text(*outcome->signal)
                                              : "exited with status " + std::to_string(outcome->exit_code.value_or(0));
      return Error{"program-failed", "the command " + how, join(request.command, " "),
                   "a run that succeeds, or --accept-failure"};
    }
    run.wall_s.push_back(outcome->wall_s);
    run.cpu_s.push_back(outcome->cpu_s());
    for (const EnergyWarning& warning : report.warnings) add_once(warning, run.warnings);
    reports.push_back(std::move(report));
  }
  for (size_t i = 0; i < set.meters.size(); ++i)
    run.meters.push_back(summary_of(i, reports, idle ? &*idle : nullptr, run.wall_s));
  if (const std::string blind = ThrottleWatch(request.cpu_root).blind(); !blind.empty() && run.has_joules())
    run.warnings.push_back({"throttling-unseen", "whether the machine throttled is not known: " + blind});
  return run;
}

Json to_json(const EnergyRun& run) {
  Json json = {{"schema", kEnergySchema}};
  if (!run.command.empty()) {
    json["command"] = run.command;
    json["wall_s"] = median(run.wall_s);
    json["cpu_s"] = median(run.cpu_s);
    json["run_wall_s"] = run.wall_s;
    if (run.idle_s > 0) json["idle_s"] = run.idle_s;
    json["idle_subtracted"] = false;  // from energy_joules
  }
  Json& meters = json["meters"] = Json::array();
  for (const MeterSummary& meter : run.meters) meters.push_back(meter_as_json(meter));
  Json& missing = json["unavailable"] = Json::array();
  for (const MissingMeter& each : run.missing)
    missing.push_back({{"kind", each.kind}, {"reason", each.reason}, {"advice", each.advice}});
  if (!run.command.empty()) json["warnings"] = warnings_as_json(run.warnings);
  return json;
}

}  // namespace perfcast
