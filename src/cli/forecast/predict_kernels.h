#pragma once
// perfcast predict for the kernels of GPU and OpenCL programs.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "profile/profile.h"

namespace perfcast::cli {

// Whether the profile has kernels that a bundle for kernels forecasts: the shipped one, or the one that is named.
bool has_kernels(const Profile& profile);

struct KernelView {
  std::string host;  // of --host: the device that times in the profile are of; empty: as the profile says
  std::vector<std::string> filters;
  size_t most_rows = 0;  // of the devices; 0: all
  bool csv = false, is_markdown = false;
};

// The forecast as it is printed. Absent: the bundle that the options name knows no kernels.
Result<std::optional<std::string>> kernel_forecast_text(const Profile& profile, const KernelView& view,
                                                        const CommonOptions& options);

}  // namespace perfcast::cli
