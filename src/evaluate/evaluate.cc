#include "evaluate/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "evaluate/platform_name.h"
#include "evaluate/program_groups.h"
#include "evaluate/split_forecasts.h"

namespace perfcast {
namespace {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
class Evaluator {
 public:
  Evaluator(const TrainingTable& table, const EvaluationOptions& options)
      : table_(table), options_(options), groups_(program_groups(table)), log_times_(log_times(table)) {
    for (const Program& program : table.programs) families_.push_back(program.family);
  }

  Result<Evaluation> run() {
    if (Status status = prepare(); !status) return status.error();
    auto forecasts = forecast_splits(table_, options_, models_, repetitions_, reference_);
    if (!forecasts) return forecasts.error();
    forecasts_ = std::move(*forecasts);
    add_model(0);  // the mean RPV
    add_majority();
    if (options_.split == Split::kPlatform) add_nearest_platform();
    for (size_t m = 1; m < models_.size(); ++m) add_model(m);
    add_rows("noise-floor", {noise_floor(table_, reference_)},
             "half of each platform's servers against the other half; platforms with at least two servers");
    evaluation_.comparisons = compare_models(table_, options_.split, std::move(compared_), options_.seed);
    note_order();
    return std::move(evaluation_);
  }

 private:
  Status prepare() {
    evaluation_.split = options_.split;
    evaluation_.seeds = std::max<int64_t>(1, options_.seeds);
    evaluation_.programs = static_cast<int64_t>(table_.programs.size());
    evaluation_.families = static_cast<int64_t>(std::set<std::string>(families_.begin(), families_.end()).size());
    for (const Platform& platform : table_.platforms) evaluation_.platforms.push_back(platform.id);
    if (table_.platforms.size() < 2) {
      return Error{"empty-corpus",
                   "relative times take two platforms, there is " + std::to_string(table_.platforms.size()), "",
                   "two platforms or more: more of them in the corpus, or in --platforms"};
    }
    if (Status status = find_reference(); !status) return status;
    // The mean RPV is a model like any other, so that its intervals and conditioning are scored alike.
    models_ = {"mean"};
    for (const std::string& model : options_.models) {
      if (auto known = make_predictor(model); !known) return known.error();
      if (std::find(models_.begin(), models_.end(), model) == models_.end()) models_.push_back(model);
    }
    const bool leaks = options_.split == Split::kPlatform;
    if (options_.measured > 0 && leaks) {
      return usage_error("bad-usage", "measured platforms make no sense under the split " + to_string(options_.split),
                         "--measured", "the split workload, program or program-family");
    }
    if (options_.measured > 0 && !options_.intervals) {
      return usage_error("bad-usage", "measured platforms need intervals", "--measured", "intervals left on");
    }
    auto repetitions = make_repetitions(table_, options_);
    if (!repetitions) return repetitions.error();
    repetitions_ = std::move(*repetitions);
    evaluation_.folds = static_cast<int64_t>(repetitions_.front().folds.size());
    note_split();
    note_measured();
    count_votes();
    for (const Program& program : table_.programs) {
      evaluation_.figures.rows.push_back({program.id, program.family, program.group});
    }
    for (const Platform& platform : table_.platforms) evaluation_.figures.platform_names.push_back(platform.name);
    return {};
  }

  Status find_reference() {
    if (options_.reference.empty() || options_.reference == "mean") return {};
    const auto found = find_platform(table_.platforms, options_.reference, "--reference");
    if (!found) return found.error();
    reference_ = static_cast<int64_t>(*found);
    evaluation_.reference = table_.platforms[*found].id;
    return {};
  }

  void note_split() {
    if (options_.split == Split::kRandom) {
      evaluation_.notes.push_back(
          "split random: a program with several profiles or inputs stands on both sides; this flatters every model");
    }
    if (options_.split == Split::kPlatform) {
      evaluation_.notes.push_back(
          "split platform: runs of a platform are left out, its facts stay; a model is fitted on the other platforms, "
          "and its forecasts there are combined by the facts");
    }
  }

