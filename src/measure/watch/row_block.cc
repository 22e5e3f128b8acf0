#include "measure/watch/row_block.h"

#include <algorithm>

#include "base/unknown.h"

namespace perfcast::measure {
namespace {

// A stream may have names without end.
constexpr size_t kMostNamesKept = 10000, kNamesShown = 5, kShownBytes = 80;

size_t hash_of(std::string_view name) { return std::hash<std::string_view>()(name); }

}  // namespace

size_t RowBlock::column(std::string_view name) {
  if (const auto found = columns_.find(name); found != columns_.end()) return found->second;
  if (names_.size() >= most_columns_) {
    if (ignored_.size() < kMostNamesKept && ignored_.insert(hash_of(name)).second) ++counts.ignored_columns;
    return kIgnored;
  }
  if (!text_.empty()) {  // a number at last
    text_.erase(hash_of(name));
    some_text_.erase(hash_of(name));
  }
  columns_.emplace(name, names_.size());
  names_.emplace_back(name);
  if (names_.size() > stride_) widen();
  return names_.size() - 1;
}

void RowBlock::note_text(std::string_view name) {
  if (name.empty() || text_.size() >= kMostNamesKept || !text_.insert(hash_of(name)).second) return;
  if (some_text_.size() < kNamesShown) some_text_.emplace(hash_of(name), name.substr(0, kShownBytes));
}

size_t RowBlock::text_columns() const { return text_.size(); }

std::vector<std::string> RowBlock::text_names() const {
  std::vector<std::string> names;
  for (const auto& [hash, name] : some_text_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

size_t RowBlock::group(std::string_view name) {
  if (const auto found = groups_.find(name); found != groups_.end()) return found->second;
  if (group_names_.size() >= most_groups_) return kIgnored;
  groups_.emplace(name, group_names_.size());
  group_names_.emplace_back(name);
  return group_names_.size() - 1;
}

void RowBlock::widen() {
  const size_t stride = std::max<size_t>(stride_ + stride_ / 4, names_.size());
  std::vector<double> values(time_s_.size() * stride, kUnknown);
  for (size_t r = 0; r < time_s_.size(); ++r) {
    std::copy_n(values_.data() + r * stride_, stride_, values.data() + r * stride);
  }
  values_ = std::move(values);
  stride_ = stride;
}

void RowBlock::begin_row() {
  time_s_.push_back(kUnknown);
  group_.push_back(0);
  values_.resize(values_.size() + stride_, kUnknown);
}

void RowBlock::drop_row() {
  time_s_.pop_back();
  group_.pop_back();
  values_.resize(values_.size() - stride_);
}

void RowBlock::clear() {
  time_s_.clear();
  group_.clear();
  values_.clear();
}

}  // namespace perfcast::measure
