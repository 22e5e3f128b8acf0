// oneDNN's convolution. "onednn-plain" takes and gives images in NCHW order; the others let the library choose the
// layout of images and weights, as a network does whose activations stay with the library from layer to layer.

#include <algorithm>
#include <chrono>
#include <oneapi/dnnl/dnnl.hpp>

#include "ai/gemm/conv/conv_rung.h"

namespace perfcast::ai::gemm {
namespace {

using dnnl::memory;

class OneDnnConvolution : public GemmKernel {
 public:
  OneDnnConvolution(const ConvShape& shape, Precision precision, dnnl::algorithm algorithm, bool plain)
      : shape_(shape), precision_(precision), algorithm_(algorithm), plain_(plain) {}

  Status prepare(const Operands& operands, int) override {
    try {
      build(operands);
    } catch (const dnnl::error& problem) {
      const std::string message = std::string("oneDNN: ") + problem.what();
      if (problem.status == dnnl_unimplemented) return environment_error("unavailable", message, "", "");
      return Error{"library-failed", message, "", ""};
    }
    return {};
  }

  Result<double> run(int64_t calls) override {
    try {
      const auto start = std::chrono::steady_clock::now();
      for (int64_t call = 0; call < calls; ++call) {
        convolution_.execute(stream_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, w_}, {DNNL_ARG_DST, y_}});
        stream_.wait();
      }
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    } catch (const dnnl::error& problem) {
      return Error{"library-failed", std::string("oneDNN: ") + problem.what(), "", ""};
    }
  }

  Status read_result(std::span<double> c) override {
    try {
      const memory plain = in_layout(y_, plain_output_);
      by_channel(shape_, static_cast<const float*>(plain.get_data_handle()), c);
    } catch (const dnnl::error& problem) {
      return Error{"library-failed", std::string("oneDNN: ") + problem.what(), "", ""};
    }
    return {};
  }

  std::string kernel() const override { return kernel_; }
  std::string note() const override { return note_; }

 private:
  void build(const Operands& operands) {
    using Type = memory::data_type;
    using Tag = memory::format_tag;
    engine_ = dnnl::engine(dnnl::engine::kind::cpu, 0);
    stream_ = dnnl::stream(engine_);
    const Type type = precision_ == Precision::kFp32 ? Type::f32 : Type::bf16;
    const memory::dims x_sizes = {shape_.batch, shape_.in_channels, shape_.height, shape_.width};
    const memory::dims w_sizes = {shape_.out_channels, shape_.in_channels, shape_.kernel_height, shape_.kernel_width};
    const memory::dims y_sizes = {shape_.batch, shape_.out_channels, shape_.out_height(), shape_.out_width()};
    // Beyond the padding that was asked for, the last rows and columns may be left unread: negative padding there.
    const auto after = [this](int64_t out, int64_t kernel, int64_t side) {
      return (out - 1) * shape_.stride + kernel - side - shape_.padding;
    };
    const memory::dims strides = {shape_.stride, shape_.stride}, before = {shape_.padding, shape_.padding};
    const memory::dims behind = {after(shape_.out_height(), shape_.kernel_height, shape_.height),
                                 after(shape_.out_width(), shape_.kernel_width, shape_.width)};
    const auto any = [&](const memory::dims& sizes, Type of) {
      return memory::desc(sizes, of, plain_ ? Tag::abcd : Tag::any);
    };
    const dnnl::convolution_forward::primitive_desc description(
        dnnl::convolution_forward::desc(dnnl::prop_kind::forward_inference, algorithm_, any(x_sizes, type),
                                        memory::desc(w_sizes, type, Tag::any), any(y_sizes, Type::f32), strides, before,
                                        behind),
        engine_);
    kernel_ = description.impl_info_str();

    plain_output_ = memory::desc(y_sizes, Type::f32, Tag::abcd);
    x_ = in_layout(placed(memory::desc(x_sizes, Type::f32, Tag::abcd), operands.b), description.src_desc());
    w_ = in_layout(placed(memory::desc(w_sizes, Type::f32, Tag::abcd), operands.a), description.weights_desc());
    y_ = place(description.dst_desc());
    convolution_ = dnnl::convolution_forward(description);
    note_ = plain_ ? "weights packed beforehand" : "images and weights in the library's layout";
  }

  memory place(const memory::desc& description) {
    room_.emplace_back(description.get_size());
    return {description, engine_, room_.back().data()};
  }
  memory placed(const memory::desc& description, std::span<const float> values) {
    memory plain = place(description);
    std::copy(values.begin(), values.end(), static_cast<float*>(plain.get_data_handle()));
    return plain;
  }
  memory in_layout(memory from, const memory::desc& layout) {
    if (from.get_desc() == layout) return from;
    memory to = place(layout);
    dnnl::reorder(from, to).execute(stream_, from, to);
    stream_.wait();
    return to;
  }

  ConvShape shape_;
  Precision precision_;
  dnnl::algorithm algorithm_;
  bool plain_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  memory x_, w_, y_;
  memory::desc plain_output_;
  dnnl::convolution_forward convolution_;
  std::vector<AlignedArray<std::byte>> room_;
  std::string kernel_, note_;
};

ConvRung onednn_rung(const char* name, const char* title, Precision precision, dnnl::algorithm algorithm, bool plain) {
  ConvRung rung;
  rung.name = name;
  rung.title = title;
  rung.precision = precision;
  rung.threaded = true;
  rung.make_conv = [=](const ConvShape& shape) {
    return std::make_unique<OneDnnConvolution>(shape, precision, algorithm, plain);
  };
  return rung;
}

}  // namespace

std::vector<ConvRung> onednn_conv_rungs() {
  const auto direct = dnnl::algorithm::convolution_direct, automatic = dnnl::algorithm::convolution_auto;
  return {onednn_rung("onednn-plain", "oneDNN direct, NCHW", Precision::kFp32, direct, true),
          onednn_rung("onednn-direct", "oneDNN direct", Precision::kFp32, direct, false),
          onednn_rung("onednn-auto", "oneDNN auto", Precision::kFp32, automatic, false),
          onednn_rung("onednn-bf16", "oneDNN bf16", Precision::kBf16, direct, false)};
}

}  // namespace perfcast::ai::gemm
