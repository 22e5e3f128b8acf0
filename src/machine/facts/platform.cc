#include "machine/facts/platform.h"

#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/json.h"
#include "base/text.h"
#include "machine/facts/checked_fields.h"
#include "machine/facts/identifier.h"

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
  put(json, "segment", platform.segment);
  put_numbers(json, platform);
  json["flags"] = platform.flags;
  json["source"] = platform.source;
  return json;
}

Result<Platform> platform_from_json(const Json& json, const std::string& path) {
  CheckedFields in(json, path);
  Platform platform;
  platform.id = in.text("id");
  platform.name = in.text("name");
  platform.kind = in.text("kind");
  platform.segment = in.text_or_empty("segment");
  platform.arch = in.text("arch");
  platform.vendor = in.text("vendor");
  in.read_numbers(platform);
  platform.flags = in.texts("flags", CheckedFields::kMaximumNames);
  platform.source = in.text("source");
  if (const Status status = in.finish(); !status) return status.error();
  return platform;
}

}  // namespace perfcast
