#include "profile/collect/qemu/plugin_counts.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"

namespace perfcast {
namespace {

constexpr std::string_view kMagic = "perfcast-qemu";
constexpr size_t kKeyBytes = 64;
constexpr size_t kMostThreads = 1024;  // that the plugin tells apart
constexpr size_t kMostFiles = 512, kPathBytes = 4096;

bool is_key(std::string_view key) {
  return !key.empty() && key.size() <= kKeyBytes && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// "r3_dcache_32k_miss"
bool is_of_replicate(std::string_view key) {
  return key.size() > 3 && key[0] == 'r' && key[1] >= '0' && key[1] < static_cast<char>('0' + kReplicates) &&
         key[2] == '_';
}

// "thread12_loads": the number and the rest; absent where it is another key.
std::optional<std::pair<size_t, std::string_view>> of_thread(std::string_view key) {
  constexpr std::string_view kHead = "thread";
  if (!key.starts_with(kHead)) return std::nullopt;
  size_t number = 0;
  const char* begin = key.data() + kHead.size();
  const auto [end, problem] = std::from_chars(begin, key.data() + key.size(), number);
  const auto digits = static_cast<size_t>(end - begin);
  if (problem != std::errc() || digits == 0 || number >= kMostThreads) return std::nullopt;
  const std::string_view rest = key.substr(kHead.size() + digits);
  if (rest.size() < 2 || rest[0] != '_') return std::nullopt;
  return std::pair(number, rest.substr(1));
}

template <typename T>
bool read_integer(std::string_view text, T& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size();
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

  Result<PluginCounts> parse() {
    if (const Status status = read_version(); !status) return status.error();
    PluginCounts result;
    while (!ended_) {
      if (const Status status = read_line(result); !status) return status.error();
    }
    if (!rest_.empty()) return wrong("text after the end", "nothing after 'end 1'");
    if (result.arch.empty()) return wrong("no architecture", "a line 'arch x86_64' or 'arch aarch64'");
    if (result.mode.empty()) return wrong("no mode", "a line 'mode full' or 'mode mix'");
    if (!result.counts.contains("instructions")) return wrong("no instruction count", "a line 'instructions N'");
    return result;
  }

 private:
  Error wrong(const std::string& found, const std::string& expected) const {
    return {"bad-plugin-counts", found, source_ + ":" + std::to_string(line_), expected};
  }

  // False at the end of the text. A last line without its newline is a cut-off one and no line.
  bool next(std::string_view& key, std::string_view& value) {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return false;
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++line_;
    const size_t space = line.find(' ');
    key = line.substr(0, space);
    value = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
    return true;
  }

  Status read_version() {
    std::string_view key, value;
    if (!next(key, value) || key != kMagic) {
      return wrong("not a file of the QEMU plugin", "a first line 'perfcast-qemu 1'");
    }
    int64_t version = 0;
    if (!read_integer(value, version) || version < 1) return wrong("no version number", "'perfcast-qemu 1'");
    if (version > 1) {
      return Error{"future-version", "the plugin writes version " + std::to_string(version), source_,
                   "version 1: the plugin that was built with this perfcast"};
    }
    return {};
  }

  Status read_line(PluginCounts& result) {
    std::string_view key, value;
    if (!next(key, value)) return wrong("the file is cut off", "a last line 'end 1'");
    if (key == "end") {
      ended_ = value == "1";
      if (!ended_) return wrong("'end " + printable(value.substr(0, 40)) + "'", "'end 1'");
      return {};
    }
    if (key == "arch") return read_name(result.arch, value, "x86_64", "aarch64");
    if (key == "mode") return read_name(result.mode, value, "full", "mix");
    if (key == "exec_path") return read_text(result.exec_path, value);
    if (key == "exec_why") return read_text(result.exec_why, value);
    if (key == "program") return read_text(result.program, value);
    if (key == "command") return read_text(result.command, value);
    if (key == "file") return read_executed_file(result.files, value);
    if (!is_key(key)) return wrong("'" + printable(key.substr(0, 40)) + "' is no key", "a key of a-z, 0-9 and _");
    uint64_t number = 0;
    if (!read_integer(value, number)) {
      return wrong("'" + printable(value.substr(0, 40)) + "' is no count", "an integer from 0 to 2^64-1");
    }
    return keep(result, key, number);
  }

  Status keep(PluginCounts& result, std::string_view key, uint64_t number) const {
    const auto small = static_cast<int64_t>(std::min<uint64_t>(number, std::numeric_limits<int32_t>::max()));
    if (key == "pid") {
      result.process = small;
    } else if (key == "ppid") {
      result.parent = small;
    } else if (key == "forked") {
      result.forked = number != 0;
    } else if (key == "exec") {
      if (number > 2) return wrong("'" + std::to_string(number) + "'", "exec 0, 1 or 2");
      result.end = number == 0 ? PluginEnd::kExit : number == 1 ? PluginEnd::kUnseen : PluginEnd::kFollowed;
    } else if (key == "signal") {
      result.signal = static_cast<int>(small);
    } else if (key == "group") {
      result.group = small;
    } else if (key == "unit") {
      result.unit = small;
    } else if (key == "emulated_us") {
      result.emulated_us = number;
    } else if (is_of_replicate(key)) {
      if (result.replicates.empty()) result.replicates.resize(kReplicates);
      const auto replicate = static_cast<size_t>(key[1] - '0');
      if (!result.replicates[replicate].emplace(key.substr(3), number).second) {
        return wrong("the key '" + std::string(key) + "' stands twice", "each key once");
      }
    } else if (const auto thread = of_thread(key)) {
      if (result.threads.size() <= thread->first) result.threads.resize(thread->first + 1);
      if (!result.threads[thread->first].emplace(thread->second, number).second) {
        return wrong("the key '" + std::string(key) + "' stands twice", "each key once");
      }
    } else if (key != "started_ns" && !result.counts.emplace(key, number).second) {
      return wrong("the key '" + std::string(key) + "' stands twice", "each key once");
    }
    return {};
  }

  static Status read_text(std::string& target, std::string_view value) {
    target = printable(value.substr(0, 4096));
    return {};
  }

  // "INSTRUCTIONS VECTOR PATH"
  Status read_executed_file(std::vector<ExecutedFile>& files, std::string_view value) const {
    const size_t first = value.find(' '), second = first == value.npos ? first : value.find(' ', first + 1);
    uint64_t instructions = 0, vector = 0;
    if (second == value.npos || !read_integer(value.substr(0, first), instructions) ||
        !read_integer(value.substr(first + 1, second - first - 1), vector) || vector > instructions ||
        files.size() == kMostFiles)
      return wrong("'" + printable(value.substr(0, 40)) + "' is no file that ran", "'INSTRUCTIONS VECTOR PATH'");
    files.push_back({std::string(value.substr(second + 1, kPathBytes)), static_cast<double>(instructions),
                     static_cast<double>(vector)});
    return {};
  }

  Status read_name(std::string& target, std::string_view value, const char* first, const char* second) const {
    if (value != first && value != second) {
      return wrong("'" + printable(value.substr(0, 40)) + "'", std::string(first) + " or " + second);
    }
    target = value;
    return {};
  }

  std::string_view rest_;
  const std::string& source_;
  size_t line_ = 0;
  bool ended_ = false;
};

// Which replicates the members of groups are in, and how much they stand for there.
class Deal {
 public:
  explicit Deal(const std::vector<PluginCounts>& parts) {
    std::map<int64_t, std::set<int64_t>> units;
    for (const PluginCounts& part : parts) {
      windows_ = windows_ || !part.replicates.empty();
      if (part.group >= 0) units[part.group].insert(part.unit);
    }
    for (const auto& [group, members] : units) {
      if (members.size() < kReplicates) continue;  // too few to tell how much they differ
      size_t next = 0;
      for (const int64_t unit : members) place_[{group, unit}] = next++ % kReplicates;
      for (size_t r = 0; r < kReplicates; ++r) {
        const size_t in_it = members.size() / kReplicates + (r < members.size() % kReplicates ? 1 : 0);
        factor_[{group, r}] = static_cast<double>(members.size()) / static_cast<double>(in_it);
      }
    }
  }
  bool has_replicates() const { return windows_ || !place_.empty(); }
  double share(const PluginCounts& part, size_t replicate) const {
    const auto place = place_.find({part.group, part.unit});
    if (place == place_.end()) return 1;
    return place->second == replicate ? factor_.at({part.group, replicate}) : 0;
  }

 private:
  bool windows_ = false;
  std::map<std::pair<int64_t, int64_t>, size_t> place_;
  std::map<std::pair<int64_t, size_t>, double> factor_;
};

}  // namespace

Result<PluginCounts> parse_plugin_counts(std::string_view text, const std::string& source) {
  auto counts = Parser(text, source).parse();
  if (counts) counts->source = source;
  return counts;
}

Result<RunCounts> join_plugin_counts(const std::vector<PluginCounts>& parts, const std::vector<double>& weights,
                                     const std::string& source) {
  if (parts.empty()) return Error{"no-counts", "the plugin wrote no counts", source, "at least one process that ended"};
  RunCounts run;
  run.mode = parts.front().mode;
  std::map<std::string, ProgramCounts> programs;
  std::map<std::string, double> largest, by_arch;  // instructions of a program's largest process; of an architecture
  std::map<std::string, UnseenProgram> unseen;
  std::set<int64_t> processes;  // one that became another program has a file for each
  std::map<std::string, std::set<int64_t>> processes_of;
  const Deal deal(parts);
  if (deal.has_replicates()) run.replicates.resize(kReplicates);
  for (const PluginCounts& part : parts) {
    if (part.mode != run.mode) {
      return Error{"bad-plugin-counts", "processes of one run differ in mode", source, "one run's files"};
    }
    if (part.group >= static_cast<int64_t>(weights.size())) {
      return Error{"bad-plugin-counts", "a process of group " + std::to_string(part.group), source,
                   "a group of the run's plan, below " + std::to_string(weights.size())};
    }
    const double weight = part.group < 0 ? 1 : weights[static_cast<size_t>(part.group)];
    const std::string name = part.program.substr(part.program.rfind('/') + 1);
    ProgramCounts& program = programs[name];
    program.name = name;
    program.emulated_s += 1e-6 * static_cast<double>(part.emulated_us);
    for (const auto& [key, count] : part.counts) {
      run.counts[key] += weight * static_cast<double>(count);
      program.counts[key] += weight * static_cast<double>(count);
    }
    for (ExecutedFile file : part.files) {
      file.instructions_count *= weight;
      file.vector_count *= weight;
      run.files.push_back(std::move(file));
    }
    for (size_t r = 0; r < run.replicates.size(); ++r) {
      const double share = deal.share(part, r);
      for (const auto& [key, count] : part.counts) {
        const auto* own = part.replicates.empty() ? nullptr : &part.replicates[r];
        const bool differs = own != nullptr && own->contains(key);
        run.replicates[r][key] += share * weight * static_cast<double>(differs ? own->at(key) : count);
      }
    }
    const auto instructions = static_cast<double>(part.counts.at("instructions"));
    by_arch[part.arch] += weight * instructions;
    if (const auto [at, is_new] = largest.emplace(name, instructions); is_new || instructions > at->second) {
      at->second = instructions;
      program.command = part.command;
    }
    for (const auto& thread : part.threads) {
      const auto ran = thread.find("instructions");
      if (ran == thread.end() || ran->second == 0) continue;
      ThreadOfRun& one = run.threads.emplace_back();
      one.program = name;
      for (const auto& [key, count] : thread) one.counts[key] = static_cast<double>(count);
    }
    processes.insert(part.process);
    if (processes_of[name].insert(part.process).second) program.represented += weight;
    if (part.end == PluginEnd::kUnseen) {
      UnseenProgram& program_unseen = unseen[part.exec_path];
      program_unseen.path = part.exec_path;
      program_unseen.why = part.exec_why;
      ++program_unseen.times;
    }
  }
  run.processes = processes.size();
  for (auto& [name, program] : programs) {
    program.processes = processes_of[name].size();
    run.programs.push_back(std::move(program));
  }
  std::stable_sort(run.programs.begin(), run.programs.end(), [](const auto& a, const auto& b) {
    return a.counts.at("instructions") > b.counts.at("instructions");
  });
  std::stable_sort(run.threads.begin(), run.threads.end(), [](const auto& a, const auto& b) {
    return a.counts.at("instructions") > b.counts.at("instructions");
  });
  for (auto& [path, program] : unseen) run.unseen.push_back(std::move(program));
  std::stable_sort(run.unseen.begin(), run.unseen.end(),
                   [](const auto& a, const auto& b) { return a.times > b.times; });
  for (const auto& [arch, instructions] : by_arch) {
    if (run.arch.empty() || instructions > by_arch[run.arch]) run.arch = arch;
  }
  for (const auto& [arch, instructions] : by_arch) {
    if (arch != run.arch) run.other_arches.push_back(arch);
  }
  return run;
}

}  // namespace perfcast
