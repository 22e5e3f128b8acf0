#pragma once
// Names made into identifiers.

#include <string>
#include <string_view>

namespace perfcast {

// In lower case, each run of what is neither letter nor digit nor in `also` made one `between`, none at the beginning.
// Lower case is of ASCII; letters of other scripts stay as they are, so that names that differ in them alone don't
// become one. Bytes that are no UTF-8, and signs such as the trade mark's, are no letters.
std::string identifier(std::string_view name, std::string_view also, char between);

}  // namespace perfcast
