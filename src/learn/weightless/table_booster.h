#pragma once
// Weightless regression that is grown, not descended: each table reads a few bits and holds a number for each output at
// each of its addresses; tables are added one after the other, each fitted to what those before it leave. An n-tuple
// regression network (Kolcz & Allinson, "N-tuple regression network", Neural Networks 9, 1996) whose tuples are chosen
// as the levels of an oblivious tree are (Prokhorenkova and others, "CatBoost", NeurIPS 2018, section 4), all outputs
// at once.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "learn/weightless/lut_network.h"
#include "learn/weightless/lut_rows.h"

namespace perfcast {

struct TableBoostOptions {
  ThermometerKind encoding = ThermometerKind::kDistributive;
  size_t levels = 32;  // thresholds of an input at most
  size_t tables = 300;
  size_t arity = 3;  // bits that a table reads
  double learning_rate = 0.06;
  double row_share = 0.8;    // of the rows, drawn for each table
  double input_share = 0.4;  // of the inputs, drawn for each table
  double ridge = 2;          // weight of rows that say 0, at each address
  uint64_t seed = 1;
  int threads = 1;
  std::function<void(const std::string&)> progress = nullptr;
};

// What can't be, whatever the rows: "bad-config".
Status check_table_boost(const TableBoostOptions& options);

// targets: row-major rows x outputs, finite; least squares of all outputs in one unit. One layer, whose head counts by
// address. The same network for the same options and seed, whatever the number of threads. Errors: as
// train_lut_regressor().
Result<LutNetwork> boost_tables(const LutRows& rows, std::span<const float> targets, size_t outputs,
                                const TableBoostOptions& options);

}  // namespace perfcast
