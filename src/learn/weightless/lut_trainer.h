#pragma once
// Learns weightless networks by gradient descent (Adam). Tables hold real numbers while they learn and keep their
// signs; gradients go through addresses by the extended finite difference, through the first layer's choice of bits by
// the scores of all bits. (Bacellar and others, ICML 2024, sections 3.2 and 3.3.)

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/weightless/lut_network.h"
#include "learn/weightless/lut_rows.h"

namespace perfcast {

struct LutTrainingOptions {
  ThermometerKind encoding = ThermometerKind::kDistributive;
  size_t levels = 32;                // thresholds of an input at most
  bool short_thresholds = false;     // as Thermometer::fit has it
  std::vector<size_t> luts = {256};  // of each layer; of a classifier the last one is a multiple of the classes
  size_t arity = 6;                  // bits that a table reads
  bool learn_mapping = true;         // of the first layer; else, and in all others, drawn as whole permutations
  size_t epochs = 60, batch = 64;
  double learning_rate = 0.01;
  size_t decay_epochs = 20;    // after which the rate falls to a tenth; 0: never
  double softmax_divisor = 0;  // of a class's sum; 0: the square root of the tables of a class
  double table_decay = 0;      // weight of the sum of squared entries: by Parseval, of all coefficients
  double order_decay = 0;      // weight of squared Walsh-Hadamard coefficients times the bits they join
  uint64_t seed = 1;
  int threads = 1;
  std::function<void(const std::string&)> progress = nullptr;
};

// What can't be, whatever the rows: "bad-config".
Status check_lut_options(const LutTrainingOptions& options);

// The same network for the same options and seed, whatever the number of threads. Errors: those of Thermometer::fit;
// "bad-config" for options that can't be, such as a table that reads more bits than there are; "bad-input" for labels,
// targets or weights that don't fit the rows.
Result<LutNetwork> train_lut_classifier(const LutRows& rows, std::span<const uint32_t> labels, size_t classes,
                                        const LutTrainingOptions& options);
// targets: row-major rows x outputs, finite. Least squares of all outputs in one unit, so that those that vary more
// count more: bring outputs of different units to one first. The head: each table's bit adds a learnt number to each
// output, rounded to 16 bits at the end.
Result<LutNetwork> train_lut_regressor(const LutRows& rows, std::span<const float> targets, size_t outputs,
                                       const LutTrainingOptions& options);

}  // namespace perfcast
