#pragma once
// Rungs of the ladder of convolutions. A kernel gets Operands whose shape is the equivalent product, `a` the weights
// (O x C x R x S) and `b` the images (B x C x H x W); its result is read as that product's C, O x (B P Q).

#include <functional>
#include <memory>
#include <vector>

#include "ai/gemm/conv/conv_shape.h"
#include "ai/gemm/rung/rung.h"

namespace perfcast::ai::gemm {

struct ConvRung : Rung {
  std::function<std::unique_ptr<GemmKernel>(const ConvShape&)> make_conv;  // Rung::make is empty
};

// In the order of the ladder: loops, im2col with a product, oneDNN.
const std::vector<ConvRung>& all_conv_rungs();
const ConvRung* find_conv_rung(std::string_view name);
// As select_rungs() of rung.h.
Result<std::vector<const Rung*>> select_conv_rungs(const std::string& patterns);

std::vector<ConvRung> conv_loop_rungs();
std::vector<ConvRung> columns_rungs();
std::vector<ConvRung> onednn_conv_rungs();

// For kernels that leave y in `c_` as B x O x P x Q.
class ConvCpuKernel : public CpuKernel {
 public:
  explicit ConvCpuKernel(const ConvShape& shape) : shape_(shape) {}
  Status read_result(std::span<double> c) override;

 protected:
  ConvShape shape_;
};

// From B x O x P x Q to O x (B P Q).
void by_channel(const ConvShape& shape, const float* y, std::span<double> c);

}  // namespace perfcast::ai::gemm
