#include "measure/watch/detector.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "measure/watch/season.h"

namespace perfcast::measure {
namespace {

constexpr size_t kChunkRows = 256;
constexpr uint64_t kQuietRows = 30;  // that end an incident
constexpr uint64_t kEndedRows = 8;
constexpr double kQuietShare = 0.6;  // of the alarm level
constexpr uint64_t kLeastChangeRows = 120;
constexpr uint64_t kMemory = 10;  // a row stays in the reservoir for some ten times its size
constexpr uint64_t kLeastRefreshRows = 50000;
constexpr double kLeastShare = 0.03;
constexpr double kNear = 3;     // nats from the alarm level: there it matters what was before
constexpr double kCertain = 5;  // nats above the level, of a rule: a major anomaly
constexpr size_t kLeastRelationRows = 600;
constexpr uint64_t kRelationRows[] = {1000, 5000};  // of a stream with a short warm-up: there they are learnt anew
constexpr double kLeastTailBlocks = 16, kMostTailBlocks = 64;
constexpr double kTrainedShare = 0.75;  // of a warm-up; behind it are rows for the tails
constexpr float kFarthest_z = 60;
constexpr size_t kLeastSteps = 30;  // of a metric that is taken for a count

bool is_of_mean(Sight sight) {
  return sight != Sight::kValue && sight != Sight::kJump && sight != Sight::kVariation && sight != Sight::kSeason &&
         sight != Sight::kJoint;
}

double median_interval(std::span<const double> time_s) {
  std::vector<double> intervals;
  for (size_t r = 1; r < time_s.size(); ++r) {
    if (time_s[r] > time_s[r - 1]) intervals.push_back(time_s[r] - time_s[r - 1]);
  }
  return intervals.empty() ? 1 : median(std::move(intervals));
}

}  // namespace

size_t warm_up_of(uint64_t rows) {
  return static_cast<size_t>(std::clamp<uint64_t>(rows / 10, kLeastWarmUp, kMostWarmUp));
}

Detector::Detector(size_t columns, const DetectorOptions& options)
    : columns_(columns),
      options_(options),
      whole_warm_up_(options.warm_up_rows > 0 ? options.warm_up_rows : kShortWarmUp) {
  episode_.surprise.assign(columns, 0);
  nats_.assign(columns, 0);
  sightings_.assign(columns, {});
}

Status Detector::add(size_t rows, const double* time_s, const double* values, size_t stride, std::vector<Alert>& alerts,
                     std::vector<float>* scores) {
  size_t begin = 0;
  for (; !has_learnt_ && begin < rows; ++begin) {
    warm_up_time_s_.push_back(time_s[begin]);
    warm_up_values_.insert(warm_up_values_.end(), values + begin * stride, values + begin * stride + columns_);
    if (warm_up_time_s_.size() < whole_warm_up_) continue;
    if (Status learnt = learn(); !learnt) return learnt;
  }
  while (begin < rows) {
    const size_t end = std::min(begin + kChunkRows, rows);
    const double* of = growth_of_counts(end - begin, values + begin * stride, stride);
    infer(end - begin, of);
    for (at_ = 0; begin < end; ++begin) {
      const auto moved = take_row(begin, time_s[begin], of + at_ * columns_, alerts, scores);
      if (!moved) return moved.error();
      ++at_;
      if (!*moved || begin + 1 == end) continue;
      of += at_ * columns_;
      at_ = 0;
      infer(end - begin - 1, of);
    }
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
  const size_t whole = whole_warm_up_;
  *this = Detector(columns, options_);
  whole_warm_up_ = whole;
  warm_up_time_s_ = std::move(times);
  warm_up_values_ = std::move(values);
}

void Detector::set_warm_up(size_t rows) {
  if (options_.warm_up_rows == 0) whole_warm_up_ = rows;
}

void Detector::find_counts(const std::vector<double>& values, size_t rows) {
  is_count_.assign(columns_, 0);
  last_count_.assign(columns_, kUnknown);
  for (size_t j = 0; j < columns_; ++j) {
    double last = kUnknown;
    size_t steps = 0;
    size_t rises = 0;
    bool falls = false;
    for (size_t r = 0; r < rows; ++r) {
      const double value = values[r * columns_ + j];
      if (std::isnan(value)) continue;
      steps += std::isnan(last) ? 0 : 1;
      rises += value > last ? 1 : 0;
      falls = falls || value < last;
      last = value;
    }
    is_count_[j] = !falls && steps >= kLeastSteps && 2 * rises > steps ? 1 : 0;
  }
}

const double* Detector::growth_of_counts(size_t rows, const double* values, size_t stride) {
  values_.resize(rows * columns_);
  for (size_t r = 0; r < rows; ++r)
    std::copy_n(values + r * stride, columns_, values_.begin() + static_cast<std::ptrdiff_t>(r * columns_));
  for (size_t j = 0; j < columns_; ++j) {
    if (is_count_[j] == 0) continue;
    for (size_t r = 0; r < rows; ++r) {
      double& value = values_[r * columns_ + j];
      const double count = value;
      value -= last_count_[j];
      if (std::isnan(count)) continue;
      last_count_[j] = count;
      if (value < 0) value = kUnknown;  // it began anew
    }
  }
  return values_.data();
}

Status Detector::learn() {
  const size_t rows = warm_up_time_s_.size();
  const std::vector<double> times = std::exchange(warm_up_time_s_, {});
  interval_s_ = median_interval(times);
  find_counts(warm_up_values_, rows);
  static_cast<void>(growth_of_counts(rows, warm_up_values_.data(), columns_));
  warm_up_values_ = {};
  const std::vector<double> values = std::exchange(values_, {});
  transform_.fit(values, rows, columns_);
  rules_.fit(values, rows, columns_);
  infer(rows, values.data());
  past_.reset(columns_, interval_s_,
              options_.season_s < 0 ? find_season(z_, columns_, interval_s_) : options_.season_s);
  level_.set(options_.false_alarms_per_day, interval_s_, columns_);
  has_learnt_ = true;
  last_time_s_ = refreshed_s_ = times.front();
  const bool relates = options_.use_joint && columns_ > 1;
  const auto trained = static_cast<size_t>(kTrainedShare * static_cast<double>(rows));
  if (relates) relations_due_ = rows < kLeastRelationRows ? kRelationRows[0] : trained;
  // The past is judged row by row, as later rows are: what is rare is known by the end.
  for (size_t r = 0; r < rows; ++r) {
    infer(1, values.data() + r * columns_);
    at_ = 0;
    static_cast<void>(look(times[r], values.data() + r * columns_, false));
    end_block();
    keep(times[r]);
    if (const auto learnt = refresh(times[r]); !learnt) return learnt.error();
  }
  last_time_s_ = refreshed_s_ = times.back();
  return {};
}

Status Detector::learn_relations(size_t rows) {
  std::vector<size_t> all(rows);
  std::iota(all.begin(), all.end(), size_t{0});
  ReconstructionOptions training;
  training.hidden = options_.hidden;
  training.latent = std::max<size_t>(std::min(options_.latent, columns_ / 2), 1);
  training.steps = options_.training_steps;
  training.seed = options_.seed;
  // What a network leaves hangs on the time of day: its tails are those of a day, where that is not too long.
  const double day = kDay_s / (std::max(interval_s_, 1e-9) * static_cast<double>(TailLists::kBlockRows));
  const auto least_blocks = static_cast<uint32_t>(std::clamp(day, kLeastTailBlocks, kMostTailBlocks));
  return relations_.learn(reservoir_, columns_, all, training, least_blocks);
}

// z, and what the network leaves of it, of rows in bulk.
void Detector::infer(size_t rows, const double* values) {
  z_.resize(rows * columns_);
  for (size_t r = 0; r < rows; ++r) transform_.apply(values + r * columns_, z_.data() + r * columns_);
  if (relations_.is_known()) relations_.infer(rows, z_.data());
}

double Detector::look(double time_s, const double* values, bool holds) {
  const float* z = z_at(at_).data();
  std::fill(nats_.begin(), nats_.end(), 0.0f);
  past_.look(time_s, z, holds, nats_.data());
  if (!options_.use_past) std::fill(nats_.begin(), nats_.end(), 0.0f);
  if (relations_.is_known()) relations_.look(at_, z, nats_.data());
  const double level = level_.level();
  const auto near = static_cast<float>(kQuietShare * level - kNear);
  for (size_t j = 0; j < columns_; ++j) {
    sightings_[j] = {};
    if (nats_[j] <= near) continue;
    if (options_.use_past) sightings_[j] = past_.find(j);
    const Sighting joint = relations_.find(j);
    if (joint.nats > sightings_[j].nats && !is_nearest_whole(j, joint, values[j])) sightings_[j] = joint;
    nats_[j] = sightings_[j].nats;
  }
  past_.compare_with_season(static_cast<float>(0.5 * level), nats_.data());
  float score = 0;
  for (const float nats : nats_) score = std::max(score, nats);
  has_rule_ = rules_.update(values) && options_.use_past;
  if (has_rule_) {
    const auto certain = static_cast<float>(level + kCertain);
    for (size_t j = 0; j < columns_; ++j) {
      if (rules_.rule(j) == PresenceRule::kUsual) continue;
      nats_[j] = std::max(nats_[j], certain);
      score = std::max(score, certain);
    }
  }
  ++rows_;
  return static_cast<double>(score);
}

// A network expects no whole numbers: of a metric of small ones it may expect what the metric can't be.
bool Detector::is_nearest_whole(size_t column, const Sighting& joint, double value) const {
  if (joint.sight != Sight::kJoint || value != std::floor(value)) return false;
  const Expected is = relations_.expected(column, joint, z_at(at_)[column]);
  return value >= std::floor(transform_.invert(column, static_cast<double>(is.low))) &&
         value <= std::ceil(transform_.invert(column, static_cast<double>(is.high)));
}

Result<bool> Detector::take_row(size_t row, double time_s, const double* values, std::vector<Alert>& alerts,
                                std::vector<float>* scores) {
  const double score = look(time_s, values, episode_.open);
  if (scores != nullptr) scores->push_back(static_cast<float>(score));
  level_.pass(std::clamp(time_s - last_time_s_, 0.0, 60 * interval_s_));
  last_time_s_ = time_s;
  refreshed_s_ = std::min(refreshed_s_, time_s);  // a clock that was set back: what is due is counted from here
  follow_episode(row, time_s, values, score, alerts);
  ++rows_since_refresh_;
  if (episode_.open) return false;
  end_block();
  keep(time_s);
  return refresh(time_s);
}

// A fault lasts in the means over 40 rows after its end.
void Detector::forget_ended(double level) {
  bool any_long = false;
  bool any_quick = false;
  for (size_t j = 0; j < columns_; ++j) {
    if (static_cast<double>(nats_[j]) < kQuietShare * level) continue;
    const Sight sight = sightings_[j].sight;
    const bool is_long =
        rules_.rule(j) == PresenceRule::kUsual && (sight == Sight::kLongShift || sight == Sight::kJointLong);
    any_long |= is_long;
    any_quick |= !is_long;
    episode_.is_quick |= !is_long && static_cast<double>(nats_[j]) > level;
  }
  episode_.long_rows = any_long && !any_quick ? episode_.long_rows + 1 : 0;
  if (!episode_.is_quick || episode_.long_rows < kEndedRows) return;
  past_.forget_long_means();
  relations_.forget_long_means();
  episode_.long_rows = 0;
}

void Detector::end_block() {
  if (rows_ % TailLists::kBlockRows != 0) return;
  past_.end_block();
  relations_.end_block();
}

void Detector::open_episode(double time_s) {
  episode_.open = true;
  episode_.id = ++episodes_;
  episode_.rows = episode_.quiet_rows = episode_.long_rows = episode_.most_row = 0;
  episode_.is_quick = false;
  episode_.severity = Severity::kMinor;
  episode_.wait_rows =
      std::max(static_cast<uint64_t>(std::clamp(options_.change_after_s / std::max(interval_s_, 1e-9), 0.0, 1e15)),
               kLeastChangeRows);
  episode_.since_s = episode_.last_s = time_s;
  episode_.most = episode_.far = 0;
  episode_.worst.clear();
  std::fill(episode_.surprise.begin(), episode_.surprise.end(), 0.0f);
}

void Detector::follow_episode(size_t row, double time_s, const double* values, double score,
                              std::vector<Alert>& alerts) {
  const double level = level_.level();
  const bool begins = !episode_.open && score > level;
  if (!episode_.open && !begins) return;
  if (begins) open_episode(time_s);
  ++episode_.rows;
  forget_ended(level);
  const bool quiet = score < kQuietShare * level;
  if (score > episode_.most) {
    episode_.most = score;
    episode_.most_row = episode_.rows;
  }
  for (size_t j = 0; j < columns_; ++j) {
    episode_.surprise[j] = std::max(episode_.surprise[j], nats_[j]);
    if (static_cast<double>(nats_[j]) > level) episode_.far = std::max(episode_.far, std::abs(far(j)));
  }
  if (quiet && !begins) {
    if (++episode_.quiet_rows >= kQuietRows) end_episode(alert_of(row, time_s, values, episode_.surprise), alerts);
    return;
  }
  episode_.quiet_rows = 0;
  episode_.last_s = time_s;
  Alert now = alert_of(row, time_s, values, nats_);
  episode_.severity = now.severity;
  if (begins) episode_.growth.begin(columns_, now.severity);
  follow_growth(now);
  if (begins || now.worse) alerts.push_back(std::move(now));
  if (begins) {
    level_.add_alarm();
    return;
  }
  if (episode_.rows < episode_.wait_rows) return;
  // What still grows, as a ramp does, has no place yet that could be usual.
  const uint64_t quarter = episode_.wait_rows / 4;
  if (episode_.rows - episode_.most_row < quarter) {
    episode_.wait_rows = episode_.rows + quarter;
    return;
  }
  end_as_change(alert_of(row, time_s, values, episode_.surprise), alerts);
}

void Detector::end_episode(Alert alert, std::vector<Alert>& alerts) {
  alert.state = AlertState::kClosed;
  alert.rows -= std::min(episode_.quiet_rows, alert.rows);
  alert.duration_s = std::max(episode_.last_s - episode_.since_s, 0.0);
  alert.worst_s = episode_.worst_s;
  alert.worst = episode_.worst;
  alerts.push_back(std::move(alert));
  episode_.open = false;
  past_.end_block();
  relations_.end_block();
}

void Detector::end_as_change(Alert alert, std::vector<Alert>& alerts) {
  alert.kind = AlertKind::kChange;
  alert.state = AlertState::kClosed;
  alerts.push_back(std::move(alert));
  episode_.open = false;
  past_.accept();
  relations_.accept();
  rules_.acknowledge();
}

Expected Detector::expected(size_t column) const {
  const Sighting& sighting = sightings_[column];
  if (nats_[column] <= 0 || sighting.nats <= 0) return past_.usual(column);
  return sighting.sight < Sight::kJoint ? past_.expected(column, sighting)
                                        : relations_.expected(column, sighting, z_at(at_)[column]);
}

double Detector::far(size_t column) const {
  if (rules_.rule(column) != PresenceRule::kUsual) return 1;
  if (std::isnan(z_at(at_)[column])) return 0;
  return static_cast<double>(expected(column).far());
}

Alert Detector::alert_of(size_t row, double time_s, const double* values, std::span<const float> weights) const {
  Alert alert;
  alert.id = episode_.id;
  alert.time_s = time_s;
  alert.since_s = episode_.since_s;
  alert.score = episode_.most;
  alert.level = level_.level();
  alert.severity = std::max(level_.severity(episode_.most, episode_.far), episode_.severity);
  alert.rows = episode_.rows;
  alert.duration_s = std::max(time_s - episode_.since_s, 0.0);
  alert.row = row;
  alert.provisional = rows_ < kSureRows;
  double total = 0;
  for (size_t j = 0; j < columns_; ++j) {
    const auto weight = static_cast<double>(weights[j]);
    if (weight < kQuietShare * alert.level) continue;
    AlertMetric metric{j, weight, values[j], kUnknown, rules_.rule(j)};
    metric.is_growth = is_count_[j] != 0;
    const Expected is = expected(j);
    const auto in_unit = [&](float z) {
      return std::abs(z) < kFarthest_z ? transform_.invert(j, static_cast<double>(z)) : kUnknown;
    };
    metric.sight = sightings_[j].sight;
    if (metric.sight == Sight::kVariation && nats_[j] > 0) {
      metric.times = static_cast<double>(is.value);
    } else {
      metric.low = in_unit(is.low);
      metric.high = in_unit(is.high);
      metric.expected = in_unit((is.low + is.high) / 2);
      const bool of_mean = is_of_mean(metric.sight);
      if (of_mean && nats_[j] > 0) metric.mean = in_unit(is.value);
    }
    alert.metrics.push_back(metric);
    total += weight;
  }
  std::stable_sort(alert.metrics.begin(), alert.metrics.end(),
                   [](const AlertMetric& a, const AlertMetric& b) { return a.share > b.share; });
  if (alert.metrics.size() > kMostNamed) alert.metrics.resize(kMostNamed);
  for (AlertMetric& metric : alert.metrics) metric.share /= total;
  while (alert.metrics.size() > 1 && alert.metrics.back().share < kLeastShare) alert.metrics.pop_back();
  return alert;
}

void Detector::follow_growth(Alert& now) {
  shifts_.assign(columns_, 0);
  for (size_t j = 0; j < columns_; ++j) {
    if (nats_[j] > 0) shifts_[j] = static_cast<float>(far(j));
  }
  now.worse = episode_.growth.add(shifts_, nats_, now.level, now.severity);
  if (!now.worse && !episode_.growth.is_farthest()) return;
  // What is farthest off comes first.
  std::vector<AlertMetric> told = now.metrics;
  const size_t j = episode_.growth.column();
  const auto first = std::find_if(told.begin(), told.end(), [&](const AlertMetric& of) { return of.column == j; });
  if (first != told.end()) std::rotate(told.begin(), first, first + 1);
  if (episode_.growth.is_farthest()) {
    episode_.worst_s = now.time_s;
    episode_.worst = told;
  }
  if (now.worse) now.metrics = std::move(told);
}

// Vitter's reservoir, which forgets: a row replaces another with a probability that does not fall below a bound.
void Detector::keep(double time_s) {
  if (!options_.use_joint || columns_ < 2) return;
  size_t slot = reservoir_time_s_.size();
  ++seen_;
  if (slot >= kReservoirRows) {
    // By the row's number, so that a saved state need not hold a generator.
    slot = Random(options_.seed ^ (seen_ * 0x9E3779B97F4A7C15u))
               .below(std::min<uint64_t>(seen_, kMemory * kReservoirRows));
    if (slot >= kReservoirRows) return;
  } else {
    reservoir_time_s_.push_back(0);
    reservoir_.resize(reservoir_.size() + columns_);
  }
  reservoir_time_s_[slot] = time_s;
  std::copy_n(z_at(at_).data(), columns_, reservoir_.begin() + static_cast<std::ptrdiff_t>(slot * columns_));
}

// The network learns anew where there are many more rows than it knows, and trains on from time to time.
Result<bool> Detector::refresh(double time_s) {
  if (relations_due_ > 0 && rows_ >= relations_due_) {
    if (Status learnt = learn_relations(reservoir_time_s_.size()); !learnt) return learnt.error();
    relations_due_ = 0;
    for (const uint64_t rows : kRelationRows) {
      if (relations_due_ == 0 && rows >= 2 * rows_) relations_due_ = rows;
    }
    return true;
  }
  if (!relations_.is_known() || time_s - refreshed_s_ < options_.refresh_s || rows_since_refresh_ < kLeastRefreshRows)
    return false;
  ReconstructionOptions training;
  training.hidden = options_.hidden;
  training.latent = std::max<size_t>(std::min(options_.latent, columns_ / 2), 1);
  training.steps = std::max<size_t>(options_.training_steps / 10, 1);
  training.seed = options_.seed ^ seen_;
  refreshed_s_ = time_s;
  rows_since_refresh_ = 0;
  if (Status refreshed = relations_.refresh(reservoir_, columns_, reservoir_time_s_.size(), training); !refreshed)
    return refreshed.error();
  return true;
}

}  // namespace perfcast::measure
