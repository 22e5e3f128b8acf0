#include "machine/facts/cpu_text.h"

#include <string>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast {
namespace {

std::optional<int64_t> whole_number(const std::string& text) {
  const auto value = parse_number(text);
  if (!value || !(*value >= 0) || *value > 1e6) return std::nullopt;
  return static_cast<int64_t>(*value);
}

}  // namespace

std::optional<HostFacts> cpu_facts_from_text(std::string_view text) {
  HostFacts host;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string key = lower_case(trim(line.substr(0, colon)));
    const std::string value(trim(line.substr(colon + 1)));
    if (value.empty() || value == "-") continue;
    const auto once = [&value](std::string& field) {
      if (field.empty()) field = value;
    };
    const auto number = [&value](std::optional<int64_t>& field) {
      if (!field) field = whole_number(value);
    };
    if (key == "model name") once(host.name);
    if (key == "vendor id" || key == "vendor_id") once(host.vendor);
    if (key == "architecture") once(host.arch);
    if (key == "cpu family") number(host.cpu_family);
    if (key == "model") number(host.model);
    if (key == "stepping") number(host.stepping);
    if ((key == "flags" || key == "features") && host.cpu_flags.empty()) {
      for (const std::string& flag : split(value, ' ')) {
        if (!flag.empty()) host.cpu_flags.push_back(flag);
      }
    }
  }
  if (host.name.empty()) return std::nullopt;
  return host;
}

}  // namespace perfcast
