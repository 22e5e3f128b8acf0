#include "scenario/platform_filter.h"

#include <algorithm>

#include "base/text.h"

namespace perfcast {
namespace {

constexpr std::string_view kKeys[] = {"kind", "vendor", "arch", "cloud", "name"};
constexpr std::string_view kKinds[] = {"cloud", "server", "desktop"};

bool are_kinds(std::string_view list) {
  const auto kinds = split(list, ',');
  return std::all_of(kinds.begin(), kinds.end(), [](std::string_view kind) {
    return std::find(std::begin(kKinds), std::end(kKinds), trim(kind)) != std::end(kKinds);
  });
}

bool passes_one(const PlatformFilter& filter, const Platform& platform, const std::vector<Server>& servers) {
  if (filter.key == "vendor") return lower_case(platform.vendor) == filter.value;
  if (filter.key == "arch") return lower_case(platform.arch) == filter.value;
  if (filter.key == "kind") {
    const auto kinds = split(filter.value, ',');
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](std::string_view kind) { return trim(kind) == platform.segment; });
  }
  if (filter.key == "name") return lower_case(platform.name).find(filter.value) != std::string::npos;
  return std::any_of(servers.begin(), servers.end(), [&](const Server& server) {
    return server.platform == platform.id && lower_case(server.vendor) == filter.value;
  });
}

}  // namespace

Result<std::vector<PlatformFilter>> parse_platform_filters(const std::vector<std::string>& texts) {
  std::vector<PlatformFilter> filters;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    PlatformFilter filter;
    filter.key = equals == std::string::npos ? "name" : lower_case(trim(text.substr(0, equals)));
    filter.value = lower_case(trim(equals == std::string::npos ? text : text.substr(equals + 1)));
    const bool known = std::find(std::begin(kKeys), std::end(kKeys), filter.key) != std::end(kKeys);
    if (!known || filter.value.empty() || (filter.key == "kind" && !are_kinds(filter.value))) {
      return usage_error("bad-usage", "the filter '" + printable(text) + "' is not understood", "filter",
                         "kind=cloud,server,desktop (one or several), vendor=..., arch=..., cloud=..., name=..., or a "
                         "part of a name");
    }
    filters.push_back(std::move(filter));
  }
  return filters;
}

bool passes(const std::vector<PlatformFilter>& filters, const Platform& platform, const std::vector<Server>& servers) {
  return std::all_of(filters.begin(), filters.end(),
                     [&](const PlatformFilter& filter) { return passes_one(filter, platform, servers); });
}

bool passes(const std::vector<PlatformFilter>& filters, const Server& server) {
  return std::all_of(filters.begin(), filters.end(), [&](const PlatformFilter& filter) {
    return filter.key != "cloud" || lower_case(server.vendor) == filter.value;
  });
}

}  // namespace perfcast
