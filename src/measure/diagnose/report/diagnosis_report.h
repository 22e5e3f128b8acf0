#pragma once
// A diagnosis for people, and as JSON (perfcast.diagnosis/1).

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "measure/diagnose/diagnosis.h"

namespace perfcast::measure {

// `columns`: how wide tables may be; 0: no limit.
std::string diagnosis_text(const Diagnosis& diagnosis, size_t columns = 0);
// Before anything is proven: one line for each finding.
std::string first_findings_text(const std::vector<Finding>& findings);
Json diagnosis_json(const Diagnosis& diagnosis);
// The diagnosis' own, and those of its parts.
std::vector<std::string> all_notes(const Diagnosis& diagnosis);

}  // namespace perfcast::measure
