#include "ai/gemm/run/limit_tasks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ai/gemm/precision.h"
#include "base/text.h"
#include "machine/ceiling/aligned_array.h"
#include "machine/ceiling/cpu_isa.h"
#include "machine/ceiling/peak_loops.h"
#include "machine/ceiling/read_loops.h"
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

// Reads an array piece by piece, each of which is taken out of the caches before. As of peaks, the best piece counts:
// whole runs over the array are longer than what a scheduler gives a thread at a time.
class ReadTask : public Task {
 public:
  ReadTask(int64_t bytes, int threads) : threads_(threads), read_(static_cast<size_t>(threads)) {
    const size_t steps_of_one = static_cast<size_t>(bytes) / sizeof(uint64_t) / kReadStep / read_.size();
    const size_t steps = std::clamp<size_t>(steps_of_one, 1, kPieceBytes / sizeof(uint64_t) / kReadStep);
    piece_ = steps * kReadStep;
    pieces_ = std::max<size_t>(1, steps_of_one / steps);
  }

  Status prepare() override {
    values_ = AlignedArray<uint64_t>(piece_ * pieces_ * read_.size());
    expected_ = 0;
    for (size_t i = 0; i < values_.size(); ++i) {
      values_[i] = (i + 1) * 0x9E3779B97F4A7C15U;
      expected_ ^= values_[i];
    }
    return {};
  }
  Result<double> run(int64_t calls) override {
    const ReadLoop& loop = read_loops().front();
    double best = std::numeric_limits<double>::infinity();
    for (int64_t call = 0; call < calls; ++call) {
      std::fill(read_.begin(), read_.end(), 0);
      for (size_t piece = 0; piece < pieces_; ++piece) {
        const auto from = [&](int thread) {
          return values_.data() + (static_cast<size_t>(thread) * pieces_ + piece) * piece_;
        };
        // Where the build can't take it out, the array is larger than the caches.
        seconds_together(threads_, [&](int thread) { (void)drop_from_caches(from(thread), piece_); });
        best = std::min(best, seconds_together(threads_, [&](int thread) {
                          read_[static_cast<size_t>(thread)] ^= loop.run(from(thread), piece_, 1);
                        }));
      }
    }
    return best * static_cast<double>(pieces_) * static_cast<double>(calls);
  }
  Result<Verdict> check() override {
    Verdict verdict;
    uint64_t all = 0;
    for (const uint64_t of_one : read_) all ^= of_one;
    verdict.correct = all == expected_;
    if (!verdict.correct) verdict.detail = "not every word was read once";
    return verdict;
  }
  double work() const override { return static_cast<double>(piece_ * pieces_ * read_.size() * sizeof(uint64_t)); }

 private:
  static constexpr size_t kPieceBytes = size_t{4} << 20;  // less than a millisecond

  int threads_;
  size_t piece_ = 0, pieces_ = 0;  // words; pieces of each thread
  uint64_t expected_ = 0;
  AlignedArray<uint64_t> values_;
  std::vector<uint64_t> read_;  // by thread, the exclusive or of what it read
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
