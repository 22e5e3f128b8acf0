#pragma once
// A program that has code for wider vectors than the emulator runs other code on CPUs with AVX-512 than its profile
// counted. What that leaves open of a forecast.

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "machine/facts/platform.h"
#include "profile/profile.h"

namespace perfcast::program {

inline constexpr const char* kWiderVectors = "wider-vectors";  // the code of the profile's warning, and of ours
// Profiles with less of it say nothing.
inline constexpr double kLeastWiderRatio = 0.02;
// Of ln(time with such code / time without) over the square root of the share of instructions that it may replace: nine
// of ten programs lie within 1.645 times this. By tools/compare-wider-vectors on Zen 4, rounded
// (docs/results/accuracy.md).
inline constexpr double kWiderVectorsDeviation_ln = 0.4;

// Of log relative times against the mean over the platforms, one standard deviation, as far as it comes from the code
// that was not counted: the same on all platforms with AVX-512, and of the other sign on the others. All zeros where
// the profile has too little of it, doesn't say, or no platform has AVX-512.
Eigen::VectorXd wider_vectors_deviation(const Profile& profile, const std::vector<Platform>& platforms);

// "wider-vectors": the profile's own warning, and how many of the platforms it is about. Absent with a deviation of 0.
std::optional<ProfileWarning> wider_vectors_warning(const Profile& profile, const std::vector<Platform>& platforms);

}  // namespace perfcast::program
