#include "service/http/jobs.h"

#include <fmt/format.h>

#include <random>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::service {
namespace {

constexpr std::chrono::milliseconds kTellEvery(100);

Error unknown_job(const std::string& id) {
  return usage_error("unknown-job", "there is no job '" + printable(id.substr(0, 40)) + "'", "id",
                     "the id of a job that was begun here and ended less than ten minutes ago");
}

}  // namespace

std::string random_id() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", static_cast<uint32_t>(random()));
  return id;
}

Jobs::Jobs(const JobLimits& limits) : limits_(limits), workers_(limits.threads, limits.most_waiting) {}

Jobs::~Jobs() {
  const std::lock_guard guard(lock_);
  for (auto& [id, job] : jobs_) {
    job->is_cancelled = true;
    job->listeners.clear();
  }
}

Result<std::string> Jobs::begin(const std::string& operation, Run run) {
  auto job = std::make_shared<Job>();
  job->id = random_id();
  job->operation = operation;
  {
    const std::lock_guard guard(lock_);
    forget_old();
    jobs_[job->id] = job;
  }
  const bool taken = workers_.post([this, job, run = std::move(run)] {
    {
      const std::lock_guard guard(lock_);
      if (job->is_cancelled) return end(*job, interrupted_error("the job was cancelled"));
      job->state = "running";
      tell(*job, "progress");
    }
    Watch watch;
    watch.is_cancelled = [job] { return job->is_cancelled.load(); };
    watch.progress = [this, job](const std::string& stage) {
      const std::lock_guard guard(lock_);
      job->stage = stage;
      if (Clock::now() >= job->told + kTellEvery) tell(*job, "progress");
    };
    auto result = run(watch);
    const std::lock_guard guard(lock_);
    end(*job, std::move(result));
  });
  if (taken) return job->id;
  const std::lock_guard guard(lock_);
  jobs_.erase(job->id);
  return usage_error("too-many-requests", std::to_string(limits_.most_waiting) + " jobs wait already", "",
                     "another try later");
}

std::shared_ptr<Jobs::Job> Jobs::find(const std::string& id) {
  forget_old();
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second;
}

void Jobs::forget_old() {
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits_.kept_s));
  while (!ended_.empty()) {
    const auto oldest = jobs_.find(ended_.front());
    const bool stays =
        oldest != jobs_.end() && ended_.size() <= limits_.most_kept && Clock::now() < oldest->second->ended + limit;
    if (stays) return;
    if (oldest != jobs_.end()) jobs_.erase(oldest);
    ended_.pop_front();
  }
}

std::string Jobs::document(const Job& job, bool with_answer) {
  Json json = {{"schema", "perfcast.job/1"}, {"id", job.id}, {"operation", job.operation}, {"state", job.state}};
  put_known(json, "stage", job.stage);
  if (job.error) json["error"] = perfcast::to_json(*job.error);
  std::string text = compact_text(json);
  if (!with_answer || !job.answer) return text;
  text.pop_back();
  return text + ",\"answer\":" + *job.answer + "}";
}

void Jobs::tell(Job& job, const char* event) {
  job.told = Clock::now();
  if (job.listeners.empty()) return;
  const std::string text = document(job, true);
  for (const auto& [number, listener] : job.listeners) listener(event, text);
}

void Jobs::end(Job& job, Result<Answer> result) {
  if (job.is_cancelled) result = interrupted_error("the job was cancelled");
  job.state = result ? "done" : job.is_cancelled ? "cancelled" : "failed";
  if (result) {
    job.answer = std::move(result->json);
  } else {
    job.error = result.error();
  }
  job.ended = Clock::now();
  ended_.push_back(job.id);
  tell(job, "end");
  job.listeners.clear();
}

Result<std::string> Jobs::describe(const std::string& id) {
  const std::lock_guard guard(lock_);
  const auto job = find(id);
  if (!job) return unknown_job(id);
  return document(*job, true);
}

Result<std::string> Jobs::cancel(const std::string& id) {
  const std::lock_guard guard(lock_);
  const auto job = find(id);
  if (!job) return unknown_job(id);
  if (!job->has_ended()) {
    job->is_cancelled = true;
    job->stage = "is being cancelled";
  }
  return document(*job, false);
}

Result<uint64_t> Jobs::listen(const std::string& id, Listener listener) {
  const std::lock_guard guard(lock_);
  const auto job = find(id);
  if (!job) return unknown_job(id);
  listener(job->has_ended() ? "end" : "progress", document(*job, true));
  const uint64_t number = next_listener_++;
  if (!job->has_ended()) job->listeners[number] = std::move(listener);
  return number;
}

void Jobs::leave(const std::string& id, uint64_t listener) {
  const std::lock_guard guard(lock_);
  const auto found = jobs_.find(id);
  if (found != jobs_.end()) found->second->listeners.erase(listener);
}

}  // namespace perfcast::service
