#include "profile/collect/native/cpu_sampler.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/file.h"
#include "base/process/spawn.h"
#include "base/text.h"

#if defined(__x86_64__)
#include <asm/perf_regs.h>
#endif

namespace perfcast {
namespace {

constexpr size_t kRingPages = 64;  // a power of two
constexpr uint32_t kStackBytes = 1024;
constexpr size_t kMostBytes = size_t{256} << 20;  // of records: a longer run is sampled at its beginning
constexpr uint64_t kSampleType =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
// What the kernel notes of a sample, in its order: the general registers, by their numbers in instructions, and where
// the code is.
constexpr int8_t kAddressRegister = -1;
#if defined(__x86_64__)
constexpr std::array<std::pair<unsigned, int8_t>, kSampledRegisters + 1> kNoted = {{{PERF_REG_X86_AX, 0},
                                                                                    {PERF_REG_X86_BX, 3},
                                                                                    {PERF_REG_X86_CX, 1},
                                                                                    {PERF_REG_X86_DX, 2},
                                                                                    {PERF_REG_X86_SI, 6},
                                                                                    {PERF_REG_X86_DI, 7},
                                                                                    {PERF_REG_X86_BP, 5},
                                                                                    {PERF_REG_X86_SP, 4},
                                                                                    {PERF_REG_X86_IP, kAddressRegister},
                                                                                    {PERF_REG_X86_R8, 8},
                                                                                    {PERF_REG_X86_R9, 9},
                                                                                    {PERF_REG_X86_R10, 10},
                                                                                    {PERF_REG_X86_R11, 11},
                                                                                    {PERF_REG_X86_R12, 12},
                                                                                    {PERF_REG_X86_R13, 13},
                                                                                    {PERF_REG_X86_R14, 14},
                                                                                    {PERF_REG_X86_R15, 15}}};
#else
// Of AArch64: x0 to x30, sp, pc.
constexpr std::array<std::pair<unsigned, int8_t>, kSampledRegisters + 1> kNoted = [] {
  std::array<std::pair<unsigned, int8_t>, kSampledRegisters + 1> noted{};
  for (unsigned i = 0; i < kSampledRegisters; ++i) noted.at(i) = {i, static_cast<int8_t>(i)};
  noted.at(kSampledRegisters) = {32, kAddressRegister};
  return noted;
}();
#endif
constexpr uint64_t kNotedMask = [] {
  uint64_t mask = 0;
  for (const auto& [bit, number] : kNoted) mask |= uint64_t{1} << bit;
  return mask;
}();

perf_event_attr attributes_of(double samples_per_s, bool exclude_kernel) {
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof(attributes));
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = static_cast<uint64_t>(1e9 / samples_per_s);
  attributes.sample_type = kSampleType;
  attributes.sample_regs_user = kNotedMask;
  attributes.sample_stack_user = kStackBytes;
  attributes.inherit = 1;
  attributes.disabled = 1;
  attributes.enable_on_exec = 1;
  attributes.exclude_hv = 1;
  attributes.exclude_kernel = exclude_kernel ? 1 : 0;
  attributes.mmap = 1;
  attributes.mmap2 = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.task = 1;
  attributes.sample_id_all = 1;
  // The clock that looks at /proc are timed by.
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  return attributes;
}

// Bytes of one record, in order; what does not fit reads as 0.
class RecordReader {
 public:
  RecordReader(const char* data, size_t size) : data_(data), left_(size) {}
  template <typename T>
  T get() {
    T value{};
    if (left_ < sizeof(T)) {
      left_ = 0;
      return value;
    }
    std::memcpy(&value, data_, sizeof(T));
    skip(sizeof(T));
    return value;
  }
  void skip(size_t bytes) {
    bytes = std::min(bytes, left_);
    data_ += bytes;
    left_ -= bytes;
  }
  size_t left() const { return left_; }
  std::string text() const { return {data_, strnlen(data_, left_)}; }

 private:
  const char* data_;
  size_t left_;
};

}  // namespace

struct CpuSampler::Ring {
  Descriptor event;
  void* memory = MAP_FAILED;
  size_t bytes = 0;
  ~Ring() {
    if (memory != MAP_FAILED) munmap(memory, bytes);
  }
};

