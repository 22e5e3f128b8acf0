#include "machine/facts/caches.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

TEST(Caches, AsLscpuWritesThem) {
  const auto four = parse_cache_instances("131072 (4 instances)");
  ASSERT_TRUE(four);
  EXPECT_EQ(four->bytes, 32768);
  EXPECT_EQ(four->count, 4);
  EXPECT_EQ(parse_cache_instances("131072")->bytes, 131072);
  EXPECT_EQ(parse_cache_instances("131072")->count, 1);
  for (const char* wrong : {"", "0", "-1", "none", "131072 (0 instances)", "131072 (instances)", "131072 ("}) {
    EXPECT_FALSE(parse_cache_instances(wrong)) << wrong;
  }
}

TEST(Caches, AnUnknownOneIsAbsentAndNotZero) {
  const CacheSizes here = caches_of_this_processor();
  for (const CacheField& field : kCacheFields) {
    EXPECT_GT((here.*field.bytes).value_or(1), 0) << field.name;
  }
}

}  // namespace
}  // namespace perfcast
