#include "profile/collect/oclgrind/kernel_counts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr const char *kSchema = "perfcast.oclgrind/1", *kSchemaStem = "perfcast.oclgrind/";
constexpr const char *kCollector = "oclgrind", *kPublished = "aiwc";
constexpr size_t kMostKernels = 10'000, kMostLaunches = 1000;
constexpr std::array<const char*, 7> kRunKeys = {"to_device",         "to_device_bytes",     "from_device",
                                                 "from_device_bytes", "device_memory_bytes", "host_cpu_s",
                                                 "build_cpu_s"};
// Of a launch, whatever part of it ran.
constexpr std::array<const char*, 3> kOfAllGroups = {"kernel_work_groups_count", "kernel_group_items_count",
                                                     "kernel_global_footprint_bytes"};

MetricValues read_counts(const Json& json, const char* collector) {
  MetricValues values;
  for (const auto& [key, value] : json.items()) {
    const std::string* metric = Catalogue::built_in().metric_of(collector, key);
    if (metric == nullptr || !value.is_number()) continue;
    const double number = value.get<double>();
    if (std::isfinite(number) && number >= 0) values[*metric] = number;
  }
  return values;
}

std::array<double, 3> read_sizes(JsonReader& in, const std::string& key) {
  std::array<double, 3> sizes{};
  size_t at = 0;
  in.each(key, sizes.size(), [&](const Json& entry, const std::string&) {
    if (entry.is_number_unsigned()) sizes.at(at++) = entry.get<double>();
  });
  if (at != sizes.size()) in.complain(key, std::to_string(at) + " sizes", "three whole numbers");
  return sizes;
}

void stretch(MetricValues& metrics, double factor) {
  for (auto& [name, value] : metrics) {
    const bool grows = name.ends_with("_count") || name.ends_with("_bytes");
    const bool is_whole = std::any_of(kOfAllGroups.begin(), kOfAllGroups.end(),
                                      [&name = name](const char* other) { return name == other; });
    if (grows && !is_whole) value *= factor;
  }
}

// False: nothing is known of it.
bool read_launch(const Json& json, const std::string& path, KernelLaunch& launch, std::vector<std::string>& wrong) {
  JsonReader in(json, path);
  launch.number = in.optional_amount("launch").value_or(0);
  launch.global_size = read_sizes(in, "global");
  launch.local_size = read_sizes(in, "local");
  const double groups = in.optional_amount("groups").value_or(0), done = in.optional_amount("groups_done").value_or(0);
  if (const Json* counts = in.require_object("counts")) launch.metrics = read_counts(*counts, kCollector);
  const Json* features = in.object("aiwc");
  wrong.insert(wrong.end(), in.complaints().begin(), in.complaints().end());
  if (done <= 0 || launch.metrics.empty()) return false;
  if (done < groups) {
    // The counts have a part of the group that was cut: as if so many groups had been done.
    const auto executed = launch.metrics.find("kernel_instructions_count");
    const double instructions = executed == launch.metrics.end() ? 0 : executed->second;
    const double in_done = in.optional_amount("instructions_done").value_or(instructions);
    const double share_done = in_done > 0 && in_done < instructions ? in_done / instructions : 1;
    stretch(launch.metrics, share_done * groups / done);
  } else if (features != nullptr) {
    launch.metrics.merge(read_counts(*features, kPublished));
  }
  return true;
}

// Each counted launch stands for those up to the next one.
void weigh(ProfileKernel& kernel) {
  for (size_t i = 0; i < kernel.launches.size(); ++i) {
    const double next = i + 1 < kernel.launches.size() ? kernel.launches[i + 1].number : kernel.launches_count;
    kernel.launches[i].stands_for_count = std::max(1.0, next - kernel.launches[i].number);
  }
  kernel.metrics = mean_metrics(kernel.launches);
}

