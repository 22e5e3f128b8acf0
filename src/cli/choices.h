#pragma once
// An option whose values are words for an enumeration's members.

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace perfcast::cli {

// For Option::transform. Help shows the words and a wrong one is answered with them, in the order given; CLI11's own
// transformer shows the enumerators' numbers, and accepts them.
template <typename Enumeration>
CLI::Validator choices(std::initializer_list<std::pair<const char*, Enumeration>> words) {
  std::string valid;
  for (const auto& [word, value] : words) valid.append(valid.empty() ? "" : ", ").append(word);
  const auto number_of = [words = std::vector(words), valid](std::string& given) -> std::string {
    for (const auto& [word, value] : words)
      if (given == word) {
        given = std::to_string(static_cast<long long>(value));
        return {};
      }
    return "'" + given + "' is none of " + valid;
  };
  return CLI::Validator(number_of, "{" + valid + "}");
}

}  // namespace perfcast::cli
