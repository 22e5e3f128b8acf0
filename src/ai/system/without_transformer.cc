// In place of transformer_system.cc in builds without the built-in transformer.
#include "ai/system/transformer_system.h"

namespace perfcast::ai {
namespace {

Error not_built(const std::string& where) {
  return usage_error("not-built", "this build of perfcast has no transformer of its own", where,
                     "an endpoint, a command, or a build with the CMake option PERFCAST_TRANSFORMER");
}

}  // namespace

Result<TransformerSystemOptions> parse_transformer_system(std::string_view, const TransformerSystemOptions&,
                                                          const std::string& where) {
  return not_built(where);
}

Result<std::unique_ptr<SystemUnderTest>> TransformerSystem::create(const TransformerSystemOptions&) {
  return not_built("--system");
}

}  // namespace perfcast::ai
