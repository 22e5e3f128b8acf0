#include "program/forecast/server_name.h"

#include "base/text.h"

namespace perfcast::program {

std::vector<size_t> servers_called(const std::vector<Server>& servers, const std::string& text) {
  const std::string wanted = lower_case(trim(text));
  std::string with_space = wanted;
  if (const size_t slash = wanted.find('/'); slash != std::string::npos) with_space[slash] = ' ';
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

}  // namespace perfcast::program
