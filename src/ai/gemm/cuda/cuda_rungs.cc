#include "ai/gemm/cuda/cuda_rungs.h"

#include <utility>

#include "ai/gemm/cuda/cublas.h"
#include "ai/gemm/cuda/cuda_kernels.h"
#include "ai/gemm/cuda/device.h"
#include "ai/gemm/cuda/half.h"
#include "machine/ceiling/packing.h"

namespace perfcast::ai::gemm {
namespace {

using cuda::DeviceMemory;

template <typename Element>
Element element(float value, Precision precision) {
  const double kept = rounded(value, precision);
  if constexpr (std::is_same_v<Element, uint16_t>) {
    return half_bits(kept);
  } else {
    return static_cast<Element>(kept);
  }
}

struct Sides {
  int64_t m, n, k;
};

// A and B on the device in their precision, with zeros up to multiples of a tile; C comes back.
class CudaProduct : public GemmKernel {
 public:
  explicit CudaProduct(Precision precision, int64_t tile) : precision_(precision), tile_(tile) {}

  Status prepare(const Operands& operands, int) override {
    auto device = cuda::open_device();
    if (!device) return device.error();
    device_ = *std::move(device);
    if (Status ready = set_up(); !ready) return ready;
    shape_ = operands.shape;
    padded_ = {round_up(shape_.m, tile_), round_up(shape_.n, tile_), round_up(shape_.k, tile_)};
    if (precision_ == Precision::kFp16) return place<uint16_t>(operands);
    if (precision_ == Precision::kInt8) return place<int8_t>(operands);
    return place<float>(operands);
  }

  Result<double> run(int64_t calls) override {
    return cuda::time_launches(calls, [this] { return launch(); });
  }

  Status read_result(std::span<double> c) override {
    return precision_ == Precision::kInt8 ? read<int32_t>(c) : read<float>(c);
  }

  std::string note() const override {
    std::string text = device_.title;
    if (padded_.m != shape_.m || padded_.n != shape_.n || padded_.k != shape_.k) {
      text += "; filled up to multiples of " + std::to_string(tile_);
    }
    return text + extra_note_;
  }

 protected:
  virtual Status set_up() { return {}; }
  virtual int launch() = 0;

  Precision precision_;
  int64_t tile_;
  cuda::Device device_;
  Shape shape_;
  Sides padded_ = {};
  DeviceMemory a_, b_, c_;
  bool columns_of_b_ = false;  // B is placed as n x k
  std::string extra_note_;

 private:
  template <typename Element>
  Status place(const Operands& operands) {
    const auto [m, n, k] = shape_;
    std::vector<Element> a(static_cast<size_t>(padded_.m * padded_.k)), b(static_cast<size_t>(padded_.k * padded_.n));
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t l = 0; l < k; ++l) {
        a[static_cast<size_t>(i * padded_.k + l)] =
            element<Element>(operands.a[static_cast<size_t>(i * k + l)], precision_);
      }
    }
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t j = 0; j < n; ++j) {
        const int64_t at = columns_of_b_ ? j * padded_.k + l : l * padded_.n + j;
        b[static_cast<size_t>(at)] = element<Element>(operands.b[static_cast<size_t>(l * n + j)], precision_);
      }
    }
    const size_t bytes_a = a.size() * sizeof(Element), bytes_b = b.size() * sizeof(Element);
    if (Status got = a_.allocate(bytes_a); !got) return got;
    if (Status got = b_.allocate(bytes_b); !got) return got;
    if (Status got = c_.allocate(static_cast<size_t>(padded_.m * padded_.n) * 4); !got) return got;
    if (Status put = a_.upload(a.data(), bytes_a); !put) return put;
    return b_.upload(b.data(), bytes_b);
  }

  template <typename Element>
  Status read(std::span<double> c) {
    std::vector<Element> padded(static_cast<size_t>(padded_.m * padded_.n));
    if (Status got = c_.download(padded.data(), padded.size() * sizeof(Element)); !got) return got;
    for (int64_t i = 0; i < shape_.m; ++i) {
      for (int64_t j = 0; j < shape_.n; ++j) {
        c[static_cast<size_t>(i * shape_.n + j)] = padded[static_cast<size_t>(i * padded_.n + j)];
      }
    }
    return {};
  }
};

