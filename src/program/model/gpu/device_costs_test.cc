#include "program/model/gpu/device_costs.h"

#include <gmock/gmock.h>

#include <numeric>

#include "base/json.h"
#include "program/model/gpu/kernel_world.h"

namespace perfcast::program {
namespace {

struct Fitted {
  DeviceCosts costs;
  std::vector<KernelWork> works;
  TrainingTable table;
};

Fitted fitted(int kernels = 40) {
  Fitted result;
  result.table = kernel_world::table(kernel_world::devices(), kernels, 1);
  std::vector<Eigen::Index> rows(static_cast<size_t>(kernels));
  std::iota(rows.begin(), rows.end(), Eigen::Index{0});
  for (const Profile& profile : result.table.profiles) result.works.push_back(*kernel_work(profile));
  result.costs.fit(result.works, rows, *make_targets(result.table), result.table.platforms);
  return result;
}

TEST(DeviceCosts, FindWhatTimesAreMadeOf) {
  const Fitted found = fitted();
  EXPECT_EQ(found.costs.devices(), 5);
  const TrainingTable others = kernel_world::table(kernel_world::devices(), 30, 2);
  double worst = 0;
  for (size_t i = 0; i < others.profiles.size(); ++i) {
    const Eigen::MatrixXd said = found.costs.log_seconds({*kernel_work(others.profiles[i])});
    for (size_t j = 0; j < 5; ++j)
      worst = std::max(worst, std::abs(said(0, static_cast<Eigen::Index>(j)) - others.at(i, j)->log_time));
  }
  EXPECT_LT(worst, 0.15);
}

TEST(DeviceCosts, TellADeviceThatNobodyMeasuredByItsFacts) {
  const Fitted found = fitted();
  const std::vector<Platform> unknown = {kernel_world::gpu("P3", "pascal", 1920, 1.6e9, 2.5e11),
                                         kernel_world::gpu("H1", "hopper", 16896, 1.9e9, 3.3e12)};
  const Eigen::MatrixXd said = found.costs.log_seconds_on(unknown, found.works);
  for (size_t i = 0; i < found.works.size(); ++i) {
    for (size_t j = 0; j < 2; ++j) {
      EXPECT_NEAR(said(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)),
                  std::log(kernel_world::seconds_on(found.table.profiles[i], unknown[j])), 0.4);
    }
  }
  EXPECT_LT(found.costs.deviation_of(unknown[0]), found.costs.deviation_of(unknown[1]));
  Platform other = unknown[1];
  other.vendor = "AMD";
  EXPECT_LT(found.costs.deviation_of(unknown[1]), found.costs.deviation_of(other));
  // Without facts, as the usual device of the fit.
  other = unknown[0];
  other.facts.clear();
  EXPECT_TRUE(found.costs.log_seconds_on({other}, found.works).allFinite());
}

TEST(DeviceCosts, CountRoundsOfGroups) {
  Fitted found = fitted();
  Platform device = kernel_world::gpu("P4", "pascal", 1280, 1.5e9, 2e11);
  device.facts["sm_count"] = 10;
  KernelWork work{64 * 32, 64 * 32 * 1e5, 0, KernelWork::Groups{64, {32, 32768, 0}}};
  const auto seconds = [&] { return std::exp(found.costs.log_seconds_on({device}, {work})(0, 0)); };
  const double four_rounds = seconds();  // two groups at a time on each of ten
  work.groups->shape.local_bytes = 0;    // all at a time
  EXPECT_NEAR(four_rounds / seconds(), 4, 0.4);
}

TEST(DeviceCosts, ShareOutTheTime) {
  const Fitted found = fitted();
  const KernelWork small{256, 2560, 1024, std::nullopt}, large{1e7, 1e8, 1e10, std::nullopt};
  const Eigen::VectorXd of_small = found.costs.shares(small, 0), of_large = found.costs.shares(large, 0);
  EXPECT_NEAR(of_small.sum(), 1, 1e-12);
  EXPECT_NEAR(of_large.sum(), 1, 1e-12);
  EXPECT_GT(of_small(0), 0.9);
  EXPECT_GT(of_large(3), 0.9);
}

TEST(DeviceCosts, ComeBackFromJson) {
  const Fitted found = fitted(20);
  DeviceCosts back;
  const Status read = back.read_json(found.costs.to_json());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(back.log_seconds(found.works), found.costs.log_seconds(found.works));
  const auto devices = kernel_world::devices();
  EXPECT_EQ(back.log_seconds_on(devices, found.works), found.costs.log_seconds_on(devices, found.works));
  for (const char* part : {"usual", "common", "kinds", "architectures", "devices"}) {
    Json broken = found.costs.to_json();
    broken[part] = 7;
    EXPECT_EQ(back.read_json(broken).error().code, "bad-bundle") << part;
  }
}

}  // namespace
}  // namespace perfcast::program