// What the rings held, not yet in order.
struct CpuSampler::Records {
  enum class Kind : uint8_t { kSample, kMapping, kStart, kProgram };
  struct Record {
    Kind kind = Kind::kSample;
    uint64_t time_ns = 0;
    CpuSample sample;         // its process and thread, of every kind
    CodeMapping mapping;      // kMapping
    pid_t parent = 0;         // kStart
    std::string name;         // kProgram
    bool is_program = false;  // kProgram: by exec
  };
  std::vector<Record> all;
  uint64_t lost = 0, seen = 0;
  size_t bytes = 0;  // that they take

  void read(const perf_event_header& header, RecordReader in);
};

void CpuSampler::Records::read(const perf_event_header& header, RecordReader in) {
  if (header.type == PERF_RECORD_LOST) {
    in.skip(sizeof(uint64_t));
    lost += in.get<uint64_t>();
    return;
  }
  if (bytes >= kMostBytes) {
    lost += header.type == PERF_RECORD_SAMPLE ? 1 : 0;
    return;
  }
  Record record;
  switch (header.type) {
    case PERF_RECORD_SAMPLE: {
      const auto address = in.get<uint64_t>();
      record.sample.process = static_cast<pid_t>(in.get<uint32_t>());
      record.sample.thread = static_cast<pid_t>(in.get<uint32_t>());
      record.time_ns = in.get<uint64_t>();
      record.sample.in_kernel = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER;
      record.sample.address = record.sample.in_kernel ? 0 : address;
      if (in.get<uint64_t>() != PERF_SAMPLE_REGS_ABI_NONE) {
        for (const auto& [bit, number] : kNoted) {
          const auto value = in.get<uint64_t>();
          if (number != kAddressRegister) record.sample.registers.at(static_cast<size_t>(number)) = value;
          if (number == kAddressRegister && record.sample.in_kernel) record.sample.address = value;
        }
      }
      const auto room = in.get<uint64_t>();
      if (room > 0 && room + sizeof(uint64_t) <= in.left()) {
        RecordReader words = in;
        in.skip(room);
        const auto filled = std::min(in.get<uint64_t>(), room);
        record.sample.stack.resize(filled / sizeof(uint64_t));
        for (uint64_t& word : record.sample.stack) word = words.get<uint64_t>();
      }
      ++seen;
      break;
    }
    case PERF_RECORD_MMAP2: {
      record.kind = Kind::kMapping;
      record.sample.process = static_cast<pid_t>(in.get<uint32_t>());
      record.sample.thread = static_cast<pid_t>(in.get<uint32_t>());
      record.mapping.start = in.get<uint64_t>();
      record.mapping.end = record.mapping.start + in.get<uint64_t>();
      record.mapping.file_offset_bytes = in.get<uint64_t>();
      in.skip(24 + 8);  // device, inode, generation; protection, flags
      record.mapping.path = in.text();
      // sample_id: process, thread, time.
      in.skip(in.left() >= 16 ? in.left() - 8 : 0);
      record.time_ns = in.get<uint64_t>();
      break;
    }
    case PERF_RECORD_FORK: {
      record.kind = Kind::kStart;
      record.sample.process = static_cast<pid_t>(in.get<uint32_t>());
      record.parent = static_cast<pid_t>(in.get<uint32_t>());
      record.sample.thread = static_cast<pid_t>(in.get<uint32_t>());
      in.skip(4);
      record.time_ns = in.get<uint64_t>();
      break;
    }
    case PERF_RECORD_COMM: {
      record.kind = Kind::kProgram;
      record.sample.process = static_cast<pid_t>(in.get<uint32_t>());
      record.sample.thread = static_cast<pid_t>(in.get<uint32_t>());
      record.name = in.text();
      record.is_program = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
      in.skip(in.left() >= 16 ? in.left() - 8 : 0);
      record.time_ns = in.get<uint64_t>();
      break;
    }
    default:
      return;
  }
  bytes += sizeof(Record) + sizeof(uint64_t) * record.sample.stack.size() + record.mapping.path.size();
  all.push_back(std::move(record));
}

CpuSampler::CpuSampler(double samples_per_s) : records_(std::make_unique<Records>()), samples_per_s_(samples_per_s) {}
CpuSampler::~CpuSampler() = default;

