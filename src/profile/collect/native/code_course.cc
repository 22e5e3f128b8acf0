#include "profile/collect/native/code_course.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>

#include "base/file.h"
#include "profile/collect/native/cpu_sampler.h"

namespace perfcast {
namespace {

constexpr double kPlaceSamples_per_s = 1997;
constexpr uint32_t kPlaceBits = 8;
constexpr size_t kMostLooks = size_t{1} << 20;
constexpr size_t kIoFileBytes = 4096;

uint64_t steady_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC, as the samples
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// "rchar: 123\nwchar: 45\n...": read and written by system calls.
double bytes_of_io(std::string_view text) {
  double sum = 0;
  for (const std::string_view key : {"rchar: ", "wchar: "}) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos) continue;
    uint64_t value = 0;
    std::from_chars(text.data() + at + key.size(), text.data() + text.size(), value);
    sum += static_cast<double>(value);
  }
  return sum;
}

}  // namespace

// As the plugin's phases.c has it.
uint16_t code_place(std::string_view path, uint64_t file_offset_bytes) {
  if (path.empty()) return 0;
  constexpr uint64_t kPrime = 0x100000001b3U;
  uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  uint64_t piece = file_offset_bytes >> kPlaceBits;
  for (size_t i = 0; i < sizeof piece; ++i, piece >>= 8U) hash = (hash ^ (piece & 255U)) * kPrime;
  return static_cast<uint16_t>((hash ^ hash >> 32U) % (kCodePlaces - 1) + 1);
}

CodeCourseWatch::CodeCourseWatch() : sampler_(std::make_unique<CpuSampler>(kPlaceSamples_per_s)) {}
CodeCourseWatch::~CodeCourseWatch() = default;

Status CodeCourseWatch::attach(pid_t process) { return sampler_->attach(process); }

void CodeCourseWatch::look(const std::vector<pid_t>& processes) {
  sampler_->drain();
  const uint64_t now = steady_ns();
  for (const pid_t process : processes) {
    if (looks_.size() >= kMostLooks) return;
    if (const auto text = read_file("/proc/" + std::to_string(process) + "/io", kIoFileBytes))
      looks_.push_back({now, process, bytes_of_io(*text)});
  }
}

CodeCourse CodeCourseWatch::finish(double cpu_s) {
  const CpuSamples samples = sampler_->finish();
  CodeCourse course;
  if (samples.samples.empty()) return course;
  std::map<pid_t, size_t> of_process;
  for (const CpuSample& sample : samples.samples) ++of_process[sample.process];
  const auto largest = std::max_element(of_process.begin(), of_process.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto name = samples.programs.find(largest->first);
  if (name != samples.programs.end()) course.program = name->second;
  const auto all = static_cast<double>(samples.samples.size());
  course.process_ratio = static_cast<double>(largest->second) / all;
  // Where the kernel may not be looked at, samples stand for its time, too.
  course.period_s = cpu_s > 0 ? cpu_s / all : samples.period_s;
  course.places.reserve(largest->second);
  std::vector<uint64_t> times;
  times.reserve(largest->second);
  std::map<CodePosition, uint32_t> index;
  for (size_t i = 0; i < samples.samples.size(); ++i) {
    const CpuSample& sample = samples.samples[i];
    if (sample.process != largest->first) continue;
    uint16_t place = 0;
    uint32_t position = kNoCodePosition;
    const CodeMappings& mappings = samples.mappings[samples.mappings_of[i]];
    for (auto mapping = mappings.rbegin(); mapping != mappings.rend(); ++mapping) {
      if (sample.address < mapping->start || sample.address >= mapping->end) continue;
      if (!mapping->path.starts_with('/')) break;
      const CodePosition at{mapping->path, sample.address - mapping->start + mapping->file_offset_bytes};
      place = code_place(at.file, at.offset_bytes);
      const auto [known, is_new] = index.emplace(at, static_cast<uint32_t>(course.positions.size()));
      if (is_new) course.positions.push_back(at);
      position = known->second;
      break;
    }
    course.places.push_back(place);
    course.position_of.push_back(position);
    times.push_back(sample.time_ns);
  }
  for (const Look& look : looks_) {
    if (look.process != largest->first) continue;
    const auto before = std::upper_bound(times.begin(), times.end(), look.time_ns) - times.begin();
    const double bytes = course.io.empty() ? look.bytes : std::max(look.bytes, course.io.back().bytes);
    course.io.push_back({static_cast<size_t>(before), bytes});
  }
  return course;
}

}  // namespace perfcast
