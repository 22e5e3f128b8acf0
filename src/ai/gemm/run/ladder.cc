#include "ai/gemm/run/ladder.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ai/gemm/run/worker_process.h"
#include "base/json.h"
#include "base/process/interrupt.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::ai::gemm {
namespace {

constexpr double kPrepareLimit_s = 180;
constexpr int64_t kMostCalls = 1000000;
constexpr double kLong_s = 0.5;  // from here on a run is its own warm-up

class Runner {
 public:
  Runner(const LadderEntry& entry, const LadderOptions& options) : entry_(entry), options_(options) {
    found_.spec = entry.spec;
  }

  // Starts the worker, checks the result, decides how often it runs. Errors: no worker, an interrupt.
  Status set_up() {
    auto worker = WorkerProcess::start(options_.worker, entry_.spec.environment);
    if (!worker) return worker.error();
    worker_.emplace(*std::move(worker));
    const auto ready = worker_->ask({{"do", "prepare"}, {"spec", to_json(entry_.spec)}}, kPrepareLimit_s);
    if (!ready) return skip(ready.error());
    found_.work = ready->value("work", 0.0);
    found_.kernel = ready->value("kernel", "");
    found_.note = ready->value("note", "");
    if (entry_.guess_first) {
      const auto guess = seconds({{"do", "estimate"}}, options_.slow_limit_s + kPrepareLimit_s);
      if (!guess) return skip(guess.error());
      if (*guess > options_.slow_limit_s) {
        found_.skipped = "one run would take about " + human_seconds(*guess) + ", over the limit of " +
                         human_seconds(options_.slow_limit_s) + " (--run-limit)";
        worker_.reset();
        return {};
      }
    }
    auto first = run(1, options_.slow_limit_s * 4 + kPrepareLimit_s);
    if (!first) return skip(first.error());
    first_cpu_s_ = last_cpu_s_;
    if (Status checked = check(); !checked || !found_.verdict.correct) {
      if (!checked) return skip(checked.error());
      judged_wrong_ = true;
      worker_.reset();
      return {};
    }
    if (*first < kLong_s) {  // the first run paid for pages and threads
      first = run(1, kPrepareLimit_s);
      if (!first) return skip(first.error());
    }
    plan(*first);
    if (worker_) worker_->pause();
    return {};
  }

  bool takes_part(int round) const {
    if (!worker_) return false;
    return (round + 1) * rounds_ / options_.rounds > round * rounds_ / options_.rounds;
  }

  // Errors: an interrupt.
  Status take_turn(int round) {
    worker_->resume();
    // Caches and clocks belong to the last one: a quarter of a turn to get them back.
    Result<double> taken = 0.0;
    if (once_s_ < kLong_s / 4) taken = run(std::max<int64_t>(1, calls_ / 4), kPrepareLimit_s);
    if (taken) taken = run(calls_, kPrepareLimit_s + 20 * once_s_ * static_cast<double>(calls_));
    if (!taken) {
      if (taken.error().kind == ErrorKind::kInterrupted) return taken.error();
      found_.samples_s.clear();
      give_up(taken.error());
      return {};
    }
    worker_->pause();
    found_.timed_s += *taken;
    found_.cpu_s += last_cpu_s_;
    found_.samples_s.push_back(*taken / static_cast<double>(calls_));
    if (!takes_part_after(round)) worker_.reset();
    return {};
  }

  // Leaves what there is.
  void interrupt() {
    worker_.reset();
    if (found_.samples_s.empty() && found_.skipped.empty() && !judged_wrong_) found_.skipped = "interrupted";
  }

  Measurement result() && { return std::move(found_); }
  const std::string& name() const { return entry_.spec.rung; }

 private:
  bool takes_part_after(int round) const {
    for (int later = round + 1; later < options_.rounds; ++later) {
      if (takes_part(later)) return true;
    }
    return false;
  }

  Result<double> seconds(const Json& request, double limit_s) {
    const auto answer = worker_->ask(request, limit_s);
    if (!answer) return answer.error();
    const double value = answer->value("seconds", -1.0);
    last_cpu_s_ = answer->value("cpu_seconds", 0.0);
    if (!std::isfinite(value) || value < 0) return Error{"worker-failed", "a time that is none", "", ""};
    return value;
  }
  Result<double> run(int64_t calls, double limit_s) { return seconds({{"do", "run"}, {"calls", calls}}, limit_s); }

  Status check() {
    const auto answer = worker_->ask({{"do", "check"}}, kPrepareLimit_s * 2);
    if (!answer) return answer.error();
    found_.verdict.correct = answer->value("correct", false);
    found_.verdict.worst = answer->value("worst", 0.0);
    found_.verdict.relative_error = answer->value("relative_error", 0.0);
    found_.verdict.detail = answer->value("detail", "");
    return {};
  }

