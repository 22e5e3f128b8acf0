#include "measure/diagnose/prove/rebuild.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <optional>

#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/text.h"
#include "measure/diagnose/bloat/elf_code.h"
#include "measure/diagnose/prove/source_tree.h"

namespace perfcast::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFlags = "{flags}";
constexpr size_t kLastBuildLines = 6;
constexpr uint64_t kMostCodeBytes = uint64_t{256} << 20;

std::string last_build_lines(const std::string& text) {
  const auto lines = split(trim(text), '\n');
  const size_t first = lines.size() - std::min(kLastBuildLines, lines.size());
  return printable(join({lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end()}, " | "));
}

std::optional<fs::path> existing(const fs::path& path) {
  std::error_code problem;
  fs::path whole = fs::canonical(path, problem);
  if (problem) return std::nullopt;
  return whole;
}

bool is_shell_name(const std::string& name) {
  return !name.empty() && (std::isdigit(static_cast<unsigned char>(name[0])) == 0) &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// The first file that is not the same in both; empty: none.
std::string first_difference(const SourceFiles& before, const SourceFiles& after) {
  for (const auto& [name, file] : before) {
    const auto found = after.find(name);
    if (found == after.end() || !(found->second == file)) return name;
  }
  for (const auto& [name, file] : after) {
    if (!before.contains(name)) return name;
  }
  return "";
}

}  // namespace

std::optional<MachineCode> machine_code(const std::string& path) {
  const auto code = read_elf_code(path, false);
  if (!code || code->sections.empty()) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string all;
  for (const ElfPiece& section : code->sections) {
    if (section.bytes > kMostCodeBytes || all.size() > kMostCodeBytes) return std::nullopt;
    std::string bytes(section.bytes, '\0');
    file.seekg(static_cast<std::streamoff>(section.offset));
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return std::nullopt;
    all += bytes;
  }
  return MachineCode{all.size(), std::hash<std::string>()(all)};
}

