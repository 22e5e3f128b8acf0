#pragma once
// What the right answers of a data set are, for systems that can't say themselves: a JSON object on each line,
//   {"index": 3, "data": "text"}     {"index": 4, "data_hex": "0A0B"}
// An answer is right where it is the same, but for spaces at its ends.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast::ai {

using ReferenceAnswers = std::map<uint32_t, std::string>;

// "bad-reference" names the line; an index twice is one. At most 256 MiB.
Result<ReferenceAnswers> parse_references(std::string_view text, const std::string& source);
Result<ReferenceAnswers> read_references(const std::string& path);

// "bad-reference" names the samples of [0, samples) that have no line, as many as fit.
Status check_every_sample(const ReferenceAnswers& references, int64_t samples, const std::string& source);

// Absent: nobody said what is right there.
std::optional<bool> is_right_answer(const ReferenceAnswers& references, uint32_t index, std::string_view data);

}  // namespace perfcast::ai
