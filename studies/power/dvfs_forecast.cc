#include "studies/power/dvfs_forecast.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/statistics.h"
#include "measure/power/model/activity_features.h"
#include "measure/power/model/power_form.h"

namespace perfcast::measure::power_study {
namespace {

constexpr double kSample_s = 0.509;

// Of one workload at one frequency: over its runs.
struct Measured {
  double power = 0, time_s = 0, voltage = 0;
  std::vector<size_t> rows;
};
using ByFrequency = std::map<double, Measured>;

std::map<std::pair<double, int>, ByFrequency> measured_runs(const PowerTable& table) {
  std::map<std::pair<double, int>, std::map<double, std::set<int>>> runs;
  std::map<std::pair<double, int>, ByFrequency> result;  // (cores, workload)
  for (size_t r = 0; r < table.rows(); ++r) {
    const auto i = static_cast<Eigen::Index>(r);
    const std::pair<double, int> key = {table.cores(i), table.workload[r]};
    Measured& of = result[key][table.frequency_hz(i)];
    of.rows.push_back(r);
    of.power += table.watts(i);
    runs[key][table.frequency_hz(i)].insert(table.run[r]);
  }
  for (auto& [key, frequencies] : result) {
    for (auto& [frequency, of] : frequencies) {
      const auto samples = static_cast<double>(of.rows.size());
      of.power /= samples;
      of.time_s = samples * kSample_s / static_cast<double>(runs[key][frequency].size());
    }
  }
  return result;
}

struct Forecast {
  double power = 0, time_s = 0;
};

// The design with one group, and a column for what leaks.
PowerDesign leaking(PowerDesign design, const PowerTable& table) {
  const Eigen::Index columns = design.rows.cols();
  std::vector<Eigen::Index> kept;
  std::vector<std::string> names;
  for (Eigen::Index c = 0; c < columns; ++c) {
    const std::string& name = design.names[static_cast<size_t>(c)];
    if (name == "voltage" || name == "temperature") continue;
    kept.push_back(c);
    names.push_back(name);
  }
  Eigen::MatrixXd rows(design.rows.rows(), static_cast<Eigen::Index>(kept.size()) + 1);
  rows.leftCols(static_cast<Eigen::Index>(kept.size())) = design.rows(Eigen::all, kept);
  rows.rightCols(1) = 1e9 / (table.voltage_v.array() * table.frequency_hz.array());
  names.emplace_back("leak");
  design.rows = rows;
  design.names = names;
  design.groups = {"all"};
  std::fill(design.group.begin(), design.group.end(), 0);
  return design;
}

// Samples as they would be at another frequency: the same work per cycle.
PowerTable moved(const PowerTable& table, const std::vector<size_t>& rows, double frequency, double voltage) {
  PowerTable part = table_part(table, rows);
  for (Eigen::Index i = 0; i < part.values.rows(); ++i) {
    part.values.row(i) *= frequency / part.frequency_hz(i);
    part.frequency_hz(i) = frequency;
    part.voltage_v(i) = voltage;
  }
  return part;
}

double mean_watts(const PowerForm& form, const PowerSamples& samples) {
  std::vector<size_t> rows;
  for (size_t r = 0; r < samples.design.size(); ++r) rows.push_back(r);
  const Eigen::VectorXd log_target = form.forecast(samples, rows);
  return (log_target + samples.design.log_scale).array().exp().mean();
}

}  // namespace

std::vector<DvfsScore> dvfs_forecasts(const PowerTable& table) {
  const auto runs = measured_runs(table);
  std::map<double, std::vector<double>> voltages;
  std::set<std::pair<double, double>> settings;  // cores, frequency
  for (Eigen::Index r = 0; r < table.watts.size(); ++r) {
    voltages[table.frequency_hz(r)].push_back(table.voltage_v(r));
    settings.insert({table.cores(r), table.frequency_hz(r)});
  }
  std::vector<DvfsScore> scores;
  for (const auto& [cores, left_out] : settings) {
    const double voltage = mean(voltages[left_out]);
    std::vector<size_t> train;
    for (size_t r = 0; r < table.rows(); ++r) {
      if (table.frequency_hz(static_cast<Eigen::Index>(r)) != left_out) train.push_back(r);
    }
    const ActivityFeatures features = ActivityFeatures::learn(table, train, ActivitySet::kCounters);
    const PowerTable known = table_part(table, train);
    std::vector<size_t> known_rows(train.size());
    for (size_t i = 0; i < train.size(); ++i) known_rows[i] = i;
    const PowerSamples samples = PowerSamples::of(leaking(features.design(known), known), known_rows);
    const auto form = make_power_form(PowerFormKind::kNonnegative, {});
    if (!form->fit(samples, known_rows)) continue;
    const auto of_moved = [&](const std::vector<size_t>& rows, double frequency, double at_voltage) {
      const PowerTable part = moved(table, rows, frequency, at_voltage);
      return mean_watts(*form, PowerSamples::with_scale(leaking(features.design(part), part), samples.scale));
    };
    DvfsScore cubic, model;
    cubic.method = "cubic";
    model.method = "model";
    for (DvfsScore* score : {&cubic, &model}) {
      score->left_out = std::to_string(std::llround(left_out / 1e6)) + " MHz, " + std::to_string(std::llround(cores)) +
                        (cores > 1 ? " cores" : " core");
    }
    for (const auto& [key, frequencies] : runs) {
      if (key.first != cores || frequencies.count(left_out) == 0 || frequencies.size() < 3) continue;
      const Measured& truth = frequencies.at(left_out);
      double nearest = 0;
      for (const auto& [frequency, of] : frequencies) {
        if (frequency != left_out && (nearest == 0 || std::abs(frequency - left_out) < std::abs(nearest - left_out)))
          nearest = frequency;
      }
      const Measured& near = frequencies.at(nearest);
      const double near_voltage = mean(voltages[nearest]);
      const double ratio = left_out / nearest;
      Forecast plain{near.power * std::pow(voltage / near_voltage, 2) * ratio, near.time_s / ratio};
      // a / f + b through the known frequencies.
      std::vector<std::pair<double, double>> points;
      for (const auto& [frequency, of] : frequencies) {
        if (frequency != left_out) points.emplace_back(1e9 / frequency, of.time_s);
      }
      std::sort(points.begin(), points.end(), [cycle = 1e9 / left_out](const auto& a, const auto& b) {
        return std::abs(a.first - cycle) < std::abs(b.first - cycle);
      });
      const double slope = (points[1].second - points[0].second) / (points[1].first - points[0].first);
      const double own = near.power / of_moved(near.rows, nearest, near_voltage);
      Forecast fitted{own * of_moved(near.rows, left_out, voltage),
                      points[0].second + slope * (1e9 / left_out - points[0].first)};
      for (const auto& [score, forecast] : {std::pair{&cubic, &plain}, {&model, &fitted}}) {
        score->power_error += std::abs(forecast->power / truth.power - 1);
        score->time_error += std::abs(forecast->time_s / truth.time_s - 1);
        score->energy_error += std::abs(forecast->power * forecast->time_s / (truth.power * truth.time_s) - 1);
        ++score->workloads;
        for (const bool delay : {false, true}) {
          const auto cost = [delay](double power, double time_s) { return power * time_s * (delay ? time_s : 1); };
          double chosen = 0, least = 0, best = 0, least_true = 0;
          for (const auto& [frequency, of] : frequencies) {
            const double actual = cost(of.power, of.time_s);
            const double believed = frequency == left_out ? cost(forecast->power, forecast->time_s) : actual;
            if (chosen == 0 || believed < least) {
              chosen = frequency;
              least = believed;
            }
            if (best == 0 || actual < least_true) {
              best = frequency;
              least_true = actual;
            }
          }
          const double regret = cost(frequencies.at(chosen).power, frequencies.at(chosen).time_s) / least_true - 1;
          (delay ? score->delay_right : score->energy_right) += chosen == best ? 1 : 0;
          (delay ? score->delay_regret : score->energy_regret) += regret;
        }
      }
    }
    for (DvfsScore* score : {&cubic, &model}) {
      if (score->workloads == 0) continue;
      const auto count = static_cast<double>(score->workloads);
      for (double* value : {&score->power_error, &score->time_error, &score->energy_error, &score->energy_right,
                            &score->energy_regret, &score->delay_right, &score->delay_regret}) {
        *value /= count;
      }
      scores.push_back(*score);
    }
  }
  return scores;
}

}  // namespace perfcast::measure::power_study
