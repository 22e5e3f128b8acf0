#include "studies/watch/recorded_server.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/csv.h"
#include "base/file.h"
#include "base/unknown.h"

namespace perfcast::measure::watch_study {
namespace {

constexpr double kPiece_s = 300;
constexpr size_t kLiveEvery = 2;
constexpr size_t kFirstMetric = 4;  // behind machine, suite, workload, timestamp

bool is_empty_column(const RecordedServer& server, size_t column) {
  for (const RecordedWorkload& workload : server.workloads) {
    for (size_t i = column; i < workload.values.size(); i += server.columns.size()) {
      if (!std::isnan(workload.values[i])) return false;
    }
  }
  return true;
}

void drop_empty_columns(RecordedServer& server) {
  for (size_t j = server.columns.size(); j-- > 0;) {
    if (!is_empty_column(server, j)) continue;
    for (RecordedWorkload& workload : server.workloads) {
      std::vector<double> kept;
      for (size_t i = 0; i < workload.values.size(); ++i) {
        if (i % server.columns.size() != j) kept.push_back(workload.values[i]);
      }
      workload.values = std::move(kept);
    }
    server.columns.erase(server.columns.begin() + static_cast<std::ptrdiff_t>(j));
  }
}

}  // namespace

Result<std::vector<RecordedServer>> read_recorded_servers(const std::string& folder) {
  const std::string path = folder + "/server_power_counters.csv.gz";
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto table = CsvTable::parse(*text, path);
  if (!table) return table.error();
  const std::vector<std::string>& columns = table->columns();
  const std::vector<std::string> first = {"machine", "suite", "workload", "timestamp"};
  if (columns.size() <= kFirstMetric || !std::equal(first.begin(), first.end(), columns.begin())) {
    return Error{"missing-column", "the columns are not those of the set", path,
                 "machine,suite,workload,timestamp,..."};
  }
  std::vector<RecordedServer> servers;
  std::set<std::string> times;
  for (size_t r = 0; r < table->rows(); ++r) {
    if (table->cell(r, 1) != "validation") continue;
    const std::string machine(table->cell(r, 0));
    if (servers.empty() || servers.back().name != machine) {
      servers.emplace_back();
      servers.back().name = machine;
      servers.back().interval_s = machine.find("E5-2640") != std::string::npos ? 10 : 2;
      servers.back().columns.assign(columns.begin() + kFirstMetric, columns.end());
    }
    RecordedServer& server = servers.back();
    const std::string workload(table->cell(r, 2));
    if (server.workloads.empty() || server.workloads.back().name != workload) {
      server.workloads.push_back({workload, {}});
      times.clear();
    }
    if (!times.insert(std::string(table->cell(r, 3))).second) continue;
    for (size_t c = kFirstMetric; c < columns.size(); ++c) {
      const auto value = table->number(r, c);
      if (!value) return value.error();
      server.workloads.back().values.push_back(value->value_or(kUnknown));
    }
  }
  for (RecordedServer& server : servers) drop_empty_columns(server);
  return servers;
}

ServerSchedule::ServerSchedule(const RecordedServer& server) : server_(server) {
  const auto piece = static_cast<size_t>(kPiece_s / server.interval_s);
  for (size_t w = 0; w < server.workloads.size(); ++w) {
    Turn turn{w, 0, {}, {}};
    const size_t rows = server.workloads[w].values.size() / server.columns.size();
    size_t history_rows = 0;
    for (size_t from = 0, i = 0; from < rows; from += piece, ++i) {
      const Piece of{from, std::min(piece, rows - from)};
      const bool live = i % kLiveEvery == kLiveEvery - 1;
      (live ? turn.live : turn.history).push_back(of);
      if (!live) history_rows += of.rows;
    }
    if (turn.live.empty()) continue;
    turn.rows = history_rows / 2;
    cycle_rows_ += turn.rows;
    turns_.push_back(std::move(turn));
  }
}

size_t ServerSchedule::live_rows() const {
  size_t rows = 0;
  for (const Turn& turn : turns_) {
    for (const Piece& piece : turn.live) rows += piece.rows;
  }
  return rows;
}

// `rows` of a workload, from pieces in a drawn order; what is left of the last piece goes on the next time.
void ServerSchedule::append(const Turn& turn, std::vector<Piece>& left, const std::vector<Piece>& all, size_t rows,
                            Random& random, MetricStream& stream) const {
  const size_t columns = server_.columns.size();
  const std::vector<double>& values = server_.workloads[turn.workload].values;
  while (rows > 0) {
    if (left.empty()) {
      left = all;
      random.shuffle(left);
    }
    Piece& piece = left.back();
    const size_t taken = std::min(rows, piece.rows);
    stream.values.insert(stream.values.end(), values.begin() + static_cast<std::ptrdiff_t>(piece.from * columns),
                         values.begin() + static_cast<std::ptrdiff_t>((piece.from + taken) * columns));
    piece.from += taken;
    piece.rows -= taken;
    rows -= taken;
    if (piece.rows == 0) left.pop_back();
  }
}

MetricStream ServerSchedule::history(Random& random) const {
  MetricStream stream;
  std::vector<std::vector<Piece>> left(turns_.size());
  for (int cycle = 0; cycle < 2; ++cycle) {
    for (size_t t = 0; t < turns_.size(); ++t) {
      append(turns_[t], left[t], turns_[t].history, turns_[t].rows, random, stream);
    }
  }
  for (size_t r = 0; r < history_rows(); ++r) stream.time_s.push_back(static_cast<double>(r) * server_.interval_s);
  return stream;
}

MetricStream ServerSchedule::days(double days, double start_s, Random& random) const {
  MetricStream stream;
  const auto rows = static_cast<size_t>(days * 86400 / server_.interval_s);
  const size_t columns = server_.columns.size();
  std::vector<std::vector<Piece>> left(turns_.size());
  while (stream.values.size() < rows * columns) {
    for (size_t t = 0; t < turns_.size(); ++t) {
      append(turns_[t], left[t], turns_[t].live, turns_[t].rows, random, stream);
    }
  }
  stream.values.resize(rows * columns);
  for (size_t r = 0; r < rows; ++r) stream.time_s.push_back(start_s + static_cast<double>(r) * server_.interval_s);
  return stream;
}

}  // namespace perfcast::measure::watch_study
