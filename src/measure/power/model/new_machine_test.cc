#include <gmock/gmock.h>

#include <cmath>

#include "base/json.h"
#include "base/unknown.h"
#include "measure/power/model/busy_machine.h"
#include "measure/power/model/power_model.h"
#include "measure/power/testing/power_world.h"

namespace perfcast::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Four machines; of the last one, `given` samples keep their power.
struct FewSamples {
  PowerTable table, own;  // own: of the last machine, as it was measured
  explicit FewSamples(size_t given) {
    PowerWorld world;
    world.machines = 4;
    table = world.table();
    std::vector<size_t> of_new;
    for (size_t r = 0; r < table.rows(); ++r) {
      if (table.machine[r] == 3) of_new.push_back(r);
    }
    own = table_part(table, of_new);
    for (size_t i = 0; i < of_new.size(); ++i) {
      if (given == 0 || i % (of_new.size() / given) != 7) table.watts(static_cast<Eigen::Index>(of_new[i])) = kUnknown;
    }
  }
  PowerModel model() const {
    auto fitted = PowerModel::fit_new_machine(table, {"machine 3", 0.9, 1});
    if (!fitted) throw std::runtime_error(to_text(fitted.error()));
    return std::move(*fitted);
  }
};

double error_of(const PowerModel& model, const PowerTable& own) {
  return (model.forecast(own)->watts.array() / own.watts.array() - 1).abs().mean();
}

double covered_of(const PowerModel& model, const PowerTable& own) {
  const auto forecast = model.forecast(own);
  return ((own.watts.array() >= forecast->lower.array()) && (own.watts.array() <= forecast->upper.array()))
      .cast<double>()
      .mean();
}

TEST(NewMachine, LearnsFromAFewSamples) {
  const FewSamples few(8), none(0);
  const PowerModel model = few.model(), guess = none.model();
  ASSERT_TRUE(model.card().new_machine);
  EXPECT_EQ(model.card().new_machine->samples, 8U);
  EXPECT_EQ(model.card().new_machine->known_machines, 3U);
  EXPECT_EQ(guess.card().new_machine->samples, 0U);
  EXPECT_LT(error_of(model, few.own), 0.05);
  EXPECT_GT(error_of(guess, none.own), 0.1);  // its idle power is above that of all others
  EXPECT_GT(covered_of(model, few.own), 0.8);
  EXPECT_GT(guess.half_width(), model.half_width());
  EXPECT_EQ(model.card().left_out, "machine");
  EXPECT_EQ(model.card().error_by_workload.size(), 3U);
  EXPECT_EQ(model.card().tried.size(), 3U);
  EXPECT_EQ(guess.card().tried.size(), 2U);
  EXPECT_THAT(model.card().groups, ElementsAre("machine 3"));
}

TEST(NewMachine, IsReadBackAsItWasWritten) {
  const FewSamples few(8);
  const PowerModel model = few.model();
  const auto json = parse_json(perfcast::to_text(model.to_json()), "m.json");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->at("card").at("error_by_machine").at(0).at("machine"), "machine 0");
  const auto again = PowerModel::from_json(*json, "m.json");
  ASSERT_TRUE(again) << perfcast::to_text(again.error());
  EXPECT_EQ(perfcast::to_text(again->to_json()), perfcast::to_text(model.to_json()));
  EXPECT_LT((model.forecast(few.own)->upper - again->forecast(few.own)->upper).cwiseAbs().maxCoeff(), 1e-6);
  for (const char* broken : {"coefficients", "covariance", "noise_variance", "interval_factor"}) {
    Json other = *json;
    other["forms"][0][broken] = "x";
    EXPECT_FALSE(PowerModel::from_json(other, "m").ok()) << broken;
  }
  Json negative = *json;
  negative["forms"][0]["noise_variance"] = -1;
  EXPECT_FALSE(PowerModel::from_json(negative, "m").ok());
}

