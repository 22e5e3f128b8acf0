#include <cctype>

#include "fleet/slurm/job_script.h"

namespace perfcast::fleet {
namespace {

bool is_operator(char c) { return c == '|' || c == '&' || c == ';' || c == '<' || c == '>'; }

}  // namespace

std::optional<std::vector<std::string>> shell_words(std::string_view line, LineKind kind) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;  // '' is a word, too
  const auto end_word = [&] {
    if (in_word) words.push_back(std::move(word));
    word.clear();
    in_word = false;
  };
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\'' || c == '"') {
      in_word = true;
      size_t j = i + 1;
      for (; j < line.size() && line[j] != c; ++j) {
        if (c == '"' && line[j] == '\\' && j + 1 < line.size()) ++j;
        word += line[j];
      }
      if (j >= line.size()) return std::nullopt;
      i = j;
    } else if (c == '\\' && i + 1 < line.size()) {
      in_word = true;
      word += line[++i];
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      end_word();
    } else if (c == '#' && !in_word) {
      break;
    } else if (kind == LineKind::kCommand && is_operator(c)) {
      end_word();
      std::string symbol(1, c);
      while (i + 1 < line.size() && line[i + 1] == c) symbol += line[++i];
      words.push_back(std::move(symbol));
    } else {
      in_word = true;
      word += c;
    }
  }
  end_word();
  return words;
}

}  // namespace perfcast::fleet
