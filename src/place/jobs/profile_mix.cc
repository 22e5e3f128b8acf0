#include "place/jobs/profile_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "base/unknown.h"
#include "learn/algebra/dense.h"

namespace perfcast::place {
namespace {

constexpr double kNinetyPercent = 1.6449;  // standard deviations
constexpr double kMostCores = 1 << 20;
constexpr size_t kPairsNamed = 3;

// A program's forecast with what jobs need of it, platforms in the order of the bundle.
struct PartForecast {
  program::ProgramForecast full;
  std::vector<const program::PlatformRow*> rows;
  std::vector<double> time_s;
  size_t host = 0;

  double half_width(size_t platform) const { return std::log(*rows[platform]->time_upper_s / *rows[platform]->time_s); }
};

Result<PartForecast> forecast_part(const program::Forecaster& forecaster, const Profile& profile,
                                   const std::string& host) {
  program::ForecastRequest request;
  request.host = host;
  auto full = program::forecast_in_full(forecaster, profile, request);
  const std::string name = printable(profile.program.empty() ? join(profile.command, " ") : profile.program);
  if (!full) {
    Error error = full.error();
    error.message.insert(0, name + ": ");
    return error;
  }
  PartForecast part{std::move(*full), {}, {}, 0};
  const program::ForecastReport& report = part.full.report;
  if (!report.host || report.rows.empty() || !report.rows.front().time_s) {
    return Error{"unknown-host",
                 name + ": its seconds are not known, as its host (" +
                     printable(report.host_cpu.empty() ? "unknown CPU" : report.host_cpu) +
                     ") is like none of the known platforms",
                 "host", "the platform that the profiles were taken on"};
  }
  part.host = report.host->platform;
  for (const Platform& platform : forecaster.bundle().platforms) {
    const auto row = std::find_if(report.rows.begin(), report.rows.end(),
                                  [&](const program::PlatformRow& each) { return each.platform.id == platform.id; });
    part.rows.push_back(&*row);
    part.time_s.push_back(*row->time_s);
  }
  return part;
}

// Of the log times on the groups, [groups x groups]. Platforms err against the host as they do on the training
// programs, at the scale of the forecast's own intervals; what isn't known of the host moves all alike; what copies do
// to each other is each group's own.
Eigen::MatrixXd error_covariance(const PartForecast& part, const std::vector<GroupMachine>& machines,
                                 const std::vector<double>& sharing_half_width) {
  const Eigen::MatrixXd& of_platforms = part.full.covariance;
  const auto h = static_cast<Eigen::Index>(part.host);
  const double of_host = part.half_width(part.host);
  const auto against_host = [&](size_t a, size_t b) {
    const auto p = static_cast<Eigen::Index>(machines[a].platform), q = static_cast<Eigen::Index>(machines[b].platform);
    return of_platforms(p, q) - of_platforms(p, h) - of_platforms(q, h) + of_platforms(h, h);
  };
  const auto groups = static_cast<Eigen::Index>(machines.size());
  Eigen::VectorXd scale(groups);
  for (size_t g = 0; g < machines.size(); ++g) {
    const double own = part.half_width(machines[g].platform);
    const double variance = against_host(g, g);
    scale(static_cast<Eigen::Index>(g)) =
        variance > 0 ? std::sqrt(std::max(own * own - of_host * of_host, 0.0) / variance) : 0;
  }
  Eigen::MatrixXd covariance(groups, groups);
  for (size_t a = 0; a < machines.size(); ++a) {
    for (size_t b = 0; b < machines.size(); ++b) {
      const auto i = static_cast<Eigen::Index>(a), j = static_cast<Eigen::Index>(b);
      covariance(i, j) = scale(i) * scale(j) * against_host(a, b) + of_host * of_host;
      if (a == b) covariance(i, j) += sharing_half_width[a] * sharing_half_width[a];
    }
  }
  return covariance / (kNinetyPercent * kNinetyPercent);
}

std::vector<double> rows_of_root(Eigen::MatrixXd covariance) {
  const double least = 1e-9 * std::max(covariance.diagonal().maxCoeff(), 1e-6);
  covariance.diagonal().array() += least;  // groups of one platform err alike
  const Eigen::MatrixXd root = cholesky_root(covariance);
  std::vector<double> rows;
  for (Eigen::Index i = 0; i < root.rows(); ++i) {
    for (Eigen::Index j = 0; j < root.cols(); ++j) rows.push_back(j <= i ? root(i, j) : 0);
  }
  return rows;
}

// A program that nothing runs would be left out of every plan, which is no plan for it.
Status check_fits(const fleet::MixProgram& program, const fleet::Cluster& cluster) {
  fleet::JobRequest job;
  job.cores = program.cores;
  job.memory_bytes = program.memory_bytes;
  for (size_t g = 0; g < cluster.groups.size(); ++g) {
    fleet::NodeGroup node = cluster.groups[g];
    node.nodes = std::max<int64_t>(1, node.nodes);
    if (!std::isnan(program.time_s[g]) && fleet::fits_when_empty(job, node)) return {};
  }
  return infeasible_error(
      "infeasible",
      fmt::format("{} fits no node of the cluster: it takes {} core{}{}", printable(program.name), program.cores,
                  program.cores == 1 ? "" : "s",
                  std::isnan(program.memory_bytes) ? std::string()
                                                   : " and " + human_bytes(program.memory_bytes) + " of memory"),
      "the cluster", "a larger instance type or CPU model beside the others");
}

class MixMaker {
 public:
  MixMaker(const program::Bundle& bundle, const fleet::Cluster& cluster, const std::vector<GroupMachine>& machines)
      : bundle_(bundle), cluster_(cluster), machines_(machines) {}

