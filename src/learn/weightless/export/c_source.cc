// C99 and C++17: the same arrays and loops. Nothing is allocated, read or kept between calls.

#include <fmt/format.h>

#include <algorithm>

#include "learn/weightless/export/source_text.h"

namespace perfcast {
namespace {

struct Dialect {
  bool cpp = false;
  std::string constant() const { return cpp ? "inline constexpr" : "static const"; }
  std::string type(const char* name) const { return cpp ? fmt::format("std::{}", name) : name; }
};

class Writer {
 public:
  Writer(const ExportedNetwork& network, Dialect dialect)
      : of_(network), dialect_(dialect), prefix_(dialect.cpp ? "" : network.name + "_") {}

  std::string comment() const {
    std::string text;
    for (const std::string& line : of_.about) text += fmt::format("// {}\n", plain(line));
    if (dialect_.cpp) return text;
    text.clear();
    for (const std::string& line : of_.about) text += fmt::format("{} {}\n", text.empty() ? "/*" : " *", plain(line));
    return text.empty() ? "" : text + " */\n";
  }
  std::string names_comment(const char* what, const std::vector<std::string>& names) const {
    std::string text = fmt::format("/* {}, in this order:\n", what);
    for (size_t i = 0; i < names.size(); ++i) text += fmt::format(" *   {:3} {}\n", i, plain(names[i]));
    return text + " */\n";
  }

  std::string constants() const {
    const Thermometer& encoder = of_.network.encoder();
    std::vector<std::string> thresholds, inputs, fill;
    for (size_t bit = 0; bit < encoder.bits(); ++bit) {
      thresholds.push_back(exact_float(encoder.threshold_of(bit)));
      inputs.push_back(std::to_string(encoder.input_of(bit)));
    }
    for (const float of : of_.fill) fill.push_back(exact_float(of));
    std::string text = array("float", "fill", fill) + array("float", "threshold", thresholds) +
                       array(index_type(of_.network.inputs()), "threshold_input", inputs);
    const auto& layers = of_.network.layers();
    for (size_t l = 0; l < layers.size(); ++l) {
      std::vector<std::string> reads, tables;
      for (const uint32_t bit : layers[l].mapping) reads.push_back(std::to_string(bit));
      text += array(index_type(layers[l].inputs), fmt::format("reads{}", l), reads);
      if (l + 1 == layers.size() && of_.network.head().by_address) continue;
      for (const uint64_t table : layers[l].tables)
        tables.push_back(layers[l].arity == 6 ? fmt::format("UINT64_C(0x{:x})", table) : fmt::format("0x{:x}u", table));
      text += array(table_type(layers[l].arity), fmt::format("tables{}", l), tables);
    }
    const LutHead& head = of_.network.head();
    const std::vector<size_t> votes = votes_of(head, layers.back().luts());
    if (!votes.empty()) {
      std::vector<std::string> items;
      items.reserve(votes.size());
      for (const size_t vote : votes) items.push_back(std::to_string(vote));
      return text + array("uint16_t", "vote", items);
    }
    std::vector<std::string> weights, bias;
    for (const int16_t weight : head.weights) weights.push_back(std::to_string(weight));
    for (const int32_t of : head.bias) bias.push_back(std::to_string(of));
    return text + array("int16_t", "weights", weights) + array("int32_t", "bias", bias);
  }

  // From `inputs` to `sums`, both arrays.
  std::string sums_body() const {
    const auto& layers = of_.network.layers();
    const LutHead& head = of_.network.head();
    size_t most = of_.network.encoder().bits();
    for (const LutLayer& layer : layers) most = std::max(most, layer.luts());
    std::string text =
        fmt::format("  float row[{0}];\n  unsigned char bits[{1}], next[{1}];\n  int i;\n", of_.network.inputs(), most);
    text += fmt::format("  for (i = 0; i < {}; ++i) row[i] = inputs[i] == inputs[i] ? inputs[i] : {}fill[i];\n",
                        of_.network.inputs(), prefix_);
    text += fmt::format(
        "  for (i = 0; i < {0}; ++i) bits[i] = (unsigned char)(row[{1}threshold_input[i]] > {1}threshold[i]);\n",
        of_.network.encoder().bits(), prefix_);
    const std::vector<size_t> votes = votes_of(head, layers.back().luts());
    for (size_t o = 0; o < of_.network.outputs(); ++o)
      text += fmt::format("  sums[{0}] = {1};\n", o, votes.empty() ? fmt::format("{}bias[{}]", prefix_, o) : "0");
    for (size_t l = 0; l < layers.size(); ++l) {
      const LutLayer& layer = layers[l];
      const bool last = l + 1 == layers.size();
      text += fmt::format("  for (i = 0; i < {}; ++i) {{\n    const {}* const read = {}reads{} + i * {};\n",
                          layer.luts(), dialect_.type(index_type(layer.inputs)), prefix_, l, layer.arity);
      text += "    const unsigned address = bits[read[0]]";
      for (size_t a = 1; a < layer.arity; ++a) text += fmt::format(" | (unsigned)bits[read[{0}]] << {0}", a);
      text += ";\n";
      const std::string bit = fmt::format("({}tables{}[i] >> address & 1u)", prefix_, l);
      if (!last) {
        text += fmt::format("    next[i] = (unsigned char){};\n  }}\n", bit);
        text += fmt::format("  for (i = 0; i < {}; ++i) bits[i] = next[i];\n", layer.luts());
      } else if (!votes.empty()) {
        text += fmt::format("    next[i] = (unsigned char){};\n", bit);
        text += fmt::format("    sums[{}vote[i]] += next[i];\n  }}\n", prefix_);
      } else {
        const std::string entry = head.by_address ? fmt::format("(i * {} + (int)address)", 1U << layer.arity) : "i";
        text += fmt::format("    const {}* const adds = {}weights + {} * {};\n    int o;\n", dialect_.type("int16_t"),
                            prefix_, entry, head.outputs);
        if (head.by_address) {
          text += fmt::format("    for (o = 0; o < {}; ++o) sums[o] += adds[o];\n  }}\n", head.outputs);
        } else {
          text += fmt::format("    if ({}) {{\n", bit);
          text += fmt::format("      for (o = 0; o < {}; ++o) sums[o] += adds[o];\n    }}\n  }}\n", head.outputs);
        }
      }
    }
    if (layers.size() == 1 && votes.empty()) text += "  (void)next;\n";
    return text;
  }

