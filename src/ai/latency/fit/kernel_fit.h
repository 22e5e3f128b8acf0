#pragma once
// Constants of the forms of kernels, fitted to measured ones of several devices together, and how alike the devices'
// residuals are.

#include <span>
#include <string>
#include <vector>

#include "ai/latency/kernels/kernel_bundle.h"
#include "ai/latency/kernels/kernel_form.h"
#include "base/result.h"

namespace perfcast::ai {

struct KernelSample {
  KernelShape shape;
  double seconds = 0;  // of a kernel that was timed again and again
};

// Measured kernels of one kind and format on one device.
struct KernelFitDevice {
  std::string name;
  KernelDevice device;
  std::vector<KernelSample> samples;  // shapes that devices share tell how alike they are
};

// Least squares of logs (products) or of relative errors, robust; devices of one generation and class count as two
// together. What operations at the peak and bytes at the bandwidth take is a bound that constants can't pass.
// "bad-fit" where there are no samples.
Result<KernelConstants> fit_kernel_constants(KernelKind kind, std::span<const KernelFitDevice* const> devices);

// log(measured / form) of each sample.
std::vector<double> kernel_log_residuals(const KernelConstants& constants, const KernelFitDevice& device);

// Deviation of the residuals, each class of devices counting once, and their correlations about zero; where no two
// devices tell one, it is that of the devices that are less alike.
KernelSpread fit_kernel_spread(const KernelConstants& constants, std::span<const KernelFitDevice* const> devices);

// How much a device counts: 1 over the root of the number of its generation and class.
std::vector<double> kernel_device_weights(std::span<const KernelFitDevice* const> devices);

}  // namespace perfcast::ai
