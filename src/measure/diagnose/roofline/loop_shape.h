#pragma once
// What an innermost loop does from one iteration to the next, by its instructions: whether its iterations could be done
// side by side, in wider registers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/diagnose/observe/code_map.h"

namespace perfcast::measure {

// Operands in memory that lie beside each other and step together.
struct LoopAccess {
  uint32_t loaded_bytes = 0, stored_bytes = 0;  // in one iteration
  std::optional<int64_t> step_bytes;            // to those of the next; absent: it isn't the same each time
  bool is_in_order = false;                     // without gaps: the next iteration goes on where this one ended
  bool is_read_once = false;                    // no byte of it in more than one iteration
  bool is_fixed() const { return step_bytes == 0; }
};

struct LoopShape {
  bool is_counted = false;  // one way out, at one branch, and no calls
  // Each iteration needs what the one before computed, other than steps and sums.
  bool is_serial = false;
  bool has_float_sum = false;  // of floating-point numbers: in another order it rounds otherwise
  std::vector<LoopAccess> accesses;
  // Arithmetic on data, steps and addresses left out.
  uint32_t flops_count = 0;       // of an iteration
  uint32_t operations_count = 0;  // likewise, instructions times lanes, where there are no flops
  uint32_t element_bits = 0;      // of what is computed with; 0: nothing is
  uint32_t register_bits = 0;     // of the widest arithmetic; 0: one number at a time
  bool multiplies = false, adds = false, does_more = false;  // floating point: nothing but products and sums, or more
  std::string in_words() const;                              // "one number of 32 bits at a time"

  // Of a loop that writes: values that each iteration reads again from where the one before found them.
  uint32_t reloads_count = 0;
  bool selects = false;  // moves what a comparison chose
  // Counted, not serial, and whatever changes its place is in order and read once; no products of 64-bit integers,
  // which registers of several numbers have no fast instruction for, and no choices. Compilers do more; of what this
  // leaves out it is not sure that they would.
  bool could_be_wider() const;
};

LoopShape loop_shape(const std::vector<CodeInstruction>& loop);

}  // namespace perfcast::measure
