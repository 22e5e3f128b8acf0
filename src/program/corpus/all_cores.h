#pragma once
// What a server does for one program with a thread on each of its vCPUs: applications that were timed with one thread
// and with all. They share work, locks, memory and cores, so that N threads are worth much less than N copies.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"

namespace perfcast::program {

// Fact of a server: how much longer each of its vCPUs is busy with such a program than one alone of its CPU model
// usually is, the geometric mean over families of applications: wall time of all cores = time of one / vCPUs times
// this. And how far families lie apart in it, one standard deviation of logs, and how many there are.
inline constexpr const char* kAllCoresSlowdown = "all_cores_slowdown_ratio";
inline constexpr const char* kAllCoresDeviation = "all_cores_deviation_log";
inline constexpr const char* kAllCoresFamilies = "all_cores_families_count";

struct AllCoresRun {
  std::string program, family, platform, server;  // ids; "vendor/name"
  double vcpus = 1;
  double log_alone = 0;     // seconds with one thread, the median over the other servers of its CPU model (its own
                            // where it is the only one)
  double log_slowdown = 0;  // vcpus * time with all / time with one
};

// Of the corpus' applications, in the order of its runs.
std::vector<AllCoresRun> all_cores_runs(const Corpus& corpus);

// By server and platform: log slowdown of each family, the mean over its programs.
using AllCoresFamilies = std::map<std::string, double>;
std::map<std::string, AllCoresFamilies> all_cores_families(const std::vector<AllCoresRun>& runs);

// The mean over families and their standard deviation; `without`: a family that is left out.
struct AllCoresLevel {
  size_t families = 0;
  double log_slowdown = 0, deviation = 0;
};
AllCoresLevel all_cores_level(const AllCoresFamilies& families, const std::string& without = "");
// Log half width of a 90% interval of one more application: Student's t, as few families say it.
double all_cores_half_width(const AllCoresLevel& level);
inline constexpr size_t kAllCoresLeastFamilies = 3;  // of which a server keeps the facts

// Sets these facts of every server with runs of enough families; others keep none.
void state_all_cores(const std::vector<AllCoresRun>& runs, std::vector<Server>& servers);
std::optional<AllCoresLevel> all_cores_level_of(const Server& server);

}  // namespace perfcast::program
