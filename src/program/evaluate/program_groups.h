#pragma once
// The groups that scores are given for.

#include <cstdint>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"

namespace perfcast::program {

struct ProgramGroup {
  std::string name;
  std::vector<int64_t> rows;  // of the table
};

// In order of first appearance; a group that several kinds of sources timed is followed by its part of each,
// "application (geekbench6)". The last is "all".
std::vector<ProgramGroup> program_groups(const TrainingTable& table);

}  // namespace perfcast::program
