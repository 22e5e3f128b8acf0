#include "cli/manual.h"

#include <algorithm>

#include "base/text.h"
#include "cli/option_table.h"

namespace perfcast::cli {
namespace {

// One verb with what stands before it: "corpus info".
struct NamedVerb {
  std::string words;
  const CLI::App* app;
};

void collect(const CLI::App& app, const std::string& before, std::vector<NamedVerb>& verbs) {
  for (const CLI::App* verb : verbs_of(app)) {
    const std::string words = before.empty() ? verb->get_name() : before + " " + verb->get_name();
    verbs.push_back({words, verb});
    collect(*verb, words, verbs);
  }
}

std::vector<NamedVerb> all_verbs(const CLI::App& app) {
  std::vector<NamedVerb> verbs;
  collect(app, "", verbs);
  return verbs;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options(
      [](const CLI::Option* option) { return option->nonpositional() && !option->get_group().empty(); });
}

// "-o", "--output"; no earlier spellings.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  if (!option.get_lnames().empty()) names.push_back(name_of(option));
  return names;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// A line of its own, whatever it begins with.
std::string troff(const std::string& text) {
  std::string safe = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  safe = replaced(safe, "\n", "\n.br\n");
  return safe.starts_with('.') || safe.starts_with('\'') ? "\\&" + safe : safe;
}

std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

// For a shell's case: "'corpus'|'corpus info'".
std::string verbs_as_pattern(const CLI::App& app) {
  std::vector<std::string> known;
  for (const NamedVerb& verb : all_verbs(app)) known.push_back(quoted(verb.words));
  return join(known, "|");
}

// Options that a user can give after the words; subverbs first.
std::string words_after(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* verb : verbs_of(app)) words.push_back(verb->get_name());
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& name : names_of(*option)) words.push_back(name);
  }
  return join(words, " ");
}

// The verb is what stands before the word at hand, without options; after "--" comes the user's own command.
std::string bash_script(const CLI::App& app) {
  std::string script =
      "# bash completion for perfcast\n"
      "_perfcast() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} verb= words= i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    [ \"${COMP_WORDS[i]}\" = -- ] && { COMPREPLY=($(compgen -f -- \"$word\")); return; }\n"
      "    case \"${verb:+$verb }${COMP_WORDS[i]}\" in\n";
  script += "      " + verbs_as_pattern(app) + ") verb=\"${verb:+$verb }${COMP_WORDS[i]}\" ;;\n    esac\n  done\n";
  script += "  case \"$verb\" in\n    '') words=" + quoted(words_after(app)) + " ;;\n";
  for (const NamedVerb& verb : all_verbs(app)) {
    script += "    " + quoted(verb.words) + ") words=" + quoted(words_after(*verb.app)) + " ;;\n";
  }
  return script +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  [ \"${#COMPREPLY[@]}\" -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "}\n"
         "complete -o filenames -F _perfcast perfcast\n";
}

// What zsh's _describe and _arguments take for their own.
std::string zsh_text(const std::string& text) {
  std::string safe = replaced(replaced(text, "\\", "\\\\"), ":", "\\:");
  return replaced(replaced(safe, "[", "\\["), "]", "\\]");
}

std::string zsh_script(const CLI::App& app) {
  std::string script =
      "#compdef perfcast\n"
      "_perfcast() {\n"
      "  local verb= i\n"
      "  local -a verbs options\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    [[ ${words[i]} == -- ]] && { _files; return; }\n"
      "    case \"${verb:+$verb }${words[i]}\" in\n";
  script += "      (" + verbs_as_pattern(app) + ")) verb=\"${verb:+$verb }${words[i]}\" ;;\n    esac\n  done\n";
  script += "  case \"$verb\" in\n";
  std::vector<NamedVerb> levels = {{"", &app}};
  for (const NamedVerb& verb : all_verbs(app)) levels.push_back(verb);
  for (const NamedVerb& level : levels) {
    script += "    (" + quoted(level.words) + ")\n";
    for (const CLI::App* verb : verbs_of(*level.app)) {
      script += "      verbs+=(" + quoted(verb->get_name() + ":" + zsh_text(verb->get_description())) + ")\n";
    }
    for (const CLI::Option* option : options_of(*level.app)) {
      for (const std::string& name : names_of(*option)) {
        script += "      options+=(" + quoted(name + ":" + zsh_text(option->get_description())) + ")\n";
      }
    }
    script += "      ;;\n";
  }
  return script +
         "  esac\n"
         "  if [[ ${words[CURRENT]} == -* ]]; then\n"
         "    _describe option options\n"
         "  elif (( ${#verbs} )); then\n"
         "    _describe verb verbs\n"
         "  else\n"
         "    _files\n"
         "  fi\n"
         "}\n"
         "if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then _perfcast \"$@\"; else compdef _perfcast perfcast; "
         "fi\n";
}

