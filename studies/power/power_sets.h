#pragma once
// Readers of public sets of power beside counters or utilisation, for the reproduction.

#include <string>
#include <vector>

#include "base/result.h"
#include "measure/power/model/power_design.h"
#include "measure/power/table/power_table.h"

namespace perfcast::measure::power_study {

// RenewIT (Canuto, Bosch, Macias & Guitart, UCC 2016): five servers, eight CloudSuite workloads, micro-benchmarks of
// disk and network; FOLDER/server_power_counters.csv.gz.
Result<PowerTable> read_renewit(const std::string& folder);
bool is_micro_benchmark(const std::string& workload);  // of that set: learnt from, never scored

// ODROID-XU3's Cortex-A15 (Nikov, Nunez-Yanez & Horsnell, EUC 2015): counts and power each 0.5 s. `suite`: "PARSEC"
// (one core and two) or "cBench" (one).
Result<PowerTable> read_armpm(const std::string& folder, const std::string& suite);

// What a GPU does as inputs of its power; groups are devices, workloads are what must not stand on both sides.
struct GpuPower {
  PowerDesign design;           // log_scale: the data sheet's power limit
  Eigen::VectorXd utilisation;  // in [0, 1], what the line in utilisation sees
  std::string utilisation_name;
};
// gpmTOOL (Guerreiro et al., HPCA 2018): micro-benchmarks of six GPUs at core and memory frequencies; the utilisation
// of components was measured at the default frequency.
Result<GpuPower> read_gpm(const std::string& folder);
// Fine-tuning of language models on six GPUs (dos-group).
Result<GpuPower> read_llm_power(const std::string& folder);

}  // namespace perfcast::measure::power_study
