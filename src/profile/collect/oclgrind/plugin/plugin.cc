// The module that Oclgrind loads: it passes what a kernel does to the counts of its launch.
//
// PERFCAST_OCLGRIND_OUT: path that the files of counts begin with; each process adds its number.
// PERFCAST_OCLGRIND_LIMIT_S: after that many seconds the process is ended, and what was counted is written.

#include <dlfcn.h>
#include <oclgrind/Context.h>
#include <oclgrind/Kernel.h>
#include <oclgrind/KernelInvocation.h>
#include <oclgrind/Memory.h>
#include <oclgrind/Plugin.h>
#include <oclgrind/WorkGroup.h>
#include <oclgrind/WorkItem.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>

#include "profile/collect/oclgrind/plugin/launch.h"
#include "profile/collect/oclgrind/plugin/record.h"

namespace perfcast::kernels {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kWriteApart_s = 1;
constexpr uint64_t kLookApart = uint64_t{1} << 12;  // instructions
constexpr size_t kErrorBytes = 400;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// One for the process: contexts may be several, and work at the same time.
class Process {
 public:
  Process() {
    record.start_cpu_s = process_cpu_s();
    if (const char* path = std::getenv("PERFCAST_OCLGRIND_OUT"); path != nullptr) path_ = path;
    if (const char* limit = std::getenv("PERFCAST_OCLGRIND_LIMIT_S"); limit != nullptr) limit_s_ = std::atof(limit);
  }
  // In a forked child, which has copies of what its parent counted and did: its own work begins now. The thread that
  // held a lock is not there.
  void begin_anew() {
    new (&kernel_mutex) std::mutex;
    new (&mutex) std::mutex;
    record = Record();
    record.start_cpu_s = process_cpu_s();
  }
  bool is_late() const { return limit_s_ > 0 && seconds_since(started_) > limit_s_; }
  void write() {
    if (path_.empty() || record.empty()) return;
    written_ = Clock::now();
    write_record(record, path_ + "." + std::to_string(getpid()));
  }
  void write_sometimes() {
    if (seconds_since(written_) > kWriteApart_s) write();
  }

  Record record;
  std::mutex kernel_mutex;  // held while a kernel runs: its work items run in other threads
  std::mutex mutex;         // of the numbers that belong to no kernel; held for a moment only

 private:
  std::string path_;
  double limit_s_ = 0;
  Clock::time_point started_ = Clock::now(), written_ = started_;
};

// Never destroyed: contexts may end after everything else.
Process& process = *new Process;
struct AtExit {
  AtExit() {
    pthread_atfork(nullptr, nullptr, [] { process.begin_anew(); });
  }
  ~AtExit() { process.write(); }
} at_exit;

Space space_of(const oclgrind::Memory* memory) {
  switch (memory->getAddressSpace()) {
    case oclgrind::AddrSpacePrivate:
      return Space::kPrivate;
    case oclgrind::AddrSpaceGlobal:
      return Space::kGlobal;
    case oclgrind::AddrSpaceConstant:
      return Space::kConstant;
    case oclgrind::AddrSpaceLocal:
      return Space::kLocal;
    default:
      return Space::kUnknown;
  }
}

uint64_t items_of(const oclgrind::Size3& size) { return uint64_t{size.x} * size.y * size.z; }

class Counter : public oclgrind::Plugin {
 public:
  explicit Counter(const oclgrind::Context* context) : Plugin(context) {}

  // Work groups run one after the other: counts repeat.
  bool isThreadSafe() const override { return false; }

  void kernelBegin(const oclgrind::KernelInvocation* invocation) override {
    process.kernel_mutex.lock();
    kernel_cpu_s_ = process_cpu_s();
    KernelRecord& kernel = process.record.of(invocation->getKernel()->getName());
    const uint64_t number = kernel.launches++;
    ++process.record.launches;
    const oclgrind::Size3 global = invocation->getGlobalSize(), local = invocation->getLocalSize();
    kernel.items += items_of(global);
    kernel_ = &kernel;
    if (!is_counted(number) || items_of(global) == 0) return;
    LaunchFacts facts;
    facts.number = number;
    facts.global = {global.x, global.y, global.z};
    facts.local = {local.x, local.y, local.z};
    facts.groups = items_of(invocation->getNumGroups());
    launch_ = std::make_unique<Launch>(facts);
    item_ = nullptr;
  }

