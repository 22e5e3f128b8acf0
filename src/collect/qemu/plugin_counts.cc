#include "collect/qemu/plugin_counts.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "base/text.h"

namespace perfcast {
namespace {

constexpr std::string_view kMagic = "perfcast-qemu";
constexpr size_t kKeyBytes = 64;

bool is_key(std::string_view key) {
  return !key.empty() && key.size() <= kKeyBytes && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
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
    if (key == "exec_path") {
      result.exec_path = printable(value.substr(0, 4096));
      return {};
    }
    if (!is_key(key)) return wrong("'" + printable(key.substr(0, 40)) + "' is no key", "a key of a-z, 0-9 and _");
    uint64_t number = 0;
    if (!read_integer(value, number)) {
      return wrong("'" + printable(value.substr(0, 40)) + "' is no count", "an integer from 0 to 2^64-1");
    }
    if (key == "pid") {
      result.process = static_cast<int64_t>(std::min<uint64_t>(number, std::numeric_limits<int32_t>::max()));
    } else if (key == "exec") {
      result.became_another = number != 0;
    } else if (key != "ppid" && !result.counts.emplace(key, number).second) {
      return wrong("the key '" + std::string(key) + "' stands twice", "each key once");
    }
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

}  // namespace

Result<PluginCounts> parse_plugin_counts(std::string_view text, const std::string& source) {
  return Parser(text, source).parse();
}

Result<PluginCounts> merge_plugin_counts(const std::vector<PluginCounts>& parts, const std::string& source) {
  if (parts.empty()) return Error{"no-counts", "the plugin wrote no counts", source, "at least one process that ended"};
  PluginCounts sum = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) {
    const PluginCounts& part = parts[i];
    if (part.arch != sum.arch || part.mode != sum.mode) {
      return Error{"bad-plugin-counts", "processes of one run differ in architecture or mode", source,
                   "one run's files"};
    }
    for (const auto& [key, count] : part.counts) {
      uint64_t& total = sum.counts[key];
      total =
          total > std::numeric_limits<uint64_t>::max() - count ? std::numeric_limits<uint64_t>::max() : total + count;
    }
    sum.became_another = sum.became_another || part.became_another;
    if (sum.exec_path.empty()) sum.exec_path = part.exec_path;
  }
  // A process that became another program reports once for each.
  std::set<int64_t> processes;
  for (const PluginCounts& part : parts) processes.insert(part.process);
  sum.processes = processes.size();
  return sum;
}

}  // namespace perfcast
