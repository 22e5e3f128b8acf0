#pragma once
// Which servers of a data set stand for their platform: a server that shares its cores, is throttled, or is not the CPU
// that it names would bend every label.

#include <string>
#include <string_view>
#include <vector>

namespace perfcast::program {

struct ScreenedServer {
  std::string vendor, name;
  size_t platform = 0;
  std::string generation;         // CPU family and model: platforms of one generation look alike
  std::vector<double> log_rates;  // one per program with one worker; NaN: not measured
};

struct Screening {
  std::string reason;     // empty: the server stays
  double rate_ratio = 0;  // typical rate over its platform's; NaN where not compared
};

inline constexpr const char* kNotMeasured = "none of the programs was measured on it";
inline constexpr const char* kSharedCores = "shared or credit-limited cores, by the instance type's name";
inline constexpr const char* kSlowServer = "throttled or shared: typical rate under 0.85 of its CPU model's";
inline constexpr const char* kDuplicateServer = "every rate equals that of another server of the CPU model";
inline constexpr const char* kOtherCpu = "rates have the pattern of another CPU generation than the one named";

// One verdict per server. Servers with shared cores stay where a platform has no others. `fingerprint` marks the
// programs whose rates are compared to tell one CPU from another: user-space programs of fixed work.
std::vector<Screening> screen_servers(const std::vector<ScreenedServer>& servers, const std::vector<bool>& fingerprint);

// Instance types sold with shared or credit-limited cores, by each vendor's naming.
bool shares_cores(std::string_view vendor, std::string_view server);

}  // namespace perfcast::program
