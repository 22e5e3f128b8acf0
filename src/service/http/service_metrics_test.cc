#include "service/http/service_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::service {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ServiceMetrics, CountsRequestsByOperationAndStatus) {
  ServiceMetrics metrics;
  metrics.count_request("forecast", 200, 0.0004);
  metrics.count_request("forecast", 200, 0.002);
  metrics.count_request("forecast", 422, 100);
  const std::string text = metrics.text({.bundle = "", .version = "1"});
  EXPECT_THAT(text, HasSubstr("perfcast_requests_total{operation=\"forecast\",status=\"200\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("perfcast_requests_total{operation=\"forecast\",status=\"422\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{operation=\"forecast\",le=\"0.0005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{operation=\"forecast\",le=\"0.0025\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{operation=\"forecast\",le=\"60\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{operation=\"forecast\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("_count{operation=\"forecast\"} 3\n"));
}

TEST(ServiceMetrics, LeavesOutWhatIsNotKnown) {
  ServiceMetrics metrics;
  const std::string without = metrics.text({.bundle = "", .version = "1"});
  EXPECT_THAT(without, Not(HasSubstr("out_of_distribution_ratio")));
  EXPECT_THAT(without, Not(HasSubstr("bundle_age")));
  metrics.count_forecasts(4, 1);
  metrics.count_reload(true);
  metrics.count_reload(false);
  const std::string with =
      metrics.text({.bundle = "a\"b", .bundle_created_unix_s = 0, .in_flight = 2, .jobs_running = 1, .version = "1"});
  EXPECT_THAT(with, HasSubstr("perfcast_forecasts_out_of_distribution_ratio 0.25\n"));
  EXPECT_THAT(with, HasSubstr("perfcast_bundle_age_seconds{bundle=\"a\\\"b\"} 1"));
  EXPECT_THAT(with, HasSubstr("perfcast_requests_in_flight 2\n"));
  EXPECT_THAT(with, HasSubstr("perfcast_jobs{state=\"running\"} 1\n"));
  EXPECT_THAT(with, HasSubstr("perfcast_reloads_total{result=\"failed\"} 1\n"));
}

TEST(ServiceMetrics, ReadsTimesOfBundles) {
  EXPECT_EQ(unix_s_of_utc("1970-01-02T00:00:01Z"), 86401);
  EXPECT_TRUE(std::isnan(unix_s_of_utc("yesterday")));
}

}  // namespace
}  // namespace perfcast::service
