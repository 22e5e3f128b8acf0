#pragma once
// compare --across: two files of results from two machines.

#include "cli/command.h"
#include "cli/measure/compare_request.h"

namespace perfcast::cli {

// Wrong use: options of --across without it, and what it can't be used with.
Status check_across(const CompareArguments& arguments);

// The exit status.
int run_across(const CompareArguments& arguments, const CommonOptions& options);

}  // namespace perfcast::cli
