#include "ai/gemm/run/gemm_task.h"

#include <chrono>
#include <vector>

#include "ai/gemm/run/verify.h"
#include "base/random.h"
#include "base/text.h"
#include "machine/ceiling/aligned_array.h"

namespace perfcast::ai::gemm {
namespace {

class GemmTask : public Task {
 public:
  GemmTask(const Rung& rung, const Shape& shape, const TaskSpec& spec)
      : rung_(rung), shape_(shape), threads_(spec.threads), seed_(spec.seed) {}

  Status prepare() override {
    if (const std::string reason = rung_.unavailable ? rung_.unavailable() : ""; !reason.empty()) {
      return environment_error("unavailable", reason, rung_.name, "");
    }
    a_ = AlignedArray<float>(static_cast<size_t>(shape_.m * shape_.k));
    b_ = AlignedArray<float>(static_cast<size_t>(shape_.k * shape_.n));
    fill_operands(seed_, a_, b_);
    kernel_ = rung_.make();
    return kernel_->prepare({shape_, a_, b_}, threads_);
  }

  // One row of the result reads all of B, as every other row does: its time, m times over.
  Result<double> estimate_s() override {
    if (!rung_.slow) return 0.0;
    const auto one_row = rung_.make();
    const Operands operands{
        {1, shape_.n, shape_.k}, std::span<const float>(a_).first(static_cast<size_t>(shape_.k)), b_};
    if (Status ready = one_row->prepare(operands, threads_); !ready) return ready.error();
    auto seconds = one_row->run(1);
    if (!seconds) return seconds.error();
    return *seconds * static_cast<double>(shape_.m);
  }

  Result<double> run(int64_t calls) override { return kernel_->run(calls); }

  Result<Verdict> check() override {
    std::vector<double> c(static_cast<size_t>(shape_.m * shape_.n));
    if (Status read = kernel_->read_result(c); !read) return read.error();
    return verify({shape_, a_, b_}, rung_.precision, c, seed_);
  }

  double work() const override { return operations(shape_); }
  std::string kernel() const override { return kernel_ ? kernel_->kernel() : ""; }
  std::string note() const override { return kernel_ ? kernel_->note() : ""; }

 private:
  const Rung& rung_;
  Shape shape_;
  int threads_;
  uint64_t seed_;
  AlignedArray<float> a_, b_;
  std::unique_ptr<GemmKernel> kernel_;  // the last, for it looks at the operands
};

}  // namespace

Result<std::unique_ptr<Task>> make_gemm_task(const TaskSpec& spec) {
  const Rung* rung = find_rung(spec.rung);
  if (rung == nullptr) return Error{"unknown-task", "there is no rung '" + printable(spec.rung) + "'", "gemm", ""};
  if (spec.sizes.size() != 3) return Error{"unknown-task", "a product has three sizes", "gemm", "m, n, k"};
  for (const int64_t side : spec.sizes) {
    if (side < 1 || side > kMaxSide) return Error{"unknown-task", "a side is out of range", "gemm", ""};
  }
  return std::unique_ptr<Task>(
      std::make_unique<GemmTask>(*rung, Shape{spec.sizes[0], spec.sizes[1], spec.sizes[2]}, spec));
}

void fill_operands(uint64_t seed, std::span<float> a, std::span<float> b) {
  Random random(seed);
  for (const std::span<float> values : {a, b}) {
    for (size_t i = 0; i < values.size(); i += 2) {  // 24 bits each: all that a float has
      const uint64_t bits = random.next();
      values[i] = static_cast<float>(static_cast<int32_t>(bits & 0xffffffu) - 0x800000) * 0x1p-23F;
      if (i + 1 < values.size()) {
        values[i + 1] = static_cast<float>(static_cast<int32_t>((bits >> 32) & 0xffffffu) - 0x800000) * 0x1p-23F;
      }
    }
  }
}

Status CpuKernel::prepare(const Operands& operands, int threads) {
  operands_ = operands;
  threads_ = threads;
  c_ = AlignedArray<float>(static_cast<size_t>(operands.shape.m * operands.shape.n));
  return set_up();
}

Result<double> CpuKernel::run(int64_t calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t call = 0; call < calls; ++call) product();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Status CpuKernel::read_result(std::span<double> c) {
  for (size_t i = 0; i < c.size(); ++i) c[i] = c_[i];
  return {};
}

}  // namespace perfcast::ai::gemm
