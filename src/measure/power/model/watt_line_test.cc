#include "measure/power/model/watt_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/random.h"
#include "learn/algebra/dense.h"
#include "measure/power/model/power_model.h"

namespace perfcast::measure {
namespace {

// Watts of counters a and b, and of a before.
using Truth = std::function<double(double a, double b, double before)>;

struct Made {
  std::string name;
  Truth truth;
};

const std::vector<Made>& made_machines() {
  static const std::vector<Made> machines = {
      {"linear", [](double a, double b, double) { return 60 + 70 * a + 30 * b; }},
      {"negative coefficient", [](double a, double b, double) { return 90 + 80 * a - 35 * b; }},
      {"saturating", [](double a, double b, double) { return 50 + 90 * (1 - std::exp(-4 * a)) + 10 * b; }},
      {"idle offset", [](double a, double b, double) { return 300 + 15 * a + 6 * b; }},
      {"no idle power", [](double a, double b, double) { return 3 + 40 * a + 5 * b; }},
      {"lag", [](double a, double b, double before) { return 60 + 40 * a + 40 * before + 20 * b; }}};
  return machines;
}

PowerTable table_of_made(const Made& made, int rows, double noise_watts, bool workloads, uint64_t seed) {
  Random random(seed);
  PowerTable table;
  table.machines = {"m"};
  table.workloads = {"one"};
  if (workloads) table.workloads = {"one", "two", "three", "four"};
  table.counters = {"utilisation", "instructions", "dram_bytes"};
  table.time_s = Eigen::VectorXd::LinSpaced(rows, 0, 10 * (rows - 1));
  table.watts.resize(rows);
  table.values.resize(rows, 3);
  double before = 0.5;
  for (Eigen::Index r = 0; r < rows; ++r) {
    const auto workload = static_cast<int>(r * static_cast<Eigen::Index>(table.workloads.size()) / rows);
    table.machine.push_back(0);
    table.workload.push_back(workload);
    const double a = std::clamp(0.7 * before + 0.3 * random.uniform() + 0.15 * random.normal(), 0.02, 1.0);
    const double b = std::clamp(0.2 + 0.2 * workload + 0.2 * random.uniform(), 0.0, 1.0);
    table.values.row(r) << a, 3e10 * a * (0.9 + 0.2 * random.uniform()), 1e11 * b;
    table.watts(r) = made.truth(a, b, before) + noise_watts * random.normal();
    before = a;
  }
  number_runs(table);
  return table;
}

// As anybody would do it: watts on the columns and a constant.
Eigen::VectorXd least_squares(const PowerTable& train, const PowerTable& test) {
  const auto inputs = [](const PowerTable& table) {
    Eigen::MatrixXd x(table.values.rows(), table.values.cols() + 1);
    x << table.values.col(0), 1e-10 * table.values.col(1), 1e-11 * table.values.col(2),
        Eigen::VectorXd::Ones(table.values.rows());
    return x;
  };
  const Eigen::MatrixXd x = inputs(train);
  const Eigen::VectorXd line = solve_semidefinite(x.transpose() * x, x.transpose() * train.watts);
  return inputs(test) * line;
}

double error_of(const Eigen::VectorXd& forecast, const PowerTable& table) {
  return (forecast.array() / table.watts.array() - 1).abs().mean();
}

// Rows held out: a stretch of a fifth that `part` says, or every fifth.
struct Split {
  std::vector<size_t> train, test;
};
Split split_of(size_t rows, bool by_stretch, size_t part) {
  Split split;
  for (size_t r = 0; r < rows; ++r) {
    const bool out = by_stretch ? r * 5 / rows == part : r % 5 == part;
    (out ? split.test : split.train).push_back(r);
  }
  return split;
}

TEST(LeastSquares, AreNeverBeatenByLeastSquares) {
  for (const Made& made : made_machines()) {
    for (const int rows : {40, 120}) {
      for (const bool workloads : {false, true}) {
        for (const bool by_stretch : {false, true}) {
          double ours = 0, plain = 0;
          std::string chosen;
          for (uint64_t seed = 1; seed <= 2; ++seed) {
            const PowerTable whole = table_of_made(made, rows, 1.5, workloads, seed);
            const Split split = split_of(whole.rows(), by_stretch, seed);
            const PowerTable train = table_part(whole, split.train), test = table_part(whole, split.test);
            const auto model = PowerModel::fit(train, all_rows(train), {});
            ASSERT_TRUE(model) << made.name << ": " << to_text(model.error());
            const auto forecast = model->forecast(test);
            ASSERT_TRUE(forecast) << to_text(forecast.error());
            chosen += "; " + model->card().chosen;
            ours += error_of(forecast->watts, test);
            plain += error_of(least_squares(train, test), test);
          }
          EXPECT_LE(ours, 1.1 * plain) << made.name << ", " << rows << " rows" << (workloads ? ", workloads" : "")
                                       << (by_stretch ? ", a stretch held out" : ", every fifth held out") << chosen;
        }
      }
    }
  }
}

TEST(LeastSquares, ReachFurtherThanTheSamples) {
  const Made& made = made_machines()[0];
  const PowerTable whole = table_of_made(made, 300, 0.1, false, 4);
  std::vector<size_t> low, high;
  for (size_t r = 0; r < whole.rows(); ++r) {
    (whole.values(static_cast<Eigen::Index>(r), 0) < 0.6 ? low : high).push_back(r);
  }
  const PowerTable train = table_part(whole, low), test = table_part(whole, high);
  PowerModelOptions options;
  options.forms = {PowerFormKind::kLeastSquares};
  const auto model = PowerModel::fit(train, all_rows(train), options);
  ASSERT_TRUE(model) << to_text(model.error());
  EXPECT_EQ(model->card().chosen.find("least-squares"), 0U);
  const auto forecast = model->forecast(test);
  ASSERT_TRUE(forecast);
  EXPECT_LT(error_of(forecast->watts, test), 0.01);
  const auto again = PowerModel::from_json(model->to_json(), "m");
  ASSERT_TRUE(again) << to_text(again.error());
  EXPECT_LT((again->forecast(test)->watts - forecast->watts).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(LeastSquares, GroupsShareSlopesOrHaveTheirOwn) {
  PowerDesign design;
  design.names = {"x"};
  design.groups = {"a", "b"};
  design.workloads = {""};
  design.rows.resize(6, 1);
  design.rows << 0, 1, 2, 0, 1, 2;
  design.watts.resize(6);
  design.watts << 10, 12, 14, 30, 36, 42;
  design.log_scale = Eigen::VectorXd::Zero(6);
  design.group = {0, 0, 0, 1, 1, 1};
  design.workload.assign(6, 0);
  const std::vector<size_t> all = {0, 1, 2, 3, 4, 5};
  const PowerSamples samples = PowerSamples::of(design, all);
  PowerFormOptions options;
  const auto own = make_watt_line(PowerFormKind::kLeastSquares, options);
  ASSERT_TRUE(own->fit(samples, all));
  const Eigen::VectorXd exact = own->forecast(samples, all).array().exp();
  EXPECT_LT((exact - design.watts).cwiseAbs().maxCoeff(), 1e-6);
  options.one_slope = true;
  const auto shared = make_watt_line(PowerFormKind::kLeastSquares, options);
  ASSERT_TRUE(shared->fit(samples, all));
  const Eigen::VectorXd together = shared->forecast(samples, all).array().exp();
  EXPECT_NEAR(together(2) - together(0), 8, 1e-6);
  EXPECT_NEAR(together(5) - together(3), 8, 1e-6);
  EXPECT_NEAR(together(1), 12, 1e-6);
  EXPECT_NEAR(together(4), 36, 1e-6);
}

TEST(LeastSquares, CountersWithoutALoadAreInputs) {
  PowerTable table = table_of_made(made_machines()[0], 60, 0.1, false, 2);
  table.counters[0] = "something";
  for (const ActivitySet set : {ActivitySet::kLoad, ActivitySet::kCounters, ActivitySet::kPlain}) {
    const PowerDesign design = ActivityFeatures::learn(table, all_rows(table), set).design(table);
    EXPECT_NE(std::find(design.names.begin(), design.names.end(), "instructions"), design.names.end()) << to_text(set);
  }
}

}  // namespace
}  // namespace perfcast::measure
