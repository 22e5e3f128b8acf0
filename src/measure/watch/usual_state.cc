#include "measure/watch/usual_state.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "measure/watch/archive.h"

namespace perfcast::measure {
namespace {

constexpr double kCloseShare = 0.6;  // of the level: what is below is usual
constexpr float kFarShare = 0.7f;    // the network bends to what moved: what moved less than this share of the most
constexpr int kUnbendSteps = 16;     // until the network no longer bends
constexpr int kRounds = 3;
constexpr double kMostFactor = 1e4;
constexpr float kUnbent = 0.01f;  // of z
constexpr float kMostSpread = 20;
constexpr float kMedianError = 1.2533f, kSureErrors = 3;
constexpr double kFitShare = 0.8;  // of rows
constexpr double kFollowState_s = 7200;
constexpr double kLeastFollowRows = 60, kMostFollowRows = 2000, kRowsAtFirst = 16;
constexpr float kMostFollow = 3;  // deviations
constexpr float kMostTrend = 1,
                kMostTrendShare = 0.15;  // deviations, and of the way, from the first half to the second

struct Spot {
  float centre = 0, spread = 1;
};

Spot spot_of(std::vector<double> values) {
  if (values.empty()) return {};
  Spot spot;
  spot.centre = static_cast<float>(median(values));
  spot.spread = std::clamp(static_cast<float>(robust_deviation(std::move(values))), 1.0f, kMostSpread);
  return spot;
}

double follow_rows(const DetectorModel& model) {
  return std::clamp(kFollowState_s / model.interval_s, kLeastFollowRows, kMostFollowRows);
}

class StateLearner {
 public:
  StateLearner(DetectorModel& model, const DetectorOptions& options, const UsualState& from, std::span<const float> z,
               std::span<const double> time_s)
      : model_(model), options_(options), n_(from.u_spread.size()), from_(from), z_(z), rows_(time_s.size()) {
    parts_.reserve(rows_);
    for (const double time : time_s) parts_.push_back(model.baseline.part(time));
  }

  // Metrics move whose rows surprise by more than `least` nats, as if they were means of 40.
  std::optional<UsualState> learn(float least) {
    UsualState state = from_;
    std::fill(state.u_spread.begin(), state.u_spread.end(), 1.0f);
    std::fill(state.w_spread.begin(), state.w_spread.end(), 1.0f);
    std::fill(state.w_centre.begin(), state.w_centre.end(), 0.0f);
    state.rows = 0;
    if (options_.use_baseline && !place_levels(state, least)) return std::nullopt;
    if (options_.use_joint && !place_offsets(state, least)) return std::nullopt;
    if (!fits(state)) return std::nullopt;
    return state;
  }

 private:
  // All rows as the state sees them.
  void judge(const UsualState& state) {
    judged_.resize(rows_);
    for (size_t r = 0; r < rows_; ++r) judge_row(model_, options_, state, z_.data() + r * n_, parts_[r], judged_[r]);
  }
  template <typename Value>
  Spot spot(size_t column, const Value& value) const {
    std::vector<double> values;
    for (size_t r = 0; r < rows_; ++r) {
      if (!std::isnan(z_[r * n_ + column])) values.push_back(static_cast<double>(value(r)));
    }
    return spot_of(std::move(values));
  }

  // Whether a metric that moved still moves.
  template <typename Value>
  bool has_trend(size_t column, float centre, const Value& value) const {
    std::vector<double> halves[2];
    for (size_t r = 0; r < rows_; ++r) {
      if (!std::isnan(z_[r * n_ + column])) halves[r < rows_ / 2 ? 0 : 1].push_back(static_cast<double>(value(r)));
    }
    if (halves[0].empty() || halves[1].empty()) return false;
    const Spot first = spot_of(std::move(halves[0])), second = spot_of(std::move(halves[1]));
    // A median's standard error, of both.
    const float chance =
        kMedianError * std::hypot(first.spread, second.spread) / std::sqrt(static_cast<float>(rows_) / 2);
    const float way = std::abs(second.centre - first.centre);
    return way > std::max({kMostTrend, kMostTrendShare * std::abs(centre), kSureErrors * chance});
  }

