#pragma once
// Files that the command line names and that aren't there: it is the command line that is wrong.

#include <string>

#include "base/result.h"

namespace perfcast::cli {

// A file or folder named by an option (empty: it isn't given) that doesn't exist: a usage error.
Status check_named_file(const std::string& option, const std::string& path);

// A file that will be written (empty, "-": none) in a folder that can't be, or that is a folder: found before the work
// is done.
Status check_output_file(const std::string& option, const std::string& path);

// A usage error where a file that will be written holds something already: measurements are not written over.
Status check_new_file(const std::string& option, const std::string& path);

// A note on standard error of how a table of people was read where that isn't plain (CsvTable::form()).
void note_form(const std::string& path, const std::string& form);

// Where an option has a default, or names a file or something else: `error` of reading it, wrong usage where there is
// no such file and the command line `named` it.
Error as_named_file(Error error, bool named);

}  // namespace perfcast::cli
