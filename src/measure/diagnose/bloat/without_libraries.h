#pragma once
// A copy of a program that asks for fewer libraries: what --as-needed would have linked, without linking.

#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast::measure {

// The bytes of an ELF file of 64 bits, least significant byte first, that don't ask for these libraries (names as
// DT_NEEDED has them). Errors: "not-elf"; "not-asked-for" where it asks for none of them; "moves-with-its-folder"
// where it looks for libraries beside itself, which a copy elsewhere would not find.
Result<std::string> without_libraries(std::string bytes, const std::vector<std::string>& libraries,
                                      const std::string& source);

// The same of a file, to `folder`, under its own name and with its own rights; the path of the copy.
Result<std::string> copy_without_libraries(const std::string& program, const std::vector<std::string>& libraries,
                                           const std::string& folder);

}  // namespace perfcast::measure
