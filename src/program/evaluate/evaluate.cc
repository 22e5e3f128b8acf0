#include "program/evaluate/evaluate.h"

#include <Eigen/Core>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/unknown.h"
#include "program/evaluate/noise_floor.h"
#include "program/evaluate/own_times.h"
#include "program/evaluate/platform_name.h"
#include "program/evaluate/program_groups.h"
#include "program/evaluate/scored_entries.h"
#include "program/evaluate/split_forecasts.h"
#include "program/evaluate/worst_errors.h"
#include "program/model/predictor.h"

namespace perfcast::program {
namespace {

// What is forecast and scored, once the options are found to make sense.
struct EvaluationPlan {
  std::vector<std::string> models;  // the mean first
  int64_t reference = -1;           // column; -1: the mean over the platforms
  std::vector<Repetition> repetitions;
};

Result<std::vector<std::string>> models_of(const EvaluationOptions& options) {
  // The mean RPV is a model like any other, so that its intervals and conditioning are scored alike.
  std::vector<std::string> models = {"mean"};
  for (const std::string& model : options.models) {
    if (auto known = make_predictor(model); !known) return known.error();
    if (std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
  }
  return models;
}

Status check_measured(const EvaluationOptions& options) {
  if (options.measured > 0 && parts_platforms(options.split)) {
    return usage_error("bad-usage", "measured platforms make no sense under the split " + to_string(options.split),
                       "--measured", "the split workload, program or program-family");
  }
  if (options.measured > 0 && !options.intervals) {
    return usage_error("bad-usage", "measured platforms need intervals", "--measured", "intervals left on");
  }
  return {};
}

Result<EvaluationPlan> plan_of(const TrainingTable& table, const EvaluationOptions& options) {
  if (table.platforms.size() < 2) {
    return Error{"empty-corpus",
                 "relative times take two platforms, there is " + std::to_string(table.platforms.size()), "",
                 "two platforms or more: more of them in the corpus, or in --platforms"};
  }
  EvaluationPlan plan;
  if (!options.reference.empty() && options.reference != "mean") {
    const auto found = find_platform(table.platforms, options.reference, "--reference");
    if (!found) return found.error();
    plan.reference = static_cast<int64_t>(*found);
  }
  auto models = models_of(options);
  if (!models) return models.error();
  plan.models = std::move(*models);
  if (Status status = check_measured(options); !status) return status.error();
  if (options.own_times && parts_platforms(options.split)) {
    return usage_error("bad-usage", "own times make no sense under the split " + to_string(options.split),
                       "--own-times", "the split workload, program or program-family");
  }
  auto repetitions = make_repetitions(table, options);
  if (!repetitions) return repetitions.error();
  plan.repetitions = std::move(*repetitions);
  return plan;
}

std::vector<MeasuredPlatform> most_often_measured(const TrainingTable& table,
                                                  const std::vector<Repetition>& repetitions) {
  std::map<int64_t, int64_t> times;
  int64_t folds = 0;
  for (const Repetition& repetition : repetitions) {
    for (const auto& columns : repetition.measured) {
      ++folds;
      for (const int64_t column : columns) ++times[column];
    }
  }
  std::vector<std::pair<int64_t, int64_t>> sorted;
  sorted.reserve(times.size());
  for (const auto& [column, count] : times) sorted.emplace_back(-count, column);
  std::sort(sorted.begin(), sorted.end());
  std::vector<MeasuredPlatform> result;
  result.reserve(sorted.size());
  for (const auto& [count, column] : sorted) {
    result.push_back(
        {table.platforms[static_cast<size_t>(column)].id, static_cast<double>(-count) / static_cast<double>(folds)});
  }
  return result;
}

// Scores of some rows, beside the votes on them.
using ScorePart = std::function<std::pair<Scores, OrderScores>(const ScoreInput&, const MajorityVotes&)>;

std::pair<Scores, OrderScores> score_forecast(const ScoreInput& part, const MajorityVotes& votes) {
  return {score(part), order_scores(part, votes)};
}

std::pair<Scores, OrderScores> score_votes(const ScoreInput& part, const MajorityVotes& votes) {
  std::vector<const MajorityVote*> plain;
  plain.reserve(votes.size());
  for (const auto& vote : votes) plain.push_back(vote.get());
  return {score_majority(part, plain), majority_order_scores(part, votes)};
}

// From the forecasts of all repetitions to the rows of an Evaluation.
class EvaluationWriter {
 public:
  EvaluationWriter(const TrainingTable& table, const EvaluationOptions& options, const EvaluationPlan& plan)
      : table_(table),
        options_(options),
        plan_(plan),
        by_platform_(parts_platforms(options.split)),
        groups_(program_groups(table)),
        log_times_(log_times(table)) {
    for (const Program& program : table.programs) families_.push_back(program.family);
    count_votes();
  }

  Evaluation write(const std::vector<std::vector<FoldForecast>>& forecasts) {
    describe();
    add_model(0, forecasts[0]);
    add_majority();
    if (by_platform_) add_nearest_platform();
    for (size_t m = 1; m < plan_.models.size(); ++m) add_model(m, forecasts[m]);
    if (options_.own_times) add_own_times(forecasts[0]);
    add_rows("noise-floor", {noise_floor(table_, plan_.reference)}, noise_note(), score_forecast);
    evaluation_.comparisons = compare_models(table_, options_.split, std::move(compared_), options_.seed);
    note_order();
    return std::move(evaluation_);
  }

 private:
  // What each tested row's training rows show. Rows of an unknown platform have no vote.
  void count_votes() {
    for (const Repetition& repetition : plan_.repetitions) {
      MajorityVotes& votes = votes_.emplace_back(table_.programs.size());
      if (by_platform_) continue;
      for (const Fold& fold : repetition.folds) {
        const auto vote = std::make_shared<const MajorityVote>(log_times_(fold.train_programs, Eigen::all));
        for (const size_t p : fold.test_programs) votes[p] = vote;
      }
    }
  }

  void describe() {
    evaluation_.split = options_.split;
    evaluation_.seeds = static_cast<int64_t>(plan_.repetitions.size());
    evaluation_.folds = static_cast<int64_t>(plan_.repetitions.front().folds.size());
    evaluation_.programs = static_cast<int64_t>(table_.programs.size());
    evaluation_.families = static_cast<int64_t>(std::set<std::string>(families_.begin(), families_.end()).size());
    if (plan_.reference >= 0) evaluation_.reference = table_.platforms[static_cast<size_t>(plan_.reference)].id;
    evaluation_.measured = most_often_measured(table_, plan_.repetitions);
    for (const Platform& platform : table_.platforms) {
      evaluation_.platforms.push_back(platform.id);
      evaluation_.first_seed.platform_names.push_back(platform.name);
    }
    for (const Program& program : table_.programs) {
      evaluation_.first_seed.rows.push_back({program.id, program.family, program.group});
    }
    evaluation_.first_seed.votes = votes_.front();
    if (options_.split == Split::kRandom) {
      evaluation_.notes.push_back(
          "split random: a program with several profiles or inputs stands on both sides; this flatters every model");
    }
    if (by_platform_) {
      evaluation_.notes.push_back(
          std::string(
              options_.split == Split::kPlatform
                  ? "split platform: runs of a platform are left out, its facts stay"
                  : "split core-design: runs of all platforms of a core design are left out, their facts stay") +
          "; a model is fitted on the other platforms, and its forecasts there are combined by the facts");
    }
  }

  std::string noise_note() const {
    std::string note = "half of each platform's servers against the other half; platforms with at least two servers";
    const auto drawn = std::count_if(table_.times.begin(), table_.times.end(),
                                     [](const auto& time) { return time && time->drawn_halves; });
    if (drawn > 0) {
      note += "; of published means, halves drawn from the standard error (" + std::to_string(drawn) + " of " +
              std::to_string(std::count_if(table_.times.begin(), table_.times.end(),
                                           [](const auto& time) { return time.has_value(); })) +
              " times)";
    }
    return note;
  }

  void note_order() {
    const auto has_order = [](const EvaluationRow& row) { return row.order.order_auc.has_value(); };
    if (by_platform_) return;
    if (std::any_of(evaluation_.rows.begin(), evaluation_.rows.end(), has_order)) return;
    evaluation_.notes.push_back(
        "no ROC of whole orders: it takes programs measured on all platforms, some of them in the majority order and "
        "some not; pairs of platforms have one where both kinds occur");
  }

  // Both sides relative to the same reference; what was given as measured is no sample.
  ScoreInput scored(const FoldForecast& forecast, const Repetition& repetition) const {
    ScoreInput input;
    if (by_platform_) {
      input = on_one_scale(log_times_, repetition.folds, forecast);
      if (plan_.reference >= 0) relative_to(plan_.reference, input);
    } else {
      input = {log_times_, forecast.predicted, forecast.lower, forecast.upper, {}, {}, forecast.best};
      relative_to(plan_.reference, input);
    }
    input.families = families_;
    leave_out_measured(repetition, plan_.reference, input);
    return input;
  }

  MajorityVotes votes_of(size_t repetition, const std::vector<int64_t>& rows) const {
    MajorityVotes part;
    part.reserve(rows.size());
    for (const int64_t row : rows) part.push_back(votes_[repetition][static_cast<size_t>(row)]);
    return part;
  }

  // A row for each group. `inputs`: one for each repetition.
  void add_rows(const std::string& model, const std::vector<ScoreInput>& inputs, const std::string& note,
                const ScorePart& score_part) {
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

  // A row that forecasts times: scored by itself and against the others.
  void add_compared_rows(const std::string& model, std::vector<ScoreInput> inputs, const std::string& note) {
    add_rows(model, inputs, note, score_forecast);
    const std::optional<double> mae_log = evaluation_.rows.back().scores.mae_log;  // of the group "all"
    if (mae_log) compared_.push_back({model, *mae_log, std::move(inputs)});
  }

  void add_model(size_t m, const std::vector<FoldForecast>& by_repetition) {
    const std::string& model = plan_.models[m];
    std::vector<ScoreInput> inputs;
    for (size_t r = 0; r < by_repetition.size(); ++r) inputs.push_back(scored(by_repetition[r], plan_.repetitions[r]));
    evaluation_.first_seed.models.push_back({model, inputs.front()});
    for (FamilyRow& row : families_worst_first(model, table_, inputs.front())) {
      evaluation_.by_family.push_back(std::move(row));
    }
    for (ProgramRow& row : programs_worst_first(model, table_, inputs.front())) {
      evaluation_.by_program.push_back(std::move(row));
    }
    const bool is_mean = model == "mean";
    std::string note;
    if (by_platform_) {
      note = is_mean ? "mean RPV of the known platforms, combined by facts"
                     : "forecasts on known platforms, combined by facts";
    } else if (is_mean) {
      note = "mean RPV of the training programs";
    }
    add_compared_rows(model, std::move(inputs), note);
  }

  void add_majority() {
    if (by_platform_) {
      for (const ProgramGroup& group : groups_) {
        evaluation_.rows.push_back(
            {"majority", group.name, {}, "no program was seen on an unknown platform: no vote", {}});
      }
      return;
    }
    std::vector<ScoreInput> inputs;
    for (size_t r = 0; r < plan_.repetitions.size(); ++r) {
      ScoreInput input{log_times_, log_times_, {}, {}, families_, {}};
      relative_to(plan_.reference, input);
      leave_out_measured(plan_.repetitions[r], plan_.reference, input);
      for (size_t p = 0; p < votes_[r].size(); ++p) {
        if (votes_[r][p] == nullptr) input.truth.row(static_cast<int64_t>(p)).setConstant(kUnknown);
      }
      inputs.push_back(std::move(input));
    }
    add_rows("majority", inputs, "the order that most training programs show", score_votes);
  }

  void add_nearest_platform() {
    std::vector<ScoreInput> inputs;
    for (const Repetition& repetition : plan_.repetitions) {
      FoldForecast forecast;
      forecast.predicted = Eigen::MatrixXd::Constant(log_times_.rows(), log_times_.cols(), kUnknown);
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

  // `mean`: forecasts of the mean RPV. Beside it what the mean itself comes to on the same entries.
  void add_own_times(const std::vector<FoldForecast>& mean) {
    std::vector<ScoreInput> own, same_entries;
    for (const FoldForecast& forecast : mean) {
      ScoreInput input{
          log_times_, own_times_by_design(table_.platforms, log_times_, forecast.predicted), {}, {}, families_, {}};
      ScoreInput plain{
          input.predicted.array().isFinite().select(log_times_, kUnknown), forecast.predicted, {}, {}, families_, {}};
      relative_to(plan_.reference, input);
      relative_to(plan_.reference, plain);
      own.push_back(std::move(input));
      same_entries.push_back(std::move(plain));
    }
    add_rows("own-times", own, "no forecast: the program's own times on the other CPU models of the core design",
             score_forecast);
    add_rows("mean-there", same_entries, "the mean RPV on the entries of own-times", score_forecast);
  }

  const TrainingTable& table_;
  const EvaluationOptions& options_;
  const EvaluationPlan& plan_;
  const bool by_platform_;
  const std::vector<ProgramGroup> groups_;
  const Eigen::MatrixXd log_times_;
  std::vector<std::string> families_;
  std::vector<MajorityVotes> votes_;  // [repetition][row]
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
  const auto plan = plan_of(table, options);
  if (!plan) return plan.error();
  const auto forecasts = forecast_splits(table, options, plan->models, plan->repetitions, plan->reference);
  if (!forecasts) return forecasts.error();
  return EvaluationWriter(table, options, *plan).write(*forecasts);
}

}  // namespace perfcast::program
