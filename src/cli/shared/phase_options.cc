#include "cli/shared/phase_options.h"

#include <cmath>

#include "base/csv.h"
#include "base/text.h"
#include "cli/command.h"
#include "measure/phases/phase_clusters.h"

namespace perfcast::cli {

Result<measure::PhaseRequest> phase_request(const std::string& text, const std::string& option) {
  measure::PhaseRequest request;
  if (text == "auto") return request;
  const auto number = parse_number(text);
  if (!number || *number != std::floor(*number) || *number < 1 || *number > measure::kMostPhaseKinds) {
    return usage_error("bad-usage", "'" + printable(text) + "' is no number of phases", option,
                       "auto, or 1 to " + std::to_string(measure::kMostPhaseKinds));
  }
  request.kinds = static_cast<size_t>(*number);
  return request;
}

}  // namespace perfcast::cli
