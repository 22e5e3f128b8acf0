#pragma once
// JSON as Python programs write it: json.dumps prints NaN and Infinity; print() of a dictionary has single quotes,
// None, True, nan, tuples and values such as np.float64(0.5) or tensor(0.5, device='cuda:0').

#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast {

// As parse_json(), also of such a document. What JSON has no number for becomes a string: "NaN", "Infinity",
// "-Infinity"; objects of other classes become null. Errors are parse_json()'s, of the document as it stands.
Result<Json> parse_python_json(std::string_view text, const std::string& source);

// One value at the beginning of `text`, which may go on behind it: {'loss': nan} done.
struct PythonLiteral {
  std::string json;   // the same as JSON
  size_t length = 0;  // bytes of `text`
};
std::optional<PythonLiteral> python_literal(std::string_view text);

}  // namespace perfcast
