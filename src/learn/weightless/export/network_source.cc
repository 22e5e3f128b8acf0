#include "learn/weightless/export/network_source.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "base/text.h"
#include "learn/weightless/export/source_text.h"

namespace perfcast {
namespace {

constexpr std::array<std::string_view, 3> kFormats = {"c", "cpp", "verilog"};
constexpr size_t kMostName = 63;
// A comparison of 32 bits with a constant: five bits and what the lower ones say to each LUT.
constexpr size_t kComparatorLuts = 7;

bool is_identifier(const std::string& name) {
  if (name.empty() || name.size() > kMostName || name.find("__") != std::string::npos || name.back() == '_')
    return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return is_letter(name[0]) && std::all_of(name.begin(), name.end(),
                                           [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

// Their headers would be hidden by ours.
bool is_standard_header(const std::string& name) {
  constexpr std::array<std::string_view, 12> kHeaders = {"assert", "ctype", "errno",  "float",  "limits", "math",
                                                         "signal", "stdio", "stdint", "stdlib", "string", "time"};
  return std::find(kHeaders.begin(), kHeaders.end(), name) != kHeaders.end();
}

size_t bits_for(size_t largest) { return static_cast<size_t>(std::bit_width(largest)); }

}  // namespace

std::string_view to_text(SourceFormat format) { return kFormats.at(static_cast<size_t>(format)); }

Result<SourceFormat> parse_source_format(std::string_view text) {
  for (size_t format = 0; format < kFormats.size(); ++format) {
    if (kFormats.at(format) == text) return static_cast<SourceFormat>(format);
  }
  return usage_error("bad-usage", "there is no format '" + printable(text) + "'", "--format", "c, cpp or verilog");
}

size_t ExportedNetwork::best(std::span<const int32_t> sums) const {
  const auto found =
      least_wins ? std::min_element(sums.begin(), sums.end()) : std::max_element(sums.begin(), sums.end());
  return static_cast<size_t>(found - sums.begin());
}

std::vector<int32_t> ExportedNetwork::sums(std::span<const float> row) const {
  std::vector<float> filled(row.begin(), row.end());
  for (size_t i = 0; i < filled.size(); ++i) {
    if (std::isnan(filled[i])) filled[i] = fill[i];
  }
  return network.sums(filled);
}

RecordedRow record(const ExportedNetwork& network, std::string name, std::vector<float> inputs) {
  RecordedRow row{std::move(name), std::move(inputs), {}, 0};
  row.sums = network.sums(row.inputs);
  row.best = network.best(row.sums);
  return row;
}

std::vector<RecordedRow> drawn_rows(const ExportedNetwork& network, size_t count, uint64_t seed) {
  Random random(seed);
  const Thermometer& encoder = network.network.encoder();
  std::vector<RecordedRow> rows;
  for (size_t r = 0; r < count; ++r) {
    std::vector<float> inputs;
    for (size_t i = 0; i < encoder.inputs(); ++i) {
      const auto thresholds = encoder.thresholds(i);
      if (thresholds.empty()) {
        inputs.push_back(static_cast<float>(random.uniform(-10, 10)));
        continue;
      }
      const float at = thresholds[random.below(thresholds.size())];
      switch (random.below(8)) {
        case 0:
          inputs.push_back(at);
          break;
        case 1:
          inputs.push_back(std::nextafter(at, std::numeric_limits<float>::infinity()));
          break;
        case 2:
          inputs.push_back(std::numeric_limits<float>::quiet_NaN());
          break;
        case 3:
          inputs.push_back(random.below(2) == 0 ? -1e30f : 1e30f);
          break;
        default: {
          const float wide = thresholds.back() - thresholds.front() + std::abs(at) * 0.1f;
          inputs.push_back(at + static_cast<float>(random.uniform(-0.5, 0.5)) * wide);
        }
      }
    }
    rows.push_back(record(network, "drawn " + std::to_string(r + 1), std::move(inputs)));
  }
  return rows;
}

Result<std::vector<SourceFile>> network_source(const ExportedNetwork& network, SourceFormat format,
                                               std::span<const RecordedRow> rows) {
  if (!is_identifier(network.name) || is_standard_header(network.name)) {
    return usage_error(
        "bad-name", "'" + printable(network.name) + "' is no name for source", "--name",
        "letters, digits and single underscores, a letter first, up to 63, and no standard header; such as best_cpu");
  }
  const LutNetwork& of = network.network;
  const auto bad = [](const std::string& what) { return Error{"bad-network", what, "", "as the network has them"}; };
  if (network.inputs.size() != of.inputs() || network.outputs.size() != of.outputs() ||
      network.fill.size() != of.inputs())
    return bad("names or fills that don't fit the network");
  if (std::any_of(network.fill.begin(), network.fill.end(), [](float fill) { return !std::isfinite(fill); }))
    return bad("a fill that is no number");
  if (rows.empty()) return bad("no row to test with");
  for (const RecordedRow& row : rows) {
    if (row.inputs.size() != of.inputs() || row.sums.size() != of.outputs()) return bad("rows of another size");
  }
  switch (format) {
    case SourceFormat::kC:
      return c_source(network, rows);
    case SourceFormat::kCpp:
      return cpp_source(network, rows);
    case SourceFormat::kVerilog:
      break;
  }
  return verilog_source(network, rows);
}

NetworkSize size_of(const LutNetwork& network) {
  NetworkSize size;
  const size_t outputs = network.outputs();
  const LutHead& head = network.head();
  const LutLayer& last = network.layers().back();
  size.thresholds = network.encoder().bits();
  size.tables = network.luts();
  size.encoder_luts = size.thresholds * kComparatorLuts;
  size.data_bytes = size.thresholds * (sizeof(float) + sizeof(uint16_t)) + network.inputs() * sizeof(float);
  for (const LutLayer& layer : network.layers()) {
    const bool stores_bits = &layer != &last || !head.by_address;
    const size_t table_bytes = layer.arity == 6 ? 8 : layer.arity == 5 ? 4 : layer.arity == 4 ? 2 : 1;
    size.data_bytes += layer.mapping.size() * (layer.inputs <= 65536 ? 2 : 4);
    if (!stores_bits) continue;
    size.data_bytes += layer.luts() * table_bytes;
    size.table_luts += layer.luts();
  }
  const std::vector<size_t> votes = votes_of(head, last.luts());
  size_t width = 0;  // of a sum
  if (!votes.empty()) {
    size.data_bytes += votes.size() * sizeof(uint16_t);
    std::vector<size_t> of_output(outputs, 0);
    for (const size_t output : votes) ++of_output[output];
    for (const size_t tables : of_output) {
      size.sum_luts += tables;  // n bits are counted by some n full adders
      width = std::max(width, bits_for(tables));
    }
  } else {
    constexpr size_t kWeightBits = 16;
    size.data_bytes += head.weights.size() * sizeof(int16_t) + outputs * sizeof(int32_t);
    width = kWeightBits + bits_for(last.luts());
    // A number that depends on up to six bits is a LUT for each of its bits; adding is one for each bit of the sum.
    if (head.by_address) size.table_luts += last.luts() * outputs * kWeightBits;
    size.sum_luts += last.luts() * outputs * width;
  }
  size.best_luts = outputs > 1 ? (outputs - 1) * 2 * width : 0;
  return size;
}

}  // namespace perfcast
