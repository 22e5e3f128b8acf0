#pragma once
// What can be measured on this machine, what is missing, and how to get it.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "profile/collect/collector.h"
#include "profile/profile.h"

namespace perfcast {

// Tries every collector. Takes about a second.
std::vector<DoctorFinding> examine_machine(const HostFacts& host);

// The files that other verbs need: the corpus and the bundle.
std::vector<DoctorFinding> examine_files(const std::string& corpus, const std::string& bundle);

std::string findings_as_text(const HostFacts& host, const std::vector<DoctorFinding>& findings);
Json findings_as_json(const HostFacts& host, const std::vector<DoctorFinding>& findings);  // schema perfcast.doctor/1

}  // namespace perfcast
