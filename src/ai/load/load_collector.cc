#include "ai/load/load_collector.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kTakenAtOnce = 16384;
constexpr auto kPause = std::chrono::milliseconds(2);
constexpr int64_t kReportEvery_ns = 200'000'000;
// Of the rate that is reported: slow services answer a few times in it, and a log's line is printed as often.
constexpr int64_t kRateOver_ns = 10'000'000'000;

int64_t wall_minus_steady_ns() {
  using std::chrono::duration_cast, std::chrono::nanoseconds;
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return duration_cast<nanoseconds>(wall).count() - steady_ns();
}

}  // namespace

LoadCollector::LoadCollector(ResponseRing& ring, const LoadHooks& hooks, int64_t samples_per_query, LoadResult& result,
                             std::atomic<bool>& stop)
    : ring_(ring),
      hooks_(hooks),
      result_(result),
      stop_(stop),
      first_id_(ring.opened()),
      samples_per_query_(static_cast<uint64_t>(samples_per_query)) {
  records_.reserve(kTakenAtOnce + 1);
  if (hooks_.judge && result.settings.mode == LoadMode::kAccuracy) {
    judged_.resize(static_cast<size_t>(result.settings.total_samples));
  }
  reported_ns_ = std::max<int64_t>(steady_ns() - ring.start_ns(), 0);
  wall_offset_ns_ = hooks_.wall_offset_ns ? hooks_.wall_offset_ns() : wall_minus_steady_ns();
  thread_ = std::jthread([this](const std::stop_token& token) { follow(token); });
}

LoadCollector::~LoadCollector() { finish(); }

void LoadCollector::finish() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  while (take_up() > 0) {
  }
  look_at_clocks();
  if (const auto broken = ring_.broken(); broken && ring_.unanswered() > 0) {
    end_with({"system-broke", broken->message});
  }
  const auto odd = ring_.faults();
  result_.faults.insert(result_.faults.end(), odd.begin(), odd.end());
  const LatencyHistogram& gaps = ring_.inter_token();
  result_.inter_token_count += static_cast<int64_t>(gaps.count());
  result_.inter_token_p50_ns = gaps.percentile(0.5);
  result_.inter_token_p99_ns = gaps.percentile(0.99);
}

void LoadCollector::end_with(LoadFault fault) {
  if (!ended_) result_.faults.push_back(std::move(fault));
  ended_ = true;
  stop_.store(true, std::memory_order_relaxed);
}

void LoadCollector::follow(const std::stop_token& stop) {
  last_answer_ns_ = steady_ns() - ring_.start_ns();
  while (!stop.stop_requested()) {
    const size_t taken = take_up();
    const int64_t now_ns = steady_ns() - ring_.start_ns();
    look_out(now_ns);
    if (hooks_.progress && now_ns - reported_ns_ >= kReportEvery_ns) report(now_ns);
    if (taken < kTakenAtOnce) std::this_thread::sleep_for(kPause);
  }
}

size_t LoadCollector::take_up() {
  records_.clear();
  ring_.take(records_, kTakenAtOnce);
  for (SampleRecord& record : records_) add(record);
  if (!records_.empty()) last_answer_ns_ = steady_ns() - ring_.start_ns();
  if (records_.empty() || !hooks_.record) return records_.size();
  if (const Status written = hooks_.record(records_); !written) end_with({"log-failed", written.error().message});
  return records_.size();
}

void LoadCollector::add(SampleRecord& record) {
  ++answers_;
  const int64_t latency_ns = record.answered_ns - record.due_ns;
  result_.lateness_ns.push_back(record.issued_ns - record.due_ns);
  result_.end_ns = std::max(result_.end_ns, record.answered_ns);
  add_to_query(record);
  if (record.failed) {
    ++result_.failed;
    return;
  }
  ++result_.answered;
  result_.tokens += record.tokens;
  result_.streamed_tokens += record.streamed_tokens;
  result_.prompt_tokens += record.prompt_tokens;
  result_.latencies_ns.push_back(latency_ns);
  if (result_.settings.keeps_due) result_.due_ns.push_back(record.due_ns);
  if (hooks_.progress) latencies_.add(latency_ns);
  if (result_.settings.tokens) add_stream(record, latency_ns);
  // Multi stream repeats samples to fill its queries: each counts once.
  if (record.index >= judged_.size() || judged_[record.index]) return;
  judged_[record.index] = true;
  if (const auto right = hooks_.judge(record.index, record.data)) {
    ++result_.judged;
    result_.right += *right ? 1 : 0;
  } else {
    ++result_.unjudged;
  }
}

