#include "measure/diagnose/observe/stack_walk.h"

namespace perfcast::measure {
namespace {

// The newest mapping that holds the address; nullptr: none.
const CodeMapping* mapping_of(const CodeMappings& mappings, uint64_t address) {
  for (auto mapping = mappings.rbegin(); mapping != mappings.rend(); ++mapping) {
    if (address >= mapping->start && address < mapping->end)
      return mapping->path.starts_with('/') ? &*mapping : nullptr;
  }
  return nullptr;
}

uint64_t offset_in(const CodeMapping& mapping, uint64_t address) {
  return address - mapping.start + mapping.file_offset_bytes;
}

}  // namespace

std::vector<uint64_t> return_addresses(const CodeMappings& mappings, const StackTop& top, CodeMap& code, size_t most) {
  constexpr uint64_t kWord = sizeof(uint64_t);
  std::vector<uint64_t> returns;
  std::optional<uint64_t> frame_pointer = top.frame_pointer;
  uint64_t address = top.address;  // of a call, not of what follows it: that may belong to another function
  size_t at = 0;                   // word at which the frame of `address` begins
  while (returns.size() < most) {
    const CodeMapping* const mapping = mapping_of(mappings, address);
    if (mapping == nullptr) break;
    const auto frame = code.call_frame(mapping->path, offset_in(*mapping, address));
    if (!frame || (frame->is_from_frame_pointer && !frame_pointer)) break;
    const uint64_t base = frame->is_from_frame_pointer ? *frame_pointer : top.stack_pointer + kWord * at;
    const uint64_t above = base + static_cast<uint64_t>(frame->offset_bytes) - top.stack_pointer;
    const uint64_t next = above / kWord;  // the word behind the return address
    if (above % kWord != 0 || next <= at || next > top.words.size()) break;
    const uint64_t found = top.words[next - 1];
    if (mapping_of(mappings, found - 1) == nullptr) break;
    if (frame->saved_frame_pointer_bytes) {
      const uint64_t saved = (above + static_cast<uint64_t>(*frame->saved_frame_pointer_bytes)) / kWord;
      frame_pointer = saved < top.words.size() ? std::optional(top.words[saved]) : std::nullopt;
    }
    returns.push_back(found);
    address = found - 1;
    at = next;
  }
  for (; at < top.words.size() && returns.size() < most; ++at) {
    const CodeMapping* const mapping = mapping_of(mappings, top.words[at]);
    if (mapping == nullptr || top.words[at] == mapping->start) continue;
    if (code.follows_call(mapping->path, offset_in(*mapping, top.words[at]))) returns.push_back(top.words[at]);
  }
  return returns;
}

}  // namespace perfcast::measure
