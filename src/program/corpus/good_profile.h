#pragma once
// Which profiles models may be fitted on.

#include "program/corpus/corpus.h"

namespace perfcast::program {

// The profile; null where its run failed, or (unless `include_doubtful`) it warns of clock-bound, runs-differ or
// other-code-path.
const Profile* good_profile(const StoredProfile& stored, bool include_doubtful = false);

}  // namespace perfcast::program
