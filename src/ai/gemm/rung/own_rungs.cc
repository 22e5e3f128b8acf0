// Rungs whose code is ours, and Eigen, which is compiled into us.

#include "ai/gemm/kernel/eigen_kernel.h"
#include "ai/gemm/kernel/loop_kernels.h"
#include "ai/gemm/rung/rung.h"
#include "machine/ceiling/register_block.h"

namespace perfcast::ai::gemm {
namespace {

class LoopProduct : public CpuKernel {
 public:
  LoopProduct(LoopKernel loop, std::string name) : loop_(loop), name_(std::move(name)) {}
  std::string kernel() const override { return name_; }

 protected:
  void product() override {
    const auto [m, n, k] = operands_.shape;
    loop_(m, n, k, operands_.a.data(), operands_.b.data(), c_.data());
  }

 private:
  LoopKernel loop_;
  std::string name_;
};

class BlockedProduct : public CpuKernel {
 public:
  std::string kernel() const override { return block_ == nullptr ? "" : block_->title; }

 protected:
  Status set_up() override {
    block_ = register_block_here();
    return {};
  }
  void product() override {
    const auto [m, n, k] = operands_.shape;
    block_product_threads(*block_, m, n, k, operands_.a.data(), operands_.b.data(), c_.data(), packed_, threads_);
  }

 private:
  const RegisterBlock* block_ = nullptr;
  std::vector<PackedBlocks> packed_;
};

// The code for the widest vectors that this CPU has, of those that this build has.
struct NativeLoops {
  LoopKernels loops;
  std::string isa, flags;
};

NativeLoops native_loops() {
#if defined(__x86_64__)
  if (cpu_has("avx512")) return {loops_v4(), "avx512", "-O3 -march=x86-64-v4"};
  if (cpu_has("avx2")) return {loops_v3(), "avx2", "-O3 -march=x86-64-v3"};
#endif
  return {loops_o3(), "", "-O3"};
}

std::string no_native() {
  return native_loops().isa.empty() ? "this build has no code for more than this CPU's base instructions" : "";
}

std::string widest_eigen() {
#if defined(__x86_64__)
  if (cpu_has("avx512")) return "avx512";
  if (cpu_has("avx2")) return "avx2";
#endif
  return "";
}

LoopKernel eigen_here() {
#if defined(__x86_64__)
  if (cpu_has("avx512")) return eigen_v4;
  if (cpu_has("avx2")) return eigen_v3;
#endif
  return eigen_base;
}

Rung loop_rung(const char* name, const char* title, LoopKernel kernel, const std::string& flags,
               const std::string& isa = "") {
  Rung rung;
  rung.name = name;
  rung.title = title;
  rung.isa = isa;
  rung.slow = true;
  rung.make = [kernel, flags] { return std::make_unique<LoopProduct>(kernel, flags); };
  return rung;
}

}  // namespace

std::vector<Rung> loop_rungs() {
  const NativeLoops native = native_loops();
  std::vector<Rung> rungs = {
      loop_rung("naive-o1", "naive ijk, -O1", loops_o1().naive, "-O1"),
      loop_rung("naive-o3", "naive ijk, -O3", loops_o3().naive, "-O3"),
      loop_rung("naive-native", "naive ijk, -O3 native", native.loops.naive, native.flags, native.isa),
      loop_rung("interchange", "interchanged ikj, -O3", loops_o3().interchanged, "-O3"),
      loop_rung("tiles", "cache tiles, -O3 native", native.loops.tiled, native.flags, native.isa),
  };
  rungs[2].unavailable = no_native;
  return rungs;
}

std::vector<Rung> register_block_rungs() {
  Rung rung;
  rung.name = "register-block";
  rung.title = "register block, ours";
  rung.threaded = true;
  if (const RegisterBlock* block = register_block_here()) rung.isa = block->isa;
  rung.unavailable = [] {
    if (register_blocks().empty()) return std::string("this build has no register block for this architecture");
    return register_block_here() == nullptr ? std::string("this CPU has neither avx512 nor avx2") : std::string();
  };
  rung.make = [] { return std::make_unique<BlockedProduct>(); };
  return {rung};
}

std::vector<Rung> eigen_rungs() {
  Rung rung;
  rung.name = "eigen";
  rung.title = "Eigen";
  rung.isa = widest_eigen();
  rung.make = [] {
    const std::string isa = widest_eigen();
    return std::make_unique<LoopProduct>(eigen_here(), "compiled for " + (isa.empty() ? "base" : isa));
  };
  return {rung};
}

}  // namespace perfcast::ai::gemm
