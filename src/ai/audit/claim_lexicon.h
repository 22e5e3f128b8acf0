#pragma once
// Words of a claim (claim_words.h), in lower case, and the fields of a claims file that they stand for.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ai/audit/claim_units.h"

namespace perfcast::ai {

// The digits that a word starts with, marks between them included: "30,000" of "30,000tok/s".
size_t number_length(std::string_view word);
// Words without the marks that end clauses. A sign of multiplication is an x, "key=8" two words.
std::vector<std::string> words_of_claim(std::string_view text);

bool is_claim_plural(std::string_view word);      // of devices: "gpus"
bool is_claim_comparison(std::string_view word);  // follows a speed-up: "faster"

// The field of a count that stands behind or before the word: "batch", "concurrency" for "users"; null: none.
const char* claim_count_named(std::string_view word);

// A word that states a field. A value of "true" is a yes. The field "time" is none: its word says which metric the time
// beside it is.
struct ClaimWord {
  std::string_view word;
  const char *field, *value;
};
const ClaimWord* claim_word_named(std::string_view word);  // null: none

std::string_view claim_precision_spelled(std::string_view word);  // "fp16" for "float16"; empty: none
bool is_claim_filler(std::string_view word);                      // says nothing: "on", "with"
bool is_prose(std::string_view word);      // short and without digits: nearer to some name than it means to be
std::vector<std::string> claim_lexicon();  // all words with a meaning

// "tok/s/user", "TFLOPS", "tokens/second", upper and lower case alike; none where it is no unit.
struct ClaimUnitName {
  ClaimMetric metric = ClaimMetric::kLatency;
  std::string unit;  // as claim_units.h has it
  bool per_user = false, per_device = false;
};
std::optional<ClaimUnitName> claim_unit_named(const std::string& text);
std::vector<std::string> claim_unit_spellings();

}  // namespace perfcast::ai
