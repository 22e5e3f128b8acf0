#pragma once
// What a suite's results look like in the corpus.

#include <vector>

#include "profile/suite/suite_runner.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

// One profile with its program and source, ready to be merged.
Corpus profile_rows(const SuiteProgram& entry, const Profile& profile);

// This machine as a platform, by what it says of itself.
Platform host_platform(const HostFacts& host);

// The same, with the time per unit of work of each program that was timed. A platform of `known` with
// the host's CPU model is used as it is; else one is added, with "-here" behind its id where `known` has another of
// that id. Its flags are those that published platforms list.
Corpus host_rows(const Suite& suite, const std::vector<SuiteOutcome>& outcomes, const HostFacts& host,
                 const Corpus& known);

// Makes `platform` the one that `known` has by its name; false. Else gives it an id that is free in `known`; true.
bool settle_platform(Platform& platform, const Corpus& known);

// A task's rows for the corpus `known`: its platform is the one that `known` has by that name, else a new one with an
// id of its own; times are of the server slurm/PARTITION.
Corpus partition_rows(Corpus rows, const std::string& partition, const Corpus& known);

}  // namespace perfcast::program
