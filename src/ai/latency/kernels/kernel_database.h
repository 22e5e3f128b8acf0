#pragma once
// Databases of measured kernels: one table for each operator, times by shape, as planners of serving publish them. The
// tables are told apart by their columns, which stand in any order; others are ignored.
//
//   all        system, latency; engine, engine_version, kernel_source where the database has them
//   products   m, n, k, gemm_dtype
//   attention  batch_size, isl, step, num_heads, num_key_value_heads, head_dim, attn_dtype, kv_cache_dtype, window_size
//              (may lack). step is 0 at prefill; else it is a decode over isl + step tokens
//   experts    num_tokens, hidden_size, inter_size, topk, num_experts, moe_tp_size, moe_ep_size, moe_dtype,
//   distribution
//              ("balanced", "power_law_1.2")
//
// latency is in ms; latency_ms, latency_us and latency_s say it themselves. Formats: bfloat16, float16, fp8, fp8_block,
// nvfp4.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ai/latency/model/kernel_shape.h"
#include "base/result.h"

namespace perfcast::ai {

struct MeasuredKernel {
  uint32_t system = 0, library = 0;  // indexes into the database's lists
  KernelShape shape;
  double seconds = 0;
};

struct KernelDatabase {
  std::vector<std::string> systems, libraries;  // as the tables write them; a library may be ""
  std::vector<MeasuredKernel> kernels;          // by system and shape, each shape once
  struct Left {                                 // out, and why
    std::string reason;
    int64_t count = 0;
    std::string example;  // file:line of the first
  };
  std::vector<Left> left_out;      // rows
  std::vector<std::string> notes;  // tables that weren't used, units, versions

  void leave_out(const std::string& reason, int64_t count, const std::string& example);
};

// Left out and counted: rows without a needed cell, of a format that isn't named above, with a size that is no whole
// number from 1 to 2^31 or a time that is no number above 0 and at most an hour; with a time 100 times and more away
// from two thirds of the rows next to them (equal but for one size); what an older version measured where a newer one
// did the same; other engines than the one with the most rows of a system and operator; slower kernels of another
// library for the same shape. Repeated rows count as their geometric mean.
// "bad-csv"; "missing-column"; "no-kernels" where nothing is left.
Result<KernelDatabase> parse_kernel_table(std::string_view csv, const std::string& source);

// All tables (*.csv, *.csv.gz) of a folder. A table that can't be used is noted; "no-kernels" where none can, or where
// there are Parquet files alone.
Result<KernelDatabase> read_kernel_database(const std::string& folder);

}  // namespace perfcast::ai
