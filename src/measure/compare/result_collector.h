#pragma once
// What the readers of benchmarks' results share: every mistake of a file is kept, times of 0 are left out and noted,
// names are told apart.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "measure/compare/result_file.h"

namespace perfcast {
class JsonReader;
}

namespace perfcast::measure {

class ResultCollector {
 public:
  ResultCollector(const char* tool, const std::string& source);

  ResultFile& file() { return file_; }
  std::string at(const char* list, size_t i) const;  // where list[i] of the file lies
  void take_complaints(const JsonReader& reader);
  // A list of times. Those of 0 are shorter than what the clock tells apart, and left out; below 0 is a mistake.
  std::vector<double> times(JsonReader& reader, const char* key, const std::string& name);
  void note_zeros(const std::string& name, size_t zeros, size_t all);
  // Mean and deviation where there are no single runs.
  void summarise(const std::string& name, JsonReader& reader, const char* mean, const char* deviation, int64_t count,
                 TimedRuns& runs);
  // One without times is left out; of one name, the second becomes "NAME #2".
  void add(BenchmarkRuns benchmark);
  Result<ResultFile> finish();

 private:
  ResultFile file_;
  std::vector<std::string> complaints_;
  std::set<std::string> names_;
  std::map<std::string, int> numbers_;  // by name: how many repeated it
};

int64_t sane_count(int64_t runs);  // from 0 to a billion

}  // namespace perfcast::measure
