#pragma once
// Launchers, containers and wrappers that stand before a program, and how their options are written: one list for
// launchers.cc and for data/slurm/job_submit.lua, which holds a copy that a test compares. Lists of names are words
// with blanks between.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace perfcast::fleet {

enum class OptionStyle {
  kLetters,  // -n 4, -n4, -ln 4; --long VALUE, --long=VALUE
  kMpi,      // -name and --name are one; values stand in the next words, or behind "="
};

struct Launcher {
  std::string_view names;
  OptionStyle style = OptionStyle::kLetters;
  std::string_view letters_with_value = {};  // in the next word, or attached
  std::string_view letters_with_rest = {};   // an optional value, only attached
  // Long options, and all of kMpi, without a value or with one only behind "="; "*": all.
  std::string_view switches = {};
  bool launches = false;                 // what it starts is the job's program
  std::string_view verbs = {};           // one of them stands before the options
  size_t operands = 0;                   // words between the options and the program
  bool runs_image = false;               // an image is the program where none follows it
  std::string_view program_option = {};  // a long one: its value is the program, all behind the operands its arguments
};

// A name may stand twice, with other verbs.
std::span<const Launcher> launcher_table();

// Of kMpi: options with two values, and Intel MPI's with one or none, where a value is a word that options follow.
extern const std::string_view kMpiPairs, kMpiOptional;

// Commands of a batch script that are not its program.
extern const std::string_view kNotTheProgram;

bool has_word(std::string_view list, std::string_view word);

// The lists as the plugin has them, between its lines "-- launchers: begin" and "-- launchers: end".
std::string launchers_as_lua();

}  // namespace perfcast::fleet
