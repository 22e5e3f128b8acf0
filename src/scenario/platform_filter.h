#pragma once
// Which platforms a user wants to see.

#include <string>
#include <vector>

#include "base/result.h"
#include "corpus/corpus.h"

namespace perfcast {

struct PlatformFilter {
  std::string key, value;  // key: "kind", "vendor", "arch", "cloud" or "name"; value in lower case
};

// "kind=cloud,server" (what the CPU model is sold for: cloud, server, desktop; one of several), "vendor=amd",
// "arch=aarch64", "cloud=aws", "name=9r14", or a part of a name alone. Without regard to case; all but names as a
// whole. "bad-usage" where one is not understood.
Result<std::vector<PlatformFilter>> parse_platform_filters(const std::vector<std::string>& texts);

// Whether all of them hold. `servers`: instance types, of which cloud speaks.
bool passes(const std::vector<PlatformFilter>& filters, const Platform& platform, const std::vector<Server>& servers);
// Whether the server's own cloud is wanted, too.
bool passes(const std::vector<PlatformFilter>& filters, const Server& server);

}  // namespace perfcast
