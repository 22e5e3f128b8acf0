// Rungs of convolutions whose code is ours: loops, and im2col before a product of the other ladder.

#include <algorithm>
#include <chrono>

#include "ai/gemm/conv/columns.h"
#include "ai/gemm/conv/conv_loops.h"
#include "ai/gemm/conv/conv_rung.h"

namespace perfcast::ai::gemm {
namespace {

class LoopConvolution : public ConvCpuKernel {
 public:
  LoopConvolution(ConvLoop loop, std::string name, const ConvShape& shape)
      : ConvCpuKernel(shape), loop_(loop), name_(std::move(name)) {}
  std::string kernel() const override { return name_; }

 protected:
  void product() override {
    const ConvLoopSizes sizes = {shape_.batch,        shape_.in_channels,   shape_.height,       shape_.width,
                                 shape_.out_channels, shape_.kernel_height, shape_.kernel_width, shape_.stride,
                                 shape_.padding,      shape_.out_height(),  shape_.out_width()};
    loop_(sizes, operands_.b.data(), operands_.a.data(), c_.data());
  }

 private:
  ConvLoop loop_;
  std::string name_;
};

// Image by image: its columns, then their product with the weights. The products look at the columns when they run, and
// each keeps its own result; so `product` must be a rung that does not copy B beforehand.
class ColumnsConvolution : public GemmKernel {
 public:
  ColumnsConvolution(const Rung& product, const ConvShape& shape) : rung_(product), shape_(shape) {}

  Status prepare(const Operands& operands, int threads) override {
    images_ = operands.b;
    threads_ = threads;
    ConvShape one = shape_;
    one.batch = 1;
    const Shape product = product_of(one);
    if (!image_is_columns(shape_)) columns_ = AlignedArray<float>(static_cast<size_t>(product.k * product.n));
    for (int64_t b = 0; b < shape_.batch; ++b) {
      const std::span<const float> columns = image_is_columns(shape_) ? image(b) : std::span<const float>(columns_);
      products_.push_back(rung_.make());
      Status ready = products_.back()->prepare({product, operands.a, columns}, threads);
      if (!ready) return ready;
    }
    return {};
  }