std::string build_line(std::string_view line, const std::string& flags) {
  const auto is_blank_at = [&](size_t at) { return at >= line.size() || line[at] == ' ' || line[at] == '\t'; };
  std::string result;
  char quote = 0;
  for (size_t at = 0; at < line.size();) {
    if (line.substr(at).starts_with(kFlags)) {
      const bool is_word = (at == 0 || is_blank_at(at - 1)) && is_blank_at(at + kFlags.size());
      result += quote != 0 || is_word ? flags : "'" + flags + "'";
      at += kFlags.size();
      continue;
    }
    const char c = line[at++];
    result += c;
    if (c == '\\' && quote != '\'' && at < line.size()) {
      result += line[at++];
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
  }
  return result;
}

Result<std::unique_ptr<Rebuilder>> Rebuilder::create(RebuildRequest request) {
  if (request.build.find(kFlags) == std::string::npos) {
    return usage_error("bad-usage", "'" + printable(request.build) + "' has no place for flags", "--rebuild",
                       "a build's command with {flags} in it, such as \"make CXXFLAGS={flags}\"");
  }
  auto folder = TempFolder::create(" '\"\\$");
  if (!folder) return folder.error();
  std::unique_ptr<Rebuilder> rebuilder(new Rebuilder(std::move(request), std::move(*folder)));
  if (Status looked = rebuilder->look(); !looked) return looked.error();
  return rebuilder;
}

Status Rebuilder::look() {
  std::error_code problem;
  const auto tree = existing(request_.source);
  if (!tree || !fs::is_directory(*tree, problem)) {
    return usage_error("bad-usage", "'" + printable(request_.source) + "' is no folder", "--source",
                       "the folder of the program's sources, that the build's command runs in");
  }
  tree_ = *tree;
  here_ = existing(fs::current_path(problem)).value_or("/");
  if (is_path_within(tree_, existing(folder_.path()).value_or("/"))) {
    return usage_error("bad-usage", "the folder for temporary files lies in the source tree", folder_.path(),
                       "TMPDIR=/path of another folder");
  }
  return find_program();
}

Status Rebuilder::find_program() {
  std::error_code problem;
  bool is_in_tree = false;
  for (size_t i = 0; i < request_.command.size(); ++i) {
    const std::string& word = request_.command[i];
    const std::string named = i == 0 && word.find('/') == std::string::npos ? find_in_path(word) : word;
    const auto path = existing(here_ / named);
    if (!path || !is_path_within(tree_, *path) || !fs::is_regular_file(*path, problem)) continue;
    is_in_tree = true;
    if (program_.empty() && is_build_product(*path)) program_ = path->string();
  }
  if (!is_in_tree) {
    return usage_error("bad-usage", "no word of the command names a file in " + printable(tree_.string()), "--source",
                       "the folder that the command's program is built in");
  }
  const auto files = list_source_files(tree_, request_.most_bytes);
  if (!files) return files.error();
  if (program_.empty()) return {};
  const auto built = fs::last_write_time(program_, problem);
  older_ = std::any_of(files->begin(), files->end(),
                       [&](const auto& file) { return is_source_name(file.first) && file.second.time > built; });
  return {};
}

std::vector<std::string> Rebuilder::command_in(const fs::path& copy) const {
  std::vector<std::string> result = {"env"};
  const bool runs_in_copy = is_path_within(tree_, here_);
  if (runs_in_copy) {
    result.emplace_back("-C");
    result.push_back((copy / here_.lexically_relative(tree_)).lexically_normal().string());
  }
  for (size_t i = 0; i < request_.command.size(); ++i) {
    const std::string& word = request_.command[i];
    const bool by_path = i == 0 && word.find('/') == std::string::npos;
    const auto path = existing(by_path ? fs::path(find_in_path(word)) : here_ / word);
    // What is named from the folder that it runs in is found by the same name in the copy.
    const bool stays =
        !path || !is_path_within(tree_, *path) || (runs_in_copy && !by_path && fs::path(word).is_relative());
    result.push_back(stays ? word : (copy / path->lexically_relative(tree_)).lexically_normal().string());
  }
  return result;
}

Result<RebuiltProgram> Rebuilder::build_in(const fs::path& copy, const std::string& flags) const {
  RebuiltProgram built;
  built.flags = flags;
  built.command = command_in(copy);
  if (!program_.empty()) built.path = (copy / fs::path(program_).lexically_relative(tree_)).string();
  ProcessRequest process;
  process.executable = "/bin/sh";
  // A make that started us is no make of this build; nor are the command's variables any of its.
  std::string unset = "unset MAKEFLAGS MFLAGS MAKELEVEL";
  for (const auto& [name, value] : request_.environment) {
    if (value) {
      process.environment[name] = *value;
    } else if (is_shell_name(name)) {
      unset += " " + name;
    }
  }
  process.arguments = {"sh", "-c",
                       "cd \"$1\" || exit\n" + unset + "\n{ " + build_line(request_.build, flags) + "\n} >&2", "sh",
                       copy.string()};
  process.limit_s = request_.limit_s;
  const auto outcome = run_process(process);
  if (!outcome) return outcome.error();
  const std::string name = "the build with " + (flags.empty() ? "no flags" : flags);
  if (outcome->limit_reached) {
    return Error{"limit-reached", fmt::format("{} took more than {:.0f} s", name, request_.limit_s), request_.build,
                 "a build that is faster"};
  }
  if (!outcome->ok()) {
    const std::string words = last_build_lines(outcome->error_tail);
    const std::string why = !words.empty()       ? words
                            : outcome->exit_code ? fmt::format("exit status {}", *outcome->exit_code)
                                                 : "a signal ended it";
    return Error{"build-failed", name + " failed: " + why, request_.build,
                 "a command that builds the tree from a fresh copy"};
  }
  built.build_s = outcome->wall_s;
  if (built.path.empty()) return built;
  std::error_code problem;
  if (const auto made = fs::last_write_time(built.path, problem); problem || made <= product_time()) {
    return Error{"not-rebuilt", name + " did not make " + printable(program_) + " anew", request_.build,
                 "a command that builds the program that is diagnosed, where it stands in the tree"};
  }
  built.code = machine_code(built.path);
  return built;
}

Result<RebuiltProgram> Rebuilder::rebuild(const std::string& flags) {
  if (const auto known = built_.find(flags); known != built_.end()) return known->second;
  const auto spoilt = [this] {
    return Error{"tree-changed",
                 printable(spoilt_) +
                     " of the source tree changed while a copy of it was built: the build writes there, or somebody "
                     "else does; nothing more is built",
                 request_.build, "a build that stays within the folder that it runs in"};
  };
  if (!spoilt_.empty()) return spoilt();
  const auto before = list_source_files(tree_, request_.most_bytes);
  if (!before) return before.error();
  uint64_t bytes = 0;
  for (const auto& [name, file] : *before) bytes += file.bytes;
  std::error_code problem;
  if (const fs::space_info room = fs::space(folder_.path(), problem); !problem && room.available / 2 < bytes) {
    return environment_error("no-room", "there is no room for a copy of the source tree and what is built in it",
                             folder_.path(), "a folder with more room: TMPDIR=/path");
  }
  const fs::path copy = fs::path(folder_.path()) / fmt::format("build{}", built_.size()) / tree_.filename();
  if (Status copied = copy_source_tree(tree_, copy); !copied) return copied.error();
  auto built = build_in(copy, flags);
  const auto after = list_source_files(tree_, request_.most_bytes);
  if (!after) return after.error();
  spoilt_ = first_difference(*before, *after);
  if (!spoilt_.empty()) return spoilt();
  if (!built) fs::remove_all(copy.parent_path(), problem);
  // What a user interrupts was not tried.
  if (built || built.error().kind != ErrorKind::kInterrupted) built_.emplace(flags, built);
  return built;
}

}  // namespace perfcast::measure