  void kernelEnd(const oclgrind::KernelInvocation*) override {
    end_launch();
    process.write_sometimes();
    process.kernel_mutex.unlock();
  }

  void instructionExecuted(const oclgrind::WorkItem* item, const llvm::Instruction* instruction,
                           const oclgrind::TypedValue&) override {
    if (!launch_) return;
    if (item != item_) begin_item(item);
    // At a barrier other items act; the same one begins again.
    if (launch_->execute(instruction)) item_ = nullptr;
    if (launch_->executed() % kLookApart == 0) look_at_clock();
  }

  void workGroupBegin(const oclgrind::WorkGroup* group) override {
    look_at_clock();
    if (!launch_) return;
    launch_->begin_group(group->getGroupIndex());
    item_ = nullptr;
  }
  void workGroupComplete(const oclgrind::WorkGroup*) override {
    if (launch_) launch_->end_group();
  }
  void workItemComplete(const oclgrind::WorkItem* item) override {
    if (!launch_) return;
    if (item != item_) begin_item(item);
    launch_->end_item();
    item_ = nullptr;
  }

  void memoryLoad(const oclgrind::Memory* memory, const oclgrind::WorkItem*, size_t address, size_t size) override {
    if (launch_) launch_->access(space_of(memory), false, false, address, size);
  }
  void memoryStore(const oclgrind::Memory* memory, const oclgrind::WorkItem*, size_t address, size_t size,
                   const uint8_t*) override {
    if (launch_) launch_->access(space_of(memory), true, false, address, size);
  }
  void memoryAtomicLoad(const oclgrind::Memory* memory, const oclgrind::WorkItem*, oclgrind::AtomicOp, size_t address,
                        size_t size) override {
    if (launch_) launch_->access(space_of(memory), false, true, address, size);
  }
  void memoryAtomicStore(const oclgrind::Memory* memory, const oclgrind::WorkItem*, oclgrind::AtomicOp, size_t address,
                         size_t size) override {
    if (launch_) launch_->access(space_of(memory), true, true, address, size);
  }
  void memoryLoad(const oclgrind::Memory* memory, const oclgrind::WorkGroup*, size_t address, size_t size) override {
    if (launch_) launch_->group_access(space_of(memory), false, address, size);
  }
  void memoryStore(const oclgrind::Memory* memory, const oclgrind::WorkGroup*, size_t address, size_t size,
                   const uint8_t*) override {
    if (launch_) launch_->group_access(space_of(memory), true, address, size);
  }

