#include "fleet/slurm/job_script.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "fleet/slurm/launcher_table.h"
#include "fleet/slurm/launchers.h"

namespace perfcast::fleet {
namespace {

constexpr size_t kLargestScriptBytes = size_t{4} << 20;  // sbatch's own limit is of this size
constexpr int64_t kLargestCount = 1'000'000'000;
constexpr std::string_view kDirective = "#SBATCH";

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (value < 0 || value > kLargestCount) return std::nullopt;
  return value;
}

Error bad_directive(const std::string& option, std::string_view value, const std::string& where,
                    const std::string& expected) {
  return {"bad-directive", "--" + option + "=" + printable(value.substr(0, 80)) + " is not understood", where,
          expected};
}

Result<int64_t> parse_count(const std::string& option, std::string_view text, const std::string& where) {
  const auto value = whole_number(text.substr(0, text.find('-')));
  if (!value || *value == 0) return bad_directive(option, text, where, "a whole number above 0");
  return *value;
}

Result<std::optional<int64_t>> parse_memory_bytes(const std::string& option, std::string_view text,
                                                  const std::string& where) {
  int64_t unit = int64_t{1} << 20;  // sbatch counts in MiB
  std::string_view number = text;
  if (number.ends_with("B") || number.ends_with("b")) number.remove_suffix(1);
  if (!number.empty()) {
    const size_t power = std::string_view("kmgt").find(lower_case(number.substr(number.size() - 1)));
    if (power != std::string_view::npos) {
      unit = int64_t{1} << (10 * (power + 1));
      number.remove_suffix(1);
    }
  }
  const auto value = whole_number(number);
  if (!value || *value > INT64_MAX / unit) {
    return bad_directive(option, text, where, "a whole number with K, M, G or T behind it, such as 4G");
  }
  if (*value == 0) return std::optional<int64_t>();
  return std::optional<int64_t>(*value * unit);
}

struct Option {
  std::string_view name;
  char letter;
};
constexpr std::array kOptions = {
    Option{"array", 'a'}, Option{"comment", '\0'},      Option{"constraint", 'C'},       Option{"job-name", 'J'},
    Option{"mem", '\0'},  Option{"nodes", 'N'},         Option{"ntasks", 'n'},           Option{"partition", 'p'},
    Option{"time", 't'},  Option{"cpus-per-task", 'c'}, Option{"ntasks-per-node", '\0'}, Option{"mem-per-cpu", '\0'}};

Status take(const std::string& option, const std::string& value, const std::string& where, JobScript& job) {
  const auto count_into = [&](std::optional<int64_t>& member) -> Status {
    const auto count = parse_count(option, value, where);
    if (!count) return count.error();
    member = *count;
    return {};
  };
  if (option == "array") job.array = value;
  if (option == "comment") job.comment = value;
  if (option == "constraint") job.constraint = value;
  if (option == "job-name") job.job_name = value;
  if (option == "partition") job.partition = value;
  if (option == "nodes") return count_into(job.nodes);
  if (option == "ntasks") return count_into(job.tasks);
  if (option == "cpus-per-task") return count_into(job.cpus_per_task);
  if (option == "ntasks-per-node") return count_into(job.tasks_per_node);
  if (option == "mem-per-cpu") {
    const auto bytes = parse_memory_bytes(option, value, where);
    if (!bytes) return bytes.error();
    job.memory_bytes_per_core = *bytes;
  }
  if (option == "mem") {
    const auto bytes = parse_memory_bytes(option, value, where);
    if (!bytes) return bytes.error();
    job.memory = value;
    job.memory_bytes = *bytes;
  }
  if (option == "time") {
    const auto seconds = parse_slurm_time_s(value, where);
    if (!seconds) return seconds.error();
    job.time = value;
    job.time_limit_s = *seconds;
  }
  return {};
}

// The options of one #SBATCH line.
Status take_directives(const std::vector<std::string>& words, const std::string& where, JobScript& job) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') continue;
    const bool is_long = word[1] == '-';
    if (word == "--exclusive") {
      job.exclusive = true;
      continue;
    }
    const size_t equals = is_long ? word.find('=') : std::string::npos;
    const auto found = std::find_if(kOptions.begin(), kOptions.end(), [&](const Option& option) {
      return is_long ? word.substr(2, equals == std::string::npos ? equals : equals - 2) == option.name
                     : word[1] == option.letter && option.letter != '\0';
    });
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    if (!is_long && word.size() > 2) value = word.substr(2);
    // Options that we don't know may have their value in the next word; no directive has words of its own.
    if (!value && i + 1 < words.size() && (words[i + 1].empty() || words[i + 1][0] != '-')) value = words[++i];
    if (found == kOptions.end()) continue;
    const std::string name(found->name);
    if (!value) {
      return Error{"bad-directive", "--" + name + " has no value", where, "--" + name + "=VALUE"};
    }
    if (Status status = take(name, *value, where, job); !status) return status;
  }
  return {};
}

