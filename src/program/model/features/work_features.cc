#include "program/model/features/work_features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "base/unknown.h"
#include "program/model/cores/modelled_cycles.h"

namespace perfcast::program {
namespace {

constexpr const char* kInstructions = "instructions_count";
constexpr double kRateFloor = 1e-4;  // events per instruction; what is rarer costs next to nothing

struct Term {
  const char* metric;
  double factor;
};

struct WorkClass {
  const char* name;
  double cycles;
  std::vector<Term> terms;  // a sum below 0 is 0
};

// Cycles beyond issue on a wide out-of-order core of about 4 GHz, where most latency overlaps with other work.
const std::vector<WorkClass>& work_classes() {
  static const std::vector<WorkClass> classes = {
      {"fp_scalar", 1.0, {{"op_fp_scalar_add_count", 1}, {"op_fp_scalar_mul_count", 1}}},
      {"fp_vector",
       1.0,
       {{"op_fp_vec_add_count", 1},
        {"op_fp_vec_mul_count", 1},
        {"op_fp_fma_vec_count", 1},
        {"op_fp_vec_other_count", 1}}},
      {"fp_fma", 1.0, {{"op_fp_fma_scalar_count", 1}}},
      {"fp_divide", 8, {{"op_fp_scalar_div_count", 1}, {"op_fp_scalar_sqrt_count", 1}, {"op_fp_vec_div_count", 1}}},
      {"x87", 1.5, {{"op_x87_simple_count", 1}, {"op_x87_mul_count", 1}}},
      {"x87_divide", 18, {{"op_x87_div_count", 1}, {"op_x87_transcendental_count", 1}}},
      {"fp_convert", 1, {{"op_fp_cvt_count", 1}, {"op_fp_mov_scalar_count", 1}}},
      {"int_multiply", 1, {{"op_int_mul_count", 1}}},
      {"int_divide", 10, {{"op_int_div_count", 1}, {"int_div_64_count", -1}}},
      {"int_divide_64", 18, {{"int_div_64_count", 1}}},
      {"shift", 0.3, {{"op_shift_count", 1}}},
      {"select", 0.3, {{"op_select_count", 1}}},
      {"call", 0.5, {{"op_call_count", 1}, {"op_ind_call_count", 1}, {"op_ret_count", 1}, {"op_push_pop_count", 0.5}}},
      {"vector_int",
       0.4,
       {{"op_vec_int_alu_count", 1},
        {"op_vec_int_mul_count", 1},
        {"op_vec_logic_count", 1},
        {"op_vec_shuffle_count", 1},
        {"op_vec_mov_count", 1}}},
      {"wide_vector",
       0.3,
       {{"vec_fp_256_count", 1}, {"vec_int_256_count", 1}, {"vec_fp_512_count", 1}, {"vec_int_512_count", 1}}},
      {"string", 0.5, {{"op_string_count", 1}}},
      {"special",
       20,
       {{"op_atomic_count", 1},
        {"op_fence_count", 1},
        {"op_cache_control_count", 1},
        {"op_rdtsc_like_count", 1},
        {"op_rng_count", 1}}},
      {"load", 0.3, {{"loads_count", 1}}},
      {"store", 0.4, {{"stores_count", 1}}},
      {"narrow_access",
       0.05,
       {{"loads_1_count", 1}, {"loads_2_count", 1}, {"stores_1_count", 1}, {"stores_2_count", 1}}},
      {"l2_hit", 8, {{"miss_32k_random_count", 1}, {"miss_1m_random_count", -1}}},
      {"l3_hit", 35, {{"miss_1m_random_count", 1}, {"miss_16m_random_count", -1}}},
      {"memory", 150, {{"miss_16m_random_count", 1}}},
      {"stream_near", 2, {{"miss_32k_sequential_count", 1}}},
      {"stream_far", 6, {{"miss_1m_sequential_count", 1}}},
      {"store_far", 8, {{"miss_1m_store_sequential_count", 1}, {"miss_1m_store_random_count", 1}}},
      {"tlb_miss", 4, {{"tlb_miss_count", 1}}},
      {"page_walk", 25, {{"stlb_1536_miss_count", 1}}},
      {"branch_miss", 15, {{"tage_misses_count", 1}}},
      {"indirect_miss", 16, {{"indirect_misses_count", 1}}},
      {"branch_taken", 0.5, {{"branches_taken_count", 1}}},
      {"branch", 0.2, {{"branches_count", 1}}},
      {"indirect", 1, {{"indirect_branches_count", 1}}},
      {"icache_miss", 12, {{"icache_32k_miss_count", 1}}},
      {"system_call", 400, {{"syscalls_count", 1}}},
      {"page_fault", 2500, {{"page_faults_minor_count", 1}}},
      {"base", 0.22, {{kInstructions, 1}}},
  };
  return classes;
}

struct RateFeature {
  std::string name;
  std::vector<std::string> metrics;  // their sum
  double floor = kRateFloor;
};

// Counters that become features of their own.
const std::vector<RateFeature>& rate_features() {
  static const std::vector<RateFeature> features = [] {
    std::vector<RateFeature> made;
    const auto single = [&made](const std::string& name) { made.push_back({name, {name + "_count"}, kRateFloor}); };
    for (const char* op :
         {"int_alu",     "int_mul",       "int_div",       "logic",         "shift",          "mov",
          "lea",         "select",        "push_pop",      "cond_branch",   "jump",           "call",
          "ret",         "fp_scalar_add", "fp_scalar_mul", "fp_scalar_div", "fp_scalar_sqrt", "fp_fma_scalar",
          "fp_cvt",      "fp_mov_scalar", "fp_vec_add",    "fp_vec_mul",    "fp_vec_div",     "fp_fma_vec",
          "vec_int_alu", "vec_int_mul",   "vec_logic",     "vec_shuffle",   "vec_mov",        "x87_simple",
          "x87_mul",     "x87_div",       "atomic",        "string"}) {
      single(std::string("op_") + op);
    }
    for (const char* kind :
         {"vec_fp_128", "vec_fp_256", "vec_int_128", "vec_int_256", "loads", "loads_1", "loads_2", "loads_4", "loads_8",
          "loads_16", "stores", "stores_1", "stores_2", "stores_4", "stores_8", "stores_16"}) {
      single(kind);
    }
    for (const char* size : {"32k", "256k", "512k", "1m", "2m", "4m", "8m", "16m", "32m", "64m"}) {
      const std::string miss = std::string("miss_") + size;
      single(miss + "_sequential");
      single(miss + "_random");
      made.push_back({miss + "_store", {miss + "_store_sequential_count", miss + "_store_random_count"}, kRateFloor});
    }
    for (const char* kind :
         {"icache_32k_miss", "tlb_miss", "stlb_1536_miss", "branches", "branches_taken", "tage_misses", "gshare_misses",
          "bimodal_misses", "int_div_64", "indirect_branches", "indirect_misses", "syscalls"}) {
      single(kind);
    }
    // One costs thousands of cycles: it matters where it is a thousand times rarer than the others.
    made.push_back({"page_faults_minor", {"page_faults_minor_count"}, 1e-7});
    return made;
  }();
  return features;
}

// Metrics used, sorted as in a profile's map, and where each formula finds its operands among them.
struct Plan {
  struct Operand {
    size_t metric;
    double factor;
  };
  std::vector<std::string> metrics;
  std::vector<std::vector<Operand>> classes;
  std::vector<double> cycles;
  std::vector<std::vector<size_t>> rates;
  std::vector<double> floors;
  size_t instructions;
};

const Plan& plan() {
  static const Plan made = [] {
    Plan result;
    for (const WorkClass& work : work_classes()) {
      for (const Term& term : work.terms) result.metrics.emplace_back(term.metric);
    }
    for (const RateFeature& feature : rate_features()) {
      result.metrics.insert(result.metrics.end(), feature.metrics.begin(), feature.metrics.end());
    }
    std::sort(result.metrics.begin(), result.metrics.end());
    result.metrics.erase(std::unique(result.metrics.begin(), result.metrics.end()), result.metrics.end());
    const auto place = [&result](const std::string& name) {
      return static_cast<size_t>(std::lower_bound(result.metrics.begin(), result.metrics.end(), name) -
                                 result.metrics.begin());
    };
    for (const WorkClass& work : work_classes()) {
      std::vector<Plan::Operand> operands;
      for (const Term& term : work.terms) operands.push_back({place(term.metric), term.factor});
      result.classes.push_back(operands);
      result.cycles.push_back(work.cycles);
    }
    for (const RateFeature& feature : rate_features()) {
      std::vector<size_t> places;
      for (const std::string& metric : feature.metrics) places.push_back(place(metric));
      result.rates.push_back(places);
      result.floors.push_back(feature.floor);
    }
    result.instructions = place(kInstructions);
    return result;
  }();
  return made;
}

// Counts of the planned metrics per instruction; NaN where absent. One walk over both sorted lists.
void read_rates(const Profile& profile, std::vector<double>& rates) {
  const Plan& wanted = plan();
  rates.assign(wanted.metrics.size(), kUnknown);
  auto have = profile.metrics.begin();
  for (size_t i = 0; i < wanted.metrics.size() && have != profile.metrics.end();) {
    const int order = have->first.compare(wanted.metrics[i]);
    if (order == 0) rates[i] = have->second;
    if (order <= 0) ++have;
    if (order >= 0) ++i;
  }
  const double instructions = rates[wanted.instructions];
  // Without instructions there is no rate at all.
  const double scale = instructions > 0 ? 1 / instructions : kUnknown;
  for (double& rate : rates) rate = rate < 0 ? kUnknown : rate * scale;
}

void class_rates(const std::vector<double>& rates, std::span<double> classes) {
  const Plan& wanted = plan();
  for (size_t k = 0; k < classes.size(); ++k) {
    double sum = 0;
    for (const Plan::Operand& operand : wanted.classes[k]) sum += operand.factor * rates[operand.metric];
    classes[k] = sum < 0 ? 0 : sum;
  }
}

}  // namespace

std::vector<std::string> work_class_names() {
  std::vector<std::string> names;
  for (const WorkClass& work : work_classes()) names.emplace_back(work.name);
  return names;
}

Eigen::VectorXd textbook_costs() {
  const std::vector<double>& cycles = plan().cycles;
  return Eigen::Map<const Eigen::VectorXd>(cycles.data(), static_cast<Eigen::Index>(cycles.size()));
}

Eigen::VectorXd memory_classes() {
  static const std::set<std::string> names = {"l2_hit",      "l3_hit",     "memory",      "stream_near",
                                              "stream_far",  "store_far",  "tlb_miss",    "page_walk",
                                              "system_call", "page_fault", "icache_miss", "string"};
  const std::vector<std::string> classes = work_class_names();
  Eigen::VectorXd result(static_cast<Eigen::Index>(classes.size()));
  for (size_t k = 0; k < classes.size(); ++k) result(static_cast<Eigen::Index>(k)) = names.contains(classes[k]) ? 1 : 0;
  return result;
}

Eigen::MatrixXd work_rates(const std::vector<const Profile*>& profiles) {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(profiles.size()), textbook_costs().size());
  std::vector<double> rates;
  std::vector<double> classes(static_cast<size_t>(result.cols()));
  for (Eigen::Index p = 0; p < result.rows(); ++p) {
    read_rates(*profiles[static_cast<size_t>(p)], rates);
    class_rates(rates, classes);
    for (Eigen::Index k = 0; k < result.cols(); ++k) result(p, k) = classes[static_cast<size_t>(k)];
  }
  return result;
}

