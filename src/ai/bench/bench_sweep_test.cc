#include "ai/bench/bench_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/file.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;

// So many workers, each of which takes some milliseconds for a sample.
class Workers final : public SystemUnderTest {
 public:
  Workers(int workers, double takes_s) : workers_(workers), takes_s_(takes_s) {}
  std::string name() const override { return "workers"; }
  Status start(std::span<const uint32_t> /*samples*/, ResponseSink& sink) override {
    sink_ = &sink;
    for (int i = 0; i < workers_; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
    return {};
  }
  void issue(std::span<const IssuedSample> query) override {
    const std::lock_guard guard(lock_);
    queue_.insert(queue_.end(), query.begin(), query.end());
    came_.notify_all();
  }
  void finish() override {
    threads_.clear();
    queue_.clear();
  }

 private:
  void work(const std::stop_token& stop) {
    for (;;) {
      IssuedSample sample;
      {
        std::unique_lock lock(lock_);
        if (!came_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
        sample = queue_.front();
        queue_.pop_front();
      }
      std::this_thread::sleep_for(std::chrono::duration<double>(takes_s_));
      sink_->complete(sample.id, {});
    }
  }

  int workers_;
  double takes_s_;
  ResponseSink* sink_ = nullptr;
  std::mutex lock_;
  std::condition_variable_any came_;
  std::deque<IssuedSample> queue_;
  std::vector<std::jthread> threads_;
};

class SweepOf : public testing::Test {
 protected:
  SweepOf() {
    std::string pattern = testing::TempDir() + "perfcast-sweep-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~SweepOf() override { std::filesystem::remove_all(folder_); }

  SweepRequest request(bool by_rate, const std::vector<double>& loads) const {
    SweepRequest sweep;
    sweep.by_rate = by_rate;
    sweep.loads = loads;
    sweep.log_folder = folder_;
    for (const double load : loads) {
      BenchRequest point;
      LoadSettings& settings = point.settings;
      settings.scenario = by_rate ? LoadScenario::kServer : LoadScenario::kConcurrency;
      settings.target_qps = by_rate ? load : 1;
      settings.concurrency = by_rate ? 1 : static_cast<int64_t>(load);
      settings.loaded_samples = settings.total_samples = 8;
      settings.min_duration_s = 0.6;
      settings.keeps_due = true;
      point.rules.early_stopping = by_rate;
      sweep.points.push_back(std::move(point));
    }
    return sweep;
  }

  Json on_disk() const {
    const auto text = read_file(folder_ + "/sweep.json");
    const auto json = parse_json(text ? *text : "", "sweep.json");
    return json ? *json : Json();
  }

  std::string folder_;
};

// Of a machine that is busy with something else, times are no measure: some further tries.
template <typename IsRight>
BenchSweep sweep_until(const SweepRequest& request, SystemUnderTest& system, const IsRight& is_right) {
  for (int tries = 1;; ++tries) {
    auto sweep = run_bench_sweep(request, system);
    EXPECT_TRUE(sweep);
    if (!sweep || tries == 5 || is_right(*sweep)) return sweep ? *std::move(sweep) : BenchSweep();
  }
}

TEST_F(SweepOf, ClientsUntilThroughputNoLongerGrows) {
  Workers system(2, 0.03);
  const BenchSweep sweep = sweep_until(request(false, {1, 2, 16, 32}), system, [](const BenchSweep& each) {
    return each.saturated == std::optional<size_t>(2);
  });
  ASSERT_EQ(sweep.saturated, std::optional<size_t>(2));
  EXPECT_EQ(sweep.points[2].load, 16);
  EXPECT_EQ(sweep.points.size(), 3u);
  EXPECT_EQ(sweep.left_out, (std::vector<double>{32}));
  EXPECT_TRUE(sweep.is_sound());
  EXPECT_THAT(sweep_verdict(sweep), HasSubstr("SATURATED at 16 at once: throughput no longer grows"));
  const Json json = on_disk();
  EXPECT_EQ(json["schema"], "perfcast.bench.sweep/1");
  EXPECT_EQ(json["saturated_at"], 16);
  EXPECT_EQ(json["left_out"].size(), 1u);
  ASSERT_EQ(json["points"].size(), 3u);
  EXPECT_EQ(json["points"][1]["scenario"], "concurrency");
  EXPECT_EQ(json["points"][1]["settings"]["concurrency"], 2);
  EXPECT_FALSE(json["points"][1]["not_comparable"].empty());
  EXPECT_EQ(sweep_table(sweep).rows(), 3u);
  const std::string page = sweep_page(sweep);
  EXPECT_THAT(page, HasSubstr("latency, p99"));
  EXPECT_THAT(page, HasSubstr(">saturated<"));
}

TEST_F(SweepOf, RatesUntilTheQueueGrows) {
  Workers system(1, 0.02);
  const BenchSweep sweep =
      sweep_until(request(true, {5, 300, 600}), system, [](const BenchSweep& each) { return each.points.size() == 2; });
  ASSERT_EQ(sweep.points.size(), 2u);
  EXPECT_THAT(sweep.points[1].saturation, HasSubstr("the queue grows"));
  EXPECT_TRUE(sweep.points[0].saturation.empty());
  EXPECT_EQ(to_json(sweep)["points"][1]["saturated"], true);
}

TEST_F(SweepOf, RatesOfTooShortRunsHaveNoVerdict) {
  Workers system(10, 0.25);
  const auto sweep = run_bench_sweep(request(true, {100, 200}), system);
  ASSERT_TRUE(sweep);
  ASSERT_EQ(sweep->points.size(), 2u);
  EXPECT_FALSE(sweep->saturated);
  EXPECT_THAT(sweep_verdict(*sweep), HasSubstr("as far as such short runs show"));
}

TEST_F(SweepOf, AllPointsWhereAskedFor) {
  Workers system(1, 0.03);
  SweepRequest all = request(false, {1, 8, 16});
  all.runs_all = true;
  const BenchSweep sweep =
      sweep_until(all, system, [](const BenchSweep& each) { return each.saturated == std::optional<size_t>(1); });
  EXPECT_EQ(sweep.saturated, std::optional<size_t>(1));
  EXPECT_EQ(sweep.points.size(), 3u);
  EXPECT_TRUE(sweep.left_out.empty());
}

TEST_F(SweepOf, AnInterruptKeepsWhatRan) {
  Workers system(8, 0.005);
  SweepRequest cut = request(false, {1, 2, 4});
  cut.points[1].is_interrupted = [] { return true; };
  const auto sweep = run_bench_sweep(cut, system);
  ASSERT_TRUE(sweep);
  EXPECT_TRUE(sweep->is_interrupted);
  EXPECT_EQ(sweep->points.size(), 2u);
  EXPECT_EQ(sweep->left_out, (std::vector<double>{4}));
  EXPECT_EQ(on_disk()["points"].size(), 2u);
  EXPECT_EQ(on_disk()["interrupted"], true);
}

TEST_F(SweepOf, AnInterruptEndsTheOverheadToo) {
  Workers system(2, 0.03);
  SweepRequest cut = request(false, {1});
  cut.measures_overhead = true;
  // The system's run ends first: then its folder has the result.
  cut.points[0].is_interrupted = [this] { return std::filesystem::exists(folder_ + "/sweep.json"); };
  const auto sweep = run_bench_sweep(cut, system);
  ASSERT_TRUE(sweep);
  EXPECT_TRUE(sweep->is_interrupted);
  EXPECT_FALSE(sweep->overhead);
  EXPECT_FALSE(sweep->points[0].report.verdict.breaks("interrupted"));
}

}  // namespace
}  // namespace perfcast::ai
