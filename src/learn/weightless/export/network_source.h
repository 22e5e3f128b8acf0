#pragma once
// A weightless network as source that needs nothing but a compiler: C99, C++17 or Verilog-2001, each with a self-test
// of recorded rows. All answer as LutNetwork does, bit for bit.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learn/weightless/lut_network.h"

namespace perfcast {

struct ExportedNetwork {
  std::string name;  // prefix of all that the source defines
  LutNetwork network;
  std::vector<std::string> inputs, outputs;  // names, for people
  std::vector<float> fill;                   // stands for an input that is not a number
  bool least_wins = false;                   // which sum is the best
  std::vector<std::string> about;            // lines of the comment on top

  size_t best(std::span<const int32_t> sums) const;             // of equal ones the first
  std::vector<int32_t> sums(std::span<const float> row) const;  // after filling
};

// A row and what the network says of it.
struct RecordedRow {
  std::string name;
  std::vector<float> inputs;
  std::vector<int32_t> sums;
  size_t best = 0;
};
RecordedRow record(const ExportedNetwork& network, std::string name, std::vector<float> inputs);
// Numbers on thresholds, beside them, far beyond them, and missing.
std::vector<RecordedRow> drawn_rows(const ExportedNetwork& network, size_t count, uint64_t seed);

struct SourceFile {
  std::string name, text;
};

// Stands in the first lines of all that is exported: such a file may be written again, others are someone's own. On top
// of a C or C++ header and a Verilog module it is the caller's to say, in `about`.
inline constexpr std::string_view kExportMark = "made by perfcast export";

enum class SourceFormat : uint8_t { kC, kCpp, kVerilog };
std::string_view to_text(SourceFormat format);
Result<SourceFormat> parse_source_format(std::string_view text);  // "bad-usage"

// "bad-name": no identifier of letters, digits and single underscores that begins with a letter, or one of more than
// 63 characters; "bad-network": names, fills or rows that don't fit the network.
Result<std::vector<SourceFile>> network_source(const ExportedNetwork& network, SourceFormat format,
                                               std::span<const RecordedRow> rows);

// What the network takes. LUTs: of six inputs, encoder, tables, counting and the choice of the best, by the rules that
// docs/weightless.md states; a synthesis may share or fold some.
struct NetworkSize {
  size_t thresholds = 0, tables = 0;
  size_t data_bytes = 0;  // constants of the C source
  size_t encoder_luts = 0, table_luts = 0, sum_luts = 0, best_luts = 0;
  size_t luts() const { return encoder_luts + table_luts + sum_luts + best_luts; }
};
NetworkSize size_of(const LutNetwork& network);

}  // namespace perfcast
