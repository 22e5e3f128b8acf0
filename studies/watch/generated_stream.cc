#include "studies/watch/generated_stream.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"

namespace perfcast::measure::watch_study {
namespace {

constexpr size_t kColumns = 5;
constexpr double kDay_s = 86400, kPi = 3.14159265358979323846;
constexpr double kStart_s = 1.76e9;
constexpr std::array<double, 3> kDurations_s = {7200, 14400, 21600};

GeneratedStream loads(Random& random, size_t rows) {
  GeneratedStream made;
  made.columns = kColumns;
  double noise = 0;
  for (size_t r = 0; r < rows; ++r) {
    const double time_s = kStart_s + static_cast<double>(r) * kGeneratedInterval_s;
    noise = 0.95 * noise + 0.03 * random.normal();
    const double load = std::max(1 + 0.5 * std::sin(2 * kPi * time_s / kDay_s) + noise, 0.05);
    made.stream.time_s.push_back(time_s);
    for (size_t j = 0; j < kColumns; ++j) {
      const double scale = std::pow(10.0, static_cast<double>(j));
      const double power = 0.5 + 0.25 * static_cast<double>(j);
      made.stream.values.push_back(scale * std::pow(load, power) * (1 + 0.03 * random.normal()));
    }
  }
  return made;
}

uint64_t poisson(Random& random, double mean) {
  const double least = std::exp(-mean);
  uint64_t count = 0;
  double product = random.uniform();
  while (product > least) {
    product *= random.uniform();
    ++count;
  }
  return count;
}

}  // namespace

GeneratedStream generate_with_faults(uint64_t seed, size_t rows) {
  Random random(seed * 7919);
  GeneratedStream made = loads(random, rows);
  std::vector<size_t> order = {0, 1, 2};
  random.shuffle(order);
  for (size_t i = 0; i < order.size(); ++i) {
    const double third = 0.7 * static_cast<double>(rows) / 3;
    const auto long_rows = static_cast<size_t>(kDurations_s[order[i]] / kGeneratedInterval_s);
    const auto from = static_cast<size_t>(0.3 * static_cast<double>(rows) + third * (static_cast<double>(i) + 0.1) +
                                          random.uniform() * (0.8 * third - static_cast<double>(long_rows)));
    const size_t column = random.below(kColumns);
    const double held = made.stream.values[from * kColumns + column];
    for (size_t r = from; r < from + long_rows; ++r) {
      double& value = made.stream.values[r * kColumns + column];
      const double part = static_cast<double>(r - from) / static_cast<double>(long_rows);
      value = order[i] == 0 ? 1.5 * value : order[i] == 1 ? held * (1 + 0.03 * random.normal()) : value * (1 + part);
    }
    made.faults.push_back({made.stream.time_s[from], made.stream.time_s[from + long_rows - 1]});
  }
  return made;
}

const char* to_text(Faultless kind) {
  static constexpr std::array<const char*, kFaultlessKinds> kTexts = {"load, 5 metrics", "noise",  "wandering noise",
                                                                      "bursts",          "counts", "rare spikes"};
  return kTexts[static_cast<size_t>(kind)];
}

GeneratedStream generate_faultless(Faultless kind, uint64_t seed, size_t rows) {
  Random random(seed * 7919 + 104729 * (static_cast<uint64_t>(kind) + 1));
  if (kind == Faultless::kLoad) return loads(random, rows);
  GeneratedStream made;
  made.columns = 1;
  double state = 0;
  const double memory = std::exp(-kGeneratedInterval_s / 3600);
  for (size_t r = 0; r < rows; ++r) {
    made.stream.time_s.push_back(kStart_s + static_cast<double>(r) * kGeneratedInterval_s);
    state = memory * state + std::sqrt(1 - memory * memory) * random.normal();
    double value = 0;
    switch (kind) {
      case Faultless::kNoise:
        value = 50 + 5 * random.normal();
        break;
      case Faultless::kWandering:
        value = 50 + 5 * state;
        break;
      case Faultless::kBursts:
        value = 100 * std::exp(random.normal());
        break;
      case Faultless::kCounts:
        value = static_cast<double>(poisson(random, 2));
        break;
      case Faultless::kSpikes:
        value = 10 + 0.5 * random.normal() + (random.uniform() < 0.01 ? 40 * (1 + random.uniform()) : 0);
        break;
      case Faultless::kLoad:
        break;
    }
    made.stream.values.push_back(value);
  }
  return made;
}

}  // namespace perfcast::measure::watch_study