void LoadCollector::add_stream(const SampleRecord& record, int64_t latency_ns) {
  const bool begun = record.first_token_ns >= 0;
  const int64_t first_ns = begun ? record.first_token_ns - record.due_ns : -1;
  // Of tokens that came in one piece nobody knows when each was ready.
  const bool enough = begun && record.tokens > 1 && record.streamed_tokens > 1;
  result_.ttft_ns.push_back(first_ns);
  result_.answer_tokens.push_back(record.tokens);
  result_.tpot_ns.push_back(enough ? (latency_ns - first_ns) / (record.tokens - 1) : -1);
  if (!enough) ++result_.too_few_tokens;
  if (record.tokens == 0) ++result_.empty_answers;
  if (begun && hooks_.progress) first_tokens_.add(first_ns);
}

// Only the latest query is followed: multi stream has one on its way at a time, a server's are of one sample.
void LoadCollector::add_to_query(const SampleRecord& record) {
  const uint64_t query = (record.id - first_id_) / samples_per_query_;
  if (query < query_) return;
  if (query > query_ || query_samples_ == 0) {
    query_ = query;
    query_samples_ = 0;
    query_answered_ns_ = 0;
    query_failed_ = false;
  }
  query_answered_ns_ = std::max(query_answered_ns_, record.answered_ns);
  query_failed_ = query_failed_ || record.failed;
  result_.last_query_answered_ns = query_answered_ns_;
  const bool whole = ++query_samples_ == samples_per_query_ && !query_failed_;
  if (whole && result_.settings.scenario == LoadScenario::kMultiStream) {
    result_.query_latencies_ns.push_back(query_answered_ns_ - record.due_ns);
  }
}

void LoadCollector::look_out(int64_t now_ns) {
  look_at_clocks();
  if (const auto broken = ring_.broken()) return end_with({"system-broke", broken->message});
  if (hooks_.is_interrupted && hooks_.is_interrupted()) return end_with({"interrupted", "ended by a signal"});
  if (ring_.unanswered() <= 0) last_answer_ns_ = now_ns;  // waiting begins when there is something to wait for
  const int64_t last_ns = std::max(last_answer_ns_, ring_.last_token_ns());
  const auto limit_ns = static_cast<int64_t>(result_.settings.answer_limit_s * 1e9);
  if (now_ns - last_ns <= limit_ns) return;
  std::string message = "no answer for " + human_seconds(result_.settings.answer_limit_s);
  if (const auto first = ring_.first_unanswered()) {
    message += "; the first unanswered is id " + std::to_string(first->id) + ", sample " + std::to_string(first->index);
  }
  end_with({"system-hung", message});
}

void LoadCollector::look_at_clocks() {
  const int64_t offset_ns = hooks_.wall_offset_ns ? hooks_.wall_offset_ns() : wall_minus_steady_ns();
  const int64_t moved_ns = offset_ns - wall_offset_ns_;
  wall_offset_ns_ = offset_ns;
  if (moved_ns < kClockStep_ns && moved_ns > -kClockStep_ns) return;
  const auto known = std::find_if(result_.faults.begin(), result_.faults.end(),
                                  [](const LoadFault& fault) { return fault.code == "clock-step"; });
  if (known != result_.faults.end()) return;
  const double moved_s = static_cast<double>(moved_ns < 0 ? -moved_ns : moved_ns) / 1e9;
  result_.faults.push_back(
      {"clock-step", "the wall clock stepped by " + human_seconds(moved_s) +
                         (moved_ns < 0 ? " backwards" : " forwards") +
                         " during the run, or the machine slept; latencies are by the steady clock"});
}

void LoadCollector::report(int64_t now_ns) {
  LoadProgress progress;
  progress.elapsed_s = static_cast<double>(now_ns) / 1e9;
  progress.issued = static_cast<int64_t>(ring_.opened());
  progress.answered = result_.answered + result_.failed;
  if (reports_.empty()) reports_.push_back({reported_ns_, 0});  // when the run began
  while (reports_.size() > 1 && now_ns - reports_[1].at_ns >= kRateOver_ns) reports_.pop_front();
  const double interval_s = static_cast<double>(now_ns - reports_.front().at_ns) / 1e9;
  progress.answers_per_s = static_cast<double>(answers_ - reports_.front().answers) / interval_s;
  progress.p50_ns = latencies_.percentile(0.5);
  progress.p99_ns = latencies_.percentile(0.99);
  progress.first_token_p50_ns = first_tokens_.percentile(0.5);
  progress.first_token_p99_ns = first_tokens_.percentile(0.99);
  progress.tokens = result_.tokens;
  reported_ns_ = now_ns;
  reports_.push_back({now_ns, answers_});
  hooks_.progress(progress);
}

}  // namespace perfcast::ai