using FloatLaunch = int (*)(int64_t, int64_t, int64_t, const float*, const float*, float*);

class OwnProduct : public CudaProduct {
 public:
  OwnProduct(FloatLaunch function, std::string name)
      : CudaProduct(Precision::kFp32, 1), launch_(function), name_(std::move(name)) {}
  std::string kernel() const override { return name_; }

 protected:
  int launch() override {
    return launch_(padded_.m, padded_.n, padded_.k, a_.as<float>(), b_.as<float>(), c_.as<float>());
  }

 private:
  FloatLaunch launch_;
  std::string name_;
};

class WmmaProduct : public CudaProduct {
 public:
  WmmaProduct() : CudaProduct(Precision::kFp16, cuda::kWmmaTile) {}
  std::string kernel() const override { return "64 x 64 tiles, wmma 16 x 16 x 16"; }

 protected:
  int launch() override {
    return cuda::launch_wmma(padded_.m, padded_.n, padded_.k, a_.as<uint16_t>(), b_.as<uint16_t>(), c_.as<float>());
  }
};

class CublasProduct : public CudaProduct {
 public:
  explicit CublasProduct(Precision precision) : CudaProduct(precision, precision == Precision::kInt8 ? 16 : 1) {
    columns_of_b_ = precision == Precision::kInt8;
    if (columns_of_b_) extra_note_ = "; B transposed beforehand";
  }
  std::string kernel() const override { return cublas_ ? cublas_->version() : ""; }

 protected:
  Status set_up() override {
    // Older ones take float inputs without a word, and do without tensor cores.
    if (precision_ == Precision::kTf32 && device_.capability < 80) {
      return environment_error("unavailable", device_.title + " has no TF32, which came with compute capability 8.0",
                               "", "");
    }
    auto cublas = cuda::Cublas::load();
    if (!cublas) return cublas.error();
    cublas_ = *std::move(cublas);
    return {};
  }
  int launch() override {
    const int status =
        cublas_->product(precision_, padded_.m, padded_.n, padded_.k, a_.as<void>(), b_.as<void>(), c_.as<void>());
    return status == 0 ? 0 : cuda::kLaunchFailed;
  }

 private:
  std::unique_ptr<cuda::Cublas> cublas_;
};

Rung cuda_rung(const char* name, const char* title, Precision precision,
               std::function<std::unique_ptr<GemmKernel>()> make) {
  Rung rung;
  rung.name = name;
  rung.title = title;
  rung.device = "cuda";
  rung.precision = precision;
  rung.unavailable = cuda::missing_driver;
  rung.make = std::move(make);
  rung.environment = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}};  // as NVML counts
  return rung;
}

}  // namespace

std::vector<Rung> cuda_rungs() {
  const auto own = [](FloatLaunch launch, const char* name) {
    return [launch, name] { return std::make_unique<OwnProduct>(launch, name); };
  };
  const auto library = [](Precision precision) {
    return [precision] { return std::make_unique<CublasProduct>(precision); };
  };
  return {
      cuda_rung("cuda-naive", "CUDA naive", Precision::kFp32, own(cuda::launch_naive, "a thread for each element")),
      cuda_rung("cuda-tiles", "CUDA shared tiles", Precision::kFp32, own(cuda::launch_tiles, "32 x 32 tiles")),
      cuda_rung("cuda-wmma", "CUDA tensor cores", Precision::kFp16, [] { return std::make_unique<WmmaProduct>(); }),
      cuda_rung("cublas", "cuBLAS fp32", Precision::kFp32, library(Precision::kFp32)),
      cuda_rung("cublas-tf32", "cuBLAS TF32", Precision::kTf32, library(Precision::kTf32)),
      cuda_rung("cublas-fp16", "cuBLAS fp16", Precision::kFp16, library(Precision::kFp16)),
      cuda_rung("cublas-int8", "cuBLAS int8", Precision::kInt8, library(Precision::kInt8)),
  };
}

}  // namespace perfcast::ai::gemm
