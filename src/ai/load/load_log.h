#pragma once
// A run on disk, as it goes: a folder with
//
//   samples.csv          a line for each answer, within milliseconds of it, up to a limit
//   bench_detail.txt     lines as the field's load generator writes them (":::MLLOG {...}"): settings, results
//   bench_accuracy.json  accuracy mode: an entry for each answer, its data as hexadecimal digits
//   bench_summary.txt    the summary, beginning with what it is, then "Result is : VALID" or INVALID
//   result.json          perfcast.bench/1, written by whoever has it
//
// They are in the form of that generator's logs, so that readers of those take them. They are no results of MLPerf,
// which is a trademark with rules of its own for who may use it; the summary says so.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ai/load/load_result.h"
#include "ai/load/load_summary.h"
#include "ai/load/load_verdict.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast::ai {

inline constexpr const char* kSamplesHeader = "id,sample,due_ns,issued_ns,first_token_ns,answered_ns,tokens,failed";

class LoadLog {
 public:
  // Makes the folder; what a former run left in its files is gone. `most_sample_bytes`: of samples.csv.
  static Result<std::unique_ptr<LoadLog>> create(const std::string& folder, int64_t most_sample_bytes = 256 << 20);
  ~LoadLog();
  LoadLog(const LoadLog&) = delete;
  LoadLog& operator=(const LoadLog&) = delete;

  const std::string& folder() const { return folder_; }

  // A line of the detail log, on disk when it returns. `is_error` counts in num_errors.
  void point(const std::string& key, const Json& value, bool is_error = false);
  void settings(const LoadSettings& settings, const LoadRules& rules);
  // For LoadHooks::record; in accuracy mode the accuracy log as well.
  Status add(std::span<const SampleRecord> records, LoadMode mode);
  // The end of a performance run: its results in the detail log, the summary.
  Status finish(const LoadResult& result, const LoadSummary& summary, const LoadVerdict& verdict,
                const LoadRules& rules);
  // "log-failed" where anything could not be written.
  Status close();
  // Answers that samples.csv has no line for, its limit being reached.
  int64_t left_out() const { return left_out_; }

 private:
  explicit LoadLog(std::string folder) : folder_(std::move(folder)) {}
  bool open(const std::string& name, int& descriptor);
  void write_all(int descriptor, const std::string& text);
  void add_accuracy(const SampleRecord& record);
  Status failed() const;

  std::string folder_, failure_;
  int samples_ = -1, detail_ = -1, accuracy_ = -1, summary_ = -1;
  int64_t began_ns_ = 0, sample_bytes_ = 0, most_sample_bytes_ = 0, left_out_ = 0, errors_ = 0;
  bool has_accuracy_ = false;
  std::string buffer_;
};

}  // namespace perfcast::ai
