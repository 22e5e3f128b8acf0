#include "ai/gemm/conv/conv_task.h"

#include "ai/gemm/conv/conv_rung.h"
#include "ai/gemm/run/gemm_task.h"
#include "ai/gemm/run/verify.h"
#include "base/text.h"
#include "machine/ceiling/aligned_array.h"

namespace perfcast::ai::gemm {
namespace {

class ConvTask : public Task {
 public:
  ConvTask(const ConvRung& rung, const ConvShape& shape, const TaskSpec& spec)
      : rung_(rung), shape_(shape), threads_(spec.threads), seed_(spec.seed) {}

  Status prepare() override {
    if (const std::string reason = rung_.unavailable ? rung_.unavailable() : ""; !reason.empty()) {
      return environment_error("unavailable", reason, rung_.name, "");
    }
    weights_ = AlignedArray<float>(static_cast<size_t>(shape_.weight_size()));
    images_ = AlignedArray<float>(static_cast<size_t>(shape_.input_size()));
    fill_operands(seed_, weights_, images_);
    kernel_ = rung_.make_conv(shape_);
    return kernel_->prepare({product_of(shape_), weights_, images_}, threads_);
  }

  // One output channel reads all of the images, as every other one does: its time, as often as there are channels.
  Result<double> estimate_s() override {
    if (!rung_.slow) return 0.0;
    ConvShape one = shape_;
    one.out_channels = 1;
    const auto channel = rung_.make_conv(one);
    const std::span<const float> weights(weights_);
    const Status ready =
        channel->prepare({product_of(one), weights.first(static_cast<size_t>(one.weight_size())), images_}, threads_);
    if (!ready) return ready.error();
    auto seconds = channel->run(1);
    if (!seconds) return seconds.error();
    return *seconds * static_cast<double>(shape_.out_channels);
  }

  Result<double> run(int64_t calls) override { return kernel_->run(calls); }

  Result<Verdict> check() override {
    const Shape product = product_of(shape_);
    std::vector<double> c(static_cast<size_t>(product.m * product.n));
    if (Status read = kernel_->read_result(c); !read) return read.error();
    return verify({product, weights_, reference_columns(shape_, images_)}, rung_.precision, c, seed_);
  }

  double work() const override { return operations(product_of(shape_)); }
  std::string kernel() const override { return kernel_ ? kernel_->kernel() : ""; }
  std::string note() const override { return kernel_ ? kernel_->note() : ""; }

 private:
  const ConvRung& rung_;
  ConvShape shape_;
  int threads_;
  uint64_t seed_;
  AlignedArray<float> weights_, images_;
  std::unique_ptr<GemmKernel> kernel_;  // the last, for it looks at the operands
};

}  // namespace

Result<std::unique_ptr<Task>> make_conv_task(const TaskSpec& spec) {
  const ConvRung* rung = find_conv_rung(spec.rung);
  if (rung == nullptr) return Error{"unknown-task", "there is no rung '" + printable(spec.rung) + "'", "conv", ""};
  const auto shape = conv_shape_from(spec.sizes, "conv");
  if (!shape) return shape.error();
  return std::unique_ptr<Task>(std::make_unique<ConvTask>(*rung, *shape, spec));
}

std::vector<float> reference_columns(const ConvShape& shape, std::span<const float> x) {
  const int64_t height = shape.out_height(), width = shape.out_width();
  std::vector<float> columns(
      static_cast<size_t>(shape.in_channels * shape.kernel_height * shape.kernel_width * shape.batch * height * width));
  size_t at = 0;
  for (int64_t c = 0; c < shape.in_channels; ++c) {
    for (int64_t r = 0; r < shape.kernel_height; ++r) {
      for (int64_t s = 0; s < shape.kernel_width; ++s) {
        for (int64_t b = 0; b < shape.batch; ++b) {
          for (int64_t p = 0; p < height; ++p) {
            for (int64_t q = 0; q < width; ++q, ++at) {
              const int64_t row = p * shape.stride + r - shape.padding, column = q * shape.stride + s - shape.padding;
              if (row < 0 || row >= shape.height || column < 0 || column >= shape.width) continue;
              columns[at] =
                  x[static_cast<size_t>(((b * shape.in_channels + c) * shape.height + row) * shape.width + column)];
            }
          }
        }
      }
    }
  }
  return columns;
}

}  // namespace perfcast::ai::gemm
