#include "profile/collect/qemu/executed_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace perfcast {
namespace {

constexpr std::string_view kBlocksMagic = "perfcast-blocks";
// What the plugin's own tables hold.
constexpr size_t kMostMappings = 4096, kMostBlocks = size_t{1} << 24U;
constexpr size_t kMostPathBytes = 4352;
constexpr uint32_t kMostBlockBytes = 1 << 16;
constexpr uint32_t kAddressBits = 52;
constexpr size_t kShownBytes = 60;

template <typename T>
bool read_number(std::string_view text, T& value, int base) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return problem == std::errc() && !text.empty() && end == text.data() + text.size();
}

// The word before the next space, which goes with it; all that is left where there is none.
std::string_view next_word(std::string_view& rest) {
  const size_t space = rest.find(' ');
  const std::string_view word = rest.substr(0, space);
  rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
  return word;
}

class BlocksParser {
 public:
  BlocksParser(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

  Result<ExecutedCode> parse() {
    if (const Status status = read_version(); !status) return status.error();
    while (!ended_) {
      if (const Status status = read_line(); !status) return status.error();
    }
    if (!rest_.empty()) return wrong("text after the end", "nothing after 'end 1'");
    for (size_t i = 0; i < result_.mappings.size(); ++i) {
      result_.mappings[i].start += shifts_[i];
      result_.mappings[i].end += shifts_[i];
    }
    std::sort(result_.mappings.begin(), result_.mappings.end(),
              [](const ExecutedMapping& a, const ExecutedMapping& b) { return a.start < b.start; });
    return std::move(result_);
  }

 private:
  Error wrong(const std::string& found, const std::string& expected) const {
    return {"bad-executed-code", found, fmt::format("{}:{}", source_, line_), expected};
  }

  // A last line without its newline is a cut-off one and no line.
  std::optional<std::string_view> next_line() {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++line_;
    return line;
  }

  Status read_version() {
    auto line = next_line();
    if (!line || next_word(*line) != kBlocksMagic)
      return wrong("no file of blocks of the QEMU plugin", "a first line 'perfcast-blocks 1'");
    int64_t version = 0;
    if (!read_number(*line, version, 10) || version < 1) return wrong("no version number", "'perfcast-blocks 1'");
    if (version > 1) {
      return Error{"future-version", fmt::format("the plugin writes version {}", version), source_,
                   "version 1: the plugin that was built with this perfcast"};
    }
    return {};
  }

  Status read_line() {
    const auto line = next_line();
    if (!line) return wrong("the file is cut off", "a last line 'end 1'");
    std::string_view rest = *line;
    const std::string_view first = next_word(rest);
    if (first == "end") {
      ended_ = rest == "1";
      return ended_ ? Status() : wrong("'" + printable(line->substr(0, kShownBytes)) + "'", "'end 1'");
    }
    if (first == "entry") return read_entry(rest);
    if (first == "mapping") return read_mapping(rest);
    return read_block(*line);
  }

  Status read_entry(std::string_view rest) {
    uint64_t address = 0;
    if (result_.has_start) return wrong("a second entry", "one at the most");
    if (!read_number(rest, address, 16)) return wrong("no address of the entry", "'entry ADDRESS', hexadecimal");
    result_.has_start = true;
    return {};
  }

  Status read_mapping(std::string_view rest) {
    ExecutedMapping mapping;
    if (!result_.blocks.empty()) return wrong("a mapping after blocks", "all mappings before the first block");
    if (result_.mappings.size() == kMostMappings)
      return wrong("too many mappings", fmt::format("{} at the most", kMostMappings));
    const bool is_read = read_number(next_word(rest), mapping.start, 16) &&
                         read_number(next_word(rest), mapping.end, 16) &&
                         read_number(next_word(rest), mapping.file_offset_bytes, 16);
    if (!is_read || mapping.start >= mapping.end || mapping.end >> kAddressBits != 0)
      return wrong("no mapping", "'mapping START END OFFSET PATH': hexadecimal, START < END < 2^52");
    const uint64_t bytes = mapping.end - mapping.start;
    if (mapping.file_offset_bytes > UINT64_MAX - bytes || rest.size() > kMostPathBytes)
      return wrong("a mapping of no file", "an offset and a path that a file can have");
    mapping.path = rest;
    uint64_t generation = 0;
    for (size_t i = 0; i < result_.mappings.size(); ++i) {
      const ExecutedMapping& before = result_.mappings[i];
      if (before.start < mapping.end && mapping.start < before.end)
        generation = std::max(generation, (shifts_[i] >> kAddressBits) + 1);
    }
    shifts_.push_back(generation << kAddressBits);
    result_.mappings.push_back(std::move(mapping));
    return {};
  }

  Status read_block(std::string_view rest) {
    const std::string_view line = rest;
    ExecutedBlock block;
    size_t number = 0;
    const bool is_read =
        read_number(next_word(rest), number, 10) && read_number(next_word(rest), block.address, 16) &&
        read_number(next_word(rest), block.bytes, 10) && read_number(next_word(rest), block.executions_count, 10) &&
        read_number(next_word(rest), block.iterations_count, 10) &&
        read_number(next_word(rest), block.before_count, 10) && read_number(rest, block.since_end_count, 10);
    if (!is_read) {
      return wrong("'" + printable(line.substr(0, kShownBytes)) + "' is neither a block nor a mapping",
                   "'MAPPING PC BYTES EXECUTIONS ITERATIONS BEFORE SINCE'");
    }
    if (result_.blocks.size() == kMostBlocks)
      return wrong("too many blocks", fmt::format("{} at the most", kMostBlocks));
    if (block.bytes == 0 || block.bytes > kMostBlockBytes)
      return wrong(fmt::format("a block of {} bytes", block.bytes), fmt::format("1 to {}", kMostBlockBytes));
    if (block.executions_count == 0 && block.iterations_count == 0)
      return wrong("a block that did not run", "only blocks that ran");
    const bool is_parted = block.before_count != 0 || block.since_end_count != 0;
    if (block.before_count > block.executions_count ||
        block.since_end_count > block.executions_count - block.before_count || (is_parted && !result_.has_start))
      return wrong("more executions before and after the program than there are", "parts of EXECUTIONS, with an entry");
    if (number > result_.mappings.size())
      return wrong(fmt::format("a block of mapping {}", number), "the number of a mapping, or 0");
    if (block.address >> kAddressBits != 0) return wrong("a block at an address of no process", "one below 2^52");
    if (number > 0) {
      const ExecutedMapping& mapping = result_.mappings[number - 1];
      if (block.address < mapping.start || block.address >= mapping.end)
        return wrong("a block outside of its mapping", "one that begins inside");
      block.address += shifts_[number - 1];
    }
    result_.blocks.push_back(block);
    return {};
  }

  std::string_view rest_;
  const std::string& source_;
  size_t line_ = 0;
  bool ended_ = false;
  ExecutedCode result_;
  std::vector<uint64_t> shifts_;  // of the mappings as they stand in the file
};

}  // namespace

Result<ExecutedCode> parse_executed_code(std::string_view text_or_bytes, const std::string& source) {
  return BlocksParser(text_or_bytes, source).parse();
}

const ExecutedMapping* mapping_of(const std::vector<ExecutedMapping>& mappings, uint64_t address) {
  const auto after = std::upper_bound(mappings.begin(), mappings.end(), address,
                                      [](uint64_t value, const ExecutedMapping& of) { return value < of.start; });
  if (after == mappings.begin()) return nullptr;
  const ExecutedMapping& found = *std::prev(after);
  return address < found.end ? &found : nullptr;
}

}  // namespace perfcast
