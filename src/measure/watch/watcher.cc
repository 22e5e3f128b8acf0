#include "measure/watch/watcher.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/text.h"
#include "measure/watch/alert.h"
#include "measure/watch/archive.h"

namespace perfcast::measure {
namespace {

constexpr std::string_view kMagic = "PCWATCH1";
constexpr uint64_t kClockSetBack_rows = 100;
constexpr double kLeastKnownShare = 0.5;
constexpr size_t kRowsToKnowColumns = 10;  // counters of an endpoint have no rate in the first

Error bad_state(const std::string& what, const std::string& source) {
  return Error{
      "bad-state", what, source,
      "a state that `perfcast watch` saved with these settings; to start anew, remove the file or name another"};
}

// What detectors learnt under other settings is of no use.
void archive_settings(Archive& archive, WatcherOptions& options) {
  DetectorOptions& detector = options.detector;
  auto warm_up = static_cast<uint64_t>(detector.warm_up_rows);
  auto hidden = static_cast<uint64_t>(detector.hidden);
  auto latent = static_cast<uint64_t>(detector.latent);
  auto steps = static_cast<uint64_t>(detector.training_steps);
  archive.values(detector.false_alarms_per_day, detector.season_s, detector.change_after_s, detector.refresh_s, warm_up,
                 hidden, latent, steps, detector.seed);
  archive.value(detector.use_past);
  archive.value(detector.use_joint);
  detector.warm_up_rows = warm_up;
  detector.hidden = hidden;
  detector.latent = latent;
  detector.training_steps = steps;
}

}  // namespace

Watcher::Watcher(const WatcherOptions& options)
    : options_(options), block_(options.most_columns, options.most_groups) {}

// The rule for clocks: a row that is earlier than the one before counts at the time of that; a hundred in a row, and
// the clock was set.
void Watcher::take_clock(Group& group, double& time_s) {
  if (!group.any) {
    group.any = true;
  } else if (time_s < group.last_time_s) {
    ++block_.counts.backward_rows;
    if (++group.backward_rows < kClockSetBack_rows) {
      time_s = group.last_time_s;
      return;
    }
    ++block_.counts.clocks_set_back;
  } else if (time_s == group.last_time_s) {
    ++block_.counts.equal_times;
  }
  group.backward_rows = 0;
  group.last_time_s = time_s;
}

Status Watcher::flush(std::vector<Alert>& alerts) {
  const size_t rows = block_.rows();
  if (rows == 0) return {};
  const size_t columns = block_.names().size();
  if (columns == 0) {  // rows of a time and nothing else
    block_.clear();
    return {};
  }
  while (groups_.size() < block_.group_names().size()) {
    groups_.push_back({Detector(columns, options_.detector)});
    if (warm_up_rows_ > 0) groups_.back().detector.set_warm_up(warm_up_rows_);
  }
  const size_t first_alert = alerts.size();
  const auto find = [&](size_t group_index, const double* time_s, const double* values, size_t stride,
                        size_t count) -> Status {
    Detector& detector = groups_[group_index].detector;
    if (detector.is_warming_up() && detector.columns() < columns) detector.widen(columns);
    const size_t first = alerts.size();
    if (Status added = detector.add(count, time_s, values, stride, alerts); !added) return added;
    for (size_t i = first; i < alerts.size(); ++i) {
      alerts[i].group = block_.group_names()[group_index];
      if (!rows_.empty()) alerts[i].row = rows_[alerts[i].row];
    }
    return {};
  };
  for (size_t r = 0; r < rows; ++r) take_clock(groups_[block_.groups()[r]], block_.times()[r]);
  const bool one_group = std::all_of(block_.groups().begin(), block_.groups().end(),
                                     [&](uint32_t group) { return group == block_.groups().front(); });
  rows_.clear();
  if (one_group) {
    if (Status found = find(block_.groups().front(), block_.time_s().data(), block_.values(), block_.stride(), rows);
        !found)
      return found;
  } else {
    for (size_t g = 0; g < groups_.size(); ++g) {
      times_.clear();
      values_.clear();
      rows_.clear();
      for (size_t r = 0; r < rows; ++r) {
        if (block_.groups()[r] != g) continue;
        times_.push_back(block_.time_s()[r]);
        values_.insert(values_.end(), block_.row(r), block_.row(r) + columns);
        rows_.push_back(r);
      }
      if (rows_.empty()) continue;
      if (Status found = find(g, times_.data(), values_.data(), columns, rows_.size()); !found) return found;
    }
    std::stable_sort(alerts.begin() + static_cast<std::ptrdiff_t>(first_alert), alerts.end(),
                     [](const Alert& a, const Alert& b) { return a.row < b.row; });
  }
  block_.clear();
  return {};
}

size_t Watcher::warming_up() const {
  return static_cast<size_t>(
      std::count_if(groups_.begin(), groups_.end(), [](const Group& group) { return group.detector.is_warming_up(); }));
}

size_t Watcher::most_warm_up_rows() const {
  size_t most = 0;
  for (const Group& group : groups_) most = std::max(most, group.detector.warm_up_rows());
  return most;
}

size_t Watcher::whole_warm_up() const {
  size_t rows = 0;
  for (const Group& group : groups_) rows = std::max(rows, group.detector.whole_warm_up());
  return rows;
}

void Watcher::set_stream_rows(uint64_t rows) {
  warm_up_rows_ = warm_up_of(rows);
  for (Group& group : groups_) group.detector.set_warm_up(warm_up_rows_);
}

size_t Watcher::late_columns() const {
  size_t known = 0;
  for (const Group& group : groups_) {
    if (group.detector.is_warming_up()) return 0;
    known = std::max(known, group.detector.columns());
  }
  return groups_.empty() ? 0 : block_.names().size() - std::min(known, block_.names().size());
}

std::vector<std::string> Watcher::open_episodes() const {
  std::vector<std::string> open;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const Detector& detector = groups_[g].detector;
    if (!detector.has_open_episode()) continue;
    const std::string& group = block_.group_names()[g];
    open.push_back((group.empty() ? "" : printable(group) + " ") + "#" + std::to_string(detector.episode()) +
                   " since " + time_text(detector.episode_since_s()));
  }
  return open;
}

