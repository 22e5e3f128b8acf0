#include "base/result.h"

namespace perfcast {

std::string to_text(const Error& error) {
  std::string text = error.message;
  if (!error.where.empty()) text += "\n  where:    " + error.where;
  if (!error.expected.empty()) text += "\n  expected: " + error.expected;
  return text;
}

Error usage_error(std::string code, std::string message, std::string where, std::string expected) {
  return {std::move(code), std::move(message), std::move(where), std::move(expected), ErrorKind::kUsage};
}

Error environment_error(std::string code, std::string message, std::string where, std::string expected) {
  return {std::move(code), std::move(message), std::move(where), std::move(expected), ErrorKind::kEnvironment};
}

Error infeasible_error(std::string code, std::string message, std::string where, std::string expected) {
  return {std::move(code), std::move(message), std::move(where), std::move(expected), ErrorKind::kInfeasible};
}

Error interrupted_error(std::string message, std::string where, std::string expected) {
  return {"interrupted", std::move(message), std::move(where), std::move(expected), ErrorKind::kInterrupted};
}

}  // namespace perfcast
