#include "studies/watch/faults.h"

#include <algorithm>
#include <cmath>

#include "base/unknown.h"

namespace perfcast::measure::watch_study {
namespace {

constexpr double kHour_s = 3600;

// Rows [from, to) of a stream, by metric's name.
class FaultRows {
 public:
  FaultRows(const std::vector<std::string>& columns, MetricStream& stream, size_t from, size_t to)
      : columns_(columns), stream_(stream), from_(from), to_(std::min(to, stream.time_s.size())) {}

  template <typename Change>
  void change(const std::string& name, const Change& change) {
    const auto at = std::find(columns_.begin(), columns_.end(), name);
    if (at == columns_.end()) return;
    const auto column = static_cast<size_t>(at - columns_.begin());
    for (size_t r = from_; r < to_; ++r) {
      double& value = stream_.values[r * columns_.size() + column];
      value = change(value, r - from_);
    }
  }
  void multiply(const std::vector<std::string>& names, double factor) {
    for (const std::string& name : names) {
      change(name, [&](double value, size_t) { return value * factor; });
    }
  }
  size_t from() const { return from_; }

 private:
  const std::vector<std::string>& columns_;
  MetricStream& stream_;
  size_t from_, to_;
};

const std::vector<std::string>& sensors() {
  static const std::vector<std::string> kNames = {"powerWatts",
                                                  "instructions",
                                                  "cpu-cycles",
                                                  "contexts",
                                                  "branches",
                                                  "branch-misses",
                                                  "LLC-load-misses",
                                                  "L1-icache-load-misses",
                                                  "L1-dcache-load-misses",
                                                  "LLC-loads"};
  return kNames;
}

double duration_of(FaultType type, size_t magnitude, double interval_s) {
  switch (type) {
    case FaultType::kSpike:
      return 2 * interval_s;
    case FaultType::kPowerDrift:
      return 1200;
    case FaultType::kStuckSensor:
    case FaultType::kMissingMetric:
      return std::array{120.0, 300.0, 600.0}[magnitude];
    default:
      return 600;
  }
}

void put_fault(InjectedFault& fault, double interval_s, FaultRows rows, Random& random) {
  const size_t m = fault.magnitude;
  const std::string& sensor = sensors()[random.below(sensors().size())];
  switch (fault.type) {
    case FaultType::kSpike:
      fault.metric = sensor;
      rows.multiply({sensor}, std::array{1.5, 3.0, 10.0}[m]);
      break;
    case FaultType::kLevelShift:
      fault.metric = "LLC-load-misses";
      rows.multiply({fault.metric}, std::array{1.15, 1.3, 2.0}[m]);
      break;
    case FaultType::kPowerDrift: {
      fault.metric = "powerWatts";
      const double most = std::array{0.05, 0.1, 0.2}[m];
      rows.change(fault.metric, [&](double value, size_t row) {
        return value * (1 + most * std::min(static_cast<double>(row) * interval_s / 600, 1.0));
      });
      break;
    }
    case FaultType::kStuckSensor: {
      fault.metric = sensor;
      double first = kUnknown;
      rows.change(sensor, [&](double value, size_t) {
        if (std::isnan(first)) first = value;
        return first;
      });
      break;
    }
    case FaultType::kCorrelationBreak:
      fault.metric = "instructions";
      rows.multiply({fault.metric}, std::array{0.85, 0.7, 0.5}[m]);
      break;
    case FaultType::kNoisyNeighbour:
      rows.multiply({"instructions", "branches", "branch-misses", "L1-icache-load-misses", "L1-dcache-loads",
                     "L1-dcache-load-misses", "L1-dcache-stores"},
                    std::array{0.9, 0.8, 0.6}[m]);
      rows.multiply({"LLC-load-misses"}, std::array{1.1, 1.25, 1.5}[m]);
      break;
    case FaultType::kIoStall: {
      const double left = std::array{0.9, 0.75, 0.5}[m];
      rows.change("cpu_wio", [&](double value, size_t) {
        return std::min(value + std::array{10.0, 25.0, 50.0}[m], 100.0);
      });
      rows.multiply(
          {"instructions", "cpu-cycles", "branches", "branch-misses", "L1-icache-load-misses", "L1-dcache-loads",
           "L1-dcache-load-misses", "L1-dcache-stores", "LLC-loads", "LLC-load-misses", "LLC-stores", "cpu_user"},
          left);
      rows.multiply({"bytes_read", "bytes_written"}, std::array{0.7, 0.4, 0.1}[m]);
      break;
    }
    case FaultType::kMissingMetric:
      fault.metric = sensor;
      rows.change(sensor, [](double, size_t) { return kUnknown; });
      break;
  }
}

}  // namespace

const char* to_text(FaultType type) {
  static constexpr std::array<const char*, kFaultTypes> kNames = {
      "spike",           "level shift", "power drift",   "stuck sensor", "correlation break",
      "noisy neighbour", "I/O stall",   "missing metric"};
  return kNames[static_cast<size_t>(type)];
}

std::vector<InjectedFault> inject_faults(const std::vector<std::string>& columns, double interval_s,
                                         MetricStream& stream, Random& random) {
  std::vector<InjectedFault> faults;
  std::vector<size_t> order;
  const double start_s = stream.time_s.front();
  for (size_t hour = 0; start_s + static_cast<double>(hour + 1) * kHour_s <= stream.time_s.back() + interval_s;
       ++hour) {
    if (order.empty()) {
      for (size_t i = 0; i < kFaultTypes * kMagnitudes; ++i) order.push_back(i);
      random.shuffle(order);
    }
    InjectedFault fault;
    fault.type = static_cast<FaultType>(order.back() / kMagnitudes);
    fault.magnitude = order.back() % kMagnitudes;
    order.pop_back();
    const auto row = [&](double time_s) { return static_cast<size_t>(std::llround((time_s - start_s) / interval_s)); };
    const size_t from = row(start_s + static_cast<double>(hour) * kHour_s + random.uniform(600, 2100));
    const size_t to = from + static_cast<size_t>(duration_of(fault.type, fault.magnitude, interval_s) / interval_s);
    fault.from_s = stream.time_s[from];
    fault.to_s = stream.time_s[to - 1];
    put_fault(fault, interval_s, FaultRows(columns, stream, from, to), random);
    faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace perfcast::measure::watch_study
