#include "program/model/gpu/kernel_work.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/unknown.h"

namespace perfcast::program {
namespace {

constexpr double kBytesPerAddress = 4, kBytesPerSector = 32;

double metric_value(const MetricValues& metrics, const char* name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? kUnknown : found->second;
}
double metric_value_or_0(const MetricValues& metrics, const char* name) {
  const double value = metric_value(metrics, name);
  return std::isnan(value) ? 0 : value;
}

bool is_usable(const KernelWork& work) {
  return work.items > 0 && work.instructions > 0 && work.memory_bytes >= 0 && std::isfinite(work.instructions) &&
         std::isfinite(work.items) && std::isfinite(work.memory_bytes);
}

KernelWork from_aiwc(const MetricValues& metrics) {
  KernelWork work;
  work.items = metric_value(metrics, "aiwc_workitems_count");
  work.instructions = metric_value(metrics, "aiwc_total_instructions_count");
  work.memory_bytes = kBytesPerAddress * metric_value(metrics, "aiwc_total_memory_footprint_count");
  return work;
}

constexpr const char* kIntegers = "nvprof_inst_integer_count";
constexpr const char* kWarpInstructions = "nvprof_inst_executed_count";
constexpr const char* kWarps = "warp_blocks_count";
constexpr double kWarp = 32;

using Pair = std::pair<const char*, const char*>;
constexpr Pair kL2 = {"nvprof_l2_read_transactions_count", "nvprof_l2_write_transactions_count"};
// What stands for it where it is missing, the first that is there.
constexpr std::pair<Pair, const char*> kOtherTraffic[] = {
    {{"nvprof_gld_transactions_count", "nvprof_gst_transactions_count"},
     "what loads and stores ask the first-level cache for"},
    {{"nvprof_dram_read_transactions_count", "nvprof_dram_write_transactions_count"}, "what the device memory moves"}};

double sum_of(const MetricValues& metrics, const Pair& pair) {
  return metric_value(metrics, pair.first) + metric_value(metrics, pair.second);
}

double instructions_of_nvprof(const MetricValues& metrics) {
  double instructions = metric_value(metrics, kIntegers);
  if (std::isnan(instructions)) return kWarp * metric_value(metrics, kWarpInstructions);
  for (const char* kind : {"nvprof_inst_fp_32_count", "nvprof_inst_fp_64_count", "nvprof_inst_bit_convert_count",
                           "nvprof_inst_control_count", "nvprof_inst_compute_ld_st_count", "nvprof_inst_misc_count"}) {
    instructions += metric_value_or_0(metrics, kind);
  }
  return instructions;
}

double bytes_of_nvprof(const MetricValues& metrics) {
  double sectors = sum_of(metrics, kL2);
  for (const auto& [pair, what] : kOtherTraffic) {
    if (std::isnan(sectors)) sectors = sum_of(metrics, pair);
  }
  return kBytesPerSector * sectors;
}

KernelWork from_nvprof(const MetricValues& metrics) {
  KernelWork work;
  KernelWork::Groups groups;
  groups.count = metric_value(metrics, "nvprof_grid_x_count") * metric_value(metrics, "nvprof_grid_y_count");
  groups.shape.items = metric_value(metrics, "nvprof_block_x_count") * metric_value(metrics, "nvprof_block_y_count");
  for (const auto& [name, size] :
       {std::pair{"nvprof_grid_z_count", &groups.count}, std::pair{"nvprof_block_z_count", &groups.shape.items}}) {
    if (const double depth = metric_value(metrics, name); depth > 0) *size *= depth;  // flat ones don't state it
  }
  groups.shape.local_bytes = metric_value_or_0(metrics, "nvprof_static_shared_memory_bytes") +
                             metric_value_or_0(metrics, "nvprof_dynamic_shared_memory_bytes");
  groups.shape.registers_per_item = metric_value_or_0(metrics, "nvprof_registers_per_thread_count");
  work.items = groups.count * groups.shape.items;
  work.instructions = instructions_of_nvprof(metrics);
  work.memory_bytes = bytes_of_nvprof(metrics);
  if (work.items > 0) {
    work.groups = groups;
  } else {
    work.items = kWarp * metric_value(metrics, kWarps);
  }
  return work;
}

}  // namespace

std::optional<KernelWork> kernel_work(const Profile& profile) {
  KernelWork work = from_aiwc(profile.metrics);
  if (!is_usable(work)) work = from_nvprof(profile.metrics);
  if (!is_usable(work)) return std::nullopt;
  return work;
}

std::vector<KernelGap> kernel_gaps(const MetricValues& metrics) {
  std::vector<KernelGap> gaps;
  if (is_usable(from_aiwc(metrics))) return gaps;
  const KernelWork work = from_nvprof(metrics);
  const auto is_missing = [&](const char* name) { return std::isnan(metric_value(metrics, name)); };
  if (is_missing(kIntegers)) {
    gaps.push_back({{kIntegers}, is_missing(kWarpInstructions) ? "" : "32 instructions for each one of a warp"});
  } else {
    KernelGap kinds{{}, "none of that kind"};
    for (const char* kind : {"nvprof_inst_fp_32_count", "nvprof_inst_fp_64_count", "nvprof_inst_control_count",
                             "nvprof_inst_compute_ld_st_count", "nvprof_inst_misc_count"}) {
      if (is_missing(kind)) kinds.metrics.emplace_back(kind);
    }
    if (!kinds.metrics.empty()) gaps.push_back(std::move(kinds));
  }
  if (std::isnan(sum_of(metrics, kL2))) {
    KernelGap traffic{{kL2.first, kL2.second}, ""};
    for (const auto& [pair, what] : kOtherTraffic) {
      if (traffic.assumed.empty() && !std::isnan(sum_of(metrics, pair))) traffic.assumed = what;
    }
    gaps.push_back(std::move(traffic));
  }
  if (!work.groups) {
    gaps.push_back({{"nvprof_grid_x_count", "nvprof_block_x_count"},
                    is_missing(kWarps) ? "" : "32 threads for each warp, all running at once"});
  } else if (is_missing("nvprof_registers_per_thread_count")) {
    gaps.push_back({{"nvprof_registers_per_thread_count"}, "no limit by registers"});
  }
  return gaps;
}

Eigen::MatrixXd as_matrix(const std::vector<KernelWork>& works) {
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(works.size()), kWorkColumns);
  for (size_t i = 0; i < works.size(); ++i) {
    const KernelWork& work = works[i];
    const KernelWork::Groups groups = work.groups.value_or(KernelWork::Groups{0, {0, 0, 0}});
    rows.row(static_cast<Eigen::Index>(i)) << work.items, work.instructions, work.memory_bytes, groups.count,
        groups.shape.items, groups.shape.local_bytes, groups.shape.registers_per_item;
  }
  return rows;
}

std::vector<KernelWork> works_of(const Eigen::MatrixXd& rows) {
  std::vector<KernelWork> works;
  works.reserve(static_cast<size_t>(rows.rows()));
  for (const auto& row : rows.rowwise()) {
    KernelWork work{row(0), row(1), row(2), std::nullopt};
    if (row(3) > 0) work.groups = KernelWork::Groups{row(3), {row(4), row(5), row(6)}};
    works.push_back(work);
  }
  return works;
}

}  // namespace perfcast::program
