#include "program/forecast/kernel_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/json.h"
#include "base/statistics.h"
#include "base/text.h"
#include "profile/metrics/catalogue.h"
#include "program/forecast/platform_filter.h"
#include "program/model/gpu/kernel_time_predictor.h"

namespace perfcast::program {
namespace {

// Of the link that a device states, or of PCI Express 3.0 with 16 lanes, copies reach about so much.
constexpr double kUsualLink_bytes_per_s = 1.575e10, kLinkShare = 0.8;

double metric_or_0(const Profile& profile, const char* name) {
  const auto found = profile.metrics.find(name);
  return found == profile.metrics.end() ? 0 : found->second;
}

KernelTime time_about(double log_seconds, double half_width) {
  return {std::exp(log_seconds), std::exp(log_seconds - half_width), std::exp(log_seconds + half_width)};
}

double transfer_seconds(const Platform& device, double bytes) {
  if (device.kind == "cpu") return 0;
  const auto link = device.facts.find("host_link_bytes_per_s");
  return bytes / (kLinkShare * (link == device.facts.end() ? kUsualLink_bytes_per_s : link->second));
}

// The device that the profile's own times are of.
struct MeasuredOn {
  int64_t index = -1;                  // of the bundle; -1: it has none such
  const Platform* by_facts = nullptr;  // otherwise; null: not known at all
};

// Of one launch, log seconds, and half widths of the 90% intervals.
struct Kernel {
  Profile profile;
  double launches = 0;
  std::optional<KernelWork> work;
  Eigen::VectorXd log_seconds, half_width;  // on the bundle's platforms
  double level = 0, level_half_width = 0;   // added to the costs by facts alone
  std::optional<double> measured_s;         // on the device above
};

// Without a time: what the model itself says.
void take_forecast(const Forecast& forecast, Kernel& kernel) {
  kernel.log_seconds = *forecast.log_seconds + forecast.log_rpv.array();
  kernel.half_width = Eigen::VectorXd::Constant(forecast.log_rpv.size(), forecast.seconds_half_width);
  kernel.level_half_width = forecast.seconds_half_width;
}

// With a time on a device of the bundle: all others relative to it.
void take_relative(const Forecast& forecast, int64_t index, const DeviceCosts& costs, Kernel& kernel) {
  const Forecast relative = Forecaster::relative_to(forecast, index);
  kernel.log_seconds = *relative.log_seconds + relative.log_rpv.array();
  kernel.half_width = relative.upper - relative.log_rpv;
  kernel.level = std::log(*kernel.measured_s) - costs.log_seconds({*kernel.work})(0, index);
  const auto others = static_cast<double>(std::max<Eigen::Index>(kernel.half_width.size() - 1, 1));
  kernel.level_half_width = std::sqrt(kernel.half_width.squaredNorm() / others);
}

// With a time on another device: what the costs by its facts miss, they miss everywhere.
void take_level(const Forecast& forecast, const Platform& device, const DeviceCosts& costs, Kernel& kernel) {
  kernel.level = std::log(*kernel.measured_s) - costs.log_seconds_on({device}, {*kernel.work})(0, 0);
  const double own = kNormal95 * costs.deviation_of(device);
  kernel.log_seconds = *forecast.log_seconds + forecast.log_rpv.array() + kernel.level;
  kernel.half_width = (forecast.half_width.array().square() + own * own).sqrt();
  kernel.level_half_width = std::sqrt(kernel.half_width.squaredNorm() / static_cast<double>(kernel.half_width.size()));
}

// As the tool that counted calls them.
std::vector<std::string> names_by_tool(const std::vector<std::string>& metrics, const Profile& profile) {
  const std::string tool = profile.collectors.empty() ? "" : profile.collectors.front().name;
  std::vector<std::string> names;
  for (const std::string& name : metrics) {
    const Metric* metric = Catalogue::built_in().find(name);
    const bool is_named = metric != nullptr && metric->sources.contains(tool);
    names.push_back(is_named ? metric->sources.at(tool) : name);
  }
  return names;
}

std::vector<KernelSummary::Gap> gaps_of(const Profile& alone) {
  std::vector<KernelSummary::Gap> gaps;
  for (const KernelGap& gap : kernel_gaps(alone.metrics))
    gaps.push_back({names_by_tool(gap.metrics, alone), gap.assumed});
  return gaps;
}

bool is_nvidias(const MetricValues& metrics) {
  const auto first = metrics.lower_bound("nvprof_");
  return first != metrics.end() && first->first.starts_with("nvprof_");
}

Result<std::vector<Kernel>> forecast_each(const Forecaster& forecaster, const KernelTimePredictor* model,
                                          const Profile& profile, const MeasuredOn& measured_on, KernelReport& report) {
  std::vector<Kernel> kernels;
  std::vector<std::string> uncounted, lacking, lacked;
  for (const ProfileKernel& each : profile.kernels) {
    if (each.metrics.empty()) {
      uncounted.push_back(each.name);
      continue;
    }
    auto alone = profile_of_part(profile, each.name);
    if (!alone) return alone.error();
    Kernel kernel{std::move(*alone), each.launches_count, std::nullopt, {}, {}, 0, 0, std::nullopt};
    kernel.work = kernel_work(kernel.profile);
    std::vector<KernelSummary::Gap> gaps = gaps_of(kernel.profile);
    if (!kernel.work && is_nvidias(each.metrics)) {
      lacking.push_back(each.name);
      for (const KernelSummary::Gap& gap : gaps) {
        if (!gap.assumed.empty()) continue;
        for (const std::string& counter : gap.counters) {
          if (std::find(lacked.begin(), lacked.end(), counter) == lacked.end()) lacked.push_back(counter);
        }
      }
      continue;
    }
    const auto time = each.metrics.find("nvprof_kernel_duration_s");
    const bool has_time = time != each.metrics.end() && time->second > 0 && kernel.work && model != nullptr;
    if (has_time && (measured_on.index >= 0 || measured_on.by_facts != nullptr)) kernel.measured_s = time->second;
    std::vector<Measurement> measurements;
    if (kernel.measured_s && measured_on.index >= 0)
      measurements.push_back({measured_on.index, std::log(*kernel.measured_s)});
    const auto forecast = forecaster.forecast(kernel.profile, measurements);
    if (!forecast) return forecast.error();
    if (!forecast->log_seconds) {
      return Error{"bad-profile", "the profile doesn't say what the kernel does", each.name,
                   "a profile of perfcast profile, or the counts that docs/opencl.md and docs/cuda.md name"};
    }
    if (!measurements.empty()) {
      take_relative(*forecast, measured_on.index, model->costs(), kernel);
    } else if (kernel.measured_s) {
      take_level(*forecast, *measured_on.by_facts, model->costs(), kernel);
    } else {
      take_forecast(*forecast, kernel);
    }
    report.kernels.push_back({each.name, each.launches_count, forecast->in_distribution, forecast->warnings,
                              forecast->nearest.empty() ? "" : forecast->nearest.front().program, kernel.measured_s,
                              std::move(gaps)});
    report.in_distribution = report.in_distribution && forecast->in_distribution;
    kernels.push_back(std::move(kernel));
  }
  if (!uncounted.empty()) {
    report.notes.push_back("without a forecast, since no launch was counted: " + join(uncounted, ", "));
  }
  if (!lacking.empty()) {
    const std::string what = join(lacking, ", ") + ": the profile lacks " + join(lacked, ", ");
    if (kernels.empty()) return Error{"counters-missing", what, profile.program, "the counts that docs/cuda.md names"};
    report.notes.push_back("without a forecast, " + what);
  }
  if (kernels.empty()) {
    return Error{"no-kernels", "no kernel of the profile was counted", profile.program,
                 "a profile of a program that launches OpenCL kernels (docs/opencl.md), or ncu's or nvprof's counts of "
                 "CUDA kernels (docs/cuda.md)"};
  }
  return kernels;
}

void add_up(const std::vector<Kernel>& kernels, KernelDevice& device) {
  for (size_t i = 0; i < kernels.size(); ++i) {
    const double launches = std::max(kernels[i].launches, 1.0);
    device.all.time_s += launches * device.kernels[i].time_s;
    device.all.lower_s += launches * device.kernels[i].lower_s;
    device.all.upper_s += launches * device.kernels[i].upper_s;
  }
}

KernelDevice of_the_bundle(const Bundle& bundle, const KernelTimePredictor* model, const std::vector<Kernel>& kernels,
                           int64_t index) {
  KernelDevice device;
  device.platform = bundle.platforms[static_cast<size_t>(index)];
  for (const Kernel& kernel : kernels) {
    device.kernels.push_back(time_about(kernel.log_seconds(index), kernel.half_width(index)));
  }
  add_up(kernels, device);
  if (model == nullptr || index >= model->costs().devices()) return device;
  Eigen::VectorXd causes = Eigen::VectorXd::Zero(kKernelCauses);
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].work) {
      causes += std::max(kernels[i].launches, 1.0) * device.kernels[i].time_s *
                model->costs().shares(*kernels[i].work, index);
    }
  }
  Eigen::Index most = 0;
  if (causes.maxCoeff(&most) > 0) device.bound = kernel_cause_names()[static_cast<size_t>(most)];
  return device;
}

