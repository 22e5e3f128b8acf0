#include "fleet/simulate/queueing.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::fleet {
namespace {

TEST(Queueing, ErlangCOfKnownValues) {
  EXPECT_DOUBLE_EQ(erlang_c(1, 0.5), 0.5);         // one server: the load
  EXPECT_NEAR(erlang_c(2, 1), 1.0 / 3, 1e-15);     // 2 servers at load 1/2
  EXPECT_NEAR(erlang_c(10, 8), 0.40918015, 1e-8);  // tables of Erlang's C
  EXPECT_EQ(erlang_c(3, 3), 1);
  EXPECT_EQ(erlang_c(3, 0), 0);
}

TEST(Queueing, MeanWaits) {
  EXPECT_DOUBLE_EQ(mean_wait_mmc_s(1, 0.5, 1), 1);  // rho / (mu - lambda)
  EXPECT_NEAR(mean_wait_mmc_s(2, 1, 1), 1.0 / 3, 1e-15);
  EXPECT_DOUBLE_EQ(mean_wait_ggc_s(1, 0.5, 1, 1, 0), 0.5);
  EXPECT_TRUE(std::isinf(mean_wait_mmc_s(2, 2, 1)));
}

TEST(Queueing, QuantileOfTheWait) {
  // M/M/1: P(wait > t) = rho exp(-(mu - lambda) t)
  EXPECT_NEAR(wait_quantile_mmc_s(1, 0.5, 1, 0.99), std::log(0.5 / 0.01) / 0.5, 1e-12);
  EXPECT_EQ(wait_quantile_mmc_s(1, 0.5, 1, 0.4), 0);  // half of them don't wait at all
}

}  // namespace
}  // namespace perfcast::fleet
