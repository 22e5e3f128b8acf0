#include "service/http/workers.h"

#include <utility>

namespace perfcast::service {

Workers::Workers(size_t threads, size_t most_waiting) : most_waiting_(most_waiting) {
  for (size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  }
}

Workers::~Workers() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

bool Workers::post(std::function<void()> task) {
  {
    const std::lock_guard guard(lock_);
    if (tasks_.size() >= most_waiting_) return false;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

size_t Workers::waiting() const {
  const std::lock_guard guard(lock_);
  return tasks_.size();
}

size_t Workers::running() const {
  const std::lock_guard guard(lock_);
  return running_;
}

void Workers::run(const std::stop_token& stop) {
  std::unique_lock guard(lock_);
  while (changed_.wait(guard, stop, [this] { return !tasks_.empty(); }) && !stop.stop_requested()) {
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    ++running_;
    guard.unlock();
    task();
    task = nullptr;
    guard.lock();
    --running_;
  }
}

}  // namespace perfcast::service
