#pragma once
// The profile that `predict` or `profile` took last, which --profile last and `place last` mean. Each working folder
// has its own, and in it each terminal: what a user does elsewhere changes nothing here.

#include <string>

#include "base/result.h"
#include "profile/profile.h"

namespace perfcast::cli {

// Of this working folder and terminal; a terminal that took none has the folder's latest. Empty where a user has no
// folder for such.
std::string last_profile_path();
// Keeps `text` as the latest. False where it can't be written.
bool keep_last_profile(const std::string& text);

// "last" is last_profile_path(), unless a file is called so.
std::string profile_path(const std::string& given);
// "file-not-found" where `given` is "last" and none was kept here.
Status check_last_profile(const std::string& given);
// Of a path or "last", of which stderr then says what it is and how old.
// Errors: those of check_last_profile() and read_profile().
Result<Profile> read_given_profile(const std::string& given, bool quiet = false);

// "`xz -6 big.bin`, 5 minutes old"; `now_s`: seconds since 1970.
std::string profile_in_words(const Profile& profile, double now_s);

}  // namespace perfcast::cli
