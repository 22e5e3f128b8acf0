// Any bytes as lines of CSV and JSON: no crash. A line that the JSON reader takes is JSON to nlohmann's, too, and its
// flat numbers are equal.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "measure/watch/line_splitter.h"
#include "measure/watch/row_parser.h"

namespace {

using namespace perfcast;
using namespace perfcast::measure;

void compare(std::string_view line) {
  for (const char c : line) {
    if (static_cast<unsigned char>(c) >= 0x80) return;  // the reader does not look at UTF-8
  }
  // Words that the reader takes for absent numbers are no JSON.
  if (line.find("NaN") != std::string_view::npos || line.find("Infinity") != std::string_view::npos) return;
  RowBlock block(100, 4);
  auto parser = make_json_parser({.time_column = "never there"});
  if (!parser->line(line, block).ok() || block.rows() != 1) return;
  bool twice = false;
  std::vector<std::set<std::string>> keys;
  const auto watch_keys = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    if (event == nlohmann::json::parse_event_t::object_start) keys.emplace_back();
    if (event == nlohmann::json::parse_event_t::key)
      twice = twice || !keys.back().insert(parsed.get<std::string>()).second;
    if (event == nlohmann::json::parse_event_t::object_end) keys.pop_back();
    return true;
  };
  nlohmann::json other;
  try {
    other = nlohmann::json::parse(line, watch_keys);
  } catch (const nlohmann::json::out_of_range&) {
    return;  // a number beyond a double, which is an absent cell here
  } catch (const nlohmann::json::parse_error&) {
    std::abort();
  }
  if (twice || !other.is_object()) return;
  for (const auto& [key, value] : other.items()) {
    if (!value.is_number() || key.find('.') != std::string::npos) continue;
    bool known = false;
    for (size_t j = 0; j < block.names().size(); ++j) {
      if (block.names()[j] != key) continue;
      known = block.row(0)[j] == value.get<double>() || !std::isfinite(block.row(0)[j]);
      if (!known) known = std::abs(block.row(0)[j] - value.get<double>()) <= 1e-15 * std::abs(value.get<double>());
    }
    if (!known && block.names().size() < 100 && value.get<double>() != 0) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const StreamFormat format : {StreamFormat::kCsv, StreamFormat::kJsonLines}) {
    RowBlock block(8, 2);
    ParserOptions options;
    options.format = format;
    if (size % 2 == 1) options.group_column = "g";
    auto parser = make_parser(options, "");
    LineSplitter lines;
    const auto take = [&](std::string_view line) { return parser->line(line, block).ok(); };
    if (lines.feed(text, take)) lines.finish(take);
    if (block.names().size() > 8 || block.group_names().size() > 2) std::abort();
  }
  compare(text.substr(0, text.find('\n')));
  return 0;
}
