#pragma once
// Which lines of a Python script its threads are at: frames of CPython 3.11 to 3.13 (x86-64, AArch64), read from
// outside while it runs (process_vm_readv(2)), as nothing in the process is changed. Where each member lies is
// CPython's own headers' (Include/internal/pycore_*.h of 3.11.7, 3.12.1, 3.13.0), which stays as it is within a minor
// version. What is read may change meanwhile, or be damaged: it is checked, and what does not fit is left out.

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "measure/diagnose/observe/thread_states.h"

namespace perfcast::measure {

// A line of the user's own, with what was seen while a thread was in it, or in what it called of the libraries.
struct ScriptLine {
  std::string file, function;
  int line = 0;
  std::string text;              // of the source; empty: it can't be read
  double cpu_s = 0;              // of all threads
  ThreadTimes waits;             // likewise
  double in_s = 0;               // of the CPU time, in the operator `in` itself
  double call_s = 0;             // of the CPU time, in a call of something that is not written in Python
  double add_s = 0;              // of the CPU time, in the operator + or += itself
  double making_s = 0;           // of the CPU time, in what makes something of a text, such as json.loads()
  double again_s = 0;            // of that, of a text of which it had been made before
  std::string making;            // what that is: "JSON is parsed"
  std::string place() const;     // "job.py:12"
  std::string in_words() const;  // "load (job.py:12): `x in seen`"
};

// The text of each line, from its file.
void add_texts(std::vector<ScriptLine>& lines);

// A thread that wants to run and has no CPU looks like one that runs: where the lines' CPU time comes to more than the
// `cpu_s` that the kernel counted, all are cut to it alike.
void hold_to_cpu_time(std::vector<ScriptLine>& lines, double cpu_s);

// Entries of a code object's table of lines (PEP 626, CPython's Objects/locations.md): the line of the instruction so
// many code units (2 bytes) in; 0: it has none, or the table is damaged.
int line_of_instruction(std::string_view table, int first_line, int64_t unit);

// Version of a file's name: "11" of "python3.11", "libpython3.11.so.1.0"; 0: none.
int python_minor_version(std::string_view file_name);

class ScriptLines {
 public:
  // Right after a look at all threads.
  void look(const std::vector<ThreadNow>& threads);
  // Most time first; the text of each from its file.
  std::vector<ScriptLine> lines() const;
  // Why there are none, though Python runs; empty: there are, or it does not run.
  std::string missing() const { return lines_.empty() ? missing_ : ""; }
  // Programs that processes ran, in the order in which they were seen first: paths.
  const std::map<pid_t, std::vector<std::string>>& programs() const { return programs_; }

 private:
  struct Interpreter {
    uint64_t runtime = 0;  // address of _PyRuntime; 0: not found
    int minor = 0;
    double found_looks = 0;
  };
  struct Code {
    std::string file, function, table;
    int first_line = 0;
    uint64_t instructions = 0;
  };
  struct Frame {
    const Code* code = nullptr;
    int line = 0, operation = 0;
    uint64_t first_argument = 0;  // address of the object
  };
  struct Text {  // that something is made of
    size_t letters = 0, digest = 0;
    auto operator<=>(const Text&) const = default;
  };
  struct Making {
    Text text;
    double s = 0;  // CPU time of the thread at the first of looks in a row
  };
  Interpreter find_interpreter(pid_t process, const std::string& program);
  std::map<pid_t, uint64_t> frames_of(pid_t process, const Interpreter& interpreter);  // by thread
  std::vector<Frame> stack_of(pid_t process, const Interpreter& interpreter, uint64_t frame);
  const Code* code_at(pid_t process, const Interpreter& interpreter, uint64_t address);
  void add(const std::vector<Frame>& stack, const ThreadNow& thread, const Interpreter& interpreter);
  void add_making(const std::vector<Frame>& stack, const ThreadNow& thread, const Interpreter& interpreter,
                  ScriptLine& line);

  std::map<pid_t, std::vector<std::string>> programs_;
  std::map<std::pair<pid_t, std::string>, Interpreter> interpreters_;
  std::map<std::tuple<pid_t, uint64_t, uint64_t, uint64_t>, Code> codes_;
  std::map<std::tuple<std::string, std::string, int>, ScriptLine> lines_;
  std::map<pid_t, Making> making_;  // by thread, at its last look
  std::set<Text> made_of_;
  std::string missing_;
};

}  // namespace perfcast::measure
