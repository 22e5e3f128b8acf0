#pragma once
// The standard input of a program that runs more than once: every run reads the same bytes.

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace perfcast {

// Wraps a descriptor (usually 0) for a series of runs.
//   regular file   the first run takes the descriptor itself, later runs reopen it at the same offset
//   pipe, socket   pumped: what the first run consumes is kept in an unlinked file and pumped to later runs; nothing
//                  is read ahead beyond a pipe's buffer, so that an open pipe that never speaks does no harm
//   terminal       the first run takes it, later runs read nothing (/dev/null)
//   other devices  every run takes the descriptor itself
// A closed descriptor counts as /dev/null.
class InputFeed {
 public:
  explicit InputFeed(int descriptor, uint64_t spool_limit_bytes = uint64_t{1} << 30);
  ~InputFeed();
  InputFeed(const InputFeed&) = delete;
  InputFeed& operator=(const InputFeed&) = delete;

  // The descriptor that the next run's program takes as its standard input; valid until end_run().
  Result<int> begin_run();
  // After the program was forked: closes the program's end here, so that it alone holds it.
  void program_started();
  // What to wait for; fd is -1 where nothing is to be pumped.
  pollfd wants() const;
  // Moves what can be moved without blocking.
  void pump();
  void end_run();

  // The first run waits for a writer whose pace is not the program's: its wall time is no measure.
  bool is_stream() const { return kind_ == Kind::kStream; }
  bool is_terminal() const { return kind_ == Kind::kTerminal; }
  // False once a stream outgrew the spool: there can be no further run on the same input.
  bool repeatable() const { return !overflowed_; }
  int runs() const { return runs_; }

 private:
  enum class Kind { kNothing, kFile, kStream, kTerminal, kDevice };

  void close_sink();
  bool refill();

  Kind kind_ = Kind::kNothing;
  int descriptor_;
  uint64_t spool_limit_bytes_;
  off_t start_offset_ = 0;
  int runs_ = 0;
  int given_ = -1;  // the program's end, where we opened it
  int sink_ = -1;   // our end of the program's pipe
  int spool_ = -1;
  uint64_t spooled_bytes_ = 0, replayed_bytes_ = 0;
  bool overflowed_ = false;
  int spool_problem_ = 0;  // errno of what could not be kept
  bool source_ended_ = false;
  std::string buffer_;
  size_t buffer_start_ = 0;
};

}  // namespace perfcast
