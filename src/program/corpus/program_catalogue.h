#pragma once
// What is known about the programs of a suite beyond their names: family, group, unit of work, and why some are no
// comparison between machines. Read from a suite file (schema perfcast.suite/1); names that it lacks are derived.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

class ProgramCatalogue {
 public:
  static Result<ProgramCatalogue> parse(std::string_view json_text, const std::string& source);
  // Several suites are one catalogue; no two of their programs have one id.
  static Result<ProgramCatalogue> read(const std::vector<std::string>& paths);

  // Null where the suite file does not name it.
  const Program* find(std::string_view id) const;
  // Ids of the programs whose measured time this label of published data stands for, sorted; programs of one label are
  // of one family.
  std::vector<std::string> ids_of_label(std::string_view label) const;
  size_t size() const { return programs_.size(); }

  // An excluded program's `excluded` is "rule: evidence".
  // The suite's entry, or what the id tells: family_of(), group "unknown", no work unit.
  Program describe(const std::string& id, const std::string& source) const;

 private:
  Status add(Program program, const std::string& label, const std::string& where);

  std::map<std::string, Program, std::less<>> programs_;
  std::map<std::string, std::set<std::string>, std::less<>> ids_by_label_;
};

// "compress.gzip.9.c" -> "gzip", "stressng.matrix" -> "matrix", "stressngfull.cpu" -> "cpu", "redis.SET.p1" -> "redis"
std::string family_of(std::string_view program_id);

}  // namespace perfcast::program