  fleet::MixProgram program_of(const PartForecast& part, const program::WorkloadPart& of) {
    const program::ForecastReport& report = part.full.report;
    const program::InstanceForecaster instances(bundle_, of.profile, part.time_s, report.time_basis == "wall",
                                                part.host);
    fleet::MixProgram program;
    program.name = report.program;
    program.weight = of.runs;
    program.cores = static_cast<int32_t>(std::lround(std::clamp(instances.threads(), 1.0, kMostCores)));
    const auto resident = of.profile.metrics.find("max_rss_bytes");
    if (resident != of.profile.metrics.end() && resident->second > 0) program.memory_bytes = resident->second;
    std::vector<double> sharing(machines_.size(), 0);
    for (size_t g = 0; g < machines_.size(); ++g) {
      // Of several threads, each on a core of its own.
      const double alone_s = instances.core_seconds(machines_[g].platform) / std::max(1.0, instances.threads());
      const double time_s =
          machines_[g].server ? time_among_copies(instances, part, g, program, alone_s, sharing[g]) : alone_s;
      const double reach = std::exp(std::hypot(part.half_width(machines_[g].platform), sharing[g]));
      program.time_s.push_back(time_s);
      program.forecast_s.push_back(time_s);
      program.lower_s.push_back(time_s / reach);
      program.upper_s.push_back(time_s * reach);
    }
    program.log_error_root = rows_of_root(error_covariance(part, machines_, sharing));
    return program;
  }
  // Instances that the program may not fit, for all that is known of their memory.
  const std::set<std::string>& of_unknown_memory() const { return of_unknown_memory_; }
  // "program on instance", where how copies share it is not known.
  const std::vector<std::string>& without_scaling() const { return without_scaling_; }

