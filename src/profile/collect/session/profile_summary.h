#pragma once

#include <string>

#include "profile/profile.h"

namespace perfcast {

// A profile on a page, for people. Numbers that are missing are left out.
std::string profile_summary(const Profile& profile);

}  // namespace perfcast
