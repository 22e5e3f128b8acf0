#pragma once
// Any command as a system under test, by JSON lines. On its standard input it gets
//
//   {"start": {"samples": [5, 3]}}                 before each run: the samples of the data set that will come
//   {"samples": [{"id": 7, "index": 3}]}           a query
//   {"flush": true}                                the run's last query was sent
//
// and writes on its standard output what answer_line.h says. It ends when its input does. Ids go on over runs.

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ai/load/system_under_test.h"
#include "ai/system/answer_line.h"
#include "base/process/spawn.h"

namespace perfcast::ai {

struct PipeSystemOptions {
  std::vector<std::string> command;  // argv; command[0] resolved by PATH
  double ready_limit_s = 120;        // from start to {"ready": true}
  bool show_stderr = false;          // else its last lines are kept for an error
};

class PipeSystem final : public SystemUnderTest {
 public:
  explicit PipeSystem(PipeSystemOptions options) : options_(std::move(options)) {}
  ~PipeSystem() override;
  PipeSystem(const PipeSystem&) = delete;
  PipeSystem& operator=(const PipeSystem&) = delete;

  std::string name() const override;
  // Errors: the command can't be run, ended, or was not ready in time ("system-not-ready").
  Status start(std::span<const uint32_t> samples, ResponseSink& sink) override;
  void issue(std::span<const IssuedSample> query) override;
  void flush() override;
  void finish() override;  // a system that owes answers is ended

 private:
  Status spawn_command();
  void send(std::string_view text);
  void follow(const std::stop_token& stop);
  bool read_some(std::string& chunk);
  bool write_some();
  bool has_to_write();
  void take_line(std::string_view line, int64_t at_ns);
  void take_bytes(std::string_view bytes, int64_t at_ns);
  void lose(const std::string& message);
  void end_child(double patience_s);
  std::string obituary();

  PipeSystemOptions options_;
  pid_t child_ = -1;
  Descriptor to_child_, from_child_, log_, wake_;

  std::mutex out_lock_;
  std::string out_;  // still to be written

  std::mutex lock_;  // of what follows; held while the sink is called, so that finish() is the end
  std::condition_variable changed_;
  ResponseSink* sink_ = nullptr;
  bool is_ready_ = false, flushed_ = false;
  std::optional<Error> lost_;
  int64_t owed_ = 0;
  uint64_t base_ = 0, next_wire_ = 0;  // ids on the wire are base + id

  std::string writing_, in_;  // of the thread
  size_t written_ = 0;
  std::jthread thread_;  // the last: it uses all others
};

}  // namespace perfcast::ai
