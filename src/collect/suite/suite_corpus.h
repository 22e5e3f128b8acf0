#pragma once
// What a suite's results look like in the corpus.

#include <vector>

#include "collect/suite/suite_runner.h"
#include "corpus/corpus.h"

namespace perfcast {

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

}  // namespace perfcast
