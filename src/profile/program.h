#pragma once
// A program of a suite, or of a published set: a command with one input.

#include <string>

namespace perfcast {

struct Program {
  std::string id;         // "compress.gzip.9.c", "stressng.matrix": unique
  std::string family;     // all levels, directions and variants of one program: "gzip"
  std::string group;      // "compressor", "user", "os", "crypto", ...: how scores are reported
  std::string suite;      // "cloud"
  std::string work_unit;  // "byte", "operation"
  std::string excluded;   // why it is no comparison; empty: valid
  std::string source;
};

}  // namespace perfcast
