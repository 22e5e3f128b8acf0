#pragma once
// What a function computed and moved in a run: the instructions of its executed blocks, times how often each ran.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "measure/diagnose/observe/code_map.h"
#include "measure/diagnose/observe/observation.h"
#include "profile/collect/qemu/executed_code.h"

namespace perfcast::measure {

// How often the instructions of each file ran, all programs and processes together, each as often as it is represented.
class ExecutedCounts {
 public:
  // Blocks of generated code, and those that no mapping of a file holds, are left out; so are those of other files than
  // `paths`, where any are named.
  ExecutedCounts(const std::vector<ExecutedCode>& executed, CodeMap& code, const std::set<std::string>& paths = {});

  bool knows(const std::string& path) const { return files_.contains(path); }
  // Of the instruction at an address, as the file numbers it.
  double executions(const std::string& path, uint64_t address) const;
  // Iterations of a repeated string instruction beyond its executions.
  double iterations(const std::string& path, uint64_t address) const;
  // Pieces of code that ran, in order: address and length; and the place in the file of the first byte.
  struct Piece {
    uint64_t address = 0, bytes = 0, file_offset_bytes = 0;
  };
  const std::vector<Piece>& pieces(const std::string& path) const;

 private:
  // At each address, the count from there on.
  using Levels = std::vector<std::pair<uint64_t, double>>;
  struct CountedFile {
    Levels executions, iterations;
    std::vector<Piece> pieces;
  };
  static double level_at(const Levels& levels, uint64_t address);
  std::map<std::string, CountedFile> files_;
};

struct FunctionWork {
  double instructions_count = 0, loaded_bytes = 0, stored_bytes = 0;
  double fp32_flops_count = 0, fp64_flops_count = 0, other_flops_count = 0;
  // Operations of floating point, or of integers in vector registers, by the bits of the registers; 0: one at a time.
  std::map<uint32_t, double> flops_by_bits, integer_operations_by_bits;

  double flops_count() const { return fp32_flops_count + fp64_flops_count + other_flops_count; }
  double bytes() const { return loaded_bytes + stored_bytes; }
  bool is_known() const { return instructions_count > 0; }
  void add(const CodeInstruction& instruction, double executions, double iterations);
  void scale(double factor);
};

// Of a function with a symbol, or of all code of a file that has none. Nothing where none of it ran.
FunctionWork function_work(const HotFunction& function, const ExecutedCounts& counts, CodeMap& code);
// Of these instructions of a file.
FunctionWork work_of(const std::vector<CodeInstruction>& instructions, const std::string& path,
                     const ExecutedCounts& counts);

}  // namespace perfcast::measure
