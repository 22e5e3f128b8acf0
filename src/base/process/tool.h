#pragma once
// Outside tools: where they are and which version.

#include <string>
#include <vector>

#include "base/process/spawn.h"
#include "base/result.h"

namespace perfcast {

// First line that `command` prints on stdout; empty where it can't be run, fails or takes over 5 s.
std::string first_line_of(const std::vector<std::string>& command);

// Asked while something else runs: the question is put at once, the answer waited for, 5 s at most from then on. The
// first whole line, or all of a shorter answer, whatever the status; empty where there is none.
class FirstLineLater {
 public:
  explicit FirstLineLater(const std::vector<std::string>& command);
  ~FirstLineLater();
  FirstLineLater(const FirstLineLater&) = delete;
  FirstLineLater& operator=(const FirstLineLater&) = delete;
  std::string get();

 private:
  void end();

  Descriptor answer_;   // the end of the pipe that we read
  pid_t process_ = -1;  // none: could not be started, or was ended
  std::string line_;
};

// All that `command` prints on stdout, 64 MiB at most. Errors: "tool-missing", "tool-failed" (with the end of what it
// prints on stderr), those of run_process() and read_file().
Result<std::string> answer_of(const std::vector<std::string>& command, double limit_s);

// Debian's package of a tool, for advice.
std::string install_advice(const std::string& package);

}  // namespace perfcast