ProfileKernel read_kernel(const Json& json, const std::string& path, std::vector<std::string>& wrong) {
  JsonReader in(json, path);
  ProfileKernel kernel;
  kernel.name = in.string("name");
  kernel.launches_count = in.optional_amount("launches").value_or(0);
  kernel.work_items_count = in.optional_amount("items").value_or(0);
  in.each("counted", kMostLaunches, [&](const Json& entry, const std::string& at) {
    KernelLaunch launch;
    if (read_launch(entry, at, launch, wrong)) kernel.launches.push_back(std::move(launch));
  });
  wrong.insert(wrong.end(), in.complaints().begin(), in.complaints().end());
  weigh(kernel);
  return kernel;
}

}  // namespace

Result<KernelCounts> parse_kernel_counts(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  if (const Status status = in.finish(); !status || schema != kSchema) {
    const bool is_newer = schema.starts_with(kSchemaStem);
    return Error{is_newer ? "future-version" : "bad-kernel-counts",
                 "found schema '" + printable(schema.substr(0, 80)) + "'", source,
                 std::string("schema ") + kSchema + ": the plugin that was built with this perfcast"};
  }
  KernelCounts result;
  std::vector<std::string> wrong;
  for (const char* key : kRunKeys) {
    if (const auto value = in.optional_amount(key)) result.counts[key] = *value;
  }
  result.errors = in.optional_amount("errors").value_or(0);
  result.races = in.optional_amount("races").value_or(0);
  result.first_error = in.string_or("first_error", "");
  result.cut = in.boolean_or("cut", false);
  result.cut_kernel = in.string_or("cut_kernel", "");
  in.each("kernels", kMostKernels,
          [&](const Json& entry, const std::string& at) { result.kernels.push_back(read_kernel(entry, at, wrong)); });
  wrong.insert(wrong.end(), in.complaints().begin(), in.complaints().end());
  if (!wrong.empty()) return Error{"bad-kernel-counts", wrong.front(), source, "a file that the Oclgrind plugin wrote"};
  return result;
}

void join(KernelCounts& sum, const KernelCounts& other) {
  for (const auto& [key, value] : other.counts) sum.counts[key] += value;
  sum.errors += other.errors;
  sum.races += other.races;
  if (sum.first_error.empty()) sum.first_error = other.first_error;
  if (sum.cut_kernel.empty()) sum.cut_kernel = other.cut_kernel;
  sum.cut = sum.cut || other.cut;
  for (const ProfileKernel& kernel : other.kernels) {
    const auto same = std::find_if(sum.kernels.begin(), sum.kernels.end(),
                                   [&](const ProfileKernel& each) { return each.name == kernel.name; });
    if (same == sum.kernels.end()) {
      sum.kernels.push_back(kernel);
      continue;
    }
    // The launches of the other process come after those of this one.
    for (KernelLaunch launch : kernel.launches) {
      launch.number += same->launches_count;
      same->launches.push_back(std::move(launch));
    }
    same->launches_count += kernel.launches_count;
    same->work_items_count += kernel.work_items_count;
    same->metrics = mean_metrics(same->launches);
  }
}

MetricValues run_metrics(const KernelCounts& counts) {
  std::map<std::string, double, std::less<>> all = counts.counts;
  all["kernels"] = static_cast<double>(counts.kernels.size());
  double launches = 0, instructions = 0;
  bool is_known = !counts.cut;
  for (const ProfileKernel& kernel : counts.kernels) {
    launches += kernel.launches_count;
    const auto found = kernel.metrics.find("kernel_instructions_count");
    is_known = is_known && found != kernel.metrics.end();
    if (is_known) instructions += kernel.launches_count * found->second;
  }
  all["launches"] = launches;
  if (is_known) all["kernel_instructions"] = instructions;
  MetricValues metrics;
  for (const auto& [key, value] : all) {
    if (const std::string* metric = Catalogue::built_in().metric_of(kCollector, key)) metrics[*metric] = value;
  }
  return metrics;
}

}  // namespace perfcast
