#pragma once
// Which platforms a user wants to see.

#include <string>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

struct PlatformFilter {
  // key: "kind", "vendor", "arch", "cloud", "instance", "vcpus", "memory" or "name"; value in lower case
  std::string key, value;
};

// "kind=cloud,server" (what the CPU model is sold for: cloud, server, desktop; one of several), likewise "vendor=amd",
// "arch=aarch64", "cloud=aws,azure", "instance=c7i.xlarge"; "vcpus=4..16", "memory=16GiB..", "name=9r14", or a part of
// a name alone; several with commas between. Names are a chip's or its core's. Without regard to case; all but names as
// a whole. "bad-usage" where one is not understood.
Result<std::vector<PlatformFilter>> parse_platform_filters(const std::vector<std::string>& texts);

// Whether all of them hold. `servers`: instance types, of which cloud speaks.
bool passes(const std::vector<PlatformFilter>& filters, const Platform& platform, const std::vector<Server>& servers);
std::vector<PlatformFilter> without_memory(const std::vector<PlatformFilter>& filters);
// Whether the server itself is wanted: its cloud and size.
bool passes(const std::vector<PlatformFilter>& filters, const Server& server);

}  // namespace perfcast::program
