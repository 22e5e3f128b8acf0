#pragma once
// How servers of one CPU model differ: their one-core times of applications beside the model's. Turbo, hypervisor,
// series and neighbours move all programs of a server together.

#include <set>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"

namespace perfcast::program {

// Facts of a server: its time over its CPU model's, the median over programs; and how far its programs' times lie from
// their medians over the model's servers, a root mean square of log ratios.
inline constexpr const char* kServerTimeRatio = "one_core_time_ratio";
inline constexpr const char* kServerDeviation = "one_core_deviation_log";

// Sets both facts of every server that has runs of `programs` (ids) with one thread, of which another server of its
// platform has some, too. Others keep none.
void state_server_levels(const std::vector<Run>& runs, const std::set<std::string>& programs,
                         std::vector<Server>& servers);

// Ids of the corpus' applications.
std::set<std::string> application_ids(const std::vector<Program>& programs);

}  // namespace perfcast::program
