#include "measure/watch/detector.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "base/unknown.h"
#include "measure/watch/archive.h"

namespace perfcast::measure {
namespace {

constexpr size_t kChunkRows = 256;
constexpr uint64_t kQuietRows = 60, kSettlingRows = 120, kLeastChangeRows = 60, kLeastReturnRows = 8;
constexpr size_t kReservoirRows = 4096;
constexpr uint64_t kMemory = 10;  // a row stays in the reservoir for some ten times its size
constexpr uint64_t kLeastRefreshRows = 50000;
constexpr double kCloseShare = 0.6;  // of the level: what is below is usual
constexpr double kMovedShare = 0.6;  // of an episode's rows
constexpr double kFollow_s = 3600;   // between fits of the alarm level
constexpr size_t kMostNamed = 5;
constexpr double kLeastShare = 0.03;
constexpr float kFarShare = 0.7f;
constexpr float kReturnError = 0.4f;

}  // namespace

Detector::Detector(size_t columns, const DetectorOptions& options)
    : columns_(columns), options_(options), offset_(columns, 0) {
  episode_.surprise.assign(columns, 0);
  episode_.shift.assign(columns, 0);
  episode_.long_rows.assign(columns, 0);
  u_.assign(columns, 0);
  w_.assign(columns, 0);
  surprises_.assign(columns, 0);
}

Status Detector::add(size_t rows, const double* time_s, const double* values, size_t stride, std::vector<Alert>& alerts,
                     std::vector<float>* scores) {
  size_t begin = 0;
  for (; !model_ && begin < rows; ++begin) {
    warm_up_time_s_.push_back(time_s[begin]);
    warm_up_values_.insert(warm_up_values_.end(), values + begin * stride, values + begin * stride + columns_);
    if (warm_up_time_s_.size() < options_.warm_up_rows) continue;
    if (Status learnt = learn(); !learnt) return learnt;
  }
  while (begin < rows) {
    const size_t end = std::min(begin + kChunkRows, rows);
    infer(end - begin, values + begin * stride, stride);
    size_t row = begin;
    for (bool moved = false; row < end && !moved; ++row) {
      at_ = row - begin;
      const auto result = take_row(row, time_s[row], values + row * stride, alerts, scores);
      if (!result) return result.error();
      moved = *result;
    }
    begin = row;
  }
  return {};
}

void Detector::widen(size_t columns) {
  std::vector<double> values;
  for (size_t r = 0; r < warm_up_time_s_.size(); ++r) {
    const auto row = warm_up_values_.begin() + static_cast<std::ptrdiff_t>(r * columns_);
    values.insert(values.end(), row, row + static_cast<std::ptrdiff_t>(columns_));
    values.resize(values.size() + columns - columns_, kUnknown);
  }
  std::vector<double> times = std::move(warm_up_time_s_);
  *this = Detector(columns, options_);
  warm_up_time_s_ = std::move(times);
  warm_up_values_ = std::move(values);
}

Status Detector::learn() {
  auto model = learn_model(warm_up_time_s_, warm_up_values_, columns_, options_);
  if (!model) return model.error();
  model_ = std::move(*model);
  fill_reservoir();
  last_time_s_ = followed_s_ = refreshed_s_ = warm_up_time_s_.back();
  for (size_t r = 0; r < warm_up_time_s_.size(); ++r) model_->rules.update(warm_up_values_.data() + r * columns_);
  warm_up_time_s_ = {};
  warm_up_values_ = {};
  return {};
}

void Detector::fill_reservoir() {
  z_.resize(columns_);
  at_ = 0;
  for (size_t r = 0; r < warm_up_time_s_.size(); ++r) {
    model_->transform.apply(warm_up_values_.data() + r * columns_, z_.data());
    keep(warm_up_time_s_[r]);
  }
}

// z, and residuals of the VAE, of rows in bulk.
void Detector::infer(size_t rows, const double* values, size_t stride) {
  z_.resize(rows * columns_);
  e_.resize(rows * columns_);
  regimes_.resize(rows);
  for (size_t r = 0; r < rows; ++r) {
    float* z = z_.data() + r * columns_;
    model_->transform.apply(values + r * stride, z);
    for (size_t j = 0; j < columns_; ++j) z[j] -= offset_[j];
  }
  if (options_.use_joint) model_->reconstruction.residuals(rows, z_.data(), e_.data(), regimes_.data());
}

Result<bool> Detector::take_row(size_t row, double time_s, const double* values, std::vector<Alert>& alerts,
                                std::vector<float>* scores) {
  const float* z = z_.data() + at_ * columns_;
  part_ = model_->baseline.part(time_s);
  model_->baseline.score(z, part_, u_.data());
  if (options_.use_joint) model_->reconstruction.conditional(e_.data() + at_ * columns_, regimes_[at_], w_.data());
  model_->surprise.update(u_.data(), w_.data());
  double score = static_cast<double>(model_->surprise.score(model_->surprise.statistics(), surprises_.data()));
  if (model_->clusters.ends(static_cast<float>(score))) model_->level.add(model_->clusters.maximum);
  if (model_->rules.update(values) && options_.use_baseline) {
    // A rule counts as a major anomaly.
    const double certain = model_->level.level() + 3 * model_->level.beta();
    for (size_t j = 0; j < columns_; ++j) {
      if (model_->rules.rule(j) == PresenceRule::kUsual) continue;
      surprises_[j] = std::max(surprises_[j], static_cast<float>(certain));
      score = std::max(score, certain);
    }
  }
  const double passed_s = std::max(time_s - last_time_s_, 0.0);
  last_time_s_ = time_s;
  // A clock that was set back, or one row from far ahead: what is due is counted from here.
  followed_s_ = std::min(followed_s_, time_s);
  refreshed_s_ = std::min(refreshed_s_, time_s);
  model_->level.pass(std::min(passed_s, 60 * model_->interval_s) / 86400);
  if (scores != nullptr) scores->push_back(static_cast<float>(score));

  bool moved = follow_episode(row, time_s, values, score, alerts);
  ++rows_since_refresh_;
  if (episode_.open || settling_rows_ > 0) return moved;
  model_->baseline.adapt(z, part_);
  keep(time_s);
  if (time_s - followed_s_ >= kFollow_s) {
    model_->level.follow();
    followed_s_ = time_s;
  }
  if (time_s - refreshed_s_ >= options_.refresh_s && rows_since_refresh_ >= kLeastRefreshRows) {
    if (Status refreshed = refresh(); !refreshed) return refreshed.error();
    refreshed_s_ = time_s;
    rows_since_refresh_ = 0;
    moved = true;
  }
  return moved;
}

void Detector::open_episode(double time_s) {
  episode_.open = true;
  episode_.id = ++episodes_;
  episode_.rows = episode_.quiet_rows = 0;
  episode_.since_s = episode_.last_s = time_s;
  episode_.most = 0;
  std::fill(episode_.surprise.begin(), episode_.surprise.end(), 0.0f);
  std::fill(episode_.shift.begin(), episode_.shift.end(), 0.0f);
  std::fill(episode_.long_rows.begin(), episode_.long_rows.end(), 0u);
}

bool Detector::follow_episode(size_t row, double time_s, const double* values, double score,
                              std::vector<Alert>& alerts) {
  const double level = model_->level.level();
  if (settling_rows_ > 0) --settling_rows_;
  const bool begins = !episode_.open && score > level && settling_rows_ == 0;
  if (!episode_.open && !begins) return false;
  if (begins) open_episode(time_s);
  ++episode_.rows;
  const bool grown = score > episode_.most;
  if (grown) episode_.most = score;
  for (size_t j = 0; j < columns_; ++j) {
    episode_.surprise[j] += surprises_[j];
    episode_.shift[j] += shift_of(j);
    episode_.long_rows[j] += is_moved(j) ? 1 : 0;
  }
  if (begins) {
    alerts.push_back(alert_of(row, time_s, values, surprises_));
    return false;
  }
  const bool quiet = score <= std::max(kCloseShare * level, static_cast<double>(model_->clusters.low));
  episode_.quiet_rows = quiet ? episode_.quiet_rows + 1 : 0;
  if (!quiet) episode_.last_s = time_s;
  if (episode_.quiet_rows >= kQuietRows) {
    Alert alert = alert_of(row, time_s, values, episode_.surprise);
    alert.state = AlertState::kClosed;
    alert.rows -= kQuietRows;
    alert.duration_s = std::max(episode_.last_s - episode_.since_s, 0.0);
    alerts.push_back(std::move(alert));
    episode_.open = false;
    return false;
  }
  const auto past = static_cast<double>(episode_.rows) * model_->interval_s;
  if (episode_.rows >= kLeastReturnRows && episode_.rows % kLeastReturnRows == 0 && episode_.quiet_rows == 0) {
    if (end_as_return(alert_of(row, time_s, values, episode_.surprise), alerts)) return true;
  }
  if (past >= options_.change_after_s && episode_.rows >= kLeastChangeRows && episode_.quiet_rows == 0) {
    return end_as_change(alert_of(row, time_s, values, episode_.surprise), alerts);
  }
  return false;
}

bool Detector::is_moved(size_t column) const {
  return (options_.use_joint && model_->surprise.is_long_shift(Channel::kJointLong, column)) ||
         (options_.use_baseline && model_->surprise.is_long_shift(Channel::kBaselineLong, column));
}

// How far z is from what is expected of it: by the other metrics where they are asked, else by its own baseline.
float Detector::shift_of(size_t column) const {
  const float z = z_[at_ * columns_ + column];
  if (std::isnan(z)) return 0;
  if (options_.use_joint &&
      (!options_.use_baseline || !model_->surprise.is_long_shift(Channel::kBaselineLong, column) ||
       model_->surprise.is_long_shift(Channel::kJointLong, column))) {
    return model_->reconstruction.shift(column, w_[column], regimes_[at_]);
  }
  return u_[column] * static_cast<float>(model_->baseline.deviation(part_, column));
}

// Metrics that an earlier change moved stand where they were before it: its offset goes.
bool Detector::end_as_return(const Alert& alert, std::vector<Alert>& alerts) {
  bool any = false;
  for (size_t j = 0; j < columns_; ++j) {
    if (offset_[j] == 0) continue;
    const float mean = episode_.shift[j] / static_cast<float>(episode_.rows);
    if (std::abs(mean + offset_[j]) > kReturnError * std::abs(offset_[j])) continue;
    offset_[j] = 0;
    model_->surprise.forget(j);
    any = true;
  }
  if (!any) return false;
  alerts.push_back(alert);
  alerts.back().kind = AlertKind::kChange;
  alerts.back().state = AlertState::kClosed;
  alerts.back().returned = true;
  episode_.open = false;
  settling_rows_ = kSettlingRows;
  return true;
}

bool Detector::end_as_change(const Alert& alert, std::vector<Alert>& alerts) {
  // The reconstruction of all metrics bends to one that moved: only those that moved about as far as the farthest
  // count.
  float farthest = 0;
  for (const float sum : episode_.shift) farthest = std::max(farthest, std::abs(sum));
  for (size_t j = 0; j < columns_; ++j) {
    if (std::abs(episode_.shift[j]) < kFarShare * farthest) continue;
    if (episode_.long_rows[j] < kMovedShare * static_cast<double>(episode_.rows)) continue;
    const float mean = episode_.shift[j] / static_cast<float>(episode_.rows);
    offset_[j] += mean;
    model_->surprise.forget(j);
  }
  model_->rules.acknowledge();
  alerts.push_back(alert);
  alerts.back().kind = AlertKind::kChange;
  alerts.back().state = AlertState::kClosed;
  episode_.open = false;
  settling_rows_ = kSettlingRows;
  return true;
}

Alert Detector::alert_of(size_t row, double time_s, const double* values, std::span<const float> weights) const {
  Alert alert;
  alert.id = episode_.id;
  alert.time_s = time_s;
  alert.since_s = episode_.since_s;
  alert.score = episode_.most;
  alert.level = model_->level.level();
  alert.severity = model_->level.severity(episode_.most);
  alert.rows = episode_.rows;
  alert.duration_s = std::max(time_s - episode_.since_s, 0.0);
  alert.row = row;
  // Above what is common: all metrics have some surprise of it.
  const auto common = static_cast<double>(kLeastSurprise);
  const double times = weights.data() == episode_.surprise.data() ? static_cast<double>(episode_.rows) : 1;
  double total = 0;
  for (size_t j = 0; j < columns_; ++j) {
    const double above = std::max(static_cast<double>(weights[j]) / times - (times > 1 ? 0 : common), 0.0);
    if (above <= 0) continue;
    const double z = static_cast<double>(z_[at_ * columns_ + j]);
    const double shift = std::isnan(z) ? kUnknown : static_cast<double>(shift_of(j));
    const auto offset = static_cast<double>(offset_[j]);
    const double expected = std::isnan(z) ? model_->transform.invert(j, model_->baseline.median(part_, j) + offset)
                                          : model_->transform.invert(j, z + offset - shift);
    alert.metrics.push_back({j, above, values[j], expected, model_->rules.rule(j)});
    total += above;
  }
  std::stable_sort(alert.metrics.begin(), alert.metrics.end(),
                   [](const AlertMetric& a, const AlertMetric& b) { return a.share > b.share; });
  if (alert.metrics.size() > kMostNamed) alert.metrics.resize(kMostNamed);
  for (AlertMetric& metric : alert.metrics) metric.share /= total;
  while (alert.metrics.size() > 1 && alert.metrics.back().share < kLeastShare) alert.metrics.pop_back();
  return alert;
}

// Vitter's reservoir, which forgets: a row replaces another with a probability that does not fall below a bound.
void Detector::keep(double time_s) {
  const float* z = z_.data() + at_ * columns_;
  size_t slot = reservoir_time_s_.size();
  if (slot >= kReservoirRows) {
    ++seen_;
    // By the row's number, so that a saved state need not hold a generator.
    slot = Random(options_.seed ^ (seen_ * 0x9E3779B97F4A7C15u))
               .below(std::min<uint64_t>(seen_, kMemory * kReservoirRows));
    if (slot >= kReservoirRows) return;
  } else {
    ++seen_;
    reservoir_time_s_.push_back(0);
    reservoir_.resize(reservoir_.size() + columns_);
  }
  reservoir_time_s_[slot] = time_s;
  std::copy_n(z, columns_, reservoir_.data() + slot * columns_);
}

// The VAE trains on, from where it is; what it got is taken where rows that were left out don't say that it got worse.
Status Detector::refresh() {
  if (!options_.use_joint) return {};
  std::vector<size_t> used;
  std::vector<size_t> left_out;
  std::vector<size_t> all;
  for (size_t r = 0; r < reservoir_time_s_.size(); ++r) {
    (r % 5 == 0 ? left_out : used).push_back(r);
    all.push_back(r);
  }
  if (left_out.empty() || used.empty()) return {};
  Reconstruction next = model_->reconstruction;
  ReconstructionOptions training = reconstruction_options(options_, columns_);
  training.steps = std::max<size_t>(training.steps / 10, 1);
  training.seed ^= seen_;
  if (Status trained = next.train(reservoir_, columns_, used, training); !trained) return trained;
  if (next.error(reservoir_, left_out) <= 1.02 * model_->reconstruction.error(reservoir_, left_out)) {
    next.calibrate(reservoir_, all);
    model_->reconstruction = std::move(next);
  }
  return {};
}

void Detector::archive(Archive& archive) {
  archive.array(warm_up_time_s_);
  if (warm_up_time_s_.size() > options_.warm_up_rows) archive.fail();
  if (!archive.ok()) return;
  archive.array(warm_up_values_, warm_up_time_s_.size() * columns_);
  bool learnt = model_.has_value();
  archive.value(learnt);
  if (!learnt || !archive.ok()) return;
  if (archive.reading()) model_.emplace();
  model_->archive(archive, columns_);
  if (archive.ok() && options_.use_joint && model_->reconstruction.columns() != columns_) archive.fail();
  archive.array(offset_, columns_);
  archive.value(episode_.open);
  archive.values(episode_.id, episode_.rows, episode_.quiet_rows, episode_.since_s, episode_.last_s, episode_.most);
  archive.array(episode_.surprise, columns_);
  archive.array(episode_.shift, columns_);
  archive.array(episode_.long_rows, columns_);
  archive.values(episodes_, settling_rows_, last_time_s_, followed_s_, refreshed_s_, rows_since_refresh_, seen_);
  archive.array(reservoir_time_s_);
  if (reservoir_time_s_.size() > kReservoirRows) archive.fail();
  if (!archive.ok()) return;
  archive.array(reservoir_, reservoir_time_s_.size() * columns_);
}

}  // namespace perfcast::measure
