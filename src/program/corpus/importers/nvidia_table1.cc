#include "program/corpus/importers/nvidia_table1.h"

#include <cmath>

#include "base/unknown.h"

namespace perfcast::program {
namespace {

constexpr double kWarp = 32;

}  // namespace

void add_table1(MetricValues& metrics) {
  const auto value = [&](const char* name) {
    const auto found = metrics.find(name);
    return found == metrics.end() ? kUnknown : found->second;
  };
  const double floats = value("nvprof_inst_fp_32_count") + value("nvprof_inst_fp_64_count");
  const double integers = value("nvprof_inst_integer_count");
  const double control = value("nvprof_inst_control_count");
  const double memory = value("nvprof_inst_compute_ld_st_count");
  const double total = floats + integers + control + memory + value("nvprof_inst_misc_count");
  if (total > 0) {
    metrics.emplace("instructions_count", total);
    metrics.emplace("int_arith_per_instruction_ratio", integers / total);
    metrics.emplace("float_arith_per_instruction_ratio", floats / total);
    metrics.emplace("memory_per_instruction_ratio", memory / total);
    metrics.emplace("control_per_instruction_ratio", control / total);
  }
  const auto depth = [&](const char* name) { return value(name) > 0 ? value(name) : 1; };  // flat ones don't state it
  const double blocks = value("nvprof_grid_x_count") * value("nvprof_grid_y_count") * depth("nvprof_grid_z_count");
  const double block = value("nvprof_block_x_count") * value("nvprof_block_y_count") * depth("nvprof_block_z_count");
  if (blocks * block > 0) {
    metrics.emplace("program_threads_count", blocks * block);
    metrics.emplace("warp_blocks_count", blocks * std::ceil(block / kWarp));
  }
}

}  // namespace perfcast::program
