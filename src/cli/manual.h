#pragma once
// What the commands say of themselves, in other forms: a manual page, completion for shells.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast::cli {

// In the order in which they were added.
std::vector<const CLI::App*> verbs_of(const CLI::App& app);

// Error "bad-usage" that names those there are, the nearest first.
Error no_such_verb(const CLI::App& level, const std::string& word);

// Section 1, in troff's man macros.
std::string manual_page(const CLI::App& app, const std::string& version);

// Verbs, their options, and files after those. `shell`: bash, zsh, fish; "bad-usage" for another.
Result<std::string> completion_script(const CLI::App& app, const std::string& shell);

}  // namespace perfcast::cli
