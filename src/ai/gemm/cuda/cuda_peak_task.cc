// Peaks of the device: multiply-adds in registers, per precision.

#include <algorithm>
#include <cmath>

#include "ai/gemm/cuda/cuda_kernels.h"
#include "ai/gemm/cuda/cuda_rungs.h"
#include "ai/gemm/cuda/device.h"
#include "base/text.h"

namespace perfcast::ai::gemm {
namespace {

constexpr double kCall_s = 0.002;
constexpr int64_t kMostPasses = int64_t{1} << 26;

struct PeakLoopOnDevice {
  const char* name;
  Precision precision;
  cuda::PeakKind kind;
  int capability;  // that it needs
};
constexpr PeakLoopOnDevice kLoops[] = {{"cuda-cores/fp32", Precision::kFp32, cuda::PeakKind::kFp32, 0},
                                       {"tensor-cores/tf32", Precision::kTf32, cuda::PeakKind::kTf32, 80},
                                       {"tensor-cores/fp16", Precision::kFp16, cuda::PeakKind::kFp16, 70},
                                       {"tensor-cores/int8", Precision::kInt8, cuda::PeakKind::kInt8, 72}};

class CudaPeakTask : public Task {
 public:
  explicit CudaPeakTask(const PeakLoopOnDevice& loop) : loop_(loop) {}

  Status prepare() override {
    auto device = cuda::open_device();
    if (!device) return device.error();
    device_ = *std::move(device);
    if (device_.capability < loop_.capability) {
      return environment_error("unavailable", device_.title + " has no such units", loop_.name, "");
    }
    // Hopper alone has these: 10.0 and later have others.
    wgmma_ = device_.capability == 90 && loop_.kind != cuda::PeakKind::kFp32;
    const auto results = static_cast<size_t>(size(1).results);
    if (Status got = out_.allocate(results * sizeof(float)); !got) return got;
    for (passes_ = 256; passes_ < kMostPasses; passes_ *= 2) {
      const auto seconds = run(1);
      if (!seconds) return seconds.error();
      if (*seconds > kCall_s) break;
    }
    return {};
  }
  Result<double> run(int64_t calls) override {
    return cuda::time_launches(calls, [this] {
      return (wgmma_ ? cuda::launch_wgmma_peak : cuda::launch_wmma_peak)(loop_.kind, device_.multiprocessors, passes_,
                                                                         out_.as<float>());
    });
  }
  // Every group of threads did the same: they must agree, and on numbers.
  Result<Verdict> check() override {
    std::vector<float> sums(static_cast<size_t>(size(1).results));
    if (const Status got = out_.download(sums.data(), sums.size() * sizeof(float)); !got) return got.error();
    Verdict verdict;
    verdict.correct = true;
    for (size_t i = 0; i < sums.size(); ++i) {
      verdict.correct =
          verdict.correct && std::isfinite(sums[i]) && sums[i] != 0 && sums[i] == sums[i % cuda::kPeakPeriod];
    }
    if (!verdict.correct) verdict.detail = "threads disagree";
    return verdict;
  }
  double work() const override { return size(passes_).operations; }
  std::string note() const override { return device_.title + (wgmma_ ? "; wgmma" : ""); }

 private:
  cuda::PeakSize size(int64_t passes) const {
    return (wgmma_ ? cuda::wgmma_peak_size : cuda::wmma_peak_size)(loop_.kind, device_.multiprocessors, passes);
  }

  const PeakLoopOnDevice& loop_;
  cuda::Device device_;
  bool wgmma_ = false;
  int64_t passes_ = 1;
  cuda::DeviceMemory out_;
};

}  // namespace

Result<std::unique_ptr<Task>> make_cuda_peak_task(const TaskSpec& spec) {
  for (const PeakLoopOnDevice& loop : kLoops) {
    if (spec.rung == loop.name) return std::unique_ptr<Task>(std::make_unique<CudaPeakTask>(loop));
  }
  return Error{"unknown-task", "'" + printable(spec.rung) + "' is no peak loop of a GPU", "cuda-peak",
               "UNITS/PRECISION"};
}

std::vector<TaskSpec> cuda_peaks(const std::vector<Precision>& precisions) {
  std::vector<TaskSpec> specs;
  if (!cuda::missing_driver().empty()) return specs;
  for (const PeakLoopOnDevice& loop : kLoops) {
    if (std::find(precisions.begin(), precisions.end(), loop.precision) == precisions.end()) continue;
    TaskSpec spec;
    spec.op = "cuda-peak";
    spec.rung = loop.name;
    spec.environment = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}};
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace perfcast::ai::gemm
