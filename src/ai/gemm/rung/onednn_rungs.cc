// oneDNN's matmul primitive. "onednn" takes A and B as they are, as a BLAS does; the others give B in the layout that
// the library asks for, converted before the clock runs, as inference keeps its weights.

#include <algorithm>
#include <chrono>
#include <oneapi/dnnl/dnnl.hpp>

#include "ai/gemm/rung/rung.h"

namespace perfcast::ai::gemm {
namespace {

using dnnl::memory;

const char* isa_name(dnnl_cpu_isa_t isa) {
  switch (isa) {
    case dnnl_cpu_isa_sse41:
      return "sse41";
    case dnnl_cpu_isa_avx:
      return "avx";
    case dnnl_cpu_isa_avx2:
      return "avx2";
    case dnnl_cpu_isa_avx2_vnni:
      return "avx2_vnni";
    case dnnl_cpu_isa_avx512_core:
      return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "avx512_core_amx";
    default:
      return "other";
  }
}

class OneDnnProduct : public GemmKernel {
 public:
  OneDnnProduct(Precision precision, bool packed) : precision_(precision), packed_(packed) {}

  Status prepare(const Operands& operands, int threads) override {
    threads_ = threads;
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
        product_.execute(stream_, {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}});
        stream_.wait();
      }
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    } catch (const dnnl::error& problem) {
      return Error{"library-failed", std::string("oneDNN: ") + problem.what(), "", ""};
    }
  }

  Status read_result(std::span<double> c) override {
    if (precision_ == Precision::kInt8) {
      const auto* values = static_cast<const int32_t*>(c_.get_data_handle());
      for (size_t i = 0; i < c.size(); ++i) c[i] = values[i] - 128.0 * column_sums_[i % column_sums_.size()];
    } else {
      const auto* values = static_cast<const float*>(c_.get_data_handle());
      for (size_t i = 0; i < c.size(); ++i) c[i] = values[i];
    }
    return {};
  }

  std::string kernel() const override { return kernel_; }
  std::string note() const override { return note_; }

 private:
  void build(const Operands& operands) {
    const auto [m, n, k] = operands.shape;
    engine_ = dnnl::engine(dnnl::engine::kind::cpu, 0);
    stream_ = dnnl::stream(engine_);
    using Type = memory::data_type;
    using Tag = memory::format_tag;
    const bool floats = precision_ == Precision::kFp32, integers = precision_ == Precision::kInt8;
    const Type type_a = floats ? Type::f32 : integers ? Type::u8 : Type::bf16;
    const Type type_b = floats ? Type::f32 : integers ? Type::s8 : Type::bf16;
    const memory::desc plain_a({m, k}, type_a, Tag::ab), plain_b({k, n}, type_b, Tag::ab);
    const memory::desc asked_b({k, n}, type_b, packed_ ? Tag::any : Tag::ab);
    const memory::desc out({m, n}, integers ? Type::s32 : Type::f32, Tag::ab);
    const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(plain_a, asked_b, out), engine_);
    kernel_ = std::string(description.impl_info_str()) + ", " + isa_name(dnnl_get_effective_cpu_isa());

    a_ = place(plain_a);
    memory b = place(plain_b);
    c_ = place(out);
    convert(operands, a_.get_data_handle(), b.get_data_handle());
    b_ = b;
    if (description.weights_desc() != plain_b) {
      b_ = place(description.weights_desc());
      dnnl::reorder(b, b_).execute(stream_, b, b_);
      stream_.wait();
      note_ = "B packed beforehand";
    }
    product_ = dnnl::matmul(description);
  }

  // On pages like everybody's.
  memory place(const memory::desc& description) {
    room_.emplace_back(description.get_size());
    return {description, engine_, room_.back().data()};
  }

  void convert(const Operands& operands, void* a, void* b) {
    const size_t size_a = operands.a.size(), size_b = operands.b.size();
    if (precision_ == Precision::kFp32) {
      std::copy(operands.a.begin(), operands.a.end(), static_cast<float*>(a));
      std::copy(operands.b.begin(), operands.b.end(), static_cast<float*>(b));
    } else if (precision_ == Precision::kBf16) {
      for (size_t i = 0; i < size_a; ++i) static_cast<uint16_t*>(a)[i] = to_bf16(operands.a[i]);
      for (size_t i = 0; i < size_b; ++i) static_cast<uint16_t*>(b)[i] = to_bf16(operands.b[i]);
    } else {
      // Unsigned times signed is what the instructions do: A is moved up by 128, and read_result() takes it off again.
      column_sums_.assign(static_cast<size_t>(operands.shape.n), 0);
      for (size_t i = 0; i < size_a; ++i) {
        static_cast<uint8_t*>(a)[i] = static_cast<uint8_t>(to_int8(operands.a[i]) + 128);
      }
      for (size_t i = 0; i < size_b; ++i) {
        static_cast<int8_t*>(b)[i] = to_int8(operands.b[i]);
        column_sums_[i % column_sums_.size()] += to_int8(operands.b[i]);
      }
    }
  }

  Precision precision_;
  bool packed_;  // B in the layout that the library asks for
  int threads_ = 1;
  dnnl::engine engine_;
  dnnl::stream stream_;
  memory a_, b_, c_;
  dnnl::matmul product_;
  std::vector<AlignedArray<std::byte>> room_;
  std::vector<double> column_sums_;
  std::string kernel_, note_;
};

Rung onednn_rung(const char* name, const char* title, Precision precision, bool packed) {
  Rung rung;
  rung.name = name;
  rung.title = title;
  rung.precision = precision;
  rung.threaded = true;
  rung.make = [precision, packed] { return std::make_unique<OneDnnProduct>(precision, packed); };
  return rung;
}

}  // namespace

std::vector<Rung> onednn_rungs() {
  std::vector<Rung> rungs = {onednn_rung("onednn", "oneDNN fp32", Precision::kFp32, false),
                             onednn_rung("onednn-packed", "oneDNN fp32, packed", Precision::kFp32, true),
                             onednn_rung("onednn-bf16", "oneDNN bf16", Precision::kBf16, true),
                             onednn_rung("onednn-int8", "oneDNN u8 x s8", Precision::kInt8, true)};
  rungs[3].unavailable = [] {
    if (cpu_has("avx512-vnni") || cpu_has("avx-vnni") || cpu_has("amx-int8")) return std::string();
    return std::string("this CPU has no VNNI: products of bytes are summed in 16 bits there, which overflow");
  };
  return rungs;
}

}  // namespace perfcast::ai::gemm
