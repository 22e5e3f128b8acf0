// JSON lines: one object a line, whose members are mostly numbers and come in the same order line by line.

#include <simdjson.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "base/python_json.h"
#include "base/text.h"
#include "base/unknown.h"
#include "measure/watch/fast_number.h"
#include "measure/watch/row_parser.h"
#include "measure/watch/row_time.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostRemembered = 4096;  // keys in the order of a line

class JsonRowParser : public RowParser {
 public:
  // A column of times that was named is missed where it isn't there.
  explicit JsonRowParser(const ParserOptions& options) : RowParser(options) {
    has_time_ = !options.time_column.empty();
  }

  Status line(std::string_view line, RowBlock& block) override {
    if (trim(line).empty()) return {};
    simdjson::dom::object object;
    if (!is_object(line, object)) {
      // What Python writes, though JSON has no such words.
      const bool is_pythons =
          line.find("NaN") != std::string_view::npos || line.find("Infinity") != std::string_view::npos;
      const auto mended = is_pythons ? python_literal(trim(line)) : std::nullopt;
      if (!mended || mended->length != trim(line).size() || !is_object(mended->json, object)) {
        ++block.counts.bad_lines;
        return {};
      }
    }
    block_ = &block;
    next_ = 0;
    group_ = options_.group_column.empty() ? block.group("") : RowBlock::kIgnored;
    grouped_ = options_.group_column.empty();
    timed_ = false;
    time_rank_ = SIZE_MAX;
    block.begin_row();
    prefix_.clear();
    take_object(object);
    if (!grouped_) group_ = block.group("");
    // A stream has times from the first row that has one.
    has_time_ = has_time_ || timed_;
    // Of the column that was chosen alone: another's unit is not the stream's.
    double time_s = kUnknown;
    if (time_rank_ != SIZE_MAX) time_s = time_text_.empty() ? time_of(time_number_) : time_of(time_text_, true);
    finish_row(block, time_s, group_);
    return {};
  }

 private:
  enum class Use : uint8_t { kMetric, kNew, kTime, kGroup, kIgnored };
  struct Key {
    std::string name;  // with the names around it
    Use use = Use::kNew;
    size_t metric = 0;
    bool text = false;  // has had some, and no number yet
  };

  bool is_object(std::string_view line, simdjson::dom::object& object) {
    return parser_.parse(line.data(), line.size()).get(object) == simdjson::SUCCESS;
  }

  void take_object(const simdjson::dom::object& object) {
    const size_t size = prefix_.size();
    for (const auto& [name, value] : object) {
      Key& key = key_of(name);
      if (simdjson::dom::object inner; value.get(inner) == simdjson::SUCCESS) {
        prefix_ = key.name + ".";
        take_object(inner);
        prefix_.resize(size);
        continue;
      }
      take_value(key, value);
    }
  }

  // Mostly the one that stood here in the line before.
  Key& key_of(std::string_view name) {
    if (!prefix_.empty()) {
      full_name_.assign(prefix_).append(name);
      name = full_name_;
    }
    const size_t at = next_++;
    if (at < keys_.size() && keys_[at].name == name) return keys_[at];
    if (at >= kMostRemembered) return new_key(other_, name);
    if (at >= keys_.size()) keys_.resize(at + 1);
    return new_key(keys_[at], name);
  }

  Key& new_key(Key& key, std::string_view name) {
    key = Key{std::string(name)};
    key.metric = RowBlock::kIgnored;
    if (is_time_name(name)) key.use = Use::kTime;
    if (key.use == Use::kNew && !options_.group_column.empty() && name == options_.group_column) key.use = Use::kGroup;
    return key;
  }

  void take_value(Key& key, const simdjson::dom::element& value) {
    switch (value.type()) {
      case simdjson::dom::element_type::STRING:
        return put_text(key, std::string(std::string_view(value)));
      case simdjson::dom::element_type::BOOL:
        return put_number(key, bool(value) ? 1 : 0);
      case simdjson::dom::element_type::NULL_VALUE:
        return put_number(key, kUnknown);
      case simdjson::dom::element_type::ARRAY:
      case simdjson::dom::element_type::OBJECT:
        return;
      default:
        return put_number(key, double(value));
    }
  }

  void put_text(Key& key, const std::string& text) {
    double value = 0;
    switch (key.use) {
      case Use::kTime:
        if (takes_time(key, iso_time_s(trim(text)) || is_number(text, value))) time_text_ = text;
        return;
      case Use::kGroup:
        take_group(text);
        return;
      case Use::kMetric:
        if (is_number(text, value)) {
          put_number(key, value);
        } else {
          ++(trim(text).empty() ? block_->counts.absent_cells : block_->counts.bad_cells);
        }
        return;
      case Use::kNew:
        if (is_number(text, value)) {
          put_number(key, value);
        } else if (!trim(text).empty() && !key.text) {
          key.text = true;
          block_->note_text(key.name);
        }
        return;
      case Use::kIgnored:
        return;
    }
  }

  // Of several that can be read the first that the documentation names, wherever it stands in the line.
  bool takes_time(const Key& key, bool readable) {
    timed_ = true;
    const size_t rank = time_rank(key.name);
    if (!readable || (time_rank_ != SIZE_MAX && rank > time_rank_)) return false;
    time_rank_ = rank;
    return true;
  }

  void take_group(const std::string& text) {
    group_ = block_->group(text);
    grouped_ = true;
  }

  void put_number(Key& key, double value) {
    if (key.use == Use::kTime) {
      if (takes_time(key, std::isfinite(value))) {
        time_number_ = value;
        time_text_.clear();
      }
    } else if (key.use == Use::kGroup) {
      std::array<char, 32> text{};
      const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
      take_group(std::isfinite(value) ? std::string(text.data(), written.ptr) : "");
    } else if (!std::isfinite(value)) {
      if (key.use == Use::kMetric) ++block_->counts.absent_cells;
    } else {
      if (key.use == Use::kNew) {
        key.metric = block_->column(key.name);
        key.use = key.metric == RowBlock::kIgnored ? Use::kIgnored : Use::kMetric;
      }
      if (key.use == Use::kMetric) block_->set(key.metric, value);
    }
  }

  simdjson::dom::parser parser_;
  RowBlock* block_ = nullptr;
  std::vector<Key> keys_;  // in the order of the line before
  size_t next_ = 0;
  Key other_;
  std::string prefix_, full_name_;
  size_t group_ = 0;
  bool grouped_ = false, timed_ = false;
  size_t time_rank_ = SIZE_MAX;  // of the column that gives the line's time; none yet
  double time_number_ = 0;
  std::string time_text_;  // empty: it is the number
};

}  // namespace

std::unique_ptr<RowParser> make_json_parser(const ParserOptions& options) {
  return std::make_unique<JsonRowParser>(options);
}

}  // namespace perfcast::measure
