#pragma once
// Recorded counters of real servers, cut into a history to learn from and days to watch that share no row with it.

#include <cstddef>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace perfcast::measure::watch_study {

struct MetricStream {
  std::vector<double> time_s;
  std::vector<double> values;  // rows x columns, NaN absent
};

struct RecordedWorkload {
  std::string name;
  std::vector<double> values;  // rows x columns, in the order of the file
};

struct RecordedServer {
  std::string name;
  double interval_s = 2;
  std::vector<std::string> columns;
  std::vector<RecordedWorkload> workloads;
};

// server_power_counters.csv.gz of the set; the eight CloudSuite workloads of each machine. A row whose time came before
// in its workload is left out: it may be the same measurement twice.
Result<std::vector<RecordedServer>> read_recorded_servers(const std::string& folder);

// A server's schedule recurs: within each cycle its workloads take turns, each for as long as half of its history. Of
// its pieces of 5 minutes every second is live, the others are history; the history is two cycles of all its pieces, a
// day draws live pieces in an order of its own, each once before any comes again.
class ServerSchedule {
 public:
  explicit ServerSchedule(const RecordedServer& server);

  double cycle_s() const { return static_cast<double>(cycle_rows_) * server_.interval_s; }
  size_t history_rows() const { return 2 * cycle_rows_; }
  size_t live_rows() const;  // that there are, without repetition
  MetricStream history(Random& random) const;
  // From `start_s`, which is a multiple of the cycle away from the history's start.
  MetricStream days(double days, double start_s, Random& random) const;

 private:
  struct Piece {
    size_t from, rows;
  };
  struct Turn {
    size_t workload, rows;  // in each cycle
    std::vector<Piece> history, live;
  };

  void append(const Turn& turn, std::vector<Piece>& left, const std::vector<Piece>& all, size_t rows, Random& random,
              MetricStream& stream) const;

  const RecordedServer& server_;
  std::vector<Turn> turns_;
  size_t cycle_rows_ = 0;
};

}  // namespace perfcast::measure::watch_study
