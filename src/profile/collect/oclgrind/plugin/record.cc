#include "profile/collect/oclgrind/plugin/record.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <ctime>

namespace perfcast::kernels {
namespace {

constexpr uint64_t kCountedLaunches = 8;
constexpr size_t kMostCounted = 24;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte > 0x7e) {
      result += '?';
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string text_of(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.12g", value);
  return text.data();
}

std::string text_of(const std::array<uint64_t, 3>& sizes) {
  return "[" + std::to_string(sizes[0]) + "," + std::to_string(sizes[1]) + "," + std::to_string(sizes[2]) + "]";
}

std::string text_of(const Counts& counts) {
  std::string text = "{";
  for (const auto& [name, value] : counts) text += (text.size() > 1 ? "," : "") + quoted(name) + ":" + text_of(value);
  return text + "}";
}

std::string text_of(const LaunchResult& result) {
  return "{\"launch\":" + std::to_string(result.launch.number) + ",\"global\":" + text_of(result.launch.global) +
         ",\"local\":" + text_of(result.launch.local) + ",\"groups\":" + std::to_string(result.launch.groups) +
         ",\"groups_done\":" + std::to_string(result.groups_done) +
         ",\"instructions_done\":" + std::to_string(result.instructions_done) +
         ",\"counts\":" + text_of(result.counts) + ",\"aiwc\":" + text_of(result.aiwc) + "}";
}

std::string program_path() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  return length > 0 ? std::string(path.data(), static_cast<size_t>(length)) : std::string();
}

std::string text_of(const Record& record) {
  const double host_cpu_s =
      std::max(0.0, process_cpu_s() - record.start_cpu_s - record.kernel_cpu_s - record.build_cpu_s);
  std::string text = "{\"schema\":\"perfcast.oclgrind/1\",\"program\":" + quoted(program_path()) +
                     ",\"cut\":" + (record.cut ? "true" : "false") + ",\"cut_kernel\":" + quoted(record.cut_kernel) +
                     ",\"to_device\":" + std::to_string(record.to_device.count) +
                     ",\"to_device_bytes\":" + std::to_string(record.to_device.bytes) +
                     ",\"from_device\":" + std::to_string(record.from_device.count) +
                     ",\"from_device_bytes\":" + std::to_string(record.from_device.bytes) +
                     ",\"device_memory_bytes\":" + std::to_string(record.device_memory_bytes) +
                     ",\"host_cpu_s\":" + text_of(host_cpu_s) + ",\"build_cpu_s\":" + text_of(record.build_cpu_s) +
                     ",\"kernel_cpu_s\":" + text_of(record.kernel_cpu_s) +
                     ",\"errors\":" + std::to_string(record.errors) + ",\"races\":" + std::to_string(record.races) +
                     ",\"first_error\":" + quoted(record.first_error) + ",\"kernels\":[";
  bool first_kernel = true;
  for (const KernelRecord& kernel : record.kernels) {
    text += first_kernel ? "\n" : ",\n";
    first_kernel = false;
    text += "{\"name\":" + quoted(kernel.name) + ",\"launches\":" + std::to_string(kernel.launches) +
            ",\"items\":" + std::to_string(kernel.items) + ",\"counted\":[";
    bool first = true;
    for (const LaunchResult& result : kernel.counted) {
      text += (first ? "\n" : ",\n") + text_of(result);
      first = false;
    }
    text += "]}";
  }
  return text + "]}\n";
}

}  // namespace

KernelRecord& Record::of(const std::string& name) {
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const KernelRecord& each) { return each.name == name; });
  if (found != kernels.end()) return *found;
  kernels.emplace_back().name = name;
  return kernels.back();
}

bool Record::empty() const { return kernels.empty() && to_device.count == 0 && from_device.count == 0; }

bool is_counted(uint64_t number) {
  return number < kCountedLaunches || (std::has_single_bit(number) && std::bit_width(number) <= kMostCounted);
}

double process_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool write_record(const Record& record, const std::string& path) {
  const std::string unfinished = path + ".tmp";
  std::FILE* file = std::fopen(unfinished.c_str(), "w");
  if (file == nullptr) return false;
  const std::string text = text_of(record);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written && std::rename(unfinished.c_str(), path.c_str()) == 0;
}

}  // namespace perfcast::kernels
