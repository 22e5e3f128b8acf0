#pragma once
// Who called the code that a sample met.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "measure/diagnose/observe/code_map.h"
#include "profile/collect/native/cpu_sampler.h"

namespace perfcast::measure {

// Of a thread: the code where it is, its registers there, and what lies on its stack from the stack pointer on.
struct StackTop {
  uint64_t address = 0, stack_pointer = 0;
  std::optional<uint64_t> frame_pointer;  // absent: not known
  std::span<const uint64_t> words;
};

// Return addresses, innermost first, at most `most`. Frames are followed as their files describe them (.eh_frame). From
// the first one on that none describes, or that lies by a register which is not known, any word counts that points
// behind a call: some of these are left from earlier calls.
std::vector<uint64_t> return_addresses(const CodeMappings& mappings, const StackTop& top, CodeMap& code, size_t most);

}  // namespace perfcast::measure
