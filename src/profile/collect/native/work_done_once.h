#pragma once
// Whether a program finds its work done when it runs again, as a build that is up to date.

#include <optional>

#include "base/process/process.h"
#include "profile/profile.h"

namespace perfcast {

// A warning "work-done-once" where `later` took less than half of the CPU time of `first` and touched less than 70% of
// its new pages, or took less than a third; judged from 30 ms of difference on. Slow disks and busy machines don't
// change either that much.
std::optional<ProfileWarning> work_done_once(const ProcessOutcome& first, const ProcessOutcome& later);

}  // namespace perfcast
