#pragma once
// A made-up machine whose power is known: idle power, a share for being awake, and what cycles and misses cost.

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "measure/power/table/power_table.h"

namespace perfcast::measure {

struct PowerWorld {
  int machines = 1, workloads = 5, rows = 80;  // rows of each workload on each machine
  double noise = 0.005;
  uint64_t seed = 1;

  PowerTable table() const {
    PowerTable table;
    Random random(seed);
    table.counters = {"cpu_share", "cycles", "instructions", "misses"};
    for (int m = 0; m < machines; ++m) table.machines.push_back("machine " + std::to_string(m));
    for (int w = 0; w < workloads; ++w) table.workloads.push_back("workload " + std::to_string(w));
    const auto n = static_cast<Eigen::Index>(machines) * workloads * rows;
    table.time_s.resize(n);
    table.watts.resize(n);
    table.values.resize(n, 4);
    Eigen::Index r = 0;
    for (int m = 0; m < machines; ++m) {
      const double idle = 60 + 25 * m, dynamic = 100 + 30 * m;
      for (int w = 0; w < workloads; ++w) {
        const double ipc = 0.6 + 0.3 * w, missing = 2e6 * (1 + w % 3);
        for (int i = 0; i < rows; ++i, ++r) {
          const double load = 0.5 + 0.45 * std::sin(0.3 * i + w);
          const double cycles = 4e10 * load;
          table.machine.push_back(m);
          table.workload.push_back(w);
          table.time_s(r) = 1.7e9 + 10000 * (m * workloads + w) + i;
          table.values.row(r) << load, cycles, ipc * cycles, missing * load;
          table.watts(r) = (idle + 20 * (1 - std::exp(-30 * load)) + dynamic * load * (0.7 + 0.2 * ipc)) *
                           std::exp(noise * random.normal());
        }
      }
    }
    number_runs(table);
    return table;
  }

  std::string csv() const {
    const PowerTable made = table();
    std::string text = "time_s,machine,workload,watts,cpu_share,cycles,instructions,misses\n";
    for (Eigen::Index r = 0; r < made.watts.size(); ++r) {
      const auto row = static_cast<size_t>(r);
      std::vector<std::string> cells = {
          std::to_string(made.time_s(r)), made.machines[static_cast<size_t>(made.machine[row])],
          made.workloads[static_cast<size_t>(made.workload[row])], std::to_string(made.watts(r))};
      for (const double value : made.values.row(r)) cells.push_back(std::to_string(value));
      for (size_t c = 0; c < cells.size(); ++c) {
        if (c > 0) text += ',';
        text += cells[c];
      }
      text += '\n';
    }
    return text;
  }
};

}  // namespace perfcast::measure
