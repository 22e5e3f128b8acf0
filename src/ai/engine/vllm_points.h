#pragma once
// Measured runs of vLLM on cloud servers: Spare Cores' points of guidellm, one row for each point of a sweep.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

enum class PointStrategy : uint8_t { kSynchronous, kConstant, kThroughput };  // one at a time, at a rate, all at once

// NaN, or empty: the table doesn't say.
struct VllmPoint {
  std::string vendor, server;  // of the cloud and its instance type
  bool on_gpu = false;
  std::string gpu;              // empty on CPUs
  int64_t gpus = 0;             // of the server
  int64_t tensor_parallel = 1;  // on CPUs: NUMA nodes that the engine used
  std::string cpu;              // its name, verbatim
  double vcpus = kUnknown;
  std::optional<bool> avx512;  // whether the run's host had it
  std::string model;           // the maker's name: "meta-llama/Llama-3.1-8B-Instruct"
  std::string precision;       // "bfloat16"
  std::string version;         // of vLLM
  PointStrategy strategy = PointStrategy::kSynchronous;
  int64_t prompt_tokens = 0, output_tokens = 0;
  double rate_per_s = kUnknown;        // asked for
  double concurrency = kUnknown;       // mean of requests in flight, measured
  double most_concurrency = kUnknown;  // that the client allowed: column max_concurrency
  double most_sequences = kUnknown;    // that the engine ran at once: column max_num_seqs
  double step_tokens = kUnknown;       // of a step at most: column max_num_batched_tokens
  double seconds = kUnknown;           // that the point ran
  // Medians. The client's time per token is the whole request over its output tokens: the first token is in it.
  double first_s = kUnknown, further_s = kUnknown, client_token_s = kUnknown;
  double first_p95_s = kUnknown;   // of first_s; from the column ttft_p95_ms, where there is one
  double output_per_s = kUnknown;  // tokens
};

struct VllmPoints {
  std::vector<VllmPoint> points;  // in the table's order
  struct Left {                   // out, and why
    std::string reason;
    int64_t count = 0;
    std::string example;  // file:line of the first
  };
  std::vector<Left> left_out;
  std::vector<std::string> notes;  // versions, units that were converted
};

// Columns by name, in any order; others are ignored. Times of requests may be in s, ms or us, as their names end
// ("ttft_p50_ms"). Left out and counted: rows without a needed cell, with a time that is no number above 0, with one
// over 1,000 times or below a thousandth of the median of its model, prompt and strategy on such hardware; single
// streams whose three times contradict each other; what an older version measured where a newer one did the same; exact
// copies. Errors: "bad-csv"; "missing-column"; "no-points" where nothing is left.
Result<VllmPoints> parse_vllm_points(std::string_view csv, const std::string& source);
// A file, or the folder that holds points.csv[.gz].
Result<VllmPoints> read_vllm_points(const std::string& path);

// Points on GPUs, or on CPUs, with one request at a time, all three times known.
enum class PointHardware : uint8_t { kGpu, kCpu };
std::vector<VllmPoint> single_streams(const VllmPoints& points, PointHardware hardware = PointHardware::kGpu);

}  // namespace perfcast::ai
