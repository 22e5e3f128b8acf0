#pragma once
// A suite: programs that are run with a fixed amount of work, so that their profiles and times can be compared between
// machines. Read from a suite file (schema perfcast.suite/1).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/program.h"

namespace perfcast {

struct SuiteRun {
  std::string tool;  // "stress-ng", "harness" or "command"
  // stress-ng
  std::string stressor;
  int64_t operations = 0;         // of the instrumented run
  int64_t native_operations = 0;  // of the run that is timed
  int64_t early_operations = 0;   // counted by the stressor before it does them: so many fewer are done
  // harness
  std::string mode;  // "compress" or "openssl"
  std::string algorithm;
  std::optional<int64_t> level;
  std::string direction;               // "compress" or "decompress"
  std::optional<int64_t> block_bytes;  // compressor's block, or the buffer of openssl
  int64_t repeats = 0, native_repeats = 0;
  // harness in mode compress, and command where it has text to work on
  int64_t input_bytes = 0;
  // command: an argument vector that bears being run several times, and the steps before it, run once and unmeasured.
  // In their words {input} is a file of input_bytes of text, {archive} a file of their own, {work} a folder of their
  // own and {suite} the suite's.
  std::vector<std::string> command;
  std::vector<std::vector<std::string>> prepare;
  // command: programs by name, other files by path, without which it can't be run; and the packages of Debian that hold
  // them.
  std::vector<std::string> needs, packages;
};

// Units of work that the timed run of a program does.
double native_work_units(const SuiteRun& run);

struct SuiteProgram {
  Program program;       // `excluded` holds the rule's name alone
  std::string label;     // what the labels' source calls its rate
  std::string evidence;  // of an exclusion
  std::string note;
  SuiteRun run;
};

struct SuiteEntry {  // a group or a rule of exclusion
  std::string id, text;
};

struct Suite {
  std::string name, description;
  std::string folder;             // of the files that its programs are made from: the suite file's path without .json
  std::string stress_ng_version;  // the only one whose operations mean the same as the labels'
  std::vector<SuiteEntry> groups, rules;
  std::vector<SuiteProgram> programs;

  const SuiteProgram* find(std::string_view id) const;
};

// All mistakes of a program at once: unknown group or rule, unknown tool, an amount of work that is not positive.
Result<Suite> parse_suite(std::string_view json_text, const std::string& source);
Result<Suite> read_suite(const std::string& path);

// Whether `text` matches `pattern`, where * stands for any characters and ? for one.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace perfcast
