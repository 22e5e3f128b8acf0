#pragma once
// What is known about the programs of a suite beyond their names: family, group, unit of work, and why some are no
// comparison between machines. Read from a suite file (schema perfcast.suite/1); names that it lacks are derived.

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

class ProgramCatalogue {
 public:
  static Result<ProgramCatalogue> parse(std::string_view json_text, const std::string& source);
  static Result<ProgramCatalogue> read(const std::string& path);

  // Null where the suite file does not name it.
  const Program* find(std::string_view id) const;
  // Id of the program whose measured rate stands in this column of the published data; null where none is known.
  const std::string* id_of_label(std::string_view column) const;
  size_t size() const { return programs_.size(); }

  // An excluded program's `excluded` is "rule: evidence".
  // The suite's entry, or what the id tells: family_of(), group "unknown", no work unit.
  Program describe(const std::string& id, const std::string& source) const;

 private:
  std::map<std::string, Program, std::less<>> programs_;
  std::map<std::string, std::string, std::less<>> ids_by_label_;
};

// "compress.gzip.9.c" -> "gzip", "stressng.matrix" -> "matrix", "stressngfull.cpu" -> "cpu", "redis.SET.p1" -> "redis"
std::string family_of(std::string_view program_id);

}  // namespace perfcast::program
