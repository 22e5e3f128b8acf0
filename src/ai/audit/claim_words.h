#pragma once
// A claim as it stands in a brochure, on one line: "llama3-70b fp16 h100 batch 1: 120 tok/s",
// "8x H200, Llama 3.1 8B, fp8: 30,000 tokens per second, TTFT 20 ms". The order of its parts is free.

#include <string_view>
#include <vector>

#include "ai/audit/known_models.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

// The claim as an entry of a claims file (claims_reader.h), with the fields that the text states and no others. "30k"
// and "30,000" are 30000. "bad-claim" (bad usage): words that mean nothing here, all at once, each with near names; a
// number without a unit; a field that is stated twice; nothing that is claimed.
Result<Json> claim_from_words(std::string_view text, const std::vector<DeviceFacts>& devices,
                              const KnownModels& models);

}  // namespace perfcast::ai
