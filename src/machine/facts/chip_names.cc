#include "machine/facts/chip_names.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "machine/facts/processor.h"

namespace perfcast {
namespace {

struct Chip {
  std::string_view core, provider, name;
};
// As the providers themselves publish it. An empty provider: any other, for a chip that is sold to all.
constexpr Chip kChips[] = {
    {"Cortex-A72", "aws", "AWS Graviton"},
    {"Neoverse-N1", "aws", "AWS Graviton2"},
    {"Neoverse-N1", "", "Ampere Altra"},
    {"Neoverse-N2", "alicloud", "Alibaba Yitian 710"},
    {"Neoverse-N2", "azure", "Azure Cobalt 100"},
    {"Neoverse-N3", "gcp", "Google Axion N4A"},
    {"Neoverse-V1", "aws", "AWS Graviton3"},
    {"Neoverse-V2", "aws", "AWS Graviton4"},
    {"Neoverse-V2", "gcp", "Google Axion"},
    {"Neoverse-V2", "", "NVIDIA Grace"},
    {"Neoverse-V3", "aws", "AWS Graviton5"},
    {"Neoverse-V3", "azure", "Azure Cobalt 200"},
    {"Ampere-1", "", "AmpereOne"},
    {"Ampere-1a", "", "AmpereOne"},
};

struct Provider {
  std::string_view id, title;
  std::string_view board;  // part of the firmware's maker, in lower case; empty: it doesn't tell
};
constexpr Provider kProviders[] = {
    {"alicloud", "Alibaba", "alibaba"},
    {"aws", "AWS", "amazon"},
    {"azure", "Azure", "microsoft"},
    {"digitalocean", "DigitalOcean", "digitalocean"},
    {"gcp", "Google", "google"},
    {"hcloud", "Hetzner", "hetzner"},
    {"ibm", "IBM", ""},
    {"linode", "Akamai", "akamai"},
    {"oci", "Oracle", "oracle"},
    {"ovh", "OVHcloud", "ovh"},
    {"scaleway", "Scaleway", "scaleway"},
    {"tencent", "Tencent", "tencent"},
    {"upcloud", "UpCloud", "upcloud"},
    {"vultr", "Vultr", "vultr"},
};

bool is_title(std::string_view text) {
  return std::any_of(std::begin(kProviders), std::end(kProviders),
                     [&](const Provider& provider) { return provider.title == text; });
}

// "X (AWS, Azure)" -> "X"; empty where no providers stand behind it.
std::string without_providers(const std::string& name) {
  const size_t open = name.rfind(" (");
  if (open == std::string::npos || name.back() != ')') return {};
  const auto titles = split(name.substr(open + 2, name.size() - open - 3), ',');
  const bool are_providers =
      std::all_of(titles.begin(), titles.end(), [](const std::string& title) { return is_title(trim(title)); });
  return are_providers ? name.substr(0, open) : std::string();
}

std::string core_of_chip(const std::string& name) {
  const std::string key = lower_case(name);
  for (const Chip& chip : kChips) {
    if (lower_case(chip.name) == key) return std::string(chip.core);
  }
  return {};
}

}  // namespace

std::string chip_name(std::string_view core, std::string_view provider) {
  if (provider.empty()) return {};
  for (const Chip& chip : kChips) {
    if (chip.core == core && (chip.provider == provider || chip.provider.empty())) return std::string(chip.name);
  }
  return {};
}

std::string chip_of_instance_type(std::string_view provider, std::string_view type) {
  const std::string family = lower_case(type.substr(0, type.find_first_of(".-")));
  const auto has = [&family](std::string_view part) { return family.find(part) != std::string::npos; };
  if (provider == "aws") {
    // A letter or more for what it is made for, the generation, "g" for the chip, and what else it has: c7gn, im4gn.
    const size_t digit = family.find_first_of("0123456789");
    if (digit == 0 || digit == std::string::npos || digit + 1 >= family.size() || family[digit + 1] != 'g') return {};
    switch (family[digit]) {
      case '9':
        return "AWS Graviton5";
      case '8':
        return "AWS Graviton4";
      case '7':
        return "AWS Graviton3";
      default:
        return "AWS Graviton2";
    }
  }
  if (provider == "gcp") return family == "c4a" ? "Google Axion" : family == "n4a" ? "Google Axion N4A" : "";
  if (provider == "azure" && has("standard_")) {
    const size_t version = family.rfind("_v");
    const bool is_arm = version != std::string::npos && family.substr(0, version).find('p', 9) != std::string::npos;
    return is_arm && has("_v6") ? "Azure Cobalt 100" : is_arm && has("_v7") ? "Azure Cobalt 200" : "";
  }
  return {};
}

std::string provider_of_board(std::string_view maker) {
  const std::string text = lower_case(maker);
  for (const Provider& provider : kProviders) {
    if (!provider.board.empty() && text.find(provider.board) != std::string::npos) return std::string(provider.id);
  }
  return {};
}

std::string provider_title(std::string_view provider) {
  for (const Provider& known : kProviders) {
    if (known.id == provider) return std::string(known.title);
  }
  return std::string(provider);
}

std::string name_at_providers(std::string_view name, const std::vector<std::string>& providers) {
  std::vector<std::string> titles;
  titles.reserve(providers.size());
  for (const std::string& provider : providers) titles.push_back(provider_title(provider));
  return plain_cpu_name(name) + " (" + join(titles, ", ") + ")";
}

std::vector<std::string> wider_names(const std::string& name) {
  std::vector<std::string> names = {name};
  for (const auto& wider : {without_providers, core_of_chip}) {
    if (std::string next = wider(names.back()); !next.empty()) names.push_back(std::move(next));
  }
  return names;
}

std::string told_name(const std::string& name) { return wider_names(name).back(); }

bool may_be_one_cpu(const std::string& a, const std::string& b) {
  const auto is_wider = [](const std::string& wide, const std::string& name) {
    const std::string key = cpu_name_key_or_clock(wide);
    const std::vector<std::string> names = wider_names(name);
    return !key.empty() && std::any_of(names.begin(), names.end(),
                                       [&](const std::string& one) { return cpu_name_key_or_clock(one) == key; });
  };
  return is_wider(a, b) || is_wider(b, a);
}

}  // namespace perfcast
