#pragma once
// Claims as JSON, schema perfcast.claims/1; docs/audit.md has every field.
//   {"schema": "perfcast.claims/1", "source": "a brochure, page 3",
//    "devices": [...],                      as in perfcast.devices/1: devices that the catalogue lacks
//    "claims": [{"id": "decode", "device": "h100", "model": "llama3-8b", "precision": "fp16", "batch": 1,
//                "metric": "tokens_per_s", "value": 150, "unit": "tokens/s", ...}]}

#include <string>
#include <string_view>
#include <vector>

#include "ai/audit/claim.h"
#include "ai/audit/known_models.h"
#include "base/result.h"

namespace perfcast::ai {

// "bad-json", "bad-json-field" (all mistakes of a claim at once: unknown keys with near names, unknown units with those
// that the metric has, numbers that are none or not above 0), "bad-claim" for an id that two claims bear and a speed-up
// over a claim that isn't there. Devices and models that nobody knows are no error here: the audit says so.
Result<ClaimsFile> parse_claims(std::string_view text, const std::string& source);
Result<ClaimsFile> read_claims(const std::string& path);  // 16 MiB at most
// Claims in words (claim_words.h), each as an entry of a claims file: "claim", or "claim-1", "claim-2", ... Those that
// can't be read are left out of the file: an error for each (bad usage, with the claim's text as its place).
struct ClaimsInWords {
  ClaimsFile file;
  std::vector<Error> unreadable;
};
ClaimsInWords claims_in_words(const std::vector<std::string>& texts, const std::vector<DeviceFacts>& devices,
                              const KnownModels& models);

}  // namespace perfcast::ai