  Result<double> run(int64_t calls) override {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t call = 0; call < calls; ++call) {
      for (size_t b = 0; b < products_.size(); ++b) {
        if (columns_.size() > 0) {
          image_columns_threads(shape_, image(static_cast<int64_t>(b)).data(), columns_.data(), threads_);
        }
        if (auto ran = products_[b]->run(1); !ran) return ran.error();
      }
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  Status read_result(std::span<double> c) override {
    const size_t positions = static_cast<size_t>(shape_.out_height() * shape_.out_width());
    const size_t channels = static_cast<size_t>(shape_.out_channels);
    std::vector<double> one(channels * positions);
    for (size_t b = 0; b < products_.size(); ++b) {
      if (Status read = products_[b]->read_result(one); !read) return read;
      for (size_t o = 0; o < channels; ++o) {
        std::copy_n(one.data() + o * positions, positions, c.data() + (o * products_.size() + b) * positions);
      }
    }
    return {};
  }

  std::string kernel() const override { return products_.empty() ? "" : products_.front()->kernel(); }
  std::string note() const override {
    std::string text = products_.empty() ? "" : products_.front()->note();
    if (image_is_columns(shape_)) text += std::string(text.empty() ? "" : "; ") + "1 x 1: nothing to copy";
    return text;
  }

 private:
  std::span<const float> image(int64_t b) const {
    const auto size = static_cast<size_t>(shape_.input_size() / shape_.batch);
    return images_.subspan(static_cast<size_t>(b) * size, size);
  }

  const Rung& rung_;
  ConvShape shape_;
  int threads_ = 1;
  std::span<const float> images_;
  AlignedArray<float> columns_;
  std::vector<std::unique_ptr<GemmKernel>> products_;
};

struct NativeConvLoops {
  ConvLoops loops;
  std::string isa, flags;
};

// As the loops of the other ladder: the widest that this CPU has, of those that this build has.
NativeConvLoops native_conv_loops() {
#if defined(__x86_64__)
  if (cpu_has("avx512")) return {conv_loops_v4(), "avx512", "-O3 -march=x86-64-v4"};
  if (cpu_has("avx2")) return {conv_loops_v3(), "avx2", "-O3 -march=x86-64-v3"};
#endif
  return {conv_loops_o3(), "", "-O3"};
}

ConvRung loop_rung(const char* name, const char* title, ConvLoop loop, const std::string& flags,
                   const std::string& isa = "") {
  ConvRung rung;
  rung.name = name;
  rung.title = title;
  rung.isa = isa;
  rung.slow = true;
  rung.make_conv = [loop, flags](const ConvShape& shape) {
    return std::make_unique<LoopConvolution>(loop, flags, shape);
  };
  return rung;
}

}  // namespace

std::vector<ConvRung> conv_loop_rungs() {
  const NativeConvLoops native = native_conv_loops();
  std::vector<ConvRung> rungs = {
      loop_rung("naive-o1", "seven loops, -O1", conv_loops_o1().naive, "-O1"),
      loop_rung("naive-o3", "seven loops, -O3", conv_loops_o3().naive, "-O3"),
      loop_rung("naive-native", "seven loops, -O3 native", native.loops.naive, native.flags, native.isa),
      loop_rung("reordered", "reordered, -O3", conv_loops_o3().reordered, "-O3"),
      loop_rung("reordered-native", "reordered, -O3 native", native.loops.reordered, native.flags, native.isa),
  };
  for (ConvRung& rung : rungs) {
    if (rung.name.ends_with("native")) {
      rung.unavailable = [] {
        const bool none = native_conv_loops().isa.empty();
        return std::string(none ? "this build has no code for more than this CPU's base instructions" : "");
      };
    }
  }
  return rungs;
}

std::vector<ConvRung> columns_rungs() {
  std::vector<ConvRung> rungs;
  for (const char* name : {"register-block", "openblas", "blis"}) {
    const Rung* product = find_rung(name);
    if (product == nullptr) continue;
    ConvRung rung;
    static_cast<Rung&>(rung) = *product;
    rung.name = std::string("im2col-") + name;
    rung.title = "im2col + " + product->title;
    rung.make = nullptr;
    rung.make_conv = [product](const ConvShape& shape) {
      return std::make_unique<ColumnsConvolution>(*product, shape);
    };
    rungs.push_back(std::move(rung));
  }
  return rungs;
}

const std::vector<ConvRung>& all_conv_rungs() {
  static const std::vector<ConvRung> kRungs = [] {
    std::vector<ConvRung> rungs;
    for (auto list : {conv_loop_rungs, columns_rungs, onednn_conv_rungs}) {
      for (ConvRung& rung : list()) rungs.push_back(std::move(rung));
    }
    return rungs;
  }();
  return kRungs;
}

const ConvRung* find_conv_rung(std::string_view name) {
  for (const ConvRung& rung : all_conv_rungs()) {
    if (rung.name == name) return &rung;
  }
  return nullptr;
}

Result<std::vector<const Rung*>> select_conv_rungs(const std::string& patterns) {
  std::vector<const Rung*> rungs;
  for (const ConvRung& rung : all_conv_rungs()) rungs.push_back(&rung);
  return select_rungs(patterns, rungs);
}

Status ConvCpuKernel::read_result(std::span<double> c) {
  by_channel(shape_, c_.data(), c);
  return {};
}

void by_channel(const ConvShape& shape, const float* y, std::span<double> c) {
  const int64_t positions = shape.out_height() * shape.out_width();
  for (int64_t b = 0; b < shape.batch; ++b) {
    for (int64_t o = 0; o < shape.out_channels; ++o) {
      std::copy_n(y + (b * shape.out_channels + o) * positions, positions,
                  c.begin() + (o * shape.batch + b) * positions);
    }
  }
}

}  // namespace perfcast::ai::gemm
