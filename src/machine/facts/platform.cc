#include "machine/facts/platform.h"

#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/json.h"
#include "base/text.h"
#include "machine/facts/identifier.h"
#include "machine/facts/processor_json.h"

namespace perfcast {

std::string slug(const std::string& name) {
  std::string text = lower_case(name);
  for (const std::string_view mark : {"(r)", "(tm)"}) {
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      text.replace(at, mark.size(), " ");
    }
  }
  std::string result = identifier(text, "", '-');
  while (!result.empty() && result.back() == '-') result.pop_back();
  return result;
}

void make_platform_names_unique(std::vector<Platform>& platforms) {
  const auto numbered = [](const char* what, const std::optional<int64_t>& value) {
    return value ? std::string(what) + " " + std::to_string(*value) : std::string();
  };
  // Each round tells more about those that still share a name.
  std::vector<std::string> verbatim;
  verbatim.reserve(platforms.size());
  for (const Platform& platform : platforms) verbatim.push_back(platform.name);
  for (int round = 0; round < 3; ++round) {
    std::unordered_map<std::string, int64_t> count;
    for (const Platform& platform : platforms) ++count[platform.name];
    for (size_t i = 0; i < platforms.size(); ++i) {
      Platform& platform = platforms[i];
      if (count[platform.name] < 2) continue;
      std::vector<std::string> parts{numbered("family", platform.cpu_family), numbered("model", platform.model)};
      if (round > 0) parts.push_back(numbered("stepping", platform.stepping));
      std::erase(parts, "");
      if (round == 2) parts = {platform.id};
      if (!parts.empty()) platform.name = verbatim[i] + " (" + join(parts, " ") + ")";
    }
  }
}

Json to_json(const Platform& platform) {
  Json json = {{"id", platform.id},
               {"name", platform.name},
               {"kind", platform.kind},
               {"arch", platform.arch},
               {"vendor", platform.vendor}};
  put_known(json, "segment", platform.segment);
  put_numbers(json, platform);
  json["flags"] = platform.flags;
  json["source"] = platform.source;
  return json;
}

Result<Platform> platform_from_json(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  Platform platform;
  platform.id = in.string("id");
  platform.name = in.string("name");
  platform.kind = in.string("kind");
  platform.segment = in.string_or("segment", "");
  platform.arch = in.string("arch");
  platform.vendor = in.string("vendor");
  read_numbers(in, platform);
  platform.flags = in.strings("flags", kMostFlags);
  platform.source = in.string("source");
  if (const Status status = in.finish(); !status) return status.error();
  return platform;
}

}  // namespace perfcast