  void note_measured() {
    std::map<int64_t, int64_t> times;
    int64_t folds = 0;
    for (const Repetition& repetition : repetitions_) {
      for (const auto& columns : repetition.measured) {
        ++folds;
        for (const int64_t column : columns) ++times[column];
      }
    }
    std::vector<std::pair<int64_t, int64_t>> sorted;
    sorted.reserve(times.size());
    for (const auto& [column, count] : times) sorted.emplace_back(-count, column);
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [count, column] : sorted) {
      evaluation_.measured.push_back(
          {table_.platforms[static_cast<size_t>(column)].id, static_cast<double>(-count) / static_cast<double>(folds)});
    }
  }

  // What each tested row's training rows show. Rows of an unknown platform have no vote.
  void count_votes() {
    for (const Repetition& repetition : repetitions_) {
      MajorityVotes& votes = votes_.emplace_back(table_.programs.size());
      if (options_.split == Split::kPlatform) continue;
      for (const Fold& fold : repetition.folds) {
        const auto vote = std::make_shared<const MajorityVote>(log_times_(fold.train_programs, Eigen::all));
        for (const size_t p : fold.test_programs) votes[p] = vote;
      }
    }
    evaluation_.figures.votes = votes_.front();
  }

  void note_order() {
    const auto has_order = [](const EvaluationRow& row) { return row.order.order_auc.has_value(); };
    if (options_.split == Split::kPlatform) return;
    if (std::any_of(evaluation_.rows.begin(), evaluation_.rows.end(), has_order)) return;
    evaluation_.notes.push_back(
        "no ROC of whole orders: it takes programs measured on all platforms, some of them in the majority order and "
        "some not; pairs of platforms have one where both kinds occur");
  }

  // Both sides relative to the same reference; what was given as measured is no sample.
  ScoreInput scored(const FoldForecast& forecast, const Repetition& repetition) const {
    ScoreInput input{log_times_, forecast.predicted, forecast.lower, forecast.upper, families_, {}};
    if (options_.split == Split::kPlatform) {
      relative_to_known_platforms(repetition, input);
    } else {
      relative_to(reference_, input);
    }
    mask_measured(repetition, input);
    return input;
  }

  // A forecast for an unknown platform is relative to the mean over the platforms known in that fold.
  void relative_to_known_platforms(const Repetition& repetition, ScoreInput& input) const {
    for (const Fold& fold : repetition.folds) {
      for (int64_t row = 0; row < input.truth.rows(); ++row) {
        double sum = 0;
        int64_t present = 0;
        for (const size_t j : fold.train_platforms) {
          const double value = log_times_(row, static_cast<int64_t>(j));
          if (std::isnan(value)) continue;
          sum += value;
          ++present;
        }
        for (const size_t j : fold.test_platforms) {
          input.truth(row, static_cast<int64_t>(j)) -= present > 0 ? sum / static_cast<double>(present) : kAbsent;
        }
      }
    }
    if (reference_ >= 0) relative_to(reference_, input);
  }

  void mask_measured(const Repetition& repetition, ScoreInput& input) const {
    if (options_.measured <= 0) return;
    input.complete.assign(table_.programs.size(), columns_in_use(input.truth));
    for (size_t f = 0; f < repetition.folds.size(); ++f) {
      for (const size_t p : repetition.folds[f].test_programs) {
        for (const int64_t column : repetition.measured[f]) {
          input.complete[p] -= column == reference_ ? 0 : 1;
          input.truth(static_cast<int64_t>(p), column) = kAbsent;
        }
      }
    }
  }

  std::vector<int64_t> rows_where(const std::function<bool(const Program&)>& wanted) const {
    std::vector<int64_t> rows;
    for (size_t i = 0; i < table_.programs.size(); ++i) {
      if (wanted(table_.programs[i])) rows.push_back(static_cast<int64_t>(i));
    }
    return rows;
  }

