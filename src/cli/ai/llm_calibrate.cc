#include "cli/ai/llm_calibrate.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <set>

#include "ai/latency/kernels/kernel_database.h"
#include "ai/llm_forecast/calibration_runs.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/shared/named_file.h"

namespace perfcast::cli {
namespace {

constexpr size_t kCalibrationLimit = size_t{64} << 20;

void note(const std::string& text) { std::fprintf(stderr, "perfcast: note: %s\n", printable(text).c_str()); }

// Names as the catalogue has them.
std::vector<std::string> known_devices(const ai::DeviceProvider& provider, const std::set<std::string>& named) {
  std::vector<std::string> devices;
  for (const std::string& name : named) {
    if (const auto model = provider.find(name)) devices.push_back((*model)->device().name);
  }
  return devices;
}

Result<std::vector<std::string>> by_kernels(ai::DeviceProvider& provider, const std::string& folder, bool quiet) {
  auto database = ai::read_kernel_database(folder);
  if (!database) return database.error();
  const size_t all = database->kernels.size();
  if (const Status status = provider.calibrate_kernels(*database); !status) {
    Error error = status.error();
    error.where = error.where.empty() ? folder : folder + ": " + error.where;
    return error;
  }
  if (!quiet) {
    note(fmt::format("{}: {} measured kernels of {}", folder, all, join(database->systems, ", ").substr(0, 200)));
    for (const std::string& text : database->notes) note(text);
    for (const ai::KernelDatabase::Left& left : database->left_out) {
      note(fmt::format("left out: {} rows: {}{}", left.count, left.reason,
                       left.example.empty() ? "" : ", the first at " + left.example));
    }
  }
  return known_devices(provider, {database->systems.begin(), database->systems.end()});
}

}  // namespace

Result<std::vector<std::string>> calibrate_devices(ai::DeviceProvider& provider, const std::string& path, bool quiet) {
  if (path.empty()) return std::vector<std::string>();
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return by_kernels(provider, path, quiet);
  const auto text = read_file(path, kCalibrationLimit);
  if (!text) return text.error();
  std::string form;
  const auto runs = ai::parse_calibration_runs(*text, path, &form);
  if (!runs) return runs.error();
  note_form(path, form);
  if (const Status status = provider.calibrate(*runs); !status) {
    Error error = status.error();
    error.where = error.where.empty() ? path : path + ": " + error.where;
    return error;
  }
  std::set<std::string> named;
  for (const ai::CalibrationRun& run : *runs) named.insert(run.device);
  return known_devices(provider, named);
}

}  // namespace perfcast::cli
