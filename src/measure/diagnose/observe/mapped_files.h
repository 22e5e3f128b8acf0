#pragma once
// Files whose code a program's processes had in their memory while they ran, whether it was executed or not.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profile/collect/native/cpu_sampler.h"

namespace perfcast::measure {

// Of a file; bytes as mapped, in whole pages.
struct FilePiece {
  uint64_t offset = 0, bytes = 0;
};

// By path; pieces by their place in the file, apart from each other.
using MappedFiles = std::map<std::string, std::vector<FilePiece>>;

// A text of /proc/PID/maps: what may be executed and has a file.
CodeMappings executable_mappings(std::string_view maps);
void add_mapping(MappedFiles& files, const CodeMapping& mapping);
uint64_t mapped_bytes(const std::vector<FilePiece>& pieces);

// Looks at /proc/PID/maps now and then, at no more than a fiftieth of the time.
class MappingWatch {
 public:
  void look(double now_s, const std::vector<pid_t>& processes);
  const MappedFiles& files() const { return files_; }

 private:
  MappedFiles files_;
  double spent_s_ = 0;
};

}  // namespace perfcast::measure
