#include "machine/meter/platform_power.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "machine/facts/chip_names.h"
#include "machine/facts/processor.h"

namespace perfcast {
namespace {

constexpr const char* kPowerSchema = "perfcast.platform-power/1";
constexpr size_t kLargestTableBytes = size_t{16} << 20;
constexpr double kMostTdp_w = 5000, kMostCores = 4096;

// Kernels write the first Xeons E5 as "E5-2680 0".
std::string power_key(const std::string& name) {
  std::string key = cpu_name_key(told_name(name));
  if (key.ends_with(" 0")) key.resize(key.size() - 2);
  return key;
}

}  // namespace

Result<PlatformPowerTable> PlatformPowerTable::parse(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  if (const std::string schema = in.string("schema"); !schema.empty() && schema != kPowerSchema)
    in.complain("schema", printable(schema), kPowerSchema);
  const Json* cpus = in.require_array("cpus");
  if (Status status = in.finish(); !status) return status.error();
  PlatformPowerTable table;
  table.cpus_.reserve(cpus->size());
  for (size_t i = 0; i < cpus->size(); ++i) {
    JsonReader entry((*cpus)[i], fmt::format("{}: cpus[{}]", source, i));
    CpuPower cpu;
    cpu.name = entry.string("name");
    cpu.tdp_w = entry.number("tdp_w");
    cpu.cores = entry.number("cores_count");
    cpu.source = entry.string("source");
    if (!(cpu.tdp_w > 0 && cpu.tdp_w <= kMostTdp_w)) entry.complain("tdp_w", "a power that can't be", "watts above 0");
    if (!(cpu.cores >= 1 && cpu.cores <= kMostCores))
      entry.complain("cores_count", "a number that can't be", "1 and more");
    if (cpu.source.empty()) entry.complain("source", "no source", "who states it");
    if (Status status = entry.finish(); !status) return status.error();
    const auto [at, is_new] = table.by_key_.try_emplace(power_key(cpu.name), table.cpus_.size());
    if (!is_new) {
      return Error{"duplicate-name",
                   fmt::format("{} and {} are one CPU", printable(cpu.name), printable(table.cpus_[at->second].name)),
                   entry.path(), "each once"};
    }
    table.cpus_.push_back(std::move(cpu));
  }
  return table;
}

Result<PlatformPowerTable> PlatformPowerTable::read(const std::string& path) {
  const auto text = read_file(path, kLargestTableBytes);
  if (!text) return text.error();
  return parse(*text, path);
}

const CpuPower* PlatformPowerTable::find(const std::string& platform_name) const {
  const auto found = by_key_.find(power_key(platform_name));
  return found == by_key_.end() ? nullptr : &cpus_[found->second];
}

}  // namespace perfcast
