#pragma once
// One stream of rows with the same columns -> alerts. First a warm-up, from which all is learnt; then each row gets a
// score, and rows above the alarm level make an episode. What an episode means:
//   it grows    it is clearly worse than when it was last told: it is told again
//   it ends     the rows are usual again for a quarter of `change_after_s`, 8 to 60 rows: an anomaly
//   it lasts    for `change_after_s` and 16 rows at least, and its rows stay in one place: a change. What they show is
//               usual from now on, on top of what was usual before
//   it is back  8 rows are as they were before a change: that change is over. Where no episode is open, none begins
// Memory is bounded by columns and options; what is done hangs on the rows alone, not on how they come in blocks.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "measure/watch/alert.h"
#include "measure/watch/detector_model.h"
#include "measure/watch/episode_growth.h"
#include "measure/watch/usual_state.h"

namespace perfcast::measure {

class Archive;

class Detector {
 public:
  Detector(size_t columns, const DetectorOptions& options);

  // Rows in the order of their times; values: rows x stride, of which the first columns() count; NaN absent. `scores`:
  // one for each row behind the warm-up, where asked for. Errors are of training.
  Status add(size_t rows, const double* time_s, const double* values, size_t stride, std::vector<Alert>& alerts,
             std::vector<float>* scores = nullptr);
  // More columns, behind those that there are: while it is warming up.
  void widen(size_t columns);

  bool is_warming_up() const { return !model_; }
  size_t warm_up_rows() const { return warm_up_time_s_.size(); }  // so far
  size_t columns() const { return columns_; }
  double level() const { return model_ ? model_->level.level() : 0; }
  bool has_open_episode() const { return episode_.open; }
  uint64_t episode() const { return episode_.id; }  // the last one, open or not
  double episode_since_s() const { return episode_.since_s; }

  // "bad" bytes make the archive fail; the detector is then of no use.
  void archive(Archive& archive);

 private:
  static constexpr size_t kMostStates = 4, kReservoirRows = 4096, kMostNamed = 5;
  static constexpr size_t kRecentRows = 64;  // of an episode
  static constexpr uint64_t kMostFlaps = 3;  // that count

  struct Episode {
    bool open = false;
    bool is_quick = false;  // some rows showed it, not only a mean over 40
    uint64_t id = 0, rows = 0;
    uint64_t quiet_rows = 0;
    uint64_t tried_rows = 0;  // of the episode, when it was last asked whether it is a change
    double since_s = 0, last_s = 0, most = 0;
    std::vector<float> surprise;  // sums by metric
    EpisodeGrowth growth;
    double worst_s = 0;  // of the row that was farthest off
    std::vector<AlertMetric> worst;
    // Of its latest rows every some, as many as `change_after_s` has: where it stands.
    std::vector<float> recent_z;
    std::vector<double> recent_s;
    std::vector<uint8_t> recent_quiet;
  };
  // Whether the latest rows look like an earlier state.
  struct Return {
    uint64_t rows = 0;  // that do, without a gap
    double since_s = 0;
    Surprise surprise;
  };

  Status learn();
  void fill_reservoir();
  void infer(size_t rows, const double* values, size_t stride);
  // True where what later rows are compared with moved.
  Result<bool> take_row(size_t row, double time_s, const double* values, std::vector<Alert>& alerts,
                        std::vector<float>* scores);
  // Of the row at hand, by the present state.
  void judge(size_t part);
  std::span<const float> z_at(size_t row) const { return {z_.data() + row * columns_, columns_}; }
  bool follow_episode(size_t row, double time_s, const double* values, double score, std::vector<Alert>& alerts);
  void open_episode(double time_s);
  void close_episode();
  uint64_t quiet_rows_needed() const;
  uint64_t rows_of(double seconds) const;
  void remember_row(double time_s, bool quiet);
  // The earlier state that the latest rows look like, and for how many: 0 rows where to none.
  size_t follow_returns(double time_s, bool quiet);
  void end_as_return(size_t state, Alert alert, std::vector<Alert>& alerts);
  bool end_as_change(const Alert& alert, std::vector<Alert>& alerts);
  Alert alert_of(size_t row, double time_s, const double* values, std::span<const float> weights) const;
  float shift_at(size_t column) const;
  // Of the row at hand, whose alert would be `now`: whether it is to be told again, and the worst so far.
  void follow_growth(Alert& now);
  void keep(double time_s);
  void archive_states(Archive& archive);
  void archive_growth(Archive& archive);
  void archive_first_version(Archive& archive);
  Status refresh();

  size_t columns_;
  DetectorOptions options_;
  std::vector<double> warm_up_time_s_, warm_up_values_;
  std::optional<DetectorModel> model_;
  std::vector<UsualState> states_;  // the last one holds
  std::vector<Return> returns_;     // one for each but the last
  Episode episode_;
  uint64_t episodes_ = 0;
  uint64_t settling_rows_ = 0;  // behind a change, in which no episode begins
  // Episodes that began soon after another had ended, and the rows since one did: what flaps must stay quiet for
  // longer.
  uint64_t reopened_ = 0, closed_rows_ = 0;
  double last_time_s_ = 0, followed_s_ = 0, refreshed_s_ = 0;
  uint64_t rows_since_refresh_ = 0;

  uint64_t seen_ = 0;  // rows offered to the reservoir
  std::vector<float> reservoir_;
  std::vector<double> reservoir_time_s_;

  // Of the rows at hand.
  std::vector<float> z_, shifted_, e_, u_, w_, surprises_, shifts_;
  JudgedRow judged_;
  std::vector<uint32_t> regimes_;
  bool has_rule_ = false;     // a metric is missing or stuck
  size_t at_ = 0, part_ = 0;  // the row at hand within them, its part of the season
};

}  // namespace perfcast::measure
