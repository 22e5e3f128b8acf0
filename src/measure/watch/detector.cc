#include "measure/watch/detector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/random.h"
#include "base/unknown.h"

namespace perfcast::measure {
namespace {

constexpr size_t kChunkRows = 256;
constexpr uint64_t kLeastQuietRows = 8, kMostQuietRows = 60;
constexpr double kQuietShare = 0.25;  // of the time after which an anomaly is a change
constexpr uint64_t kFlapRows = 600;   // between two episodes
constexpr uint64_t kLeastChangeRows = 16;
constexpr double kLastingShare = 0.6;  // of recent rows
constexpr uint64_t kReturnRows = 8;
constexpr uint64_t kMemory = 10;  // a row stays in the reservoir for some ten times its size
constexpr uint64_t kLeastRefreshRows = 50000;
constexpr double kFollow_s = 3600;  // between fits of the alarm level
constexpr double kLeastShare = 0.03;

}  // namespace

Detector::Detector(size_t columns, const DetectorOptions& options)
    : columns_(columns), options_(options), states_(1, UsualState(columns)) {
  episode_.surprise.assign(columns, 0);
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
  for (size_t r = 0; r < rows; ++r) model_->transform.apply(values + r * stride, z_.data() + r * columns_);
  if (!options_.use_joint) return;
  if (states_.size() > 1) {
    shifted_.resize(z_.size());
    for (size_t at = 0; at < z_.size(); at += columns_)
      states_.back().offset.take_back(model_->transform, z_.data() + at, shifted_.data() + at);
  }
  model_->reconstruction.residuals(rows, states_.size() > 1 ? shifted_.data() : z_.data(), e_.data(), regimes_.data());
}

void Detector::judge(size_t part) {
  const float* z = z_.data() + at_ * columns_;
  const UsualState& state = states_.back();
  if (states_.size() > 1) {
    judged_.z.resize(columns_);
    state.level.take_back(model_->transform, z, judged_.z.data());
    z = judged_.z.data();
  }
  model_->baseline.score(z, part, u_.data());
  if (options_.use_joint) model_->reconstruction.conditional(e_.data() + at_ * columns_, regimes_[at_], w_.data());
  if (states_.size() == 1) return;
  for (size_t j = 0; j < columns_; ++j) {
    u_[j] /= state.u_spread[j];
    if (options_.use_joint && !std::isnan(z[j])) w_[j] = (w_[j] - state.w_centre[j]) / state.w_spread[j];
  }
}

Result<bool> Detector::take_row(size_t row, double time_s, const double* values, std::vector<Alert>& alerts,
                                std::vector<float>* scores) {
  part_ = model_->baseline.part(time_s);
  judge(part_);
  model_->surprise.update(u_.data(), w_.data());
  double score = static_cast<double>(model_->surprise.score(model_->surprise.statistics(), surprises_.data()));
  const bool counts = states_.size() == 1 || states_.back().is_settled(*model_);
  if (model_->clusters.ends(static_cast<float>(score)) && counts) model_->level.add(model_->clusters.maximum);
  has_rule_ = model_->rules.update(values) && options_.use_baseline;
  if (has_rule_) {
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
  if (counts) model_->level.pass(std::min(passed_s, 60 * model_->interval_s) / 86400);
  if (scores != nullptr) scores->push_back(static_cast<float>(score));

  bool moved = follow_episode(row, time_s, values, score, alerts);
  ++rows_since_refresh_;
  if (episode_.open || moved || (states_.size() > 1 && score > quiet_score(*model_))) return moved;
  if (states_.size() > 1) states_.back().follow(*model_, part_, z_at(at_), u_, w_);
  if (settling_rows_ > 0) return moved;
  if (states_.size() == 1) {
    model_->baseline.adapt(z_at(at_).data(), part_);
  } else {
    // What a change moved is followed by its state: the old usual stays what it was.
    judged_.z.assign(z_at(at_).begin(), z_at(at_).end());
    for (size_t j = 0; j < columns_; ++j) {
      if (states_.back().level.has_moved(j)) judged_.z[j] = std::numeric_limits<float>::quiet_NaN();
    }
    model_->baseline.adapt(judged_.z.data(), part_);
  }
  keep(time_s);
  if (time_s - followed_s_ >= kFollow_s) {
    model_->level.follow();
    followed_s_ = time_s;
  }
  // A state beyond the first holds what the network of its time left.
  if (states_.size() == 1 && time_s - refreshed_s_ >= options_.refresh_s && rows_since_refresh_ >= kLeastRefreshRows) {
    if (Status refreshed = refresh(); !refreshed) return refreshed.error();
    refreshed_s_ = time_s;
    rows_since_refresh_ = 0;
    moved = true;
  }
  return moved;
}

void Detector::open_episode(double time_s) {
  reopened_ = episodes_ > 0 && closed_rows_ < kFlapRows ? std::min(reopened_ + 1, kMostFlaps) : 0;
  episode_.open = true;
  episode_.is_quick = false;
  episode_.id = ++episodes_;
  episode_.rows = episode_.quiet_rows = episode_.tried_rows = 0;
  episode_.since_s = episode_.last_s = time_s;
  episode_.most = 0;
  episode_.worst.clear();
  std::fill(episode_.surprise.begin(), episode_.surprise.end(), 0.0f);
  episode_.recent_z.clear();
  episode_.recent_s.clear();
  episode_.recent_quiet.clear();
}

void Detector::close_episode() {
  episode_.open = false;
  closed_rows_ = 0;
}

uint64_t Detector::rows_of(double seconds) const {
  return static_cast<uint64_t>(std::clamp(seconds / std::max(model_->interval_s, 1e-9), 0.0, 1e15));
}

uint64_t Detector::quiet_rows_needed() const {
  // What only a long mean saw needs a long mean to see that it is over.
  if (!episode_.is_quick) return kMostQuietRows;
  const uint64_t rows = std::clamp(rows_of(kQuietShare * options_.change_after_s), kLeastQuietRows, kMostQuietRows);
  return std::min(rows << reopened_, kMostQuietRows);
}

void Detector::remember_row(double time_s, bool quiet) {
  const uint64_t every = std::max<uint64_t>(rows_of(options_.change_after_s) / kRecentRows, 1);
  if (episode_.rows % every != 0) return;
  if (episode_.recent_s.size() == kRecentRows) {
    episode_.recent_z.erase(episode_.recent_z.begin(), episode_.recent_z.begin() + static_cast<ptrdiff_t>(columns_));
    episode_.recent_s.erase(episode_.recent_s.begin());
    episode_.recent_quiet.erase(episode_.recent_quiet.begin());
  }
  episode_.recent_z.insert(episode_.recent_z.end(), z_at(at_).begin(), z_at(at_).end());
  episode_.recent_s.push_back(time_s);
  episode_.recent_quiet.push_back(quiet ? 1 : 0);
}

size_t Detector::follow_returns(double time_s, bool quiet) {
  size_t best = 0;
  for (size_t k = 0; k < returns_.size(); ++k) {
    Return& back = returns_[k];
    if (!quiet) {
      judge_row(*model_, options_, states_[k], z_at(at_).data(), part_, judged_);
      if (back.rows == 0) {
        back.surprise = model_->surprise;
        back.surprise.forget_all();
        back.since_s = time_s;
      }
      back.surprise.update(judged_.u.data(), judged_.w.data());
      const float score = back.surprise.score(back.surprise.statistics(), judged_.z.data());
      back.rows = static_cast<double>(score) <= quiet_score(*model_) ? back.rows + 1 : 0;
    } else {
      back.rows = 0;
    }
    if (back.rows > returns_[best].rows) best = k;
  }
  return best;
}

bool Detector::follow_episode(size_t row, double time_s, const double* values, double score,
                              std::vector<Alert>& alerts) {
  const double level = model_->level.level();
  if (settling_rows_ > 0) --settling_rows_;
  closed_rows_ += closed_rows_ < kFlapRows ? 1 : 0;
  const bool quiet = score <= quiet_score(*model_);
  bool is_back = false;  // or may be: its rows aren't enough yet
  if (!returns_.empty()) {
    const size_t state = follow_returns(time_s, quiet);
    is_back = returns_[state].rows > 0;
    if (returns_[state].rows >= kReturnRows) {
      end_as_return(state, alert_of(row, time_s, values, surprises_), alerts);
      return true;
    }
  }
  const bool begins = !episode_.open && !is_back && score > level && settling_rows_ == 0;
  if (!episode_.open && !begins) return false;
  if (begins) open_episode(time_s);
  ++episode_.rows;
  episode_.most = std::max(episode_.most, score);
  if (has_rule_ || static_cast<double>(model_->surprise.quick_score()) > level) episode_.is_quick = true;
  for (size_t j = 0; j < columns_; ++j) episode_.surprise[j] += surprises_[j];
  remember_row(time_s, quiet);
  Alert now = alert_of(row, time_s, values, surprises_);
  if (begins) episode_.growth.begin(columns_, now.severity);
  follow_growth(now);
  if (begins || now.worse) alerts.push_back(std::move(now));
  if (begins) return false;
  model_->surprise.forget_ended(u_.data(), w_.data());
  episode_.quiet_rows = quiet ? episode_.quiet_rows + 1 : 0;
  if (!quiet) episode_.last_s = time_s;
  if (episode_.quiet_rows >= quiet_rows_needed()) {
    Alert alert = alert_of(row, time_s, values, episode_.surprise);
    alert.state = AlertState::kClosed;
    alert.rows -= std::min(episode_.quiet_rows, alert.rows);
    alert.duration_s = std::max(episode_.last_s - episode_.since_s, 0.0);
    alert.worst_s = episode_.worst_s;
    alert.worst = episode_.worst;
    alerts.push_back(std::move(alert));
    close_episode();
    return false;
  }
  const uint64_t most = std::max(rows_of(options_.change_after_s), kLeastChangeRows);
  if (quiet || is_back || episode_.rows < most || episode_.rows - episode_.tried_rows < kLeastChangeRows) return false;
  episode_.tried_rows = episode_.rows;
  return end_as_change(alert_of(row, time_s, values, episode_.surprise), alerts);
}

float Detector::shift_at(size_t column) const {
  if (std::isnan(z_at(at_)[column])) return 0;
  return shift_of(*model_, options_, states_.back(), part_, column, u_[column], w_[column],
                  options_.use_joint ? regimes_[at_] : 0);
}

void Detector::follow_growth(Alert& now) {
  shifts_.resize(columns_);
  const auto deviation = [&](size_t j) { return static_cast<float>(model_->baseline.deviation(part_, j)); };
  for (size_t j = 0; j < columns_; ++j) {
    // The network bends to what moves far: beside its own past it goes on.
    const float own = std::isnan(z_at(at_)[j]) ? 0 : u_[j] * states_.back().u_spread[j];
    const float beside = shift_at(j) / deviation(j);
    shifts_[j] = std::abs(own) > std::abs(beside) ? own : beside;
  }
  now.worse = episode_.growth.add(shifts_, surprises_, now.level, now.severity);
  if (!now.worse && !episode_.growth.is_farthest()) return;
  // What is farthest off comes first, beside what it is farthest from.
  std::vector<AlertMetric> told = now.metrics;
  const size_t j = episode_.growth.column();
  const auto first = std::find_if(told.begin(), told.end(), [&](const AlertMetric& of) { return of.column == j; });
  if (first != told.end() && !std::isnan(z_at(at_)[j])) {
    first->expected =
        model_->transform.invert(j, static_cast<double>(z_at(at_)[j]) - static_cast<double>(shifts_[j] * deviation(j)));
    std::rotate(told.begin(), first, first + 1);
  }
  if (episode_.growth.is_farthest()) {
    episode_.worst_s = now.time_s;
    episode_.worst = told;
  }
  if (now.worse) now.metrics = std::move(told);
}

void Detector::end_as_return(size_t state, Alert alert, std::vector<Alert>& alerts) {
  const Return& back = returns_[state];
  if (!episode_.open) {
    alert.id = ++episodes_;
    alert.since_s = back.since_s;
    alert.rows = back.rows;
    alert.severity = Severity::kMinor;
  }
  alert.kind = AlertKind::kChange;
  alert.state = AlertState::kClosed;
  alert.returned = true;
  alert.change_since_s = states_.back().since_s;
  alert.changes_over = states_.size() - 1 - state;
  alert.duration_s = std::max(back.since_s - alert.change_since_s, 0.0);
  alerts.push_back(std::move(alert));
  close_episode();
  model_->surprise = back.surprise;
  states_.erase(states_.begin() + static_cast<ptrdiff_t>(state) + 1, states_.end());
  returns_.clear();
  returns_.resize(state);
}

bool Detector::end_as_change(const Alert& alert, std::vector<Alert>& alerts) {
  const auto quiet = std::count(episode_.recent_quiet.begin(), episode_.recent_quiet.end(), 1);
  const auto rows = static_cast<double>(episode_.recent_s.size());
  if (rows - static_cast<double>(quiet) < kLastingShare * rows) return false;
  auto next = learn_state(*model_, options_, states_.back(), episode_.recent_z, episode_.recent_s);
  // A ramp, say: as long as it goes on, its episode is open.
  if (!next) return false;
  // What is missing or stuck may move nothing.
  if (!has_rule_ || next->level != states_.back().level || next->offset != states_.back().offset) {
    next->since_s = episode_.since_s;
    states_.push_back(std::move(*next));
    if (states_.size() > kMostStates) states_.erase(states_.begin() + 1);
    returns_.assign(states_.size() - 1, {});
  }
  model_->surprise.forget_all();
  model_->rules.acknowledge();
  alerts.push_back(alert);
  alerts.back().kind = AlertKind::kChange;
  alerts.back().state = AlertState::kClosed;
  settling_rows_ = std::clamp(rows_of(kQuietShare * options_.change_after_s), kLeastQuietRows, kMostQuietRows);
  close_episode();
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
    const double usual = std::isnan(z) ? model_->baseline.median(part_, j) : z - static_cast<double>(shift_at(j));
    const double expected = model_->transform.invert(j, usual);
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
  states_.back().offset.take_back(model_->transform, z, reservoir_.data() + slot * columns_);
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

}  // namespace perfcast::measure
