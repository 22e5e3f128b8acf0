#include "base/result.h"

namespace perfcast {

std::string to_text(const Error& error) {
  std::string text = error.message;
  if (!error.where.empty()) text += "\n  where:    " + error.where;
  if (!error.expected.empty()) text += "\n  expected: " + error.expected;
  return text;
}

}  // namespace perfcast