// Simple commands of a line, divided by | & ;. Redirections are left out.
std::vector<std::vector<std::string>> simple_commands(const std::vector<ShellToken>& tokens) {
  std::vector<std::vector<std::string>> commands(1);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto is = [&](size_t at, char c) {
      return at < tokens.size() && tokens[at].is_operator && tokens[at].text[0] == c;
    };
    if (!tokens[i].is_operator) {
      commands.back().push_back(tokens[i].text);
    } else if (is(i, '<') || is(i, '>')) {
      if (is(i + 1, '&') || is(i + 1, '|')) ++i;  // 2>&1, >|file
      ++i;
    } else {
      commands.emplace_back();
    }
  }
  return commands;
}

// Commands that are no program of a job, and take time nevertheless.
constexpr std::string_view kTakesTime = "cp mv sleep eval sbcast";

// What else than one run of the program takes a job's time.
class OtherWork {
 public:
  // The words of a simple command, behind its launchers.
  void take(std::vector<std::string> words) {
    if (words.empty()) return;
    if (has_word("for while until select", words[0])) ++open_loops_;
    if (words[0] == "done" && open_loops_ > 0) --open_loops_;
    const bool is_repeated = has_word("while until", words[0]);
    if (is_repeated || has_word("if elif", words[0])) {  // a condition is a command, too
      words = program_of({words.begin() + 1, words.end()}).words;
    }
    if (words.empty() || (has_word(kNotTheProgram, words[0]) && !has_word(kTakesTime, words[0]))) return;
    in_loop_ = in_loop_ || open_loops_ > 0 || is_repeated;
    if (words[0].ends_with("()")) return;  // a function's head
    ++runs_;
    const std::string name = words[0].substr(words[0].rfind('/') + 1);
    if (seen_.insert(name).second) names_.push_back(name);
  }
  // `program`: its file name. Empty: there is nothing else.
  std::string text(const std::string& program) const {
    if (in_loop_) return "the script runs commands in a loop";
    std::vector<std::string> others;
    for (const std::string& name : names_) {
      if (name != program) others.push_back(name.substr(0, 80));
    }
    if (others.size() > 3) others = {others[0], others[1], std::to_string(others.size() - 2) + " more"};
    if (!others.empty()) return "the script also runs " + printable(join(others, ", "));
    return runs_ > 1 ? "the script runs the program " + std::to_string(runs_) + " times" : "";
  }

 private:
  int open_loops_ = 0;
  bool in_loop_ = false;
  size_t runs_ = 0;
  std::vector<std::string> names_;  // each once, in the order of the script
  std::set<std::string> seen_;
};

void find_command(const std::vector<std::string_view>& lines, JobScript& job) {
  LaunchedProgram chosen;
  OtherWork other;
  bool cut_short = false;
  std::string logical;
  for (const std::string_view raw : lines) {
    const std::string_view line = trim(raw);
    if (logical.empty() && (line.empty() || line[0] == '#')) continue;
    logical += raw;
    const size_t last = logical.find_last_not_of('\\');
    if ((logical.size() - 1 - last) % 2 == 1) {  // npos + 1 is 0
      logical.pop_back();
      continue;
    }
    const auto tokens = shell_tokens(logical, LineKind::kCommand);
    logical.clear();
    if (!tokens) {
      cut_short = true;
      break;  // a quote over several lines: what follows may be text
    }
    for (const auto& simple : simple_commands(*tokens)) {
      LaunchedProgram program = program_of(simple);
      other.take(program.words);
      if (program.words.empty() || has_word(kNotTheProgram, program.words[0])) continue;
      if (chosen.launched && !program.launched) continue;
      chosen = std::move(program);
    }
    if (std::any_of(tokens->begin(), tokens->end(), [](const auto& t) { return t.is_operator && t.text == "<<"; })) {
      cut_short = true;
      break;  // a here-document follows
    }
  }
  if (!chosen.words.empty()) job.runs_more = other.text(chosen.words[0].substr(chosen.words[0].rfind('/') + 1));
  if (cut_short && job.runs_more.empty()) {
    job.runs_more = "the script may run more behind quoted text or a here-document";
  }
  if (chosen.words.empty()) {
    job.command_unclear = cut_short ? "the script's commands end in quoted text or a here-document"
                                    : "the script has no command that looks like a program";
  } else if (chosen.words[0].find_first_of("$`(){}*?") != std::string::npos) {
    job.command_unclear = "the program is only known when the script runs: " + printable(chosen.words[0].substr(0, 80));
  } else if (chosen.several) {
    job.command_unclear = "one launcher starts several programs, of a file (--multi-prog) or with ':' between them";
    job.runs_more = job.command_unclear;
  } else if (cut_short && !chosen.launched) {
    job.command_unclear = "the script's commands end in quoted text or a here-document";
  } else {
    job.command = std::move(chosen.words);
  }
}

}  // namespace

