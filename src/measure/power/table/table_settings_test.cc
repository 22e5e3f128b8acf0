#include "measure/power/table/table_settings.h"

#include <gmock/gmock.h>

#include "base/random.h"
#include "base/unknown.h"
#include "measure/power/testing/power_world.h"

namespace perfcast::measure {
namespace {

using testing::HasSubstr;

TEST(TableSettings, MeasuredClocksAreTakenInSteps) {
  PowerTable table = PowerWorld().table();
  EXPECT_EQ(clock_step_hz(table), 1e6);
  const auto n = static_cast<Eigen::Index>(table.rows());
  table.frequency_hz.resize(n);
  for (Eigen::Index r = 0; r < n; ++r) table.frequency_hz(r) = 8e8 + 1e8 * static_cast<double>(r % 30);
  EXPECT_EQ(clock_step_hz(table), 1e6);  // set, not measured
  Random random(1);
  for (Eigen::Index r = 0; r < n; ++r) table.frequency_hz(r) = 1e9 + 2e9 * random.uniform();
  const double step_hz = clock_step_hz(table);
  EXPECT_GE(step_hz, 25e6);
  EXPECT_LE(step_hz, 100e6);
  // A clock that trembles ends no run.
  for (Eigen::Index r = 0; r < n; ++r) table.frequency_hz(r) = 2.05e9 + 1e6 * random.uniform();
  table.frequency_hz.head(80) = 8e8 + 2e7 * Eigen::VectorXd::LinSpaced(80, 0, 79).array();
  number_runs(table);
  EXPECT_LT(table.run.back(), 80);
}

TEST(TableSettings, NamesTheFirstRowWithout) {
  PowerTable table = PowerWorld().table();
  EXPECT_TRUE(check_settings(table));
  table.voltage_v = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(table.rows()), 1);
  EXPECT_TRUE(check_settings(table));
  for (const double wrong : {kUnknown, 0.0, -1.0}) {
    table.voltage_v(6) = wrong;
    const Status checked = check_settings(table);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, "missing-setting");
    EXPECT_THAT(checked.error().message, HasSubstr("sample 7 has no voltage"));
  }
}

}  // namespace
}  // namespace perfcast::measure
