#pragma once
// What a counter of a table of samples is, by its name.

#include <Eigen/Core>
#include <cstdint>
#include <string_view>

namespace perfcast {

// kOther: an input by itself.
enum class CounterRole : uint8_t { kLoad, kUser, kSystem, kWait, kCycles, kInstructions, kOther };
CounterRole counter_role(std::string_view name);
// Load and its parts, and waiting: of the machine's time, not counts.
bool is_share(CounterRole role);

// Shares are told in percent where any is above 1.5 and most are not beyond 100: what to divide by, 1 or 100.
inline constexpr double kMostShare = 1.5;  // a share beyond is a fault of the sampler
double share_divisor(const Eigen::VectorXd& values);

}  // namespace perfcast