Result<std::optional<int64_t>> parse_slurm_time_s(std::string_view text, const std::string& where) {
  const std::string lower = lower_case(text);
  if (lower == "unlimited" || lower == "infinite" || lower == "-1") return std::optional<int64_t>();
  Error error = bad_directive("time", text, where,
                              "minutes, minutes:seconds, hours:minutes:seconds, or "
                              "days-hours[:minutes[:seconds]]");
  const size_t dash = text.find('-');
  int64_t days = 0;
  if (dash != std::string_view::npos) {
    const auto value = whole_number(text.substr(0, dash));
    if (!value) return error;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  std::vector<int64_t> parts;
  for (const std::string& part : split(text, ':')) {
    const auto value = whole_number(part);
    if (!value || parts.size() == 3) return error;
    parts.push_back(*value);
  }
  int64_t seconds = 0;
  if (dash != std::string_view::npos) {
    parts.resize(3, 0);
    seconds = days * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2];
  } else if (parts.size() == 1) {
    seconds = parts[0] * 60;
  } else if (parts.size() == 2) {
    seconds = parts[0] * 60 + parts[1];
  } else {
    seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
  }
  if (seconds == 0) return std::optional<int64_t>();  // 0 asks for no limit
  return std::optional<int64_t>(seconds);
}

Result<JobScript> parse_job_script(std::string_view text, const std::string& source) {
  JobScript job;
  job.source = source;
  const auto refuse = [&](const std::string& what) {
    return Error{"bad-job-script", what + ": sbatch refuses it, too", source,
                 "a batch script whose first line is such as #!/bin/sh"};
  };
  if (text.size() > kLargestScriptBytes) return refuse("the script is larger than 4 MiB");
  if (!text.starts_with("#!")) return refuse("the script does not begin with #!");
  if (text.find('\0') != std::string_view::npos) return refuse("the script holds NUL bytes");
  if (text.find("\r\n") != std::string_view::npos) return refuse("the script has DOS line ends");
  std::vector<std::string_view> lines;
  bool in_head = true;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    const std::string_view content = trim(line);
    if (!content.empty() && content[0] != '#') in_head = false;
    if (!in_head) lines.push_back(line);
    if (!in_head || !line.starts_with(kDirective)) continue;
    const std::string_view rest = line.substr(kDirective.size());
    if (!rest.empty() && rest[0] != ' ' && rest[0] != '\t') continue;
    const std::string where = source + ":" + std::to_string(number);
    const auto words = shell_words(rest, LineKind::kDirective);
    if (!words) return Error{"bad-directive", "a quote is not closed", where, "#SBATCH --option=\"value\""};
    if (!words->empty() && (words->front() == "hetjob" || words->front() == "packjob")) {
      return Error{"heterogeneous-job", "the job has several components, which may lie on different partitions", where,
                   "a script of one component: give each component to slurm advise as a script of its own"};
    }
    if (const Status status = take_directives(*words, where, job); !status) return status.error();
  }
  lines.emplace_back();  // the end of a last line that a backslash continues
  find_command(lines, job);
  return job;
}

Result<JobScript> read_job_script(const std::string& path) {
  const auto text = read_file(path, kLargestScriptBytes);
  if (!text) return text.error();
  return parse_job_script(*text, path);
}

}  // namespace perfcast::fleet