// As sure as on the bundle's own devices, and less by what isn't known of this one.
std::optional<KernelDevice> by_facts(const KernelTimePredictor& model, const std::vector<Kernel>& kernels,
                                     const Platform& platform, bool is_measured) {
  KernelDevice device;
  device.platform = platform;
  device.by_facts = true;
  for (const Kernel& kernel : kernels) {
    if (!kernel.work) return std::nullopt;
    const bool is_time = is_measured && kernel.measured_s;
    const double half =
        is_time ? 0 : std::hypot(kernel.level_half_width, kNormal95 * model.costs().deviation_of(platform));
    const double costs = model.costs().log_seconds_on({platform}, {*kernel.work})(0, 0);
    device.kernels.push_back(time_about(costs + kernel.level, half));
  }
  add_up(kernels, device);
  return device;
}

MeasuredOn find_measured(const Bundle& bundle, const KernelRequest& request) {
  MeasuredOn found;
  if (request.measured_on.empty()) return found;
  for (size_t j = 0; j < bundle.platforms.size(); ++j) {
    if (bundle.platforms[j].name == request.measured_on) found.index = static_cast<int64_t>(j);
  }
  for (const Platform& device : request.devices) {
    if (found.index < 0 && device.name == request.measured_on) found.by_facts = &device;
  }
  return found;
}

