#include "program/model/scaling/program_load.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "base/unknown.h"

namespace perfcast::program {
namespace {

struct CacheSize {
  const char* name;
  double kib;
};
constexpr CacheSize kSizes[] = {{"32k", 32},   {"48k", 48},    {"64k", 64},    {"256k", 256},
                                {"512k", 512}, {"1m", 1024},   {"2m", 2048},   {"4m", 4096},
                                {"8m", 8192},  {"16m", 16384}, {"32m", 32768}, {"64m", 65536}};
constexpr double kKib = 1024;

constexpr const char* kFloatOperations[] = {
    "op_fp_scalar_add_count", "op_fp_scalar_mul_count", "op_fp_scalar_div_count",     "op_fp_scalar_sqrt_count",
    "op_fp_fma_scalar_count", "op_fp_cvt_count",        "op_fp_vec_add_count",        "op_fp_vec_mul_count",
    "op_fp_vec_div_count",    "op_fp_fma_vec_count",    "op_fp_vec_other_count",      "op_x87_simple_count",
    "op_x87_mul_count",       "op_x87_div_count",       "op_x87_transcendental_count"};

double value_of(const MetricValues& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? kUnknown : found->second;
}

}  // namespace

MissCurve::MissCurve(const MetricValues& metrics, const std::vector<const char*>& kinds, double units) {
  for (const CacheSize& size : kSizes) {
    double sum = 0;
    for (const char* kind : kinds) sum += value_of(metrics, std::string("miss_") + size.name + "_" + kind + "count");
    counts_.push_back(sum / units);
  }
}

double MissCurve::operator()(double bytes) const {
  if (counts_.empty()) return kUnknown;
  const double kib = bytes / kKib;
  const auto* const above =
      std::find_if(std::begin(kSizes), std::end(kSizes), [kib](const CacheSize& size) { return size.kib > kib; });
  if (above == std::begin(kSizes)) return counts_.front();
  if (above == std::end(kSizes)) return counts_.back();
  const auto i = static_cast<size_t>(above - std::begin(kSizes));
  const double share = std::log(kib / kSizes[i - 1].kib) / std::log(kSizes[i].kib / kSizes[i - 1].kib);
  return counts_[i - 1] + share * (counts_[i] - counts_[i - 1]);
}

ProgramLoad load_of(const Profile& profile, double units_of_work) {
  const MetricValues& metrics = profile.metrics;
  ProgramLoad load;
  const double instructions = value_of(metrics, "instructions_count");
  load.instructions = instructions / units_of_work;
  load.kernel_ratio = std::clamp(value_of(metrics, "system_s") / std::max(value_of(metrics, "cpu_s"), 1e-9), 0.0, 1.0);
  load.float_ratio = 0;
  for (const char* operation : kFloatOperations) load.float_ratio += value_of(metrics, operation) / instructions;
  load.mispredicted_ratio = value_of(metrics, "tage_misses_count") / instructions;
  load.page_faults = value_of(metrics, "page_faults_minor_count") / units_of_work;
  load.reads = MissCurve(metrics, {""}, units_of_work);
  load.random_reads = MissCurve(metrics, {"random_"}, units_of_work);
  load.writes = MissCurve(metrics, {"store_sequential_", "store_random_"}, units_of_work);
  return load;
}

bool is_known(const ProgramLoad& load) {
  constexpr double kAnySize = 1 << 20;
  const double sum = load.instructions + load.kernel_ratio + load.float_ratio + load.mispredicted_ratio +
                     load.page_faults + load.reads(kAnySize) + load.random_reads(kAnySize) + load.writes(kAnySize);
  return std::isfinite(sum) && load.instructions > 0;
}

}  // namespace perfcast::program
