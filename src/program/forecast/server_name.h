#pragma once
// Instance types by the names that people give them.

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

// Indices of the instance types called so: "c7i.large", "aws c7i.large", "aws/c7i.large" or "aws:c7i.large", without
// regard to case.
std::vector<size_t> servers_called(const std::vector<Server>& servers, const std::string& text);

// Index of the platform called so (look_up_platform()), or which the instance types called so carry. Errors:
// "unknown-platform" (near names listed), "ambiguous-platform".
Result<size_t> platform_named(const std::vector<Platform>& platforms, const std::vector<Server>& servers,
                              const std::string& text, const std::string& where);

// "for example ..." of platforms and instance types, whichever are nearest.
std::string nearest_machines(const std::vector<Platform>& platforms, const std::vector<Server>& servers,
                             const std::string& text);

}  // namespace perfcast::program
