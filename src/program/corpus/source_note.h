#pragma once
// The note SOURCE.md that lies beside published data: where they come from. Fields that it lacks are empty.

#include <string>

namespace perfcast::program {

struct SourceNote {
  std::string commit;         // 40 hexadecimal digits after "commit "
  std::string licence;        // the rest of the line after "license:" or "licence:"
  std::string retrieved_utc;  // YYYY-MM-DD after "read: " or "read "
};

// An absent or unreadable note gives an empty one.
SourceNote read_source_note(const std::string& folder);
SourceNote parse_source_note(const std::string& text);

// "name@1234567", or "name" where no commit is known.
std::string versioned_source(const std::string& name, const SourceNote& note);
// "name" of "name@1234567": the same for all versions.
std::string source_kind(const std::string& source);

}  // namespace perfcast::program