  static ScoreInput rows_of(const ScoreInput& input, const std::vector<int64_t>& rows) {
    ScoreInput part;
    part.truth = input.truth(rows, Eigen::all);
    part.predicted = input.predicted(rows, Eigen::all);
    if (input.lower.size() > 0) part.lower = input.lower(rows, Eigen::all);
    if (input.upper.size() > 0) part.upper = input.upper(rows, Eigen::all);
    for (const int64_t row : rows) {
      part.families.push_back(input.families[static_cast<size_t>(row)]);
      if (!input.complete.empty()) part.complete.push_back(input.complete[static_cast<size_t>(row)]);
    }
    return part;
  }

  MajorityVotes votes_of(size_t repetition, const std::vector<int64_t>& rows) const {
    MajorityVotes part;
    part.reserve(rows.size());
    for (const int64_t row : rows) part.push_back(votes_[repetition][static_cast<size_t>(row)]);
    return part;
  }

  // A row for each group; `score_part` scores one repetition's rows beside their votes.
  void add_rows(
      const std::string& model, const std::vector<ScoreInput>& inputs, const std::string& note,
      const std::function<std::pair<Scores, OrderScores>(const ScoreInput&, const MajorityVotes&)>& score_part) {
    for (const ProgramGroup& group : groups_) {
      std::vector<Scores> scores;
      std::vector<OrderScores> orders;
      scores.reserve(inputs.size());
      orders.reserve(inputs.size());
      for (size_t i = 0; i < inputs.size(); ++i) {
        const auto [plain, order] = score_part(rows_of(inputs[i], group.rows), votes_of(i, group.rows));
        scores.push_back(plain);
        orders.push_back(order);
      }
      evaluation_.rows.push_back({model, group.name, average(scores), note, spread(scores), average(orders)});
    }
  }
  void add_rows(const std::string& model, const std::vector<ScoreInput>& inputs, const std::string& note) {
    add_rows(model, inputs, note, [](const ScoreInput& part, const MajorityVotes& votes) {
      return std::pair(score(part), order_scores(part, votes));
    });
  }

  // A row that forecasts times: scored by itself and against the others.
  void add_compared_rows(const std::string& model, std::vector<ScoreInput> inputs, const std::string& note) {
    add_rows(model, inputs, note);
    const std::optional<double> mae_log = evaluation_.rows.back().scores.mae_log;  // of the group "all"
    if (mae_log) compared_.push_back({model, *mae_log, std::move(inputs)});
  }

  void add_nearest_platform() {
    std::vector<ScoreInput> inputs;
    for (const Repetition& repetition : repetitions_) {
      FoldForecast forecast;
      forecast.predicted = Eigen::MatrixXd::Constant(log_times_.rows(), log_times_.cols(), kAbsent);
      for (const Fold& fold : repetition.folds) {
        const Eigen::MatrixXd times = nearest_platform_times(table_, fold.train_platforms, fold.test_platforms);
        for (const size_t j : fold.test_platforms) {
          forecast.predicted.col(static_cast<int64_t>(j)) = times.col(static_cast<int64_t>(j));
        }
      }
      inputs.push_back(scored(forecast, repetition));
    }
    add_compared_rows("nearest-platform", std::move(inputs),
                      "measured times of the known platform with the nearest facts");
  }

  void add_majority() {
    if (options_.split == Split::kPlatform) {
      for (const ProgramGroup& group : groups_) {
        evaluation_.rows.push_back(
            {"majority", group.name, {}, "no program was seen on an unknown platform: no vote", {}});
      }
      return;
    }
    std::vector<ScoreInput> inputs;
    for (size_t r = 0; r < repetitions_.size(); ++r) {
      ScoreInput input{log_times_, log_times_, {}, {}, families_, {}};
      relative_to(reference_, input);
      mask_measured(repetitions_[r], input);
      for (size_t p = 0; p < votes_[r].size(); ++p) {
        if (votes_[r][p] == nullptr) input.truth.row(static_cast<int64_t>(p)).setConstant(kAbsent);
      }
      inputs.push_back(std::move(input));
    }
    add_rows("majority", inputs, "the order that most training programs show",
             [](const ScoreInput& part, const MajorityVotes& votes) {
               std::vector<const MajorityVote*> plain;
               plain.reserve(votes.size());
               for (const auto& vote : votes) plain.push_back(vote.get());
               return std::pair(score_majority(part, plain), majority_order_scores(part, votes));
             });
  }

