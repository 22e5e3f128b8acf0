#include "fleet/slurm/launchers.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

#include "fleet/slurm/launcher_table.h"

namespace perfcast::fleet {
namespace {

using Words = std::vector<std::string>;

bool is_assignment(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view word_at(const Words& words, size_t i) { return i < words.size() ? words[i] : std::string_view(); }

// How many of the next words belong to an option.
size_t values_of_mpi(const Launcher& launcher, std::string_view option, std::string_view next, std::string_view after) {
  if (option.find('=') != std::string_view::npos) return 0;
  const std::string_view name = option.substr(option.starts_with("--") ? 2 : 1);
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  if (name.size() > 1 && std::all_of(name.begin() + 1, name.end(), is_digit)) return 0;  // -n4
  if (has_word(launcher.switches, name)) return 0;
  if (has_word(kMpiOptional, name)) return !next.starts_with('-') && after.starts_with('-') ? 1 : 0;
  if (!has_word(kMpiPairs, name)) return 1;
  // Hydra takes -genv NAME=VALUE, too.
  return name.ends_with("env") && next.find('=') != std::string_view::npos ? 1 : 2;
}

size_t values_of_letters(const Launcher& launcher, std::string_view option) {
  if (option.starts_with("--")) {
    const bool is_switch = launcher.switches == "*" || has_word(launcher.switches, option.substr(2));
    return option.find('=') == std::string_view::npos && !is_switch ? 1 : 0;
  }
  for (size_t i = 1; i < option.size(); ++i) {
    if (launcher.letters_with_rest.find(option[i]) != std::string_view::npos) return 0;
    if (launcher.letters_with_value.find(option[i]) != std::string_view::npos) return i + 1 == option.size() ? 1 : 0;
  }
  return 0;
}

size_t skip_options(const Launcher& launcher, const Words& words, size_t i) {
  for (; i < words.size() && !words[i].empty() && words[i][0] == '-'; ++i) {
    if (words[i] == "--") return i + 1;
    i += launcher.style == OptionStyle::kMpi
             ? values_of_mpi(launcher, words[i], word_at(words, i + 1), word_at(words, i + 2))
             : values_of_letters(launcher, words[i]);
  }
  return std::min(i, words.size());
}

// The launcher that words[i] is: of two with one name that whose verb follows. Null: none.
const Launcher* launcher_at(const Words& words, size_t i) {
  const std::string_view name = base_name(words[i]);
  const Launcher* first = nullptr;
  for (const Launcher& launcher : launcher_table()) {
    // mpiexec.hydra, mpirun.openmpi
    const bool named = has_word(launcher.names, name) || (launcher.style == OptionStyle::kMpi &&
                                                          has_word(launcher.names, name.substr(0, name.find('.'))));
    if (!named) continue;
    if (launcher.verbs.empty() || has_word(launcher.verbs, word_at(words, skip_options(launcher, words, i + 1)))) {
      return &launcher;
    }
    if (first == nullptr) first = &launcher;
  }
  return first;
}

// The value of a long option among words [from, to); empty: it is not there.
std::string_view value_of(std::string_view option, const Words& words, size_t from, size_t to) {
  for (size_t i = from; !option.empty() && i < to; ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with("--") || !word.substr(2).starts_with(option)) continue;
    const std::string_view rest = word.substr(2 + option.size());
    if (rest.empty()) return word_at(words, i + 1);
    if (rest.starts_with("=")) return rest.substr(1);
  }
  return {};
}

}  // namespace

LaunchedProgram program_of(const Words& words) {
  LaunchedProgram program;
  bool lists_programs = false;
  std::string_view named;  // by an option of a container
  size_t i = 0;
  while (i < words.size()) {
    if (is_assignment(words[i]) || words[i] == "do" || words[i] == "then" || words[i] == "else" || words[i] == "!") {
      ++i;
      continue;
    }
    const Launcher* launcher = launcher_at(words, i);
    if (launcher == nullptr) break;
    program.launched = program.launched || launcher->launches;
    const size_t first_option = i + 1;
    i = skip_options(*launcher, words, first_option);
    // srun --multi-prog FILE: the programs stand in the file.
    const auto from = static_cast<std::ptrdiff_t>(std::min(first_option, i)), to = static_cast<std::ptrdiff_t>(i);
    lists_programs =
        lists_programs || (has_word(launcher->names, "srun") &&
                           std::find(words.begin() + from, words.begin() + to, "--multi-prog") != words.begin() + to);
    if (!launcher->verbs.empty()) {
      if (!has_word(launcher->verbs, word_at(words, i))) return program;  // apptainer pull: no program
      i = skip_options(*launcher, words, i + 1);
    }
    named = value_of(launcher->program_option, words, first_option, i);
    // What follows an image are its arguments, or nothing.
    const bool is_image = launcher->operands == 0 || i + launcher->operands >= words.size();
    if (launcher->runs_image && named.empty() && is_image) break;
    i = std::min(i + launcher->operands, words.size());
    if (!named.empty()) break;
    if (i < words.size() && words[i] == "--") ++i;
  }
  if (!named.empty()) program.words.emplace_back(named);
  program.words.insert(program.words.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  program.several = lists_programs || (program.launched && std::find(program.words.begin(), program.words.end(), ":") !=
                                                               program.words.end());
  return program;
}

}  // namespace perfcast::fleet
