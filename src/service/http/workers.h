#pragma once
// Threads that run tasks in their order; at most so many wait.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace perfcast::service {

class Workers {
 public:
  Workers(size_t threads, size_t most_waiting);
  // Tasks that run are waited for; those that wait are dropped.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False where too many wait already.
  bool post(std::function<void()> task);
  size_t waiting() const;
  size_t running() const;

 private:
  void run(const std::stop_token& stop);

  const size_t most_waiting_;
  mutable std::mutex lock_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> tasks_;
  size_t running_ = 0;
  std::vector<std::jthread> threads_;  // the last: they use all others
};

}  // namespace perfcast::service