  void add_model(size_t m) {
    std::vector<ScoreInput> inputs;
    for (size_t r = 0; r < repetitions_.size(); ++r) inputs.push_back(scored(forecasts_[m][r], repetitions_[r]));
    evaluation_.figures.models.push_back({models_[m], inputs.front()});
    const bool is_mean = models_[m] == "mean";
    std::string note;
    if (options_.split == Split::kPlatform) {
      note = is_mean ? "mean RPV of the known platforms, combined by facts"
                     : "forecasts on known platforms, combined by facts";
    } else if (is_mean) {
      note = "mean RPV of the training programs";
    }
    add_details(m, inputs.front());
    add_compared_rows(models_[m], std::move(inputs), note);
  }

  // Of the first repetition: entries, not averages, are what a reader looks up.
  void add_details(size_t m, const ScoreInput& input) {
    std::vector<FamilyRow> by_family;
    std::vector<std::string> seen;
    for (const Program& program : table_.programs) {
      if (std::find(seen.begin(), seen.end(), program.family) != seen.end()) continue;
      seen.push_back(program.family);
      const auto rows = rows_where([&](const Program& other) { return other.family == program.family; });
      FamilyRow row{models_[m], program.family, program.group, score(rows_of(input, rows))};
      if (row.scores.n > 0) by_family.push_back(std::move(row));
    }
    std::stable_sort(by_family.begin(), by_family.end(),
                     [](const FamilyRow& a, const FamilyRow& b) { return *a.scores.mape > *b.scores.mape; });
    evaluation_.by_family.insert(evaluation_.by_family.end(), by_family.begin(), by_family.end());

    std::vector<ProgramRow> by_program;
    for (size_t p = 0; p < table_.programs.size(); ++p) {
      const Program& program = table_.programs[p];
      ProgramRow row{models_[m], program.id, program.family, program.group, 0, 0, "", 0, 0};
      double worst = -1;
      for (int64_t j = 0; j < input.truth.cols(); ++j) {
        const double truth = input.truth(static_cast<int64_t>(p), j),
                     predicted = input.predicted(static_cast<int64_t>(p), j);
        if (std::isnan(truth) || std::isnan(predicted)) continue;
        ++row.n;
        row.mape += std::abs(std::expm1(predicted - truth));
        if (std::abs(predicted - truth) <= worst) continue;
        worst = std::abs(predicted - truth);
        row.worst_platform = table_.platforms[static_cast<size_t>(j)].id;
        row.worst_measured_ratio = std::exp(truth);
        row.worst_predicted_ratio = std::exp(predicted);
      }
      if (row.n == 0) continue;
      row.mape /= static_cast<double>(row.n);
      by_program.push_back(std::move(row));
    }
    std::stable_sort(by_program.begin(), by_program.end(),
                     [](const ProgramRow& a, const ProgramRow& b) { return a.mape > b.mape; });
    evaluation_.by_program.insert(evaluation_.by_program.end(), by_program.begin(), by_program.end());
  }

  const TrainingTable& table_;
  const EvaluationOptions& options_;
  const std::vector<ProgramGroup> groups_;
  Eigen::MatrixXd log_times_;
  std::vector<std::string> families_;
  std::vector<std::string> models_;
  int64_t reference_ = -1;
  std::vector<Repetition> repetitions_;
  std::vector<MajorityVotes> votes_;                  // [repetition][row]
  std::vector<std::vector<FoldForecast>> forecasts_;  // [model][repetition], rows and columns of the whole table
  std::vector<ComparedModel> compared_;
  Evaluation evaluation_;
};

}  // namespace

std::vector<std::string> groups_of(const Evaluation& evaluation) {
  std::vector<std::string> groups;
  for (const EvaluationRow& row : evaluation.rows) {
    if (std::find(groups.begin(), groups.end(), row.group) == groups.end()) groups.push_back(row.group);
  }
  return groups;
}

Result<Evaluation> evaluate(const TrainingTable& table, const EvaluationOptions& options) {
  return Evaluator(table, options).run();
}

}  // namespace perfcast
