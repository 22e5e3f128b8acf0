#pragma once
// What a trace holds, by process: pieces, instructions, classes, where accesses were found, branches.

#include <string>

#include "base/json_fwd.h"
#include "profile/trace/trace.h"

namespace perfcast {

struct TraceSummary {
  std::string program, instruction_set;
  size_t pieces_count = 0, windows_count = 0, blocks_count = 0;
  uint64_t instructions_count = 0, stands_for_count = 0;
  // By instructions, or accesses, or branches of the pieces.
  uint64_t loads_count = 0, stores_count = 0;
  uint64_t found_32k_count = 0, found_1m_count = 0, found_farther_count = 0, found_unknown_count = 0;
  uint64_t conditional_count = 0, taken_count = 0, mispredicted_count = 0;  // mispredicted: of any branch
  size_t event_bytes = 0;
};

TraceSummary summarise(const ProcessTrace& process);
Json trace_json(const Trace& trace);         // perfcast.trace.summary/1
std::string trace_text(const Trace& trace);  // for a person

}  // namespace perfcast
