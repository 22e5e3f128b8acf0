#pragma once
// A rung of the ladder: one way to compute C = A B. A rung says what it is (Rung) and makes a kernel that computes
// (GemmKernel) inside a worker process. New rungs: a function that gives their list, and its line in all_rungs().

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ai/gemm/precision.h"
#include "ai/gemm/shape.h"
#include "base/result.h"
#include "machine/ceiling/aligned_array.h"
#include "machine/ceiling/cpu_isa.h"

namespace perfcast::ai::gemm {

// The inputs, float in [-1, 1]; a kernel of another precision converts them by the functions of precision.h.
struct Operands {
  Shape shape;
  std::span<const float> a, b;  // m x k, k x n, row-major
};

class GemmKernel {
 public:
  GemmKernel() = default;
  GemmKernel(const GemmKernel&) = delete;
  GemmKernel& operator=(const GemmKernel&) = delete;
  virtual ~GemmKernel() = default;

  // Operands live as long as the kernel does. An error of kind kEnvironment: can't run here,
  // and why.
  virtual Status prepare(const Operands& operands, int threads) = 0;
  // Computes the product `calls` >= 1 times over; seconds by the clock that suits the device. What only has to be done
  // once for many products (conversion, upload, a library's own packing of B) belongs to prepare().
  virtual Result<double> run(int64_t calls) = 0;
  // C of the last run, m x n, row-major: values for floats, the integers for int8 (of products of round(127 x)).
  virtual Status read_result(std::span<double> c) = 0;
  virtual std::string kernel() const { return ""; }
  virtual std::string note() const { return ""; }
};

// For kernels of this process: product() timed by the steady clock, the result in `c_`.
class CpuKernel : public GemmKernel {
 public:
  Status prepare(const Operands& operands, int threads) override;  // keeps both, makes room for C, then set_up()
  Result<double> run(int64_t calls) override;
  Status read_result(std::span<double> c) override;

 protected:
  virtual Status set_up() { return {}; }
  virtual void product() = 0;

  Operands operands_;
  int threads_ = 1;
  AlignedArray<float> c_;
};

struct Rung {
  std::string name;            // as --rungs takes it: "naive-o1"
  std::string title;           // for the table: "naive ijk, gcc -O1"
  std::string device = "cpu";  // or "cuda"
  Precision precision = Precision::kFp32;
  // The widest instructions that it may use; empty: none in particular, its peak is the widest of this machine.
  std::string isa;
  bool threaded = false;  // runs at every thread count that was asked for, else at one
  // Seconds of one run grow far beyond the others': a run is guessed first, and skipped where it takes minutes.
  bool slow = false;
  // Why it can't run on this machine, without loading anything; empty: it may.
  std::function<std::string()> unavailable;
  std::function<std::unique_ptr<GemmKernel>()> make;
  std::map<std::string, std::string> environment;  // always set for it
};

// In the order of the ladder.
const std::vector<Rung>& all_rungs();
const Rung* find_rung(std::string_view name);
// Those that some rung has, in the order of precisions().
std::vector<Precision> rung_precisions();
// Names or patterns with * ("openblas", "onednn*", "naive*,eigen"). Errors: "bad-usage" with the nearest names.
Result<std::vector<const Rung*>> select_rungs(const std::string& patterns);
// The same among others, in their order.
Result<std::vector<const Rung*>> select_rungs(const std::string& patterns, const std::vector<const Rung*>& from);

std::vector<Rung> loop_rungs();            // naive, interchanged, tiled
std::vector<Rung> register_block_rungs();  // ours, for one thread and for many
std::vector<Rung> blas_rungs();            // OpenBLAS, BLIS
std::vector<Rung> eigen_rungs();
std::vector<Rung> onednn_rungs();
std::vector<Rung> python_rungs();  // NumPy, PyTorch

}  // namespace perfcast::ai::gemm
