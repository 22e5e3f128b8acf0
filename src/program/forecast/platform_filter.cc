#include "program/forecast/platform_filter.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "base/csv.h"
#include "base/text.h"
#include "machine/facts/chip_names.h"

namespace perfcast::program {
namespace {

constexpr std::string_view kKeys[] = {"kind", "vendor", "arch", "cloud", "instance", "name", "vcpus", "memory"};
constexpr std::string_view kKinds[] = {"cloud", "server", "desktop"};

bool are_kinds(std::string_view list) {
  const auto kinds = split(list, ',');
  return std::all_of(kinds.begin(), kinds.end(), [](std::string_view kind) {
    return std::find(std::begin(kKinds), std::end(kKinds), trim(kind)) != std::end(kKinds);
  });
}

// "4", "4..16", "4..", "..16"; of memory in GiB, with or without the unit.
struct Range {
  double least = 0, most = std::numeric_limits<double>::infinity();
};
std::optional<Range> range_of(std::string_view text) {
  const auto number = [](std::string_view part) -> std::optional<double> {
    part = trim(part);
    for (const std::string_view unit : {"gib", "gb", "g"}) {
      if (part.ends_with(unit)) {
        part = trim(part.substr(0, part.size() - unit.size()));
        break;
      }
    }
    const auto value = parse_number(part);
    return value && *value >= 0 ? value : std::nullopt;
  };
  const size_t dots = text.find("..");
  Range range;
  if (dots == std::string_view::npos) {
    const auto value = number(text);
    if (!value) return std::nullopt;
    range.least = range.most = *value;
    return range;
  }
  const std::string_view from = trim(text.substr(0, dots)), to = trim(text.substr(dots + 2));
  if (from.empty() && to.empty()) return std::nullopt;
  const auto least = number(from), most = number(to);
  if ((!from.empty() && !least) || (!to.empty() && !most)) return std::nullopt;
  if (least) range.least = *least;
  if (most) range.most = *most;
  if (range.least > range.most) return std::nullopt;
  return range;
}

bool is_of_servers(const PlatformFilter& filter) {
  return filter.key == "cloud" || filter.key == "instance" || filter.key == "vcpus" || filter.key == "memory";
}

// One of several, separated by commas.
bool is_one_of(const std::string& list, const std::string& value) {
  const auto values = split(list, ',');
  return std::any_of(values.begin(), values.end(), [&](std::string_view each) { return trim(each) == value; });
}

bool passes_one(const PlatformFilter& filter, const Server& server) {
  if (filter.key == "cloud") return is_one_of(filter.value, lower_case(server.vendor));
  if (filter.key == "instance") return is_one_of(filter.value, lower_case(server.name));
  const auto& value = filter.key == "vcpus" ? server.vcpus : server.memory_gib;
  const auto range = range_of(filter.value);
  return value && range && *value >= range->least && *value <= range->most;
}

bool passes_one(const PlatformFilter& filter, const Platform& platform) {
  if (filter.key == "vendor") return is_one_of(filter.value, lower_case(platform.vendor));
  if (filter.key == "arch") return is_one_of(filter.value, lower_case(platform.arch));
  if (filter.key == "kind") return is_one_of(filter.value, platform.segment);
  if (filter.key == "name") {
    const auto names = wider_names(platform.name);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return lower_case(name).find(filter.value) != std::string::npos;
    });
  }
  return true;
}

// "cloud=aws,vcpus=4..16" are two filters, "kind=cloud,server" is one.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (const std::string& part : split(text, ',')) {
    const size_t equals = part.find('=');
    const std::string key = equals == std::string::npos ? "" : lower_case(trim(part.substr(0, equals)));
    const bool begins = std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
    if (parts.empty() || begins) {
      parts.push_back(part);
    } else {
      parts.back() += "," + part;
    }
  }
  return parts;
}

}  // namespace

Result<std::vector<PlatformFilter>> parse_platform_filters(const std::vector<std::string>& texts) {
  std::vector<PlatformFilter> filters;
  std::vector<std::string> single;
  for (const std::string& text : texts) {
    for (std::string& part : parts_of(text)) single.push_back(std::move(part));
  }
  for (const std::string& text : single) {
    const size_t equals = text.find('=');
    PlatformFilter filter;
    filter.key = equals == std::string::npos ? "name" : lower_case(trim(text.substr(0, equals)));
    filter.value = lower_case(trim(equals == std::string::npos ? text : text.substr(equals + 1)));
    const bool known = std::find(std::begin(kKeys), std::end(kKeys), filter.key) != std::end(kKeys);
    if (!known || filter.value.empty() || (filter.key == "kind" && !are_kinds(filter.value)) ||
        ((filter.key == "vcpus" || filter.key == "memory") && !range_of(filter.value))) {
      return usage_error(
          "bad-usage", "the filter '" + printable(text) + "' is not understood", "filter",
          "kind=cloud,server,desktop, vendor=..., arch=..., cloud=..., instance=c7i.xlarge (each one or several), "
          "name=..., vcpus=4..16, memory=16GiB.., or a part of a name");
    }
    filters.push_back(std::move(filter));
  }
  return filters;
}

bool passes(const std::vector<PlatformFilter>& filters, const Platform& platform, const std::vector<Server>& servers) {
  const bool passes_itself = std::all_of(filters.begin(), filters.end(), [&](const PlatformFilter& filter) {
    return is_of_servers(filter) || passes_one(filter, platform);
  });
  if (!passes_itself || std::none_of(filters.begin(), filters.end(), is_of_servers)) return passes_itself;
  return std::any_of(servers.begin(), servers.end(),
                     [&](const Server& server) { return server.platform == platform.id && passes(filters, server); });
}

std::vector<PlatformFilter> without_memory(const std::vector<PlatformFilter>& filters) {
  std::vector<PlatformFilter> others;
  std::copy_if(filters.begin(), filters.end(), std::back_inserter(others),
               [](const PlatformFilter& filter) { return filter.key != "memory"; });
  return others;
}

bool passes(const std::vector<PlatformFilter>& filters, const Server& server) {
  return std::all_of(filters.begin(), filters.end(), [&](const PlatformFilter& filter) {
    return !is_of_servers(filter) || passes_one(filter, server);
  });
}

}  // namespace perfcast::program
