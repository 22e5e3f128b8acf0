// NumPy and PyTorch as their users call them: an interpreter of its own beside the worker, with the operands in memory
// that both see. The clock runs in Python, around the product alone.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "ai/gemm/rung/rung.h"
#include "base/csv.h"
#include "base/process/program_inspector.h"
#include "base/process/spawn.h"
#include "base/text.h"

namespace perfcast::ai::gemm {
namespace {

// Arguments: library, descriptor of the shared memory, m, n, k, threads. Says "ready KERNEL" or "error REASON", then
// answers each number of calls with their seconds.
constexpr const char* kScript = R"py(
import sys, mmap, time, ctypes
try:
    library, fd, m, n, k, threads = sys.argv[1], *map(int, sys.argv[2:7])
    import numpy
    shared = numpy.frombuffer(mmap.mmap(fd, 4 * (m * k + k * n + m * n)), dtype=numpy.float32)
    a = shared[:m * k].reshape(m, k)
    b = shared[m * k:m * k + k * n].reshape(k, n)
    c = shared[m * k + k * n:].reshape(m, n)
    version = numpy.__version__
    if library == 'torch':
        import torch
        torch.set_num_threads(threads)
        a, b, c = torch.from_numpy(a), torch.from_numpy(b), torch.from_numpy(c)
        version = torch.__version__
        def product(): torch.mm(a, b, out=c)
    else:
        def product(): numpy.matmul(a, b, out=c)
    product()
    kernel, seen = version, set()
    for line in open('/proc/self/maps'):
        path = line.split()[-1]
        name = path.rsplit('/', 1)[-1]
        if path in seen: continue
        seen.add(path)
        if 'blas' in name or 'mkl_rt' in name or 'blis' in name:
            kernel += ', ' + name
            try:
                loaded = ctypes.CDLL(path)
                loaded.openblas_get_corename.restype = ctypes.c_char_p
                kernel += ' ' + loaded.openblas_get_corename().decode()
                break
            except (OSError, AttributeError):
                continue
    print('ready', kernel, flush=True)
    for line in sys.stdin:
        calls = int(line)
        start = time.perf_counter()
        for _ in range(calls): product()
        print(repr(time.perf_counter() - start), flush=True)
except Exception as problem:
    print('error', ' '.join(str(problem).split()), flush=True)
)py";

class PythonProduct : public GemmKernel {
 public:
  explicit PythonProduct(std::string library) : library_(std::move(library)) {}
  ~PythonProduct() override {
    stop();
    if (shared_ != nullptr) munmap(shared_, bytes_);
    if (memory_ >= 0) close(memory_);
  }

  Status prepare(const Operands& operands, int threads) override {
    const auto [m, n, k] = operands.shape;
    inputs_ = operands.a.size() + operands.b.size();
    bytes_ = (inputs_ + static_cast<size_t>(m * n)) * sizeof(float);
    memory_ = memfd_create("perfcast-gemm", 0);  // passed on to the interpreter
    if (memory_ < 0 || ftruncate(memory_, static_cast<off_t>(bytes_)) != 0) return failed("no shared memory");
    void* shared = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
    if (shared == MAP_FAILED) return failed("no shared memory");
    shared_ = static_cast<float*>(shared);
    std::copy(operands.a.begin(), operands.a.end(), shared_);
    std::copy(operands.b.begin(), operands.b.end(), shared_ + operands.a.size());

    std::string reason = "there is no python3";
    std::vector<std::string> tried;
    const char* chosen = std::getenv("PERFCAST_PYTHON");
    const std::vector<std::string> interpreters = chosen != nullptr && *chosen != '\0'
                                                      ? std::vector<std::string>{chosen}
                                                      : std::vector<std::string>{"python3", "/usr/bin/python3"};
    for (const std::string& interpreter : interpreters) {
      stop();
      if (!start({interpreter, "-c", kScript, library_, std::to_string(memory_), std::to_string(m), std::to_string(n),
                  std::to_string(k), std::to_string(threads)})) {
        continue;
      }
      const std::string answer = line();
      if (answer.starts_with("ready ")) {
        kernel_ = printable(answer.substr(6));
        return {};
      }
      if (answer.starts_with("error ")) reason = printable(answer.substr(6));
    }
    return environment_error("unavailable", "no interpreter has it: " + reason, library_,
                             "apt install python3-" + library_ + ", or PERFCAST_PYTHON names one that has it");
  }

  Result<double> run(int64_t calls) override {
    const std::string request = std::to_string(calls) + "\n";
    ssize_t written = 0;  // a line: far below what a pipe holds
    do {
      written = write(to_.get(), request.data(), request.size());
    } while (written < 0 && errno == EINTR);
    if (written != static_cast<ssize_t>(request.size())) {
      return failed("the interpreter is gone").error();
    }
    const std::string answer = line();
    const auto seconds = parse_number(answer);
    if (!seconds) return failed("the interpreter said '" + printable(answer.substr(0, 200)) + "'").error();
    return *seconds;
  }

  Status read_result(std::span<double> c) override {
    for (size_t i = 0; i < c.size(); ++i) c[i] = shared_[inputs_ + i];
    return {};
  }
  std::string kernel() const override { return kernel_; }

 private:
  static Status failed(const std::string& message) { return Error{"library-failed", message, "python", ""}; }

  // Reads from `to_`, writes to `from_` and speaks of its troubles where we do. In the worker's process group, so that
  // the ladder stops and ends both at once.
  bool start(const std::vector<std::string>& command) {
    Pipe in, out;
    if (!in.open() || !out.open()) return false;
    SpawnRequest request;
    const std::string& name = command.front();
    request.executable = name.find('/') == std::string::npos ? find_in_path(name) : name;
    request.arguments = command;
    request.input = in.read_end.get();
    request.output = out.write_end.get();
    request.error = STDERR_FILENO;
    request.own_group = false;
    request.dies_with_us = true;
    const auto process = spawn(request);
    if (!process) return false;
    pid_ = *process;
    to_ = std::move(in.write_end);
    from_ = std::move(out.read_end);
    return true;
  }

  std::string line() {
    std::string text;
    for (char letter;;) {
      const ssize_t got = read(from_.get(), &letter, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got != 1 || letter == '\n' || text.size() > 4096) return text;
      text += letter;
    }
  }

  void stop() {
    to_.reset();
    from_.reset();
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
  }

  std::string library_, kernel_;
  int memory_ = -1;
  Descriptor to_, from_;
  pid_t pid_ = -1;
  float* shared_ = nullptr;
  size_t bytes_ = 0, inputs_ = 0;
};

Rung python_rung(const char* name, const char* title) {
  Rung rung;
  rung.name = name;
  rung.title = title;
  rung.threaded = true;
  rung.make = [library = std::string(name)] { return std::make_unique<PythonProduct>(library); };
  return rung;
}

}  // namespace

std::vector<Rung> python_rungs() { return {python_rung("numpy", "NumPy"), python_rung("torch", "PyTorch CPU")}; }

}  // namespace perfcast::ai::gemm