Status CpuSampler::attach(pid_t process) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  bool exclude_kernel = false;
  int number = 0;
  std::string step = "open";
  for (int cpu = 0; cpu < cpus;) {
    perf_event_attr attributes = attributes_of(samples_per_s_, exclude_kernel);
    auto ring = std::make_unique<Ring>();
    ring->event.reset(
        static_cast<int>(syscall(SYS_perf_event_open, &attributes, process, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
    number = errno;
    if (ring->event.get() < 0) {
      // Without rights over the kernel, user code alone may be seen.
      if (!exclude_kernel && (number == EACCES || number == EPERM)) {
        exclude_kernel = true;
        rings_.clear();
        cpu = 0;
        continue;
      }
      if (number == ENODEV || number == ENXIO) {  // a CPU that is offline
        ++cpu;
        continue;
      }
      // Some CPUs alone would show a part of the program.
      rings_.clear();
      break;
    }
    ring->bytes = (kRingPages + 1) * page;
    ring->memory = mmap(nullptr, ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->event.get(), 0);
    number = errno;
    if (ring->memory == MAP_FAILED) {
      step = "map the buffer of";
      rings_.clear();
      break;
    }
    rings_.push_back(std::move(ring));
    ++cpu;
  }
  user_only_ = exclude_kernel;
  if (!rings_.empty()) return {};
  const auto paranoid = read_file("/proc/sys/kernel/perf_event_paranoid", 64);
  return environment_error(
      "no-cpu-samples",
      "the kernel lets nobody sample where the program runs: cannot " + step + " cpu-clock: " + std::strerror(number),
      paranoid ? "kernel.perf_event_paranoid is " + std::string(trim(*paranoid)) : "",
      "kernel.perf_event_paranoid of 2 or less, and no filter of system calls (in containers)");
}

void CpuSampler::drain() {
  std::vector<char> bytes;
  for (const auto& ring : rings_) {
    auto* const control = static_cast<perf_event_mmap_page*>(ring->memory);
    const size_t page = ring->bytes / (kRingPages + 1), size = kRingPages * page;
    const char* const data = static_cast<const char*>(ring->memory) + page;
    const uint64_t head = std::atomic_ref<__u64>(control->data_head).load(std::memory_order_acquire);
    uint64_t tail = control->data_tail;
    while (tail + sizeof(perf_event_header) <= head) {
      const auto copy = [&](uint64_t from, size_t count, char* to) {
        const size_t first = std::min(count, size - static_cast<size_t>(from % size));
        std::memcpy(to, data + from % size, first);
        std::memcpy(to + first, data, count - first);
      };
      perf_event_header header;
      copy(tail, sizeof(header), reinterpret_cast<char*>(&header));
      if (header.size < sizeof(header) || tail + header.size > head) break;
      bytes.resize(header.size);
      copy(tail, header.size, bytes.data());
      records_->read(header, RecordReader(bytes.data() + sizeof(header), bytes.size() - sizeof(header)));
      tail += header.size;
    }
    std::atomic_ref<__u64>(control->data_tail).store(tail, std::memory_order_release);
  }
}

CpuSamples CpuSampler::finish() {
  drain();
  rings_.clear();
  CpuSamples result;
  result.period_s = 1 / samples_per_s_;
  result.user_only = user_only_;
  auto& all = records_->all;
  if (const uint64_t seen = records_->seen; seen + records_->lost > 0)
    result.lost_ratio = static_cast<double>(records_->lost) / static_cast<double>(seen + records_->lost);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  // The mappings of a process change rarely: each state is kept once.
  std::map<pid_t, uint32_t> state_of;
  result.mappings.emplace_back();
  const auto change = [&](pid_t process, const auto& how) {
    CodeMappings mappings = result.mappings[state_of[process]];
    how(mappings);
    result.mappings.push_back(std::move(mappings));
    state_of[process] = static_cast<uint32_t>(result.mappings.size() - 1);
  };
  for (Records::Record& record : all) {
    const pid_t process = record.sample.process;
    switch (record.kind) {
      case Records::Kind::kSample:
        record.sample.time_ns = record.time_ns;
        result.mappings_of.push_back(state_of[process]);
        result.samples.push_back(std::move(record.sample));
        break;
      case Records::Kind::kMapping:
        // Code that is generated has no file, and comes and goes.
        if (record.mapping.path.starts_with("//")) break;
        change(process, [&](CodeMappings& mappings) {
          std::erase_if(mappings, [&](const CodeMapping& old) { return old.start == record.mapping.start; });
          mappings.push_back(record.mapping);
        });
        break;
      case Records::Kind::kStart:
        if (record.parent == process) {
          ++result.threads_started_count;
        } else {
          ++result.processes_started_count;
          state_of[process] = state_of[record.parent];
        }
        break;
      case Records::Kind::kProgram:
        result.programs[process] = record.name;
        if (record.is_program) {
          ++result.programs_started_count;
          state_of[process] = 0;
        }
        break;
    }
  }
  records_ = std::make_unique<Records>();
  return result;
}

}  // namespace perfcast
