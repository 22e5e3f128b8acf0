#include "measure/tune/run/command_template.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr const char* kFlags = "{flags}";
constexpr const char* kThreadVariables[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                            "RAYON_NUM_THREADS", "GOMAXPROCS"};

std::string mark_of(const std::string& name) { return "{" + name + "}"; }

std::string replaced(std::string text, const std::string& mark, const std::string& by) {
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
  return text;
}

std::string in_single_quotes(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

}  // namespace

std::string short_hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

Result<CommandTemplate> CommandTemplate::create(const TuneFile& file, std::vector<std::string> command) {
  CommandTemplate made;
  made.space_ = &file.space;
  made.command_ = std::move(command);
  if (made.command_.empty()) {
    return usage_error("bad-usage", "no command to tune", "",
                       "perfcast tune --space FILE -- CMD ARGS..., or `command` in the file");
  }
  std::string all = join(made.command_, "\n") + "\n" + file.prepare + "\n" + file.check;
  const bool has_flags = all.find(kFlags) != std::string::npos;
  for (const Knob& knob : file.space.knobs()) {
    const bool placed = all.find(mark_of(knob.name)) != std::string::npos;
    made.placed_.push_back(placed);
    const bool used = placed || knob.kind == KnobKind::kEnvironment || knob.kind == KnobKind::kThreads ||
                      (knob.kind == KnobKind::kFlag && has_flags);
    if (used) continue;
    return usage_error("unused-knob", "the command does not use the knob '" + printable(knob.name) + "'", "the command",
                       mark_of(knob.name) + (knob.kind == KnobKind::kFlag ? " or {flags}" : "") +
                           " in the command, `prepare` or `check`");
  }
  return made;
}

std::string CommandTemplate::value_text(const Setting& setting, size_t knob) const {
  const KnobValue* value = space_->value_of(setting, knob);
  return value == nullptr ? "" : value->text;
}

std::vector<std::string> CommandTemplate::flag_words(const Setting& setting, size_t knob) const {
  const Knob& of = space_->knobs()[knob];
  std::string text = value_text(setting, knob);
  if (!of.flag.empty()) text = text == "true" ? of.flag : "";
  std::vector<std::string> words;
  for (const std::string& word : split(text, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// Once from left to right, so that what a value holds is never taken for a placeholder.
std::string CommandTemplate::filled(const std::string& word, const Setting& setting) const {
  std::string result;
  for (size_t at = 0; at < word.size();) {
    size_t length = 0;
    for (size_t knob = 0; knob < space_->knobs().size() && word[at] == '{'; ++knob) {
      const std::string mark = mark_of(space_->knobs()[knob].name);
      if (word.compare(at, mark.size(), mark) != 0) continue;
      result += space_->knobs()[knob].kind == KnobKind::kFlag ? join(flag_words(setting, knob), " ")
                                                              : value_text(setting, knob);
      length = mark.size();
      break;
    }
    if (length == 0 && word.compare(at, 7, "{point}") == 0) {
      result += point_name(setting);
      length = 7;
    }
    if (length == 0) result += word[at];
    at += std::max<size_t>(length, 1);
  }
  return result;
}

std::vector<std::string> CommandTemplate::arguments(const Setting& setting) const {
  std::vector<std::string> words;
  const auto append = [&words](const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  for (const std::string& word : command_) {
    bool done = word == kFlags;
    for (size_t knob = 0; knob < space_->knobs().size(); ++knob) {
      const Knob& of = space_->knobs()[knob];
      if (word == kFlags) {
        if (of.kind == KnobKind::kFlag && !placed_[knob]) append(flag_words(setting, knob));
      } else if (word == mark_of(of.name)) {
        done = true;
        if (of.kind == KnobKind::kFlag) {
          append(flag_words(setting, knob));
        } else if (space_->value_of(setting, knob) != nullptr) {
          words.push_back(value_text(setting, knob));
        }
      }
    }
    if (!done) words.push_back(filled(word, setting));
  }
  return words;
}

std::map<std::string, std::string> CommandTemplate::environment(const Setting& setting) const {
  std::map<std::string, std::string> environment;
  for (size_t knob = 0; knob < space_->knobs().size(); ++knob) {
    const Knob& of = space_->knobs()[knob];
    if (space_->value_of(setting, knob) == nullptr) continue;
    if (of.kind == KnobKind::kEnvironment) environment[of.name] = value_text(setting, knob);
    if (of.kind != KnobKind::kThreads) continue;
    for (const char* variable : kThreadVariables) environment[variable] = value_text(setting, knob);
  }
  return environment;
}

std::string CommandTemplate::shell_line(const std::string& line, const Setting& setting,
                                        const std::string& output_path) const {
  std::string result;
  for (size_t at = 0; at < line.size();) {
    std::optional<std::string> by;
    std::string mark;
    const auto is_here = [&](const std::string& candidate) {
      if (line.compare(at, candidate.size(), candidate) != 0) return false;
      mark = candidate;
      return true;
    };
    for (size_t knob = 0; knob < space_->knobs().size() && line[at] == '{' && !by; ++knob) {
      if (!is_here(mark_of(space_->knobs()[knob].name))) continue;
      std::vector<std::string> words = {value_text(setting, knob)};
      if (space_->knobs()[knob].kind == KnobKind::kFlag) words = flag_words(setting, knob);
      for (std::string& word : words) word = in_single_quotes(word);
      by = join(words, " ");
    }
    if (!by && is_here(kFlags)) {
      std::vector<std::string> words;
      for (size_t knob = 0; knob < space_->knobs().size(); ++knob) {
        if (space_->knobs()[knob].kind != KnobKind::kFlag || placed_[knob]) continue;
        for (const std::string& word : flag_words(setting, knob)) words.push_back(in_single_quotes(word));
      }
      by = join(words, " ");
    }
    if (!by && is_here("{point}")) by = point_name(setting);
    if (!by && is_here("{output}")) by = in_single_quotes(output_path);
    result += by ? *by : std::string(1, line[at]);
    at += by ? mark.size() : 1;
  }
  return result;
}

std::string CommandTemplate::point_name(const Setting& setting) const { return short_hash(space_->text_of(setting)); }

}  // namespace perfcast::measure
