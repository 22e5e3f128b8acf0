#include "fleet/slurm/forecast_cache.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "base/file.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kText =
    "perfcast-forecasts/1\tobserve\t1700000000000000001\t86400\n"
    "gzip\t1700000000\tepyc,xeon\tepyc=0.61[0.55..0.68]\txeon=0.62[0.5..0.7]\tarm=1.2[1.1..1.3]\n"
    "zstd\t1700000001\tarm\tarm=0.9[0.9..0.9]\n";

CacheEntry entry(const std::string& program, int64_t made_unix_s) {
  return {program, made_unix_s, {"epyc"}, {{"epyc", 0.5, 0.4, 0.6}}};
}

std::string error_at(const std::string& text) {
  const auto cache = parse_forecast_cache(text, "c");
  return cache ? "" : cache.error().code + " " + cache.error().where;
}

// A path in a folder of its own, gone with it.
class CachePath {
 public:
  CachePath() {
    std::string name = testing::TempDir() + "/forecast_cache_XXXXXX";
    if (mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~CachePath() { std::filesystem::remove_all(folder_); }
  CachePath(const CachePath&) = delete;
  CachePath& operator=(const CachePath&) = delete;
  std::string get() const { return folder_ + "/cache.tsv"; }

 private:
  std::string folder_;
};

TEST(ForecastCacheTest, ReadsAndWritesTheSameText) {
  const auto cache = parse_forecast_cache(kText, "c");
  ASSERT_TRUE(cache.ok()) << cache.error().message;
  EXPECT_EQ(cache->mode, CacheMode::kObserve);
  EXPECT_EQ(cache->written_unix_ns, 1700000000000000001);
  EXPECT_EQ(cache->oldest_valid_s, 86400);
  const CacheEntry* gzip = cache->find("gzip");
  ASSERT_NE(gzip, nullptr);
  EXPECT_THAT(gzip->chosen, ElementsAre("epyc", "xeon"));
  ASSERT_EQ(gzip->ranking.size(), 3U);
  EXPECT_EQ(gzip->ranking[2].partition, "arm");
  EXPECT_EQ(gzip->ranking[2].upper, 1.3);
  EXPECT_EQ(cache->find("gz"), nullptr);
  EXPECT_EQ(to_text(*cache), kText);
}

TEST(ForecastCacheTest, RefusesAnythingElseWithItsLine) {
  const std::string head = "perfcast-forecasts/1\tact\t1\t9\n";
  EXPECT_EQ(error_at(head), "");
  EXPECT_EQ(error_at(""), "bad-cache c:1");
  EXPECT_EQ(error_at("perfcast-forecasts/2\tact\t1\t9\n"), "bad-cache c:1");
  EXPECT_EQ(error_at("perfcast-forecasts/1\tmaybe\t1\t9\n"), "bad-cache c:1");
  EXPECT_EQ(error_at("perfcast-forecasts/1\tact\t-1\t9\n"), "bad-cache c:1");
  const std::string good = "a\t1\tp\tp=1[1..1]\n";
  EXPECT_EQ(error_at(head + good), "");
  EXPECT_EQ(error_at(head + good.substr(0, good.size() - 1)), "bad-cache c:1");  // cut off
  EXPECT_EQ(error_at(head + good + good), "bad-cache c:3");                      // twice
  EXPECT_EQ(error_at(head + "b\t1\tp\tp=1[1..1]\n" + good), "bad-cache c:3");    // not sorted
  for (const char* bad :
       {"a\t1\tq\tp=1[1..1]", "a\t1\t\tp=1[1..1]", "a\t1\tp,p\tp=1[1..1]", "a\tx\tp\tp=1[1..1]", "a b\t1\tp\tp=1[1..1]",
        "a\t1\tp\tp=0[0..1]", "a\t1\tp\tp=1[2..3]", "a\t1\tp\tp=nan[1..1]", "a\t1\tp\tp=1[1..1]\tp=1[1..1]",
        "a\t1\tp\tp=1", "a\t1\tp", "", "a\t1\tp\tp=1[1..]", "a\t1\tp\tp=1[1..1e300]"}) {
    EXPECT_EQ(error_at(head + bad + "\n"), "bad-cache c:2") << bad;
  }
  EXPECT_EQ(error_at(head + std::string(kLargestCacheBytes, 'a') + "\n"), "file-too-large c");
}

TEST(ForecastCacheTest, PutsInOrderReplacesAndForgetsTheOldest) {
  ForecastCache cache;
  cache.put(entry("m", 5));
  cache.put(entry("a", 3));
  cache.put(entry("z", 4));
  cache.put(entry("m", 6));
  ASSERT_EQ(cache.entries.size(), 3U);
  EXPECT_EQ(cache.entries[0].program + cache.entries[1].program + cache.entries[2].program, "amz");
  EXPECT_EQ(cache.find("m")->made_unix_s, 6);
  CacheEntry last = cache.entries.back();
  cache.entries.pop_back();
  for (size_t i = cache.entries.size(); i + 1 < kMostCacheEntries; ++i) {
    cache.entries.push_back(entry("n" + std::to_string(10'000'000 + i), 10));
  }
  cache.entries.push_back(std::move(last));
  cache.put(entry("zz", 10));
  EXPECT_EQ(cache.entries.size(), kMostCacheEntries);
  EXPECT_EQ(cache.find("a"), nullptr);
  EXPECT_NE(cache.find("z"), nullptr);
}

TEST(ForecastCacheTest, UpdatesAreWholeAndNeverLost) {
  const CachePath path;
  constexpr int kThreads = 4, kEach = 8;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const Status status = update_forecast_cache(path.get(), 1, [&](ForecastCache& cache) -> Status {
          cache.put(entry("p" + std::to_string(t) + "." + std::to_string(i), 1));
          return {};
        });
        EXPECT_TRUE(status.ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto cache = read_forecast_cache(path.get());
  ASSERT_TRUE(cache.ok()) << cache.error().message;
  EXPECT_EQ(cache->entries.size(), static_cast<size_t>(kThreads * kEach));
  EXPECT_EQ(cache->written_unix_ns, kThreads * kEach);  // each writing has a stamp of its own, by any clock
}

TEST(ForecastCacheTest, NeverOverwritesWhatItCantRead) {
  const CachePath path;
  ASSERT_TRUE(write_file_atomically(path.get(), "something else\n").ok());
  const Status status = update_forecast_cache(path.get(), 1, [](ForecastCache&) -> Status { return {}; });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "bad-cache");
  EXPECT_EQ(*read_file(path.get()), "something else\n");
  const Status nowhere = update_forecast_cache("/nowhere/cache.tsv", 1, [](ForecastCache&) -> Status { return {}; });
  ASSERT_FALSE(nowhere.ok());
  EXPECT_THAT(nowhere.error().message, HasSubstr("cannot lock"));
}

}  // namespace
}  // namespace perfcast::fleet
