// OpenBLAS and BLIS, loaded at run time: the libraries that users have, under the environment that users set.

#include <dlfcn.h>

#include "ai/gemm/rung/rung.h"

namespace perfcast::ai::gemm {
namespace {

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
constexpr int kRowMajor = 101, kNoTranspose = 111;  // of cblas.h

// A BLAS that this program is linked with already (solvers bring one) has the same names: a library must find its own
// first, or BLIS would call OpenBLAS. The address sanitizer forbids that.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kItsOwn = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int kItsOwn = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

class BlasProduct : public CpuKernel {
 public:
  BlasProduct(std::vector<const char*> files, const char* package) : files_(std::move(files)), package_(package) {}
  std::string kernel() const override { return kernel_; }
  std::string note() const override { return note_; }

 protected:
  Status set_up() override {
    void* library = nullptr;
    for (const char* file : files_) {
      if (library == nullptr) library = dlopen(file, kItsOwn);
    }
    if (library == nullptr) {
      return environment_error("unavailable",
                               std::string(files_.front()) + " is not installed: apt install " + package_, "", "");
    }
    sgemm_ = symbol<Sgemm>(library, "cblas_sgemm");
    if (sgemm_ == nullptr)
      return environment_error("unavailable", std::string(files_.front()) + " has no cblas_sgemm", "", "");
    describe_openblas(library);
    describe_blis(library);
    return {};
  }

  void product() override {
    const auto [m, n, k] = operands_.shape;
    const int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
    sgemm_(kRowMajor, kNoTranspose, kNoTranspose, rows, columns, depth, 1, operands_.a.data(), depth,
           operands_.b.data(), columns, 0, c_.data(), columns);
  }

 private:
  void describe_openblas(void* library) {
    if (auto* set = symbol<void (*)(int)>(library, "openblas_set_num_threads")) set(threads_);
    if (auto* core = symbol<const char* (*)()>(library, "openblas_get_corename")) kernel_ = core();
    auto* kind = symbol<int (*)()>(library, "openblas_get_parallel");
    if (kind != nullptr && kind() == 0 && threads_ > 1) note_ = "a build without threads";
  }
  void describe_blis(void* library) {
    // Asked before it is set up, BLIS 0.9 aborts.
    if (auto* start = symbol<void (*)()>(library, "bli_init")) start();
    if (auto* set = symbol<void (*)(int64_t)>(library, "bli_thread_set_num_threads")) set(threads_);
    auto* query = symbol<int (*)()>(library, "bli_arch_query_id");
    auto* name = symbol<const char* (*)(int)>(library, "bli_arch_string");
    if (query != nullptr && name != nullptr) kernel_ = name(query());
  }

  std::vector<const char*> files_;
  const char* package_;  // Debian's
  Sgemm sgemm_ = nullptr;
  std::string kernel_, note_;
};

Rung blas_rung(const char* name, const char* title, const std::vector<const char*>& files, const char* package) {
  Rung rung;
  rung.name = name;
  rung.title = title;
  rung.threaded = true;
  rung.make = [files, package] { return std::make_unique<BlasProduct>(files, package); };
  return rung;
}

}  // namespace

std::vector<Rung> blas_rungs() {
  return {blas_rung("openblas", "OpenBLAS", {"libopenblas.so.0", "libopenblas.so"}, "libopenblas0"),
          blas_rung("blis", "BLIS", {"libblis.so.4", "libblis.so.3", "libblis.so"}, "libblis4")};
}

}  // namespace perfcast::ai::gemm
