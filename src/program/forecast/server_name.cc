#include "program/forecast/server_name.h"

#include <set>

#include "base/text.h"
#include "program/evaluate/platform_name.h"

namespace perfcast::program {

std::vector<size_t> servers_called(const std::vector<Server>& servers, const std::string& text) {
  const std::string wanted = lower_case(trim(text));
  std::string with_space = wanted;
  if (const size_t slash = wanted.find_first_of("/:"); slash != std::string::npos) with_space[slash] = ' ';
  std::vector<size_t> found;
  for (size_t i = 0; i < servers.size(); ++i) {
    const std::string name = lower_case(servers[i].name);
    if (wanted == name || with_space == lower_case(servers[i].vendor) + " " + name) found.push_back(i);
  }
  return found;
}

std::string nearest_machines(const std::vector<Platform>& platforms, const std::vector<Server>& servers,
                             const std::string& text) {
  constexpr size_t kShown = 5;
  std::vector<std::string> names;
  names.reserve(platforms.size() + servers.size());
  for (const Platform& platform : platforms) names.push_back(platform.name);
  for (const Server& server : servers) names.push_back(server.vendor + " " + server.name);
  return "for example " + nearest_names(text, names, kShown);
}

Result<size_t> platform_named(const std::vector<Platform>& platforms, const std::vector<Server>& servers,
                              const std::string& text, const std::string& where) {
  const auto called = look_up_platform(platforms, text, where);
  if (!called) return called.error();
  if (*called) return **called;
  std::set<std::string> carried;
  for (const size_t server : servers_called(servers, text)) carried.insert(servers[server].platform);
  std::vector<std::string> named;
  size_t platform = 0;
  for (size_t i = 0; i < platforms.size(); ++i) {
    if (!carried.contains(platforms[i].id)) continue;
    named.push_back(platforms[i].name);
    platform = i;
  }
  if (named.size() == 1) return platform;
  if (named.size() > 1) {
    return Error{"ambiguous-platform", "instances called '" + printable(text) + "' carry several CPU models", where,
                 "one of " + join(named, ", "), ErrorKind::kUsage};
  }
  Error error = find_platform(platforms, text, where).error();
  if (!carried.empty()) error.message += "; its CPU model is none of the bundle's";
  if (!servers.empty()) error.expected = nearest_machines(platforms, servers, text);
  return error;
}

}  // namespace perfcast::program
