#include <algorithm>
#include <cctype>
#include <utility>

#include "fleet/slurm/job_script.h"

namespace perfcast::fleet {
namespace {

bool is_operator(char c) { return c == '|' || c == '&' || c == ';' || c == '<' || c == '>'; }

// Behind the last character of $(...), ${...} or `...` that begins at `at`; `at` where none does, npos where it stays
// open.
size_t end_of_expansion(std::string_view line, size_t at) {
  if (line[at] == '`') {
    const size_t end = line.find('`', at + 1);
    return end == std::string_view::npos ? end : end + 1;
  }
  if (line[at] != '$' || at + 1 >= line.size() || (line[at + 1] != '(' && line[at + 1] != '{')) return at;
  std::string awaited;
  for (size_t i = at + 1; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\') ++i;
    if (c == '(' || c == '{') awaited += c == '(' ? ')' : '}';
    if (c != awaited.back()) continue;
    awaited.pop_back();
    if (awaited.empty()) return i + 1;
  }
  return std::string_view::npos;
}

// Behind the end of the quoted text whose first quote stands at `at`, whose text is added to `word`; npos where it
// stays open. `expands`: $(...) is one piece, whatever quotes are in it.
size_t take_quoted(std::string_view line, size_t at, bool expands, std::string& word) {
  const char quote = line[at];
  for (size_t i = at + 1; i < line.size(); ++i) {
    if (line[i] == quote) return i + 1;
    if (quote == '"' && expands) {
      const size_t end = end_of_expansion(line, i);
      if (end == std::string_view::npos) return end;
      if (end > i) {
        word += line.substr(i, end - i);
        i = end - 1;
        continue;
      }
    }
    const bool is_escape = quote == '"' && line[i] == '\\' && i + 1 < line.size() &&
                           std::string_view("\"\\$`").find(line[i + 1]) != std::string_view::npos;
    word += line[is_escape ? ++i : i];
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<std::vector<ShellToken>> shell_tokens(std::string_view line, LineKind kind) {
  std::vector<ShellToken> tokens;
  std::string word;
  bool in_word = false;  // '' is a word, too
  bool is_quoted = false;
  const auto end_word = [&] {
    if (in_word) tokens.push_back({std::move(word)});
    word.clear();
    in_word = is_quoted = false;
  };
  const bool is_command = kind == LineKind::kCommand;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const size_t end = is_command ? end_of_expansion(line, i) : i;
    if (end == std::string_view::npos) return std::nullopt;
    if (end > i) {
      in_word = true;
      word += line.substr(i, end - i);
      i = end - 1;
    } else if (c == '\'' || c == '"') {
      in_word = is_quoted = true;
      const size_t behind = take_quoted(line, i, is_command, word);
      if (behind == std::string_view::npos) return std::nullopt;
      i = behind - 1;
    } else if (c == '\\' && i + 1 < line.size()) {
      in_word = is_quoted = true;
      word += line[++i];
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      end_word();
    } else if (c == '#' && !in_word) {
      break;
    } else if (is_command && is_operator(c)) {
      // "2>file": the number is no argument.
      const bool is_descriptor = (c == '<' || c == '>') && !is_quoted &&
                                 std::all_of(word.begin(), word.end(), [](char d) { return d >= '0' && d <= '9'; });
      if (is_descriptor) in_word = false;
      end_word();
      std::string symbol(1, c);
      while (i + 1 < line.size() && line[i + 1] == c) symbol += line[++i];
      tokens.push_back({std::move(symbol), true});
    } else {
      in_word = true;
      word += c;
    }
  }
  end_word();
  return tokens;
}

std::optional<std::vector<std::string>> shell_words(std::string_view line, LineKind kind) {
  auto tokens = shell_tokens(line, kind);
  if (!tokens) return std::nullopt;
  std::vector<std::string> words;
  words.reserve(tokens->size());
  for (ShellToken& token : *tokens) words.push_back(std::move(token.text));
  return words;
}

}  // namespace perfcast::fleet
