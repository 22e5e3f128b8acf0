#include "scenario/platform_filter.h"

#include <algorithm>

#include "base/text.h"

namespace perfcast {
namespace {

bool passes_one(const PlatformFilter& filter, const Platform& platform, const std::vector<Server>& servers) {
  if (filter.key == "vendor") return lower_case(platform.vendor) == filter.value;
  if (filter.key == "arch") return lower_case(platform.arch) == filter.value;
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
    const bool known = filter.key == "vendor" || filter.key == "arch" || filter.key == "cloud" || filter.key == "name";
    if (!known || filter.value.empty()) {
      return usage_error("bad-usage", "the filter '" + printable(text) + "' is not understood", "filter",
                         "vendor=..., arch=..., cloud=..., name=..., or a part of a name");
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