  void plan(double once_s) {
    once_s_ = once_s;
    const auto fill = [](double room, double each, double most) {
      return std::clamp(std::ceil(room / std::max(each, 1e-9)), 1.0, most);
    };
    calls_ = static_cast<int64_t>(fill(options_.turn_s, once_s, static_cast<double>(kMostCalls)));
    if (entry_.keep_all_rounds) {
      rounds_ = options_.rounds;
      return;
    }
    const double turn_s = once_s * static_cast<double>(calls_);
    rounds_ = static_cast<int>(std::clamp(std::floor(options_.budget_s / turn_s), 0.0, 1.0 * options_.rounds));
    if (rounds_ >= std::min(3, options_.rounds)) return;
    // Too slow for the budget: the checked run counts, and as many as the budget has room for.
    if (once_s >= kLong_s) {
      found_.samples_s.push_back(once_s);
      found_.timed_s += once_s;
      found_.cpu_s += first_cpu_s_;
      rounds_ = std::max(0, rounds_ - 1);
    } else {
      rounds_ = std::max(1, rounds_);
    }
    const size_t runs = found_.samples_s.size() + static_cast<size_t>(rounds_);
    const std::string remark =
        std::to_string(runs) + (runs == 1 ? " run" : " runs") + ": time limit " + human_seconds(options_.budget_s);
    found_.note += (found_.note.empty() ? "" : "; ") + remark;
    if (rounds_ == 0) worker_.reset();
  }

  // Whatever happens to one task ends that task only.
  void give_up(const Error& error) {
    found_.skipped = error.kind == ErrorKind::kEnvironment ? error.message : "failed: " + error.message;
    worker_.reset();
  }
  Status skip(const Error& error) {
    if (error.kind == ErrorKind::kInterrupted) return error;
    give_up(error);
    return {};
  }

  const LadderEntry& entry_;
  const LadderOptions& options_;
  std::optional<WorkerProcess> worker_;
  Measurement found_;
  double once_s_ = 0, last_cpu_s_ = 0, first_cpu_s_ = 0;
  int64_t calls_ = 1;
  int rounds_ = 0;
  bool judged_wrong_ = false;
};

}  // namespace

double Measurement::median_s() const { return median(samples_s); }
double Measurement::low_s() const {
  return samples_s.empty() ? kUnknown : *std::min_element(samples_s.begin(), samples_s.end());
}
double Measurement::high_s() const {
  return samples_s.empty() ? kUnknown : *std::max_element(samples_s.begin(), samples_s.end());
}
double Measurement::rate() const { return work / median_s(); }
double Measurement::best_rate() const { return work / low_s(); }
double Measurement::on_cpu() const {
  const double share = cpu_s / timed_s;
  return spec.threads == 1 && share > 0.05 ? std::min(share, 1.0) : kUnknown;
}
double Measurement::spread() const {
  if (samples_s.size() < 2) return kUnknown;
  return (quantile(samples_s, 0.75) - quantile(samples_s, 0.25)) / median_s();
}

Result<LadderRun> run_ladder(const std::vector<LadderEntry>& entries, const LadderOptions& options) {
  const InterruptGuard guard;
  std::vector<Runner> runners;
  runners.reserve(entries.size());
  for (const LadderEntry& entry : entries) runners.emplace_back(entry, options);
  const auto say = [&options](const std::string& text) {
    if (options.progress) options.progress(text);
  };
  const size_t count = runners.size();
  const auto measure = [&]() -> Status {
    for (Runner& runner : runners) {
      say("checking " + runner.name());
      if (Status started = runner.set_up(); !started) return started;
    }
    for (int round = 0; round < options.rounds; ++round) {
      for (size_t turn = 0; turn < count; ++turn) {
        // Another one begins each round, so that none always follows the same one.
        Runner& runner = runners[(turn + static_cast<size_t>(round)) % count];
        if (!runner.takes_part(round)) continue;
        say("round " + std::to_string(round + 1) + " of " + std::to_string(options.rounds) + ": " + runner.name());
        if (Status taken = runner.take_turn(round); !taken) return taken;
      }
    }
    return {};
  };
  LadderRun found;
  if (const Status done = measure(); !done) {
    if (done.error().kind != ErrorKind::kInterrupted) return done.error();
    InterruptGuard::acknowledge();
    found.interrupted = done.error();
    for (Runner& runner : runners) runner.interrupt();
  }
  found.measured.reserve(count);
  for (Runner& runner : runners) found.measured.push_back(std::move(runner).result());
  return found;
}

}  // namespace perfcast::ai::gemm
