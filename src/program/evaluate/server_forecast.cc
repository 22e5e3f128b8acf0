#include "program/evaluate/server_forecast.h"

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "base/unknown.h"

namespace perfcast::program {
namespace {

std::set<std::string> families_of(const ScalingTable& table) {
  std::set<std::string> families;
  for (const Program& program : table.programs) families.insert(program.family);
  return families;
}

Eigen::MatrixXd nothing_of(const ScalingTable& table) {
  return Eigen::MatrixXd::Constant(table.log_alone.rows(), table.log_alone.cols(), kUnknown);
}

// One program's rows.
class ProgramOnServers {
 public:
  ProgramOnServers(const ScalingFit& fit, const OneCopyForecast& one_copy, Eigen::Index row)
      : fit_(fit), table_(fit.table()), one_copy_(one_copy), row_(row) {
    for (size_t j = 0; j < one_copy.platforms.size(); ++j)
      column_of_.emplace(one_copy.platforms[j], static_cast<Eigen::Index>(j));
  }

  double level() const {
    double sum = 0, count = 0;
    for (Eigen::Index s = 0; s < table_.log_alone.cols(); ++s) {
      const Eigen::Index j = column(s);
      if (j < 0 || !fit_.is_measured(row_, s)) continue;
      sum += table_.log_alone_usual(row_, s) - one_copy_.forecast.predicted(row_, j);
      ++count;
    }
    return count > 0 ? sum / count : kUnknown;
  }

  void forecast(const ScalingModel& model, ServerForecast& into) const {
    const double log_of_one = into.level(row_);
    if (std::isnan(log_of_one)) return;
    const auto time_s = [&](const std::string& platform) {
      const auto found = column_of_.find(platform);
      return found == column_of_.end() ? kUnknown
                                       : std::exp(log_of_one + one_copy_.forecast.predicted(row_, found->second));
    };
    const ProgramLoad& load = table_.loads[static_cast<size_t>(row_)];
    const ProgramKey key = model.key_of(load, table_.all_machines, time_s);
    for (Eigen::Index s = 0; s < table_.log_alone.cols(); ++s) {
      const MachineFacts& machine = table_.machines[static_cast<size_t>(s)];
      const Eigen::Index j = column(s);
      if (j < 0 || !fit_.is_measured(row_, s)) continue;
      const double alone_s = time_s(machine.platform);
      const CopiesForecast copies = model.forecast(key, {&load, &machine, alone_s, table_.copies(row_, s)});
      into.one_core(row_, s) = std::log(alone_s);
      into.log_together(row_, s) = into.one_core(row_, s) + copies.log_slowdown;
      into.half_width(row_, s) =
          std::hypot((one_copy_.forecast.upper(row_, j) - one_copy_.forecast.lower(row_, j)) / 2, copies.half_width);
    }
  }

 private:
  Eigen::Index column(Eigen::Index machine) const {
    const auto found = column_of_.find(table_.machines[static_cast<size_t>(machine)].platform);
    return found == column_of_.end() ? -1 : found->second;
  }

  const ScalingFit& fit_;
  const ScalingTable& table_;
  const OneCopyForecast& one_copy_;
  Eigen::Index row_;
  std::map<std::string, Eigen::Index> column_of_;
};

}  // namespace

LeftOutForecast forecast_without_families(const ScalingFit& fit) {
  const ScalingTable& table = fit.table();
  LeftOutForecast all = {nothing_of(table), nothing_of(table)};
  for (const std::string& family : families_of(table)) {
    const LeftOutForecast one = forecast_without_family(fit, family);
    for (size_t i = 0; i < table.programs.size(); ++i) {
      if (table.programs[i].family != family) continue;
      const auto row = static_cast<Eigen::Index>(i);
      all.log_slowdown.row(row) = one.log_slowdown.row(row);
      all.log_departure.row(row) = one.log_departure.row(row);
    }
  }
  return all;
}

std::vector<ServerForecast> forecast_servers(const ScalingFit& fit, const ScalingErrors& errors, double coverage,
                                             const std::vector<OneCopyForecast>& one_copy) {
  const ScalingTable& table = fit.table();
  const Eigen::MatrixXd nothing = nothing_of(table);
  std::vector<ServerForecast> forecasts(one_copy.size(), {nothing, nothing, nothing, nothing.col(0)});
  std::set<std::string> wanted;  // a fit takes half a second
  for (size_t m = 0; m < forecasts.size(); ++m) {
    for (size_t i = 0; i < table.programs.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      forecasts[m].level(row) = ProgramOnServers(fit, one_copy[m], row).level();
      if (!std::isnan(forecasts[m].level(row))) wanted.insert(table.programs[i].family);
    }
  }
  for (const std::string& family : wanted) {
    ScalingModel model;
    model.fit(ScalingFit(table.without_family(family)), fit_intervals(fit, errors, coverage, family));
    for (size_t i = 0; i < table.programs.size(); ++i) {
      if (table.programs[i].family != family) continue;
      for (size_t m = 0; m < forecasts.size(); ++m) {
        ProgramOnServers(fit, one_copy[m], static_cast<Eigen::Index>(i)).forecast(model, forecasts[m]);
      }
    }
  }
  return forecasts;
}

}  // namespace perfcast::program
