#pragma once
// What a system behind a pipe writes, a JSON object on each line:
//
//   {"ready": true}                                   after {"start": ...}
//   {"id": 7, "token": 1}                             so many tokens of an answer arrived
//   {"id": 7}                                         the answer
//   {"id": 7, "tokens": 12, "data": "text"}           the answer, how many tokens it has, what accuracy is judged by
//   {"id": 7, "data_hex": "0A0B"}                     the same for bytes
//   {"id": 7, "error": "why"}                         there is no answer to this sample
//
// Other members are ignored.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast::ai {

inline constexpr size_t kLongestAnswerLine = size_t{16} << 20;

struct AnswerLine {
  enum class Kind { kReady, kToken, kAnswer, kError } kind = Kind::kAnswer;
  uint64_t id = 0;
  int64_t tokens = 0;
  std::string data;   // of an answer
  std::string error;  // of an error
};

// "bad-answer" says what is wrong with the line.
Result<AnswerLine> parse_answer_line(std::string_view line);

}  // namespace perfcast::ai
