// Verilog-2001, all combinational. Inputs are IEEE 754 single precision: brought into an order of plain integers,
// numbers are compared as such.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "learn/weightless/export/source_text.h"

namespace perfcast {
namespace {

constexpr size_t kSumBits = 32;

uint32_t key_of(float value) {
  // -0 and 0 are equal, and as a threshold the larger key is both's.
  const auto bits = std::bit_cast<uint32_t>(value == 0 ? 0.0f : value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

std::string hex_of_row(const std::vector<float>& inputs) {  // input 0 lowest
  std::string text;
  for (size_t i = inputs.size(); i-- > 0;) {
    const float of = std::isnan(inputs[i]) ? std::bit_cast<float>(0x7fc00000U) : inputs[i];
    text += fmt::format("{:08x}", std::bit_cast<uint32_t>(of));
  }
  return text;
}

std::string hex_of_sums(const std::vector<int32_t>& sums) {
  std::string text;
  for (size_t o = sums.size(); o-- > 0;) text += fmt::format("{:08x}", static_cast<uint32_t>(sums[o]));
  return text;
}

// A bit that layer `layer` gives (0: the encoder). Each is a wire of its own: a simulator passes a vector on whole
// whenever one of its bits changes, to all that read any.
std::string bit_name(size_t layer, size_t bit) { return fmt::format("bit{}_{}", layer, bit); }

std::string address(size_t from, const LutLayer& layer, size_t lut) {
  std::string text = "{";
  for (size_t l = layer.arity; l-- > 0;)
    text += bit_name(from, layer.mapping[lut * layer.arity + l]) + (l > 0 ? ", " : "}");
  return text;
}

std::string encoder_text(const ExportedNetwork& of) {
  const Thermometer& encoder = of.network.encoder();
  std::string text;
  size_t bit = 0;
  for (size_t i = 0; i < encoder.inputs(); ++i) {
    const auto thresholds = encoder.thresholds(i);
    if (thresholds.empty()) continue;
    text += fmt::format("  wire [31:0] x{0} = inputs[{1} +: 32];\n", i, 32 * i);
    text += fmt::format("  wire missing{0} = (&x{0}[30:23]) & (|x{0}[22:0]);\n", i);
    text += fmt::format("  wire [31:0] key{0} = missing{0} ? 32'h{1:08x} : x{0}[31] ? ~x{0} : {{1'b1, x{0}[30:0]}};\n",
                        i, key_of(of.fill[i]));
    for (const float threshold : thresholds)
      text += fmt::format("  wire {} = key{} > 32'h{:08x};\n", bit_name(0, bit++), i, key_of(threshold));
  }
  return text;
}

// Bits of the layer after `l` others.
std::string layer_text(const LutLayer& layer, size_t l) {
  const size_t entries = size_t{1} << layer.arity;
  std::string text;
  for (size_t j = 0; j < layer.luts(); ++j) {
    text +=
        fmt::format("  localparam [{0}:0] table{1}_{2} = {3}'h{4:x};\n", entries - 1, l, j, entries, layer.tables[j]);
    text += fmt::format("  wire {} = table{}_{}[{}];\n", bit_name(l + 1, j), l, j, address(l, layer, j));
  }
  return text;
}

std::string signed_number(int64_t value, size_t bits) {
  return fmt::format("{}{}'sd{}", value < 0 ? "-" : "", bits, std::abs(value));
}

// A tree of sums of a few terms each: simulators evaluate a sum again whenever one of its terms changes.
std::string sum_of(const std::string& name, std::vector<std::string> terms) {
  constexpr size_t kTerms = 12;
  std::string text;
  for (size_t level = 0; terms.size() > kTerms; ++level) {
    std::vector<std::string> sums;
    for (size_t first = 0; first < terms.size(); first += kTerms) {
      sums.push_back(fmt::format("{}_{}_{}", name, level, sums.size()));
      text += fmt::format("  wire signed [{}:0] {} = {}", kSumBits - 1, sums.back(), terms[first]);
      for (size_t t = first + 1; t < std::min(first + kTerms, terms.size()); ++t) text += " + " + terms[t];
      text += ";\n";
    }
    terms = std::move(sums);
  }
  text += fmt::format("  wire signed [{}:0] {} = ", kSumBits - 1, name);
  for (size_t t = 0; t < terms.size(); ++t) text += (t > 0 ? " + " : "") + terms[t];
  return text + ";\n";
}

std::string sums_text(const ExportedNetwork& of) {
  const LutHead& head = of.network.head();
  const auto& layers = of.network.layers();
  const LutLayer& last = layers.back();
  const size_t entries = size_t{1} << last.arity;
  const std::vector<size_t> votes = votes_of(head, last.luts());
  std::string text;
  for (size_t o = 0; o < head.outputs; ++o) {
    std::vector<std::string> terms = {signed_number(head.bias[o], kSumBits)};
    for (size_t j = 0; j < last.luts(); ++j) {
      if (head.by_address) {
        // A number at each address, in one word.
        std::string numbers;
        for (size_t k = entries; k-- > 0;)
          numbers += fmt::format("{:04x}", static_cast<uint16_t>(head.weights[(j * entries + k) * head.outputs + o]));
        text += fmt::format("  localparam [{0}:0] numbers{1}_{2} = {3}'h{4};\n", 16 * entries - 1, j, o, 16 * entries,
                            numbers);
        text += fmt::format("  wire signed [15:0] number{0}_{1} = numbers{0}_{1}[16 * {2} +: 16];\n", j, o,
                            address(layers.size() - 1, last, j));
        terms.push_back(fmt::format("number{}_{}", j, o));
      } else if (!votes.empty()) {
        if (votes[j] == o) terms.push_back(fmt::format("$signed({{1'b0, {}}})", bit_name(layers.size(), j)));
      } else if (const int16_t weight = head.weights[j * head.outputs + o]; weight != 0) {
        terms.push_back(fmt::format("({} ? {} : 32'sd0)", bit_name(layers.size(), j), signed_number(weight, kSumBits)));
      }
    }
    text += sum_of(fmt::format("sum{}", o), std::move(terms));
    text += fmt::format("  assign sums[{} +: 32] = sum{};\n", 32 * o, o);
  }
  return text;
}

}  // namespace

std::vector<SourceFile> verilog_source(const ExportedNetwork& network, std::span<const RecordedRow> rows) {
  const std::string& name = network.name;
  const size_t inputs = network.network.inputs(), outputs = network.network.outputs();
  const auto& layers = network.network.layers();
  std::string text;
  for (const std::string& line : network.about) text += fmt::format("// {}\n", plain(line));
  text += "// Inputs, each an IEEE 754 single, NaN where it is missing; the first is lowest:\n";
  for (size_t i = 0; i < inputs; ++i) text += fmt::format("//   {:3} {}\n", i, plain(network.inputs[i]));
  text += "// Outputs, sums of 32 bits, the first is lowest; best is the number of one of them:\n";
  for (size_t o = 0; o < outputs; ++o) text += fmt::format("//   {:3} {}\n", o, plain(network.outputs[o]));
  if (network.least_wins)
    text += fmt::format("// Sums are natural logarithms of relative times, in units of {:.17g}.\n",
                        network.network.head().scale);
  text += fmt::format(
      "module {}_network (\n  input wire [{}:0] inputs,\n  output wire [{}:0] sums,\n  output reg [15:0] best\n);\n",
      name, 32 * inputs - 1, 32 * outputs - 1);
  text += encoder_text(network);
  for (size_t l = 0; l < layers.size(); ++l) {
    if (l + 1 < layers.size() || !network.network.head().by_address) text += layer_text(layers[l], l);
  }
  text += sums_text(network);
  text += "  reg signed [31:0] found;\n  always @* begin\n    best = 16'd0;\n    found = sum0;\n";
  for (size_t o = 1; o < outputs; ++o)
    text += fmt::format("    if (sum{0} {1} found) begin\n      best = 16'd{0};\n      found = sum{0};\n    end\n", o,
                        network.least_wins ? "<" : ">");
  text += "  end\nendmodule\n";

  std::string test = fmt::format(
      "// Holds {0}.v against rows that perfcast recorded: iverilog -o {0}_test {0}.v {0}_test.v && vvp -n {0}_test | "
      "grep '^ok'\n// This file was {3}.\n"
      "module {0}_test;\n  reg [{1}:0] inputs;\n  wire [{2}:0] sums;\n  wire [15:0] best;\n  integer wrong;\n"
      "  {0}_network network (.inputs(inputs), .sums(sums), .best(best));\n"
      "  task check(input integer row, input [{1}:0] of, input [{2}:0] expected, input [15:0] first);\n    begin\n"
      "      inputs = of;\n      #1;\n      if (sums !== expected || best !== first) begin\n"
      "        $display(\"row %0d differs\", row);\n        wrong = wrong + 1;\n      end\n    end\n  endtask\n"
      "  initial begin\n    wrong = 0;\n",
      name, 32 * inputs - 1, 32 * outputs - 1, kExportMark);
  for (size_t r = 0; r < rows.size(); ++r)
    test += fmt::format("    check({}, {}'h{}, {}'h{}, 16'd{});\n", r, 32 * inputs, hex_of_row(rows[r].inputs),
                        32 * outputs, hex_of_sums(rows[r].sums), rows[r].best);
  test += fmt::format(
      "    if (wrong == 0) begin\n      $display(\"ok: {} rows\");\n    end\n    $finish;\n  end\nendmodule\n",
      rows.size());
  return {{name + ".v", text}, {name + "_test.v", test}};
}

}  // namespace perfcast
