#include "ai/results/accelerator_names.h"

#include <algorithm>
#include <array>
#include <regex>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

// Pieces of the names that submissions give, the longer before what they hold, and a name of the catalogue.
constexpr std::array<std::pair<std::string_view, std::string_view>, 34> kAccelerators = {{
    {"A100-SXM4-80GB", "a100-sxm-80gb"},
    {"A100-SXM-80", "a100-sxm-80gb"},
    {"A100-SXM-40GB", "a100-sxm-40gb"},
    {"A100-PCIe-80GB", "a100-pcie-80gb"},
    {"A100-PCIe-40GB", "a100-pcie-40gb"},
    {"H100-SXM", "h100"},
    {"H100-PCIe", "h100-pcie"},
    {"H100-NVL", "h100-nvl"},
    {"H200-NVL", "h200-nvl"},
    {"H200-SXM", "h200"},
    {"GH200 Grace Hopper Superchip 96GB", "gh200"},
    {"GH200 Grace Hopper Superchip 144GB", "gh200-144gb"},
    {"GB200", "gb200"},
    {"B200-SXM", "b200"},
    {"RTX 4090", "rtx-4090"},
    {"MI300X", "mi300x"},
    {"MI325X", "mi325x"},
    {"TPU v5e", "tpu-v5e"},
    {"TPU v6", "tpu-v6e"},
    {"TPU-trillium", "tpu-v6e"},
    {"L40S", "l40s"},
    {"L40", "l40"},
    {"NVIDIA L4", "l4"},
    {"NVIDIA A10G", "a10g"},
    {"NVIDIA A10", "a10"},
    {"NVIDIA A30", "a30"},
    {"NVIDIA A40", "a40"},
    {"NVIDIA A2", "a2"},
    {"Orin NX", "orin-nx"},
    {"Orin", "agx-orin"},
    {"Cloud AI 100 PCIe/HHHL Pro", "cloud-ai-100-pro"},
    {"Cloud AI 100 PCIe/HHHL Standard", "cloud-ai-100-standard"},
    {"NVIDIA T4", "t4"},
    {"Tesla T4", "t4"},
}};

// Relatives of devices that the catalogue doesn't have: what is left out with one of them must not stay.
struct Relative {
  std::string_view piece;  // of a submission's name
  std::string_view generation, vendor;
};
constexpr std::array<Relative, 8> kRelatives = {{
    {"H100", "hopper", "NVIDIA"},
    {"H200", "hopper", "NVIDIA"},
    {"B200", "blackwell", "NVIDIA"},
    {"RTX A", "ampere", "NVIDIA"},
    {"Cloud AI 100", "cloud-ai-100", "Qualcomm"},
    {"speedAI240", "speedai240", "Untether AI"},
    {"SAPEON X220", "sapeon-x220", "SAPEON"},
    {"Mali", "mali", "Arm"},
}};

void take_relative(ResultAccelerator& result) {
  for (const Relative& relative : kRelatives) {
    if (result.name.find(relative.piece) == std::string::npos) continue;
    result.generation = relative.generation;
    result.vendor = relative.vendor;
    return;
  }
}

// CPUs of one vendor are each other's relatives.
void take_cpu(ResultAccelerator& result) {
  const std::string name = lower_case(result.name);
  for (const char* vendor : {"intel", "amd", "arm", "neoverse", "ampere"}) {
    if (name.find(vendor) == std::string::npos) continue;
    result.generation = result.vendor = std::string("CPU of ") + vendor;
    return;
  }
}

// Upper and lower case, and blank, "-" and "_", are the same, as in the catalogue.
std::string plain(std::string_view name) {
  std::string text = lower_case(trim(name));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '_'; }, '-');
  return text;
}

const DeviceFacts* find_facts(const std::vector<DeviceFacts>& devices, const std::string& name) {
  const std::string wanted = plain(name);
  for (const DeviceFacts& device : devices) {
    if (plain(device.name) == wanted) return &device;
    for (const std::string& alias : device.aliases) {
      if (plain(alias) == wanted) return &device;
    }
  }
  return nullptr;
}

// "(1x1g.10gb MIG)": one seventh of the units of such a GPU, 10 GB of its memory; of those one in the whole system,
// however many GPUs it has.
void take_slice(const std::string& accelerator, ResultAccelerator& result) {
  constexpr double kSlices = 7;
  static const std::regex kMig(R"(([0-9]{1,3})x([0-9])g\.([0-9]{1,4})gb)", std::regex::icase);
  std::smatch found;
  if (accelerator.find("MIG") == std::string::npos || !std::regex_search(accelerator, found, kMig)) return;
  const double slices = parse_number(found[2].str()).value_or(kSlices);
  const double gigabytes = parse_number(found[3].str()).value_or(0);
  constexpr double kGigabyte_bytes = 1073741824;
  if (slices < 1) return;
  result.name += " " + found[2].str() + "g." + found[3].str() + "gb";
  result.count = std::max<int64_t>(1, static_cast<int64_t>(parse_number(found[1].str()).value_or(1)));
  result.compute_share = std::min(1.0, slices / kSlices);
  if (result.facts != nullptr && gigabytes > 0)
    result.memory_share = std::min(1.0, gigabytes * kGigabyte_bytes / result.facts->memory_bytes);
}

}  // namespace

std::string catalogue_name(const std::string& accelerator) {
  for (const auto& [piece, name] : kAccelerators) {
    if (accelerator.find(piece) == std::string::npos) continue;
    return std::string(name);
  }
  const bool none = accelerator.empty() || accelerator == "-" || accelerator == "N/A";
  return none ? std::string() : accelerator;
}

ResultAccelerator result_accelerator(const PublishedResult& published, const std::vector<DeviceFacts>& devices) {
  ResultAccelerator result;
  if (published.has_accelerator()) {
    result.name = catalogue_name(published.accelerator);
    result.facts = find_facts(devices, result.name);
    result.count = published.accelerators();
  } else {
    result.name = published.host_cpu.empty() ? "unnamed CPU" : published.host_cpu;
    result.is_cpu = true;
    result.count = published.host_cpus_per_node.value_or(1) * published.nodes.value_or(1);
  }
  if (result.facts != nullptr) result.name = result.facts->name;
  result.whole = result.generation = result.vendor = result.name;
  if (result.facts != nullptr) {
    result.generation = result.facts->generation;
    result.vendor = result.facts->vendor;
  } else if (result.is_cpu) {
    take_cpu(result);
  } else {
    take_relative(result);
  }
  take_slice(published.accelerator, result);
  return result;
}

}  // namespace perfcast::ai