TEST(NewMachine, TellsThePowerOfFullLoad) {
  const PowerModel model = FewSamples(8).model();
  BusyMachine machine;
  machine.setting = model.settings().at(0);
  EXPECT_EQ(machine.setting.machine, "machine 3");
  machine.cpus = 16;
  machine.events_per_cpu_s["instructions"] = 1.2 * 4e10 / 16;
  const auto power = busy_power(model, machine);
  ASSERT_TRUE(power) << to_text(power.error());
  EXPECT_NEAR(power->watts, 135 + 20 + 190 * (0.7 + 0.2 * 1.2), 25);
  EXPECT_GT(power->log_half_width, 0);
}

TEST(NewMachine, OfOneThatTheTableDoesNotHaveSaysOnlyWhatOthersShare) {
  PowerWorld world;
  world.machines = 4;
  const FewSamples few(8);
  const auto model = PowerModel::fit_new_machine(world.table(), {"machine 9", 0.9, 1});
  ASSERT_TRUE(model) << to_text(model.error());
  EXPECT_EQ(model->card().new_machine->samples, 0U);
  EXPECT_EQ(model->card().new_machine->known_machines, 4U);
  EXPECT_TRUE(model->forecast(few.own));
}

TEST(NewMachine, SettingsOfAMachineAreOneGroup) {
  FewSamples few(8);
  few.table.frequency_hz = Eigen::VectorXd::Constant(few.table.watts.size(), 2e9);
  few.table.frequency_hz.tail(100).setConstant(1e9);
  number_runs(few.table);
  const PowerModel model = few.model();
  EXPECT_EQ(model.card().new_machine->known_machines, 3U);
  EXPECT_THAT(model.card().groups, ElementsAre("machine 3 2000 MHz", "machine 3 1000 MHz"));
  ASSERT_EQ(model.settings().size(), 2U);
  EXPECT_EQ(model.settings()[1].frequency_hz, 1e9);
}

TEST(NewMachine, RefusesWhatCanNotBeLearntFrom) {
  PowerWorld world;
  world.machines = 2;
  const auto alone = PowerModel::fit_new_machine(world.table(), {"machine 1", 0.9, 1});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, "too-few-machines");
  EXPECT_THAT(alone.error().message, HasSubstr("samples of 1 machine beside 'machine 1'"));
  FewSamples few(8);
  for (Eigen::Index r = 0; r < few.table.watts.size(); ++r) {
    if (few.table.machine[static_cast<size_t>(r)] == 1 && r % 80 > 0) few.table.watts(r) = kUnknown;
  }
  const auto thin = PowerModel::fit_new_machine(few.table, {"machine 3", 0.9, 1});
  ASSERT_FALSE(thin);
  EXPECT_EQ(thin.error().code, "too-few-samples");
  EXPECT_THAT(thin.error().message, HasSubstr("machine 1 (5)"));
}

TEST(NewMachine, TakesNoRowWithoutItsSetting) {
  FewSamples few(8);
  few.table.cores = Eigen::VectorXd::Constant(few.table.watts.size(), 8);
  few.table.cores(few.table.watts.size() - 1) = kUnknown;
  const auto model = PowerModel::fit_new_machine(few.table, {"machine 3", 0.9, 1});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, "missing-setting");
}

TEST(NewMachine, RefusesCountersThatNotAllHave) {
  const auto without = [](int counter, bool of_new) {
    FewSamples few(8);
    for (size_t r = 0; r < few.table.rows(); ++r) {
      if ((few.table.machine[r] == 3) == of_new) few.table.values(static_cast<Eigen::Index>(r), counter) = kUnknown;
    }
    const auto model = PowerModel::fit_new_machine(few.table, {"machine 3", 0.9, 1});
    return model ? "" : model.error().code + ": " + model.error().message;
  };
  EXPECT_THAT(without(3, false), HasSubstr("missing-counters: the known machines lack misses"));
  EXPECT_THAT(without(2, true), HasSubstr("missing-counters: the new machine lacks instructions"));
  EXPECT_EQ(without(3, true), "");  // no input is made of misses
}

}  // namespace
}  // namespace perfcast::measure
