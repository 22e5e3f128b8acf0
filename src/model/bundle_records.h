#pragma once
// The records of a bundle's JSON header: platforms, servers, programs, sources, host, card.

#include "base/json.h"
#include "model/bundle.h"

namespace perfcast {

Json header_of(const Platform& platform);
Json header_of(const Server& server);
Json header_of(const Program& program);
Json header_of(const HostFacts& host);
Json header_of(const ModelCard& card);

// Each reads what header_of wrote; mistakes are "bad-json-field" with `path`.
Result<Platform> platform_from_header(const Json& json, const std::string& path);
Result<Server> server_from_header(const Json& json, const std::string& path);
Result<Program> program_from_header(const Json& json, const std::string& path);
Result<HostFacts> host_from_header(const Json& json, const std::string& path);
Result<ModelCard> card_from_header(const Json& json, const std::string& path);

}  // namespace perfcast
