#include "ai/transformer_forecast/step_calibration.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "ai/transformer/matrix_products.h"
#include "ai/transformer/token_sampler.h"
#include "ai/transformer_forecast/host_calibration.h"
#include "ai/transformer_forecast/step_times.h"
#include "base/random.h"
#include "base/statistics.h"
#include "learn/linear/nnls.h"
#include "machine/ceiling/cpu_isa.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kManyRowPoints[] = {16, 32, 48, 64, 96, 128, 192, 256, 384, 512};
constexpr size_t kCheckedSteps = 32;
// For some 15 ms after a step of many rows, one of few takes up to 1.7 times as long: until then others have the shared
// cache, and clocks are low.
constexpr double kSettle_s = 0.05;

double amount(int64_t value) { return static_cast<double>(value); }

}  // namespace

class StepCalibration::Steps {
 public:
  Steps(Transformer& transformer, int64_t step_tokens, uint64_t seed)
      : transformer_(transformer),
        step_tokens_(step_tokens),
        slots_(transformer.options().slots),
        context_(transformer.options().context),
        clock_(clock_for(transformer.options().threads)),
        logits_(static_cast<size_t>(slots_ * transformer.model().config.vocab)) {
    add_row_steps();
    add_decode_steps();
    add_later_pieces();
    add_mixed_steps(seed);
  }

  Status run_round(const std::function<bool()>& is_interrupted) {
    if (!is_prepared_) {
      if (Status prepared = transformer_.prepare(step_tokens_); !prepared) return prepared;
    }
    is_prepared_ = true;
    // Steps of few rows follow each other, as in a service that generates: the fewest first.
    std::vector<std::pair<Mixture*, bool>> order;
    for (Mixture& step : steps_) order.emplace_back(&step, true);
    for (Mixture& step : checks_) order.emplace_back(&step, false);
    std::ranges::stable_sort(order, {}, [](const auto& each) { return each.first->batch().tokens(); });
    if (Status settled = settle(*order.front().first); !settled) return settled;
    for (const auto& [step, by_operator] : order) {
      if (is_interrupted && is_interrupted()) return interrupted_forecast();
      if (Status taken = take(*step, by_operator); !taken) return taken;
    }
    for (int64_t slot = 0; slot < slots_; ++slot) transformer_.shorten(slot);
    return {};
  }

  MeasuredSteps fit() const {
    MeasuredSteps result = fitted();
    check(result);
    return result;
  }

 private:
  // What a slot holds, and what a step appends to it.
  struct SlotWork {
    int64_t before = 0, tokens = 1;
  };

  // A step, and its times by the parts that a simulated engine has.
  struct Mixture {
    std::vector<SlotWork> slots;  // from the first one on; with one token behind others: it generates
    std::vector<double> layers_s, head_s, attention_s, whole_s;

    StepBatch batch() const {
      StepBatch batch;
      for (const SlotWork& slot : slots) {
        const double own = amount(slot.tokens), done = amount(slot.before);
        if (slot.before > 0 && slot.tokens == 1) {
          ++batch.decodes;
          batch.decode_context_tokens += done + 1;
        } else {
          ++batch.prefills;
          batch.prefill_tokens += own;
          batch.prefill_pairs += own * done + own * (own + 1) / 2;
        }
      }
      return batch;
    }
  };

  // So many rows, by one prompt where it fits a slot.
  void add_row_steps() {
    std::set<int64_t> points = {padded_rows(step_tokens_)};
    for (int64_t rows = 1; rows < kManyRows; ++rows) points.insert(rows);
    points.insert(std::begin(kManyRowPoints), std::end(kManyRowPoints));
    for (const int64_t rows : points) {
      if (rows > std::min(step_tokens_, slots_ * context_)) continue;
      Mixture step;
      for (int64_t left = rows; left > 0;) {
        step.slots.push_back({0, std::min(left, context_)});
        left -= step.slots.back().tokens;
      }
      steps_.push_back(std::move(step));
    }
  }

  void add_decode_steps() {
    std::set<int64_t> batches = {slots_};
    for (int64_t batch = 1; batch <= slots_; batch < kManyRows ? ++batch : batch *= 2) batches.insert(batch);
    for (const int64_t batch : batches) {
      for (const int64_t before : {int64_t{15}, context_ / 8, context_ / 3, context_ * 3 / 4}) {
        if (before < 1 || before >= context_) continue;
        steps_.push_back({std::vector<SlotWork>(static_cast<size_t>(batch), {before, 1}), {}, {}, {}, {}});
      }
    }
  }