  // False where a metric is still on its way.
  bool place_levels(UsualState& state, float least) {
    judge(state);
    for (size_t j = 0; j < n_; ++j) {
      const auto value = [&](size_t r) { return judged_[r].u[j]; };
      const Spot u = spot(j, value);
      state.u_spread[j] = u.spread;
      if (model_.surprise.surprise_of(Channel::kBaselineLong, j, std::abs(u.centre)) <= least) continue;
      if (has_trend(j, u.centre, value)) return false;
      const Spot z = spot(j, [&](size_t r) { return z_[r * n_ + j]; });
      const Spot by = spot(
          j, [&](size_t r) { return judged_[r].u[j] * static_cast<float>(model_.baseline.deviation(parts_[r], j)); });
      state.level.move(model_.transform, j, z.centre, by.centre);
    }
    return true;
  }

  // How far a metric of the rows at hand is beside the others.
  Spot joint_shift(size_t column) const {
    return spot(column,
                [&](size_t r) { return model_.reconstruction.shift(column, judged_[r].w[column], judged_[r].regime); });
  }

  // The network bends to what moved, so that one step of a metric leaves a rest.
  void unbend(UsualState& state, const std::vector<size_t>& moved) {
    for (int step = 0; step < kUnbendSteps; ++step) {
      float most = 0;
      for (const size_t j : moved) {
        const float by = joint_shift(j).centre;
        state.offset.move(model_.transform, j, spot(j, [&](size_t r) { return z_[r * n_ + j]; }).centre, by);
        most = std::max(most, std::abs(by));
      }
      judge(state);
      if (most < kUnbent) return;
    }
  }

  // The farthest of those that are still unusual beside the others; false where one is still on its way.
  bool find_far(float least, std::vector<size_t>& far) const {
    std::vector<float> shifts(n_, 0);
    float farthest = 0;
    for (size_t j = 0; j < n_; ++j) {
      const auto value = [&](size_t r) { return judged_[r].w[j]; };
      const Spot w = spot(j, value);
      if (has_trend(j, w.centre, value)) return false;
      if (model_.surprise.surprise_of(Channel::kJointLong, j, std::abs(w.centre)) <= least) continue;
      shifts[j] = std::abs(joint_shift(j).centre);
      farthest = std::max(farthest, shifts[j]);
    }
    for (size_t j = 0; j < n_; ++j) {
      const bool known = std::find(far.begin(), far.end(), j) != far.end();
      if (!known && shifts[j] > 0 && shifts[j] >= kFarShare * farthest) far.push_back(j);
    }
    return true;
  }

  bool place_offsets(UsualState& state, float least) {
    // What left its own past did so beside the others, too: there the network need not say what moved.
    std::vector<size_t> moved;
    for (size_t j = 0; j < n_; ++j) {
      if (state.level.has_moved(j)) moved.push_back(j);
    }
    if (!moved.empty()) state.offset = state.level;
    judge(state);
    unbend(state, moved);
    for (int round = 0; round < kRounds; ++round) {
      const size_t before = moved.size();
      if (!find_far(least, moved)) return false;
      if (moved.size() == before) break;
      unbend(state, moved);
    }
    // What is left of the bend.
    for (size_t j = 0; j < n_; ++j) {
      const Spot w = spot(j, [&](size_t r) { return judged_[r].w[j]; });
      state.w_spread[j] = w.spread;
      if (model_.surprise.surprise_of(Channel::kJointLong, j, std::abs(w.centre)) > 0) state.w_centre[j] = w.centre;
    }
    return true;
  }

  bool fits(const UsualState& state) {
    judge(state);
    Surprise surprise = model_.surprise;
    surprise.forget_all();
    std::vector<float> by_metric(n_);
    const double most = quiet_score(model_);
    const size_t last = rows_ - rows_ / 4;
    size_t quiet = 0;
    size_t quiet_last = 0;
    for (size_t r = 0; r < rows_; ++r) {
      surprise.update(judged_[r].u.data(), judged_[r].w.data());
      if (static_cast<double>(surprise.score(surprise.statistics(), by_metric.data())) > most) continue;
      ++quiet;
      quiet_last += r >= last ? 1 : 0;
    }
    return static_cast<double>(quiet) >= kFitShare * static_cast<double>(rows_) &&
           static_cast<double>(quiet_last) >= kFitShare * static_cast<double>(rows_ - last);
  }

