#pragma once
// A diagnosis for people, and as JSON (perfcast.diagnosis/1).

#include <string>

#include "base/json_fwd.h"
#include "diagnose/diagnosis.h"

namespace perfcast {

std::string diagnosis_text(const Diagnosis& diagnosis);
// Before anything is proven: one line for each finding.
std::string first_findings_text(const std::vector<Finding>& findings);
Json diagnosis_json(const Diagnosis& diagnosis);

}  // namespace perfcast
