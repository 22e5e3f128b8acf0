#pragma once
// Profiles as files: a folder of perfcast.profile/1 documents (*.json), as `perfcast collect` writes them, or one file
// of JSON lines {"program", "profile"}, as `perfcast corpus export` writes it.

#include <string>
#include <string_view>

#include "program/corpus/importers/import.h"

namespace perfcast::program {

// The licence is what SOURCE.md in the folder, or else in its parent, states. The program is the profile's own name.
// Profiles of runs that failed are left out and counted. A file that can't be
// read as a profile is an error.
Result<Import> import_profiles(const std::string& path, const ProgramCatalogue& catalogue);

}  // namespace perfcast::program
