#pragma once
// What threads made of a run, and other numbers of them: text and JSON of a diagnosis' part.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "measure/diagnose/find/rules.h"
#include "measure/diagnose/find/thread_scaling.h"

namespace perfcast::measure {

std::string thread_curve_text(const ThreadCurve& curve);
Json thread_curve_json(const ThreadCurve& curve);
Json shared_lines_json(const std::vector<SharedPlace>& lines);

}  // namespace perfcast::measure
