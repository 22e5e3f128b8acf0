#pragma once
// What one worker process measures: one way to compute one problem. The worker (worker.h) makes the task from a
// TaskSpec that arrived as a line of JSON, after the environment of that spec was in place: libraries read their
// variables when they load, so nothing may load one before prepare().

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast::ai::gemm {

struct TaskSpec {
  std::string op;              // "gemm", "peak", "triad", ...: which family of tasks
  std::string rung;            // which of the family
  std::vector<int64_t> sizes;  // of the problem, as the family means them
  int threads = 1;
  uint64_t seed = 1;
  std::map<std::string, std::string> environment;  // set before the worker starts
};

Json to_json(const TaskSpec& spec);
// From the other end of a pipe: checked. Errors: "bad-json-field".
Result<TaskSpec> task_spec_from(const Json& json);

// How a result compares with the float64 reference.
struct Verdict {
  bool correct = false;
  double worst = 0;           // largest |result - reference| over what rounding allows; correct: at most 1
  double relative_error = 0;  // ||result - exact|| / ||exact|| (Frobenius), exact: of the inputs before rounding
  std::string detail;         // where it was wrong; empty where correct
};

class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;

  // Loads the library, makes the inputs from the seed, converts and packs what users convert and pack once. An
  // error of kind kEnvironment: this machine can't run it, and why; any other: it failed.
  virtual Status prepare() = 0;
  // Seconds that one run may take, guessed from a small part of the work; 0 where it is sure to be short.
  virtual Result<double> estimate_s() { return 0.0; }
  // Seconds that `calls` >= 1 calls, one after the other, took by the task's own clock.
  virtual Result<double> run(int64_t calls) = 0;
  // Judges what the last run left behind.
  virtual Result<Verdict> check() = 0;
  // Arithmetic operations of one call (peak loops choose their own amount); bytes where that is what counts.
  virtual double work() const = 0;
  // Which kernel the library really chose, in the library's words; empty where there is nothing to choose.
  virtual std::string kernel() const { return ""; }
  // Remarks for the table: "B packed beforehand".
  virtual std::string note() const { return ""; }
};

// A family registers itself in make_task() of task.cc. Errors: "unknown-task".
Result<std::unique_ptr<Task>> make_task(const TaskSpec& spec);

}  // namespace perfcast::ai::gemm