  DetectorModel& model_;
  const DetectorOptions& options_;
  size_t n_;
  const UsualState& from_;
  std::span<const float> z_;
  size_t rows_;
  std::vector<size_t> parts_;
  std::vector<JudgedRow> judged_;
};

}  // namespace

void MovedMetrics::take_back(const MetricTransform& transform, const float* z, float* back) const {
  for (size_t j = 0; j < added.size(); ++j) {
    back[j] = log_factor[j] == 0 || std::isnan(z[j]) ? z[j] - added[j] : transform.divided(j, z[j], log_factor[j]);
  }
}

void MovedMetrics::move(const MetricTransform& transform, size_t column, float z, float by) {
  if (by == 0) return;
  if (added[column] == 0) {
    const float usual = transform.divided(column, z, log_factor[column]) - by;
    const double now = transform.invert(column, static_cast<double>(z));
    const double before = transform.invert(column, static_cast<double>(usual));
    const double factor = now / before;
    if (std::abs(before) > transform.knee(column) && factor > 1 / kMostFactor && factor < kMostFactor) {
      log_factor[column] = static_cast<float>(std::log(factor));
      return;
    }
    if (log_factor[column] != 0) return;  // so far and no further
  }
  added[column] += by;
}

void MovedMetrics::archive(Archive& archive, size_t columns) {
  archive.array(log_factor, columns);
  archive.array(added, columns);
  for (const float factor : log_factor) {
    if (!(std::abs(factor) <= std::log(kMostFactor))) archive.fail();
  }
}

UsualState::UsualState(size_t columns)
    : level(columns), offset(columns), u_spread(columns, 1), w_centre(columns, 0), w_spread(columns, 1) {}

void UsualState::follow(const DetectorModel& model, size_t part, std::span<const float> z, std::span<const float> u,
                        std::span<const float> w) {
  ++rows;
  const auto step = static_cast<float>(1 / std::min(kRowsAtFirst + static_cast<double>(rows), follow_rows(model)));
  for (size_t j = 0; j < u_spread.size(); ++j) {
    if (level.has_moved(j) && !std::isnan(z[j])) {
      level.move(model.transform, j, z[j],
                 step * std::clamp(u[j], -kMostFollow, kMostFollow) * u_spread[j] *
                     static_cast<float>(model.baseline.deviation(part, j)));
    }
    w_centre[j] += step * std::clamp(w[j], -kMostFollow, kMostFollow) * w_spread[j];
  }
}

bool UsualState::is_settled(const DetectorModel& model) const {
  return static_cast<double>(rows) >= follow_rows(model);
}

void UsualState::archive(Archive& archive, size_t columns) {
  for (MovedMetrics* moved : {&level, &offset}) moved->archive(archive, columns);
  for (std::vector<float>* values : {&u_spread, &w_centre, &w_spread}) archive.array(*values, columns);
  archive.values(since_s, rows);
  for (const std::vector<float>* values : {&u_spread, &w_spread}) {
    for (const float value : *values) {
      if (!(value >= 1)) archive.fail();
    }
  }
}

void judge_row(DetectorModel& model, const DetectorOptions& options, const UsualState& state, const float* z,
               size_t part, JudgedRow& row) {
  const size_t n = state.u_spread.size();
  row.z.resize(n);
  row.e.resize(n);
  row.u.resize(n);
  row.w.assign(n, 0);
  state.level.take_back(model.transform, z, row.z.data());
  model.baseline.score(row.z.data(), part, row.u.data());
  for (size_t j = 0; j < n; ++j) row.u[j] /= state.u_spread[j];
  if (!options.use_joint) return;
  state.offset.take_back(model.transform, z, row.z.data());
  model.reconstruction.residuals(1, row.z.data(), row.e.data(), &row.regime);
  model.reconstruction.conditional(row.e.data(), row.regime, row.w.data());
  for (size_t j = 0; j < n; ++j) {
    if (!std::isnan(z[j])) row.w[j] = (row.w[j] - state.w_centre[j]) / state.w_spread[j];
  }
}

float shift_of(const DetectorModel& model, const DetectorOptions& options, const UsualState& state, size_t part,
               size_t column, float u, float w, uint32_t regime) {
  if (options.use_joint && (!options.use_baseline || !model.surprise.is_long_shift(Channel::kBaselineLong, column) ||
                            model.surprise.is_long_shift(Channel::kJointLong, column))) {
    return model.reconstruction.shift(column, w * state.w_spread[column], regime);
  }
  return u * state.u_spread[column] * static_cast<float>(model.baseline.deviation(part, column));
}

double quiet_score(const DetectorModel& model) {
  return std::max(kCloseShare * model.level.level(), static_cast<double>(model.clusters.low));
}

std::optional<UsualState> learn_state(DetectorModel& model, const DetectorOptions& options, const UsualState& from,
                                      std::span<const float> z, std::span<const double> time_s) {
  StateLearner learner(model, options, from, z, time_s);
  // As little as will do: where metrics only lean, it may be the load.
  if (auto state = learner.learn(static_cast<float>(quiet_score(model)))) return state;
  return learner.learn(0);
}

}  // namespace perfcast::measure