  void hostMemoryLoad(const oclgrind::Memory*, size_t, size_t size) override { add(process.record.from_device, size); }
  void hostMemoryStore(const oclgrind::Memory*, size_t, size_t size, const uint8_t*) override {
    add(process.record.to_device, size);
  }
  void memoryAllocated(const oclgrind::Memory* memory, size_t, size_t size, cl_mem_flags,
                       const uint8_t* content) override {
    if (memory->getAddressSpace() != oclgrind::AddrSpaceGlobal) return;
    if (content != nullptr) add(process.record.to_device, size);
    const std::lock_guard lock(process.mutex);
    process.record.device_memory_bytes =
        std::max<uint64_t>(process.record.device_memory_bytes, memory->getTotalAllocated());
  }
  void memoryMap(const oclgrind::Memory*, size_t address, size_t, size_t size, cl_map_flags flags) override {
    if ((flags & CL_MAP_READ) != 0) add(process.record.from_device, size);
    const std::lock_guard lock(process.mutex);
    if ((flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0) mapped_.emplace(address, size);
  }
  void memoryUnmap(const oclgrind::Memory*, size_t address, const void*) override {
    size_t bytes = 0;
    {
      const std::lock_guard lock(process.mutex);
      const auto found = mapped_.find(address);
      if (found == mapped_.end()) return;
      bytes = found->second;
      mapped_.erase(found);
    }
    add(process.record.to_device, bytes);
  }

  void log(oclgrind::MessageType type, const char* message) override {
    if (type != oclgrind::ERROR && type != oclgrind::WARNING) return;
    const std::lock_guard lock(process.mutex);
    const std::string_view text(message);
    ++(text.find("data race") != std::string_view::npos ? process.record.races : process.record.errors);
    if (process.record.first_error.empty()) process.record.first_error = text.substr(0, kErrorBytes);
  }

 private:
  void begin_item(const oclgrind::WorkItem* item) {
    const oclgrind::Size3 at = item->getLocalID(), size = item->getWorkGroup()->getGroupSize();
    launch_->begin_item(at.x + size.x * (at.y + size.y * at.z));
    item_ = item;
  }

  void end_launch() {
    if (launch_) kernel_->counted.push_back(launch_->result());
    launch_.reset();
    kernel_ = nullptr;
    process.record.kernel_cpu_s += process_cpu_s() - kernel_cpu_s_;
  }

  // Only work that goes on is ended: a program that waits for something else is ended from outside.
  void look_at_clock() {
    if (!process.is_late()) return;
    process.record.cut = true;
    if (kernel_ != nullptr) process.record.cut_kernel = kernel_->name;
    end_launch();
    process.write();
    _exit(0);
  }

  static void add(Transfers& transfers, uint64_t bytes) {
    const std::lock_guard lock(process.mutex);
    ++transfers.count;
    transfers.bytes += bytes;
  }

  KernelRecord* kernel_ = nullptr;
  std::unique_ptr<Launch> launch_;  // null where this launch is not counted
  const oclgrind::WorkItem* item_ = nullptr;
  double kernel_cpu_s_ = 0;
  std::multimap<size_t, size_t> mapped_;  // for writing: bytes by address
};

std::map<oclgrind::Context*, std::unique_ptr<Counter>>& counters =
    *new std::map<oclgrind::Context*, std::unique_ptr<Counter>>;

// Compiling is no work of the program's: `call` is timed apart.
template <typename Function, typename... Arguments>
auto timed_build(const char* name, Function*, Arguments... arguments) {
  auto* next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  const double began_s = process_cpu_s();
  const auto result = next(arguments...);
  const std::lock_guard lock(process.mutex);
  process.record.build_cpu_s += process_cpu_s() - began_s;
  return result;
}

}  // namespace
}  // namespace perfcast::kernels

#define PERFCAST_EXPORT extern "C" __attribute__((visibility("default")))

PERFCAST_EXPORT void initializePlugins(oclgrind::Context* context) {
  using namespace perfcast::kernels;
  const std::lock_guard lock(process.kernel_mutex);
  auto counter = std::make_unique<Counter>(context);
  context->registerPlugin(counter.get());
  counters[context] = std::move(counter);
}

PERFCAST_EXPORT void releasePlugins(oclgrind::Context* context) {
  using namespace perfcast::kernels;
  const std::lock_guard lock(process.kernel_mutex);
  if (const auto found = counters.find(context); found != counters.end()) {
    context->unregisterPlugin(found->second.get());
    counters.erase(found);
  }
  process.write();
}

using BuildCallback = void(CL_CALLBACK*)(cl_program, void*);

PERFCAST_EXPORT cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                                      const char* options, BuildCallback notify, void* data) {
  return perfcast::kernels::timed_build("clBuildProgram", &clBuildProgram, program, count, devices, options, notify,
                                        data);
}

PERFCAST_EXPORT cl_int clCompileProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                                        const char* options, cl_uint headers_count, const cl_program* headers,
                                        const char** names, BuildCallback notify, void* data) {
  return perfcast::kernels::timed_build("clCompileProgram", &clCompileProgram, program, count, devices, options,
                                        headers_count, headers, names, notify, data);
}

PERFCAST_EXPORT cl_program clLinkProgram(cl_context context, cl_uint count, const cl_device_id* devices,
                                         const char* options, cl_uint programs_count, const cl_program* programs,
                                         BuildCallback notify, void* data, cl_int* error) {
  return perfcast::kernels::timed_build("clLinkProgram", &clLinkProgram, context, count, devices, options,
                                        programs_count, programs, notify, data, error);
}