// The same for many kernels: said once.
void add_gap_notes(KernelReport& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> said;
  for (const KernelSummary& kernel : report.kernels) {
    for (const KernelSummary::Gap& gap : kernel.gaps) {
      const std::string text = join(gap.counters, ", ") + " missing; assumed: " + gap.assumed;
      const auto found = std::find_if(said.begin(), said.end(), [&](const auto& each) { return each.first == text; });
      if (found == said.end()) {
        said.push_back({text, {kernel.name}});
      } else {
        found->second.push_back(kernel.name);
      }
    }
  }
  for (const auto& [text, kernels] : said) {
    const bool is_all = kernels.size() == report.kernels.size();
    report.notes.push_back((is_all ? "all kernels" : join(kernels, ", ")) + ": " + text);
  }
}

std::string yes_no(bool yes) { return yes ? "yes" : "no"; }

}  // namespace

bool forecasts_kernels(const Bundle& bundle) {
  return bundle.predictor && bundle.predictor->family().find(kOfKernels) != std::string::npos;
}

Result<KernelReport> forecast_kernels(const Forecaster& forecaster, const Profile& profile,
                                      const KernelRequest& request) {
  const Bundle& bundle = forecaster.bundle();
  if (!forecasts_kernels(bundle)) {
    return Error{"no-kernels", "the bundle knows no kernels: its model is " + bundle.card.model, bundle.card.name,
                 "a bundle of the model kernels:forest, or none: a shipped one is taken then"};
  }
  const auto filters = parse_platform_filters(request.filters);
  if (!filters) return filters.error();
  KernelReport report;
  report.program = profile.program;
  report.bundle = bundle.card.name;
  report.model = bundle.card.model;
  const auto* model = dynamic_cast<const KernelTimePredictor*>(bundle.predictor.get());
  const MeasuredOn measured_on = find_measured(bundle, request);
  const auto kernels = forecast_each(forecaster, model, profile, measured_on, report);
  if (!kernels) return kernels.error();
  const bool has_times =
      std::ranges::any_of(*kernels, [](const Kernel& kernel) { return kernel.measured_s.has_value(); });
  if (has_times) report.measured_on = request.measured_on;
  if (profile.metrics.contains("opencl_to_device_bytes") || profile.metrics.contains("opencl_from_device_bytes")) {
    report.transfer_bytes =
        metric_or_0(profile, "opencl_to_device_bytes") + metric_or_0(profile, "opencl_from_device_bytes");
  }
  if (const auto host = profile.metrics.find("opencl_host_cpu_s"); host != profile.metrics.end())
    report.host_s = host->second;

  for (int64_t j = 0; j < static_cast<int64_t>(bundle.platforms.size()); ++j) {
    if (passes(*filters, bundle.platforms[static_cast<size_t>(j)], bundle.servers))
      report.devices.push_back(of_the_bundle(bundle, model, *kernels, j));
  }
  for (const Platform& other : request.devices) {
    const bool is_known = std::any_of(bundle.platforms.begin(), bundle.platforms.end(),
                                      [&](const Platform& known) { return known.name == other.name; });
    if (is_known || model == nullptr || !passes(*filters, other, {})) continue;
    if (auto device = by_facts(*model, *kernels, other, &other == measured_on.by_facts))
      report.devices.push_back(std::move(*device));
  }
  if (report.devices.empty()) {
    return Error{"no-platform", "the filters leave no device", "filter",
                 "kind=gpu or kind=cpu, a vendor, or a part of a device's name"};
  }
  for (KernelDevice& device : report.devices) {
    device.transfer_s = transfer_seconds(device.platform, report.transfer_bytes.value_or(0));
    device.whole_s = device.all.time_s + device.transfer_s + report.host_s.value_or(0);
  }
  std::stable_sort(report.devices.begin(), report.devices.end(),
                   [](const KernelDevice& a, const KernelDevice& b) { return a.whole_s < b.whole_s; });
  add_gap_notes(report);
  for (const KernelSummary& kernel : report.kernels) {
    for (const ProfileWarning& warning : kernel.warnings) {
      report.notes.push_back(kernel.name + ": " + warning.message);
    }
  }
  return report;
}

