#pragma once

#include <string>

#include "corpus/profile.h"

namespace perfcast {

// A profile on a page, for people. Numbers that are missing are left out.
std::string profile_summary(const Profile& profile);

// True for a warning that puts the profile's use in doubt; the others are notes about its precision.
bool is_serious(const ProfileWarning& warning);

}  // namespace perfcast