  void add_later_pieces() {
    for (const int64_t tokens : {int64_t{32}, int64_t{128}, int64_t{512}}) {
      for (const int64_t before : {context_ / 8, context_ / 2}) {
        if (before < 1 || before + tokens > context_ || tokens > step_tokens_) continue;
        steps_.push_back({{{before, tokens}}, {}, {}, {}, {}});
      }
    }
  }

  void add_mixed_steps(uint64_t seed) {
    Random random(seed);
    const auto up_to = [&](int64_t most) {
      return 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(std::max<int64_t>(1, most))));
    };
    checks_.resize(kCheckedSteps);
    for (size_t i = 0; i < checks_.size(); ++i) {
      std::vector<SlotWork>& slots = checks_[i].slots;
      const int64_t generating = i % 4 == 0 ? 0 : up_to(std::min(slots_ - 1, step_tokens_ - 1));
      if (slots_ > 1) {
        for (int64_t slot = 0; slot < generating; ++slot) slots.push_back({up_to(context_ - 1), 1});
      }
      if (i % 2 == 1 && !slots.empty()) continue;
      const int64_t tokens = std::min(up_to(step_tokens_ - static_cast<int64_t>(slots.size())), context_);
      slots.push_back({i % 3 == 0 ? 0 : up_to(context_ - tokens + 1) - 1, tokens});
    }
  }

  Status settle(const Mixture& step) {
    Mixture untimed{step.slots, {}, {}, {}, {}};
    for (const double begin_s = seconds_now(clock_); seconds_now(clock_) - begin_s < kSettle_s;) {
      if (Status taken = take(untimed, false); !taken) return taken;
    }
    return {};
  }

  Status take(Mixture& step, bool by_operator) {
    std::vector<SlotTokens> tokens;
    tokens.reserve(step.slots.size());
    int64_t slot = 0;
    for (const SlotWork& work : step.slots) {
      const auto count = static_cast<size_t>(work.tokens);
      while (tokens_.size() < count) {
        tokens_.push_back(static_cast<int32_t>((tokens_.size() * 7919 + 13) %
                                               static_cast<size_t>(transformer_.model().config.vocab)));
      }
      transformer_.assume_length(slot, work.before);
      ++slot;
    }
    slot = 0;
    for (const SlotWork& work : step.slots) {
      tokens.push_back({slot++, std::span(tokens_).first(static_cast<size_t>(work.tokens))});
    }
    const auto vocab = static_cast<size_t>(transformer_.model().config.vocab);
    const std::span<float> logits = std::span(logits_).first(tokens.size() * vocab);
    OperatorClock& operators = transformer_.clock();
    operators.clear();
    if (by_operator) operators.turn_on(clock_);
    const double begin_s = seconds_now(clock_);
    Status done = transformer_.prefill(tokens, logits);
    const double between_s = seconds_now(clock_);
    operators.turn_off();
    if (!done) return done;
    for (size_t i = 0; i < tokens.size(); ++i) (void)TokenSampler({}).choose(logits.subspan(i * vocab, vocab));
    const double end_s = seconds_now(clock_);
    if (!by_operator) {
      step.whole_s.push_back(end_s - begin_s);
      return {};
    }
    const OperatorSeconds& sums = operators.sums();
    double all_s = 0;
    for (const double seconds : sums.seconds) all_s += seconds;
    const double attention_s = sums[OperatorName::kScores];
    const double head_s = sums[OperatorName::kFinalNorm] + sums[OperatorName::kLanguageHead];
    step.attention_s.push_back(attention_s);
    step.head_s.push_back(head_s + end_s - between_s);
    step.layers_s.push_back(all_s - attention_s - head_s);
    return {};
  }

  // A value for each number of rows: the median of all steps that have so many.
  static std::vector<RowTime> table_of(const std::vector<std::pair<double, std::vector<double>>>& steps) {
    std::set<double> rows;
    for (const auto& [count, seconds] : steps) rows.insert(count);
    std::vector<RowTime> table;
    for (const double count : rows) {
      std::vector<double> all;
      for (const auto& [of, seconds] : steps) {
        if (of == count) all.insert(all.end(), seconds.begin(), seconds.end());
      }
      table.push_back({static_cast<int64_t>(count), median(all)});
    }
    return table;
  }

  MeasuredSteps fitted() const {
    MeasuredSteps result;
    const LlmConfig& config = transformer_.model().config;
    const TransformerOptions& with = transformer_.options();
    result.model = config.name;
    result.weights = std::string(info(with.precision).name);
    result.cpu = cpu_title();
    if (const auto parameters = count_parameters(config)) result.parameters = amount(parameters->total);
    result.threads = with.threads;
    result.limits = limits_of(with, step_tokens_);
    result.exact_rows = kManyRows - 1;
    result.row_block = kRowBlock;
    std::vector<std::pair<double, std::vector<double>>> layers, head;
    std::vector<const Mixture*> generating, prompts;
    for (const Mixture& step : steps_) {
      const StepBatch batch = step.batch();
      layers.emplace_back(filled_up(batch.tokens()), step.layers_s);
      // Behind the layers of a long prompt the head waits for its weights: most steps of a service have none.
      const double answers = amount(batch.decodes + batch.prefills);
      if (batch.tokens() == answers) head.emplace_back(filled_up(answers), step.head_s);
      (batch.decodes > 0 ? generating : prompts).push_back(&step);
    }
    result.layers = table_of(layers);
    result.head = table_of(head);
    const auto sequences = attention_fit(generating, [](const StepBatch& batch) {
      return std::vector<double>{amount(batch.decodes), batch.decode_context_tokens};
    });
    const auto pieces = attention_fit(prompts, [](const StepBatch& batch) {
      return std::vector<double>{amount(batch.prefills), batch.prefill_tokens, batch.prefill_pairs};
    });
    result.attention = {sequences[0], sequences[1], pieces[0], pieces[1], pieces[2]};
    return result;
  }

  static double filled_up(double rows) { return amount(padded_rows(static_cast<int64_t>(rows))); }

  // Least squares of relative errors, no coefficient below 0.
  template <typename Terms>
  static std::vector<double> attention_fit(const std::vector<const Mixture*>& steps, const Terms& terms) {
    const auto width = static_cast<Eigen::Index>(terms(StepBatch()).size());
    Eigen::MatrixXd left = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(steps.size()), width);
    for (size_t i = 0; i < steps.size(); ++i) {
      const std::vector<double> values = terms(steps[i]->batch());
      const double measured_s = std::max(median(steps[i]->attention_s), 1e-9);
      for (Eigen::Index k = 0; k < width; ++k) {
        left(static_cast<Eigen::Index>(i), k) = values[static_cast<size_t>(k)] / measured_s;
      }
    }
    // Columns of one size, so that a ridge weighs them alike.
    const Eigen::VectorXd sizes = left.colwise().norm().cwiseMax(1e-30);
    for (Eigen::Index k = 0; k < width; ++k) left.col(k) /= sizes(k);
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(left.rows());
    const Eigen::MatrixXd gram = left.transpose() * left + 1e-9 * Eigen::MatrixXd::Identity(width, width);
    const Eigen::VectorXd scaled = nonnegative_least_squares(gram, left.transpose() * ones);
    std::vector<double> result;
    for (Eigen::Index k = 0; k < width; ++k) result.push_back(scaled(k) / sizes(k));
    return result;
  }

  // The scale is a mean: medians leave out what takes longer now and then, and a load meets it.
  void check(MeasuredSteps& result) const {
    const MeasuredStepTime times(result);
    std::vector<double> logs;
    double ratios = 0;
    for (const Mixture& step : checks_) {
      const double seconds = times.seconds(step.batch());
      ratios += mean(step.whole_s) / seconds;
      logs.push_back(std::log(median(step.whole_s) / seconds));
    }
    const double middle = median(logs);
    for (double& each : logs) each = std::abs(each - middle);
    result.scale = ratios / amount(static_cast<int64_t>(checks_.size()));
    result.checked_steps = static_cast<int64_t>(logs.size());
    result.log_half_width = quantile(logs, 0.9);
  }

  Transformer& transformer_;
  int64_t step_tokens_, slots_, context_;
  StepClock clock_;
  std::vector<float> logits_;
  std::vector<int32_t> tokens_;
  std::vector<Mixture> steps_, checks_;
  bool is_prepared_ = false;
};

StepCalibration::StepCalibration(Transformer& transformer, int64_t step_tokens, uint64_t seed)
    : steps_(std::make_unique<Steps>(transformer, step_tokens, seed)) {}
StepCalibration::~StepCalibration() = default;

Status StepCalibration::run_round(const std::function<bool()>& is_interrupted) {
  return steps_->run_round(is_interrupted);
}
MeasuredSteps StepCalibration::fit() const { return steps_->fit(); }

EngineLimits limits_of(const TransformerOptions& options, int64_t step_tokens) {
  EngineLimits limits;
  limits.max_sequences = options.slots;
  limits.step_tokens = step_tokens;
  limits.context_tokens = options.context;
  limits.cache_tokens =
      options.slots * ((options.context + limits.block_tokens - 1) / limits.block_tokens) * limits.block_tokens;
  limits.prefix_cache = false;
  return limits;
}

}  // namespace perfcast::ai