  std::string best_body() const {
    return fmt::format(
        "  int best = 0, o;\n"
        "  for (o = 1; o < {}; ++o) {{\n    if (sums[o] {} sums[best]) best = o;\n  }}\n  return best;\n",
        of_.network.outputs(), of_.least_wins ? "<" : ">");
  }

  std::string rows(std::span<const RecordedRow> rows) const {
    std::vector<std::string> inputs, sums, best;
    for (const RecordedRow& row : rows) {
      for (const float input : row.inputs) inputs.push_back(exact_float(input));
      for (const int32_t sum : row.sums) sums.push_back(std::to_string(sum));
      best.push_back(std::to_string(row.best));
    }
    return array("float", "recorded_inputs", inputs) + array("int32_t", "recorded_sums", sums) +
           array("int32_t", "recorded_best", best);
  }

 private:
  static const char* index_type(size_t count) { return count <= 65536 ? "uint16_t" : "uint32_t"; }
  static const char* table_type(size_t arity) {
    return arity == 6 ? "uint64_t" : arity == 5 ? "uint32_t" : arity == 4 ? "uint16_t" : "uint8_t";
  }
  std::string array(const std::string& type, const std::string& name, const std::vector<std::string>& items) const {
    const std::string of = type == "float" ? type : dialect_.type(type.c_str());
    return fmt::format("{} {} {}{}[{}] = {{\n{}}};\n", dialect_.constant(), of, prefix_, name, items.size(),
                       listed(items));
  }

