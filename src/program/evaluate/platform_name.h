#pragma once
// Which platform a user means.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

// By id, by verbatim name, by name without regard to case, by a name that may be this platform's (may_be_one_cpu(): the
// core's for the chip), or by a part that one name alone has. Fails with "unknown-platform" (near names listed) or
// "ambiguous-platform" (candidates listed). `where` names the option or the
// place in a file; `kind`: kUsage for a name that was asked for, kData for one that stands in a file.
Result<size_t> find_platform(const std::vector<Platform>& platforms, const std::string& text, const std::string& where,
                             ErrorKind kind = ErrorKind::kUsage);

// The same, for those who look elsewhere then: nothing where no platform is called so. Fails with "ambiguous-platform".
Result<std::optional<size_t>> look_up_platform(const std::vector<Platform>& platforms, const std::string& text,
                                               const std::string& where, ErrorKind kind = ErrorKind::kUsage);

}  // namespace perfcast::program