ReportTable kernel_device_table(const KernelReport& report) {
  using Row = KernelDevice;
  using Q = Quantity;
  return table_of<Row>(
      "", report.devices,
      {{"device", "device", Q::kText, [](const Row& row) { return row.platform.name; }},
       {"kind", "", Q::kText, [](const Row& row) { return row.platform.kind; }},
       {"arch", "architecture", Q::kText, [](const Row& row) { return row.platform.arch; }},
       {"kernels_s", "kernels", Q::kSpreadSeconds, [](const Row& row) { return row.all.time_s; }},
       {"kernels_lower_s", "", Q::kSpreadSeconds, [](const Row& row) { return row.all.lower_s; }},
       {"kernels_upper_s", "", Q::kSpreadSeconds, [](const Row& row) { return row.all.upper_s; }},
       {"", "90% interval", Q::kSpreadSeconds,
        [](const Row& row) {
          return ReportValue(human_seconds(row.all.lower_s) + " .. " + human_seconds(row.all.upper_s));
        }},
       {"bound", "bound by", Q::kText, [](const Row& row) { return unless_empty(row.bound); }},
       {"transfer_s", report.transfer_bytes ? "transfers" : "", Q::kSpreadSeconds,
        [&](const Row& row) { return report.transfer_bytes ? ReportValue(row.transfer_s) : ReportValue(); }},
       {"whole_s", report.transfer_bytes || report.host_s ? "with host" : "", Q::kSpreadSeconds,
        [](const Row& row) { return row.whole_s; }},
       {"by_facts", "by facts alone", Q::kYes, [](const Row& row) { return row.by_facts; },
        [](const Row& row) { return yes_no(row.by_facts); }}});
}