void Watcher::archive(Archive& archive) {
  const size_t columns = archive.count(block_.names().size(), sizeof(uint64_t));
  for (size_t i = 0; i < columns && archive.ok(); ++i) {
    std::string name = archive.reading() ? "" : block_.names()[i];
    archive.text(name);
    if (!archive.reading()) continue;
    const size_t column = block_.column(name);
    beyond_limits_ |= column == RowBlock::kIgnored;
    if (column != i) archive.fail();
  }
  const size_t groups = archive.count(archive.reading() ? 0 : block_.group_names().size(), sizeof(uint64_t));
  for (size_t i = 0; i < groups && archive.ok(); ++i) {
    std::string name = archive.reading() ? "" : block_.group_names()[i];
    archive.text(name);
    if (!archive.reading()) continue;
    const size_t group = block_.group(name);
    beyond_limits_ |= group == RowBlock::kIgnored;
    if (group != i) archive.fail();
  }
  archive.value(block_.last_time_s);
  archive.value(block_.counts.rows);
  archive.values(position.inode, position.offset_bytes);
  archive.text(position.header);
  // Groups that have rows.
  const size_t detectors = archive.count(groups_.size(), sizeof(uint64_t));
  if (detectors > groups) archive.fail();
  for (size_t i = 0; i < detectors && archive.ok(); ++i) {
    auto of = static_cast<uint64_t>(archive.reading() ? 0 : groups_[i].detector.columns());
    archive.value(of);
    if (of == 0 || of > std::max<size_t>(columns, 1)) archive.fail();
    if (!archive.ok()) return;
    if (archive.reading()) groups_.push_back({Detector(of, options_.detector)});
    Group& group = groups_[i];
    archive.values(group.last_time_s, group.backward_rows);
    archive.value(group.any);
    group.detector.archive(archive);
  }
}

std::string Watcher::to_bytes() {
  ByteWriter out(kMagic);
  out.put(Archive::kVersion);
  Archive archive(out);
  archive_settings(archive, options_);
  this->archive(archive);
  return std::move(out).finish();
}

Result<Watcher> Watcher::from_bytes(std::string_view bytes, const WatcherOptions& options, const std::string& source) {
  const ByteFrame frame = open_frame(bytes, kMagic, Archive::kVersion);
  switch (frame.state) {
    case ByteFrame::State::kGood:
      break;
    case ByteFrame::State::kOtherMagic:
      return bad_state("this is no state of perfcast watch", source);
    case ByteFrame::State::kOtherVersion:
      return bad_state("the state is of version " + std::to_string(frame.version) + ", this perfcast reads " +
                           std::to_string(Archive::kVersion),
                       source);
    case ByteFrame::State::kCorrupt:
      return bad_state("the state is corrupt: its checksum doesn't fit", source);
  }
  ByteReader in(frame.body);
  Archive archive(in);
  WatcherOptions saved = options;
  archive_settings(archive, saved);
  ByteWriter ours;
  ByteWriter theirs;
  Archive our_settings(ours);
  Archive their_settings(theirs);
  WatcherOptions given = options;
  archive_settings(our_settings, given);
  archive_settings(their_settings, saved);
  if (archive.ok() && ours.bytes() != theirs.bytes()) {
    return bad_state("the state was saved with other settings (false alarms, warm-up, season, seed)", source);
  }
  Watcher watcher(options);
  watcher.archive(archive);
  if (watcher.beyond_limits_) {
    Error error = bad_state("the state has more columns or groups than are watched now", source);
    error.expected = "--max-metrics and --max-groups at least as large as when it was saved";
    return error;
  }
  if (!archive.ok() || !in.at_end()) return bad_state("the state is corrupt: its parts don't fit each other", source);
  watcher.restored_columns_ = watcher.block_.names().size();
  return watcher;
}

Status Watcher::check_columns(const std::string& source) {
  if (restored_columns_ == 0 || block_.rows() == 0) return {};
  restored_known_.resize(restored_columns_);
  for (size_t j = 0; j < restored_columns_; ++j) {
    for (size_t r = 0; r < block_.rows() && !restored_known_[j]; ++r)
      restored_known_[j] = !std::isnan(block_.row(r)[j]);
  }
  rows_behind_restore_ += block_.rows();
  const auto known = static_cast<size_t>(std::count(restored_known_.begin(), restored_known_.end(), true));
  const size_t expected = restored_columns_;
  const bool enough = static_cast<double>(known) >= kLeastKnownShare * static_cast<double>(expected);
  if (!enough && rows_behind_restore_ < kRowsToKnowColumns) return {};
  restored_columns_ = 0;
  if (enough) return {};
  return Error{"state-mismatch",
               "the state is of other columns: " + std::to_string(known) + " of its " + std::to_string(expected) +
                   " are in the stream",
               source, "the stream that the state was saved of; to start anew, remove the file or name another"};
}

}  // namespace perfcast::measure