const std::vector<std::string>& work_feature_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (const std::string& name : work_class_names()) made.push_back("share_" + name);
    for (const RateFeature& feature : rate_features()) made.push_back("rate_" + feature.name);
    return made;
  }();
  return names;
}

Eigen::MatrixXd extract_work_features(const std::vector<const Profile*>& profiles) {
  const Plan& wanted = plan();
  const size_t class_count = wanted.classes.size();
  Eigen::MatrixXd result(static_cast<Eigen::Index>(profiles.size()),
                         static_cast<Eigen::Index>(work_feature_names().size()));
  std::vector<double> rates;
  std::vector<double> classes(class_count);
  for (Eigen::Index p = 0; p < result.rows(); ++p) {
    read_rates(*profiles[static_cast<size_t>(p)], rates);
    class_rates(rates, classes);
    double total = 0;  // of what is known: a class that is absent leaves the others comparable
    for (size_t k = 0; k < class_count; ++k) {
      classes[k] *= wanted.cycles[k];
      if (!std::isnan(classes[k])) total += classes[k];
    }
    for (size_t k = 0; k < class_count; ++k) {
      result(p, static_cast<Eigen::Index>(k)) = total > 0 ? std::sqrt(classes[k] / total) : kUnknown;
    }
    for (size_t r = 0; r < wanted.rates.size(); ++r) {
      double rate = 0;
      for (const size_t metric : wanted.rates[r]) rate += rates[metric];
      result(p, static_cast<Eigen::Index>(class_count + r)) = std::log(rate + wanted.floors[r]);
    }
  }
  return result;
}

double feature_quantity(const std::string& name, double value) {
  if (name.starts_with("share_")) return value * value;
  if (name.starts_with("relative_") || name.starts_with("log_")) return std::exp(value);
  for (const RateFeature& feature : rate_features()) {
    if (name == "rate_" + feature.name) return std::max(std::exp(value) - feature.floor, 0.0);
  }
  return value;
}

std::vector<std::string> metrics_of_feature(const std::string& name) {
  std::vector<std::string> metrics;
  for (const WorkClass& work : work_classes()) {
    if (name != std::string("share_") + work.name) continue;
    for (const Term& term : work.terms) metrics.emplace_back(term.metric);
    return metrics;
  }
  for (const RateFeature& feature : rate_features()) {
    if (name == "rate_" + feature.name) return feature.metrics;
  }
  for (const char* prefix : {"relative_", "log_"}) {
    if (name.starts_with(prefix)) return {name.substr(std::string(prefix).size())};
  }
  return {name};
}

const std::vector<std::string>& work_feature_metrics() { return plan().metrics; }

const std::vector<std::string>& all_feature_metrics() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = work_feature_metrics();
    all.insert(all.end(), core_metrics().begin(), core_metrics().end());
    return all;
  }();
  return names;
}

}  // namespace perfcast::program