std::string fish_text(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_script(const CLI::App& app) {
  std::string script =
      "# fish completion for perfcast\n"
      "function __perfcast_verb_is\n"
      "    set -l verb\n"
      "    for word in (commandline -opc)[2..]\n"
      "        test \"$word\" = --; and return 1\n"
      "        string match -q -- '-*' $word; and continue\n"
      "        set -l longer (string trim \"$verb $word\")\n"
      "        contains -- $longer";
  std::vector<NamedVerb> levels = {{"", &app}};
  for (const NamedVerb& verb : all_verbs(app)) {
    script += " " + fish_text(verb.words);
    levels.push_back(verb);
  }
  script +=
      "; and set verb $longer\n"
      "    end\n"
      "    test \"$verb\" = \"$argv\"\n"
      "end\n";
  for (const NamedVerb& level : levels) {
    const std::string begin = "complete -c perfcast -n \"__perfcast_verb_is " + level.words + "\"";
    for (const CLI::App* verb : verbs_of(*level.app)) {
      script += begin + " -f -a " + verb->get_name() + " -d " + fish_text(verb->get_description()) + "\n";
    }
    for (const CLI::Option* option : options_of(*level.app)) {
      std::string line = begin;
      for (const std::string& name : option->get_snames()) line += " -s " + name;
      if (!option->get_lnames().empty()) line += " -l " + option->get_lnames().front();
      script += line + (takes_value(*option) ? " -r" : "") + " -d " + fish_text(option->get_description()) + "\n";
    }
  }
  return script;
}

}  // namespace

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_name().empty(); });  // no groups of options
}

Error no_such_verb(const CLI::App& level, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs_of(level)) names.push_back(verb->get_name());
  const std::string whole = level.get_parent() == nullptr ? "perfcast" : "perfcast " + level.get_name();
  if (names.empty()) {
    return usage_error("bad-usage", "'" + whole + "' has no verbs, so no '" + printable(word) + "'", whole, whole);
  }
  return usage_error("bad-usage", "there is no verb '" + printable(word) + "'", whole,
                     "one of: " + nearest_names(word, names, names.size()));
}

std::string manual_page(const CLI::App& app, const std::string& version) {
  std::string page = ".TH PERFCAST 1 \"\" \"perfcast " + version + "\"\n.SH NAME\nperfcast \\- " +
                     troff("profile a program once; know how it runs everywhere") +
                     "\n.SH SYNOPSIS\n.B perfcast\n.I VERB\n[\\fIOPTIONS\\fR] [\\-\\- \\fICOMMAND\\fR ...]\n";
  page += ".SH DESCRIPTION\n" + troff(app.get_footer()) + "\n.SH VERBS\n";
  for (const auto& [words, verb] : all_verbs(app)) {
    page += ".SS " + troff(words) + "\n" + troff(verb->get_description()) + "\n";
    for (const CLI::Option* option : verb->get_options()) {
      const std::string names = option->nonpositional() ? join(names_of(*option), ", ") : option->get_option_text();
      if (option->get_group().empty() || names == "-h, --help" || names == "--help-all") continue;
      const std::string value =
          option->nonpositional() && takes_value(*option) ? " \\fI" + troff(option->get_option_text()) + "\\fR" : "";
      page += ".TP\n\\fB" + troff(names) + "\\fR" + value + "\n" + troff(option->get_description()) + "\n";
    }
    if (!verb->get_footer().empty()) page += ".PP\n" + troff(verb->get_footer()) + "\n";
  }
  return page;
}

Result<std::string> completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_script(app);
  if (shell == "zsh") return zsh_script(app);
  if (shell == "fish") return fish_script(app);
  return usage_error("bad-usage", "no completion for '" + printable(shell) + "'", "shell", "one of: bash, zsh, fish");
}

}  // namespace perfcast::cli