ReportTable kernel_table(const KernelReport& report) {
  std::vector<size_t> rows(report.kernels.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  const KernelDevice& device = report.devices.front();
  using Q = Quantity;
  const auto time_of = [&](size_t i) { return device.kernels[i]; };
  return table_of<size_t>(
      "", rows,
      {{"kernel", "kernel", Q::kText, [&](size_t i) { return report.kernels[i].name; }},
       {"launches_count", "launches", Q::kCount, [&](size_t i) { return report.kernels[i].launches_count; }},
       {"time_s", "a launch on " + device.platform.name, Q::kSpreadSeconds,
        [&](size_t i) { return time_of(i).time_s; }},
       {"lower_s", "", Q::kSpreadSeconds, [&](size_t i) { return time_of(i).lower_s; }},
       {"upper_s", "", Q::kSpreadSeconds, [&](size_t i) { return time_of(i).upper_s; }},
       {"measured_s", report.measured_on.empty() ? "" : "measured on " + report.measured_on, Q::kSpreadSeconds,
        [&](size_t i) {
          const auto& measured = report.kernels[i].measured_s;
          return measured ? ReportValue(*measured) : ReportValue();
        }},
       {"time_ratio", "of the kernels' time", Q::kShare,
        [&](size_t i) {
          return std::max(report.kernels[i].launches_count, 1.0) * time_of(i).time_s / device.all.time_s;
        },
        0},
       {"in_distribution", "in distribution", Q::kYes, [&](size_t i) { return report.kernels[i].in_distribution; },
        [&](size_t i) { return yes_no(report.kernels[i].in_distribution); }},
       {"nearest", "most like", Q::kText, [&](size_t i) { return unless_empty(report.kernels[i].nearest); }}});
}

Json to_json(const KernelReport& report) {
  Json json = {
      {"schema", kKernelForecastSchema}, {"program", report.program}, {"bundle", report.bundle},
      {"model", report.model},           {"interval", 0.9},           {"in_distribution", report.in_distribution}};
  if (!report.measured_on.empty()) json["measured_on"] = report.measured_on;
  if (report.transfer_bytes) json["transfer_bytes"] = *report.transfer_bytes;
  if (report.host_s) json["host_s"] = *report.host_s;
  json["kernels"] = Json::array();
  for (const KernelSummary& kernel : report.kernels) {
    Json warnings = Json::array();
    for (const ProfileWarning& warning : kernel.warnings) {
      warnings.push_back({{"code", warning.code}, {"message", warning.message}, {"advice", warning.advice}});
    }
    json["kernels"].push_back({{"name", kernel.name},
                               {"launches_count", kernel.launches_count},
                               {"in_distribution", kernel.in_distribution},
                               {"nearest", kernel.nearest},
                               {"warnings", std::move(warnings)}});
    if (kernel.measured_s) json["kernels"].back()["measured_s"] = *kernel.measured_s;
    for (const KernelSummary::Gap& gap : kernel.gaps) {
      json["kernels"].back()["assumed"].push_back({{"counters", gap.counters}, {"assumed", gap.assumed}});
    }
  }
  Json rows = rows_json(kernel_device_table(report));
  for (size_t j = 0; j < report.devices.size(); ++j) {
    Json kernels = Json::array();
    for (size_t i = 0; i < report.kernels.size(); ++i) {
      const KernelTime& time = report.devices[j].kernels[i];
      kernels.push_back({{"name", report.kernels[i].name},
                         {"time_s", time.time_s},
                         {"lower_s", time.lower_s},
                         {"upper_s", time.upper_s}});
    }
    rows[j]["kernels"] = std::move(kernels);
  }
  json["devices"] = std::move(rows);
  json["notes"] = report.notes;
  return json;
}

}  // namespace perfcast::program
