#pragma once
// The bundle of kernels as JSON, schema perfcast.kernels/1: what data/bundles/kernels.json holds.

#include <string>
#include <string_view>

#include "ai/latency/kernels/kernel_bundle.h"
#include "base/result.h"

namespace perfcast::ai {

// "bad-json", "bad-json-field", "future-version". Constants are finite and not negative, residuals within e^±10, a
// donor has the facts that forms need.
Result<KernelBundle> parse_kernel_bundle(std::string_view text, const std::string& source);
Result<KernelBundle> read_kernel_bundle(const std::string& path);
// One line for each form and each group of measured kernels: residuals in thousandths of a log.
std::string kernel_bundle_text(const KernelBundle& bundle);

}  // namespace perfcast::ai
