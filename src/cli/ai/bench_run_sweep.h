#pragma once
// A sweep of `bench run`: the same system under rising load.

#include "ai/bench/bench_sweep.h"
#include "base/result.h"
#include "cli/ai/bench_run_options.h"
#include "cli/command.h"

namespace perfcast::cli {

// An error of a setting with the option that it comes from.
Error with_option(Error error);

// On stderr: a result, which under --json has it too, was written to stdout.
int report_behind_result(const Error& error, const CommonOptions& options);

// Runs it, writes the page and the result, and gives the exit status.
int run_sweep_of(ai::SweepRequest sweep, const BenchArguments& arguments, const CommonOptions& options);

}  // namespace perfcast::cli
