#include "cli/shared/meter_options.h"

#include <utility>

namespace perfcast::cli {

Result<MeterSet> meters_of_option(const std::vector<std::string>& names, const MeterFileOptions& options) {
  auto set = choose_meters(find_meters(), names, options);
  if (set || set.error().where != "meter") return set;
  Error error = set.error();
  error.where = "--meter";
  return error;
}

}  // namespace perfcast::cli