 private:
  // NaN where not even one fits.
  double time_among_copies(const program::InstanceForecaster& instances, const PartForecast& part, size_t group,
                           const fleet::MixProgram& program, double alone_s, double& sharing_half_width) {
    const fleet::NodeGroup& nodes = cluster_.groups[group];
    if (std::isnan(nodes.memory_bytes_per_node) && !std::isnan(program.memory_bytes))
      of_unknown_memory_.insert(nodes.platform);
    program::InstanceRow row;
    row.server = bundle_.servers[*machines_[group].server];
    const int64_t held = cluster_.groups[group].cores_per_node / program.cores;
    instances.fill(row, part.half_width(machines_[group].platform),
                   {.copies = static_cast<double>(std::max<int64_t>(1, held))});
    if (row.copies && *row.copies < 1) return kUnknown;
    if (!row.runs_per_hour) {
      without_scaling_.push_back(program.name + " on " + cluster_.groups[group].platform);
      return alone_s;
    }
    sharing_half_width = row.sharing_half_width;
    return *row.copies * program::kSecondsPerHour / *row.runs_per_hour;
  }

  const program::Bundle& bundle_;
  const fleet::Cluster& cluster_;
  const std::vector<GroupMachine>& machines_;
  std::vector<std::string> without_scaling_;
  std::set<std::string> of_unknown_memory_;
};

}  // namespace

Result<fleet::ProgramMix> make_profile_mix(const program::Forecaster& forecaster, const fleet::Cluster& cluster,
                                           const std::vector<GroupMachine>& machines,
                                           const ProfileMixRequest& request) {
  fleet::ProgramMix mix;
  for (const fleet::NodeGroup& group : cluster.groups) mix.platforms.push_back(group.platform);
  MixMaker maker(forecaster.bundle(), cluster, machines);
  std::vector<std::string> names, unusual;
  std::string nearest_host;
  for (const program::WorkloadPart& part : request.parts) {
    if (!(part.runs > 0) || !std::isfinite(part.runs)) {
      return usage_error("bad-usage", fmt::format("a program's share of the jobs is {}", part.runs), "weights",
                         "a number above 0 for each profile");
    }
    const auto forecast = forecast_part(forecaster, part.profile, request.host);
    if (!forecast) return forecast.error();
    const program::ForecastReport& report = forecast->full.report;
    mix.programs.push_back(maker.program_of(*forecast, part));
    if (Status fits = check_fits(mix.programs.back(), cluster); !fits) return fits.error();
    for (const std::string& note : report.notes) mix.notes.push_back(report.program + ": " + note);
    for (const ProfileWarning& warning : report.warnings) {
      if (is_serious(warning)) mix.notes.push_back(report.program + ": " + warning.message);
    }
    names.push_back(report.program);
    if (!report.in_distribution) unusual.push_back(report.program);
    if (report.host->certainty != program::HostMatch::Certainty::kName) nearest_host = report.host_platform->name;
  }
  mix.source = join(names, ", ") + ", forecast by " + forecaster.bundle().card.name;
  mix.notes.emplace_back(
      "nobody measured these programs there: each sample draws their true times by the forecasts' errors, alike for "
      "all "
      "programs");
  if (std::any_of(machines.begin(), machines.end(), [](const auto& machine) { return machine.server.has_value(); }))
    mix.notes.emplace_back("jobs on an instance take as long as where copies of their program fill it");
  if (const std::set<std::string>& unknown = maker.of_unknown_memory(); !unknown.empty()) {
    mix.notes.push_back("nothing says whether jobs fit the memory of " +
                        printable(join({unknown.begin(), unknown.end()}, ", ")) +
                        ": memory_bytes_per_node of a cluster file does");
  }
  if (std::vector<std::string> unknown = maker.without_scaling(); !unknown.empty()) {
    const size_t all = unknown.size();
    unknown.resize(std::min(all, kPairsNamed));
    mix.notes.push_back("but of " + printable(join(unknown, ", ")) +
                        (all > kPairsNamed ? fmt::format(" and {} more", all - kPairsNamed) : "") +
                        " as long as alone: how copies share the machine is not known, the bundle or the profile has "
                        "no part of it");
  }
  if (!unusual.empty())
    mix.notes.push_back("out of distribution, so that forecasts say little: " + printable(join(unusual, ", ")));
  if (!nearest_host.empty())
    mix.notes.push_back("the profiles' host was taken for " + nearest_host + ", the nearest known CPU model");
  return mix;
}

}  // namespace perfcast::place
