#include "learn/weightless/export/source_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace perfcast {

std::string listed(const std::vector<std::string>& items) {
  constexpr size_t kWidth = 110;
  std::string text, line = " ";
  for (const std::string& item : items) {
    if (line.size() + item.size() + 2 > kWidth) {
      text += line + "\n";
      line = " ";
    }
    line += " " + item + ",";
  }
  return text + line + "\n";
}

std::string exact_float(float value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
  char text[40];
  std::snprintf(text, sizeof text, "%.9gf", static_cast<double>(value));
  std::string made(text);
  if (made.find_first_of(".e") == std::string::npos) made.insert(made.size() - 1, ".0");
  return made;
}

std::string plain(const std::string& text) {
  std::string made;
  for (const char c : text) made += c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '?' ? c : '_';
  for (size_t at = made.find("*/"); at != std::string::npos; at = made.find("*/")) made.replace(at, 2, "* ");
  for (size_t at = made.find("/*"); at != std::string::npos; at = made.find("/*")) made.replace(at, 2, "/ ");
  return made;
}

std::vector<size_t> votes_of(const LutHead& head, size_t tables) {
  if (head.by_address || !std::all_of(head.bias.begin(), head.bias.end(), [](int32_t bias) { return bias == 0; }))
    return {};
  std::vector<size_t> votes;
  for (size_t j = 0; j < tables; ++j) {
    const auto of = std::span(head.weights).subspan(j * head.outputs, head.outputs);
    const auto one = std::find(of.begin(), of.end(), int16_t{1});
    if (one == of.end() || static_cast<size_t>(std::count(of.begin(), of.end(), int16_t{0})) + 1 != of.size())
      return {};
    votes.push_back(static_cast<size_t>(one - of.begin()));
  }
  return votes;
}

}  // namespace perfcast
