#pragma once
// What a counter of a table of samples is, by its name.

#include <Eigen/Core>
#include <cstdint>
#include <string_view>

namespace perfcast::measure {

// kOther: an input by itself.
enum class CounterRole : uint8_t { kLoad, kUser, kSystem, kWait, kCycles, kInstructions, kOther };
CounterRole counter_role(std::string_view name);
// Load and its parts, and waiting: of the machine's time, not counts.
bool is_share(CounterRole role);

inline constexpr double kMostShare = 1.5;  // a share beyond is a fault of the sampler
inline constexpr double kPercent = 100;
// What to divide shares by, 1 or 100, told from the values alone: in percent where a tenth is above 1.5 or half
// above 1. Percent of a machine that idles is taken for shares: names, and what a model was made with, tell more.
double share_divisor(const Eigen::VectorXd& values);
// "cpu_percent", "cpuPercent": the name says the unit.
bool says_percent(std::string_view name);

}  // namespace perfcast::measure
