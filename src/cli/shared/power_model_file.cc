#include "cli/shared/power_model_file.h"

#include "base/file.h"
#include "base/json.h"

namespace perfcast::cli {
namespace {

constexpr size_t kLargestModelBytes = size_t{64} << 20;

}  // namespace

Result<measure::PowerModel> read_power_model(const std::string& path) {
  const auto text = read_file(path, kLargestModelBytes);
  if (!text) return text.error();
  const auto json = parse_json(*text, path);
  if (!json) return json.error();
  return measure::PowerModel::from_json(*json, path);
}

}  // namespace perfcast::cli