  const ExportedNetwork& of_;
  const Dialect dialect_;
  const std::string prefix_;
};

constexpr const char* kNeedsNan =
    "#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0\n"
    "#error \"missing inputs are NAN: compile without -ffast-math and -ffinite-math-only\"\n#endif\n\n";

std::string what_sums_are(const ExportedNetwork& network) {
  if (!network.least_wins) return "Votes of each output; the most are the best, of equal ones the first.";
  return fmt::format(
      "Natural logarithms of relative times, in units of {:.17g}; the least is the best, of equal ones the first.",
      network.network.head().scale);
}

}  // namespace

std::vector<SourceFile> c_source(const ExportedNetwork& network, std::span<const RecordedRow> rows) {
  const Writer writer(network, {});
  const std::string& name = network.name;
  std::string guard;
  for (const char c : name) guard += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  const size_t inputs = network.network.inputs(), outputs = network.network.outputs();
  std::string header = writer.comment();
  header += fmt::format("#ifndef {0}_NETWORK_H\n#define {0}_NETWORK_H\n\n#include <stdint.h>\n\n", guard);
  header += kNeedsNan;
  header += fmt::format("enum {{ {}_inputs = {}, {}_outputs = {} }};\n\n", name, inputs, name, outputs);
  header += writer.names_comment("Inputs; NAN stands for one that is missing", network.inputs) + "\n";
  header += writer.names_comment("Outputs", network.outputs);
  header += fmt::format("extern const char* const {}_output_names[{}];\n\n", name, outputs);
  header += fmt::format("/* {} */\n", what_sums_are(network));
  header += fmt::format("void {}_sums(const float inputs[{}], int32_t sums[{}]);\n", name, inputs, outputs);
  header += fmt::format("int {0}_best_of(const int32_t sums[{2}]);\nint {0}_best(const float inputs[{1}]);\n\n#endif\n",
                        name, inputs, outputs);

  std::string source = fmt::format("/* {0}.c, {1}. */\n#include \"{0}.h\"\n\n", name, kExportMark) + writer.constants();
  std::vector<std::string> names;
  for (const std::string& output : network.outputs) names.push_back("\"" + plain(output) + "\"");
  source += fmt::format("const char* const {}_output_names[{}] = {{\n{}}};\n\n", name, outputs, listed(names));
  source += fmt::format("void {}_sums(const float inputs[{}], int32_t sums[{}]) {{\n{}}}\n\n", name, inputs, outputs,
                        writer.sums_body());
  source += fmt::format("int {}_best_of(const int32_t sums[{}]) {{\n{}}}\n\n", name, outputs, writer.best_body());
  source += fmt::format(
      "int {0}_best(const float inputs[{1}]) {{\n  int32_t sums[{2}];\n  {0}_sums(inputs, sums);\n"
      "  return {0}_best_of(sums);\n}}\n",
      name, inputs, outputs);

  std::string test = fmt::format(
      "/* Holds {0}.c against rows that perfcast recorded: cc -std=c99 {0}.c {0}_selftest.c -lm\n * This file was {1}. "
      "*/\n"
      "#include <math.h>\n#include <stdio.h>\n\n#include \"{0}.h\"\n\n",
      name, kExportMark);
  test += writer.rows(rows);
  test += fmt::format(
      "\nint main(void) {{\n  int row, o, wrong = 0;\n  for (row = 0; row < {3}; ++row) {{\n"
      "    const float* const inputs = {0}_recorded_inputs + row * {1};\n    int32_t sums[{2}];\n"
      "    int same = 1;\n    {0}_sums(inputs, sums);\n"
      "    for (o = 0; o < {2}; ++o) same = same && sums[o] == {0}_recorded_sums[row * {2} + o];\n"
      "    if (!same || {0}_best(inputs) != {0}_recorded_best[row]) {{\n"
      "      printf(\"row %d differs\\n\", row);\n      ++wrong;\n    }}\n  }}\n"
      "  if (wrong == 0) printf(\"ok: {3} rows\\n\");\n  return wrong == 0 ? 0 : 1;\n}}\n",
      name, inputs, outputs, rows.size());
  return {{name + ".h", header}, {name + ".c", source}, {name + "_selftest.c", test}};
}

std::vector<SourceFile> cpp_source(const ExportedNetwork& network, std::span<const RecordedRow> rows) {
  const Writer writer(network, {true});
  const std::string& name = network.name;
  const size_t inputs = network.network.inputs(), outputs = network.network.outputs();
  std::string header = writer.comment();
  header += "#pragma once\n\n#include <array>\n#include <cstdint>\n#include <string_view>\n\n";
  header += kNeedsNan;
  header += fmt::format("namespace {}_network {{\n\n", name);
  header += writer.names_comment("Inputs; NAN stands for one that is missing", network.inputs);
  header += fmt::format("using Inputs = std::array<float, {}>;\n// {}\nusing Sums = std::array<std::int32_t, {}>;\n\n",
                        inputs, what_sums_are(network), outputs);
  std::vector<std::string> names;
  for (const std::string& output : network.outputs) names.push_back("\"" + plain(output) + "\"");
  header += fmt::format("inline constexpr std::array<std::string_view, {}> output_names = {{\n{}}};\n\n", outputs,
                        listed(names));
  header += "namespace detail {\n" + writer.constants() + "}  // namespace detail\n\n";
  header += fmt::format(
      "inline Sums sums(const Inputs& inputs) {{\n  using namespace detail;\n  Sums sums{{}};\n{}  return "
      "sums;\n}}\n\n",
      writer.sums_body());
  header += fmt::format("inline int best_of(const Sums& sums) {{\n{}}}\n\n", writer.best_body());
  header += "inline int best(const Inputs& inputs) { return best_of(sums(inputs)); }\n\n";
  header += fmt::format("}}  // namespace {}_network\n", name);

  std::string test = fmt::format(
      "// Holds {0}.hpp against rows that perfcast recorded: c++ -std=c++17 {0}_selftest.cpp\n// This file was {2}.\n"
      "#include <cmath>\n#include <cstdio>\n\n#include \"{0}.hpp\"\n\nnamespace {{\n{1}}}  // namespace\n\n",
      name, writer.rows(rows), kExportMark);
  test += fmt::format(
      "int main() {{\n  int wrong = 0;\n  for (int row = 0; row < {3}; ++row) {{\n    {0}_network::Inputs inputs{{}};\n"
      "    for (int i = 0; i < {1}; ++i) inputs[i] = recorded_inputs[row * {1} + i];\n"
      "    const {0}_network::Sums sums = {0}_network::sums(inputs);\n    bool same = true;\n"
      "    for (int o = 0; o < {2}; ++o) same = same && sums[o] == recorded_sums[row * {2} + o];\n"
      "    if (!same || {0}_network::best(inputs) != recorded_best[row]) {{\n"
      "      std::printf(\"row %d differs\\n\", row);\n      ++wrong;\n    }}\n  }}\n"
      "  if (wrong == 0) std::printf(\"ok: {3} rows\\n\");\n  return wrong == 0 ? 0 : 1;\n}}\n",
      name, inputs, outputs, rows.size());
  return {{name + ".hpp", header}, {name + "_selftest.cpp", test}};
}

}  // namespace perfcast
