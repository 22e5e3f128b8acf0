#pragma once
// A program that runs here, on a platform where it doesn't: what of it would matter there, and what would have to
// change. By a bundle's model: of its counters, not of what threads wait for.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "program/explain/counterfactual.h"
#include "program/explain/forecast_attribution.h"
#include "program/model/bundle/bundle.h"

namespace perfcast::program {

struct Elsewhere {
  std::string platform, against;      // names; `against`: this host's, or "the mean of all platforms"
  double log_ratio = 0;               // of the program's time there over that against which it is set, relative
  std::string method;                 // how it was taken apart
  std::vector<SpreadEffect> effects;  // of what goes together among counters, largest first
  std::vector<Counterfactual> counterfactuals;  // for 10% less time there, what needs the least change first
};

// `platform`: as find_platform(). Errors: those of find_platform() and attribute_forecast().
Result<Elsewhere> look_elsewhere(const Bundle& bundle, const Profile& profile, const std::string& platform);

Json to_json(const Elsewhere& elsewhere);

}  // namespace perfcast::program
