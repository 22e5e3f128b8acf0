#include "ai/gemm/run/limit_tasks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ai/gemm/precision.h"
#include "base/text.h"
#include "machine/ceiling/aligned_array.h"
#include "machine/ceiling/cpu_isa.h"
#include "machine/ceiling/peak_loops.h"
#include "machine/ceiling/together.h"

namespace perfcast::ai::gemm {
namespace {

constexpr double kShort_s = 0.001;

class PeakTask : public Task {
 public:
  PeakTask(std::string isa, Precision precision, int threads)
      : isa_(std::move(isa)), precision_(precision), threads_(threads), sums_(static_cast<size_t>(threads)) {}

  Status prepare() override {
    if (isa_.starts_with("amx") && !request_amx()) {
      return environment_error("unavailable", "the system does not let us use AMX tiles", isa_, "");
    }
    loop_ = find_peak_loop(isa_, name_of(precision_));
    if (loop_ == nullptr) return environment_error("unavailable", "this CPU or build has no such loop", isa_, "");
    for (passes_ = 1000; passes_ < int64_t{1} << 40; passes_ *= 2) {
      if (*run(1) > kShort_s) break;
    }
    return {};
  }
  // A limit is what was reached at best: as many calls, all taken for as fast as the fastest of them. Each is shorter
  // than what a scheduler gives a thread at a time, so that some run without a break also on a busy machine.
  Result<double> run(int64_t calls) override {
    double best = std::numeric_limits<double>::infinity();
    for (int64_t call = 0; call < calls; ++call) {
      best = std::min(best, seconds_together(threads_, [&](int thread) {
                        sums_[static_cast<size_t>(thread)] = loop_->run(passes_);
                      }));
    }
    return best * static_cast<double>(calls);
  }
  // Every lane added up the same products: threads must agree, and on a number.
  Result<Verdict> check() override {
    Verdict verdict;
    verdict.correct = std::all_of(sums_.begin(), sums_.end(),
                                  [this](float sum) { return std::isfinite(sum) && sum == sums_.front(); });
    if (!verdict.correct) verdict.detail = "threads disagree";
    return verdict;
  }
  double work() const override {
    return loop_->operations * static_cast<double>(passes_) * static_cast<double>(threads_);
  }

 private:
  std::string isa_;
  Precision precision_;
  int threads_;
  int64_t passes_ = 0;
  const PeakLoop* loop_ = nullptr;
  std::vector<float> sums_;
};

class ReadTask : public Task {
 public:
  ReadTask(int64_t bytes, int threads)
      : words_(static_cast<size_t>(bytes) / sizeof(uint64_t)), threads_(threads), sums_(static_cast<size_t>(threads)) {}

  Status prepare() override {
    values_ = AlignedArray<uint64_t>(words_);
    for (size_t i = 0; i < words_; ++i) values_[i] = i * 0x9E3779B97F4A7C15u;
    return {};
  }
  Result<double> run(int64_t calls) override {
    return seconds_together(threads_, [&](int thread) {
      const size_t t = static_cast<size_t>(thread), count = static_cast<size_t>(threads_);
      const uint64_t *from = values_.data() + words_ * t / count, *to = values_.data() + words_ * (t + 1) / count;
      uint64_t sums[8] = {};
      for (int64_t call = 0; call < calls; ++call) {
        for (const uint64_t* at = from; to - at >= 8; at += 8) {
          for (size_t i = 0; i < 8; ++i) sums[i] ^= at[i];
        }
        __asm__ volatile("" : : "r"(sums) : "memory");
      }
      sums_[t] = sums[0] ^ sums[1];
    });
  }
  Result<Verdict> check() override {
    Verdict verdict;
    verdict.correct = std::any_of(sums_.begin(), sums_.end(), [](uint64_t sum) { return sum != 0; });
    return verdict;
  }
  double work() const override { return static_cast<double>(words_ * sizeof(uint64_t)); }

 private:
  size_t words_;
  int threads_;
  AlignedArray<uint64_t> values_;
  std::vector<uint64_t> sums_;
};

}  // namespace

Result<std::unique_ptr<Task>> make_peak_task(const TaskSpec& spec) {
  const size_t slash = spec.rung.find('/');
  const auto precision =
      slash == std::string::npos ? std::nullopt : precision_named(std::string_view(spec.rung).substr(slash + 1));
  if (!precision)
    return Error{"unknown-task", "'" + printable(spec.rung) + "' is no peak loop", "peak", "ISA/PRECISION"};
  return std::unique_ptr<Task>(std::make_unique<PeakTask>(spec.rung.substr(0, slash), *precision, spec.threads));
}

Result<std::unique_ptr<Task>> make_read_task(const TaskSpec& spec) {
  if (spec.sizes.size() != 1 || spec.sizes[0] < 4096 || spec.sizes[0] > int64_t{1} << 40) {
    return Error{"unknown-task", "reading takes one size", "read", "bytes, from 4096"};
  }
  return std::unique_ptr<Task>(std::make_unique<ReadTask>(spec.sizes[0], spec.threads));
}

}  // namespace perfcast::ai::gemm
