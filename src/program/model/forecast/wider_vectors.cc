#include "program/model/forecast/wider_vectors.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace perfcast::program {
namespace {

constexpr const char* kAvx512 = "avx512f";
constexpr const char* kAmx = "amx";

bool has(const Platform& platform, const char* flag) {
  return std::find(platform.flags.begin(), platform.flags.end(), flag) != platform.flags.end();
}

double metric(const Profile& profile, const char* name) {
  const auto found = profile.metrics.find(name);
  return found == profile.metrics.end() ? 0 : found->second;
}

std::string number_of(const std::vector<Platform>& platforms, const char* flag) {
  return std::to_string(std::count_if(platforms.begin(), platforms.end(),
                                      [flag](const Platform& platform) { return has(platform, flag); }));
}

}  // namespace

Eigen::VectorXd wider_vectors_deviation(const Profile& profile, const std::vector<Platform>& platforms) {
  const auto n = static_cast<Eigen::Index>(platforms.size());
  const double ratio = metric(profile, "wider_code_per_instruction_ratio");
  if (n == 0 || !(ratio >= kLeastWiderRatio)) return Eigen::VectorXd::Zero(n);
  Eigen::VectorXd on(n);
  for (Eigen::Index j = 0; j < n; ++j) on(j) = has(platforms[static_cast<size_t>(j)], kAvx512) ? 1 : 0;
  on.array() -= on.mean();
  return kWiderVectorsDeviation_ln * std::sqrt(std::min(1.0, ratio)) * on;
}

std::optional<ProfileWarning> wider_vectors_warning(const Profile& profile, const std::vector<Platform>& platforms) {
  if (wider_vectors_deviation(profile, platforms).isZero(0)) return std::nullopt;
  const auto own = std::find_if(profile.warnings.begin(), profile.warnings.end(),
                                [](const ProfileWarning& warning) { return warning.code == kWiderVectors; });
  std::string message = own == profile.warnings.end()
                            ? "on a CPU with AVX-512, the program may run other vector code than it ran here"
                            : own->message;
  message +=
      ". " + number_of(platforms, kAvx512) + " of the " + std::to_string(platforms.size()) + " CPU models have AVX-512";
  if (metric(profile, "wider_code_amx_instructions_count") > 0)
    message += ", " + number_of(platforms, kAmx) + " also AMX";
  return ProfileWarning{kWiderVectors,
                        message + ". Comparisons of these with the others are less sure, so their intervals are wider",
                        "measure the time on a CPU with AVX-512, and give it with --measured"};
}

}  // namespace perfcast::program
