#pragma once
// What a service is asked for: requests with their sizes and times, and the prefixes that they share.

#include <cstdint>
#include <span>
#include <vector>

namespace perfcast::ai {

// Hashes of a prompt's blocks, from its beginning, and of its output's where another prompt has them: two prompts with
// the same first k hashes share k blocks of tokens. As lists of a trace name them; a block has
// ServingTrace::hash_block_tokens tokens.
struct HashRange {
  uint32_t begin = 0, count = 0;  // in ServingTrace::hashes
};

struct ServingRequest {
  double arrival_s = 0;                          // since the start; with `after`, since the end of that request
  int64_t prompt_tokens = 1, output_tokens = 1;  // each at least 1
  int32_t priority = 0;                          // lower ones go first
  int32_t after = -1;  // the index of an earlier request of the same conversation that must have ended; -1: none
  HashRange prefix = {};
};

struct ServingTrace {
  std::vector<ServingRequest> requests;  // those without `after` by arrival
  std::vector<uint64_t> hashes;
  int64_t hash_block_tokens = 512;

  std::span<const uint64_t> prefix_of(const ServingRequest& request) const {
    return std::span(hashes).subspan(request.prefix.begin, request.prefix.count);
  }
};

}  // namespace perfcast::ai
