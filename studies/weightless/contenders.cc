#include "studies/weightless/contenders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learn/weightless/lut_trainer.h"
#include "learn/weightless/packed_network.h"
#include "learn/weightless/table_booster.h"
#include "studies/weightless/wisard.h"

namespace perfcast::program::weightless_study {
namespace {

using Fitted = Result<std::unique_ptr<FittedContender>>;

class Majority : public FittedContender {
 public:
  explicit Majority(double answer) : answer_(answer) {}
  double answer(std::span<const float>) const override { return answer_; }
  size_t bytes() const override { return 1; }

 private:
  double answer_;
};

class NetworkContender : public FittedContender {
 public:
  enum class Reads { kBest, kValue, kBins };
  NetworkContender(LutNetwork network, Reads reads, std::vector<double> centres = {})
      : network_(std::move(network)), packed_(network_), reads_(reads), centres_(std::move(centres)) {}
  double answer(std::span<const float> row) const override {
    if (reads_ == Reads::kBest) return static_cast<double>(packed_.best(row.data()));
    std::vector<int32_t> sums(network_.outputs());
    packed_.sums(row.data(), sums.data());
    if (reads_ == Reads::kValue) return network_.value_of(sums[0], 0);
    double votes = 0, sum = 0;
    for (size_t c = 0; c < sums.size(); ++c) {
      votes += sums[c];
      sum += sums[c] * centres_[c];
    }
    return votes > 0 ? sum / votes : centres_[centres_.size() / 2];
  }
  size_t bytes() const override { return network_.to_bytes().size(); }

 private:
  LutNetwork network_;
  PackedLutNetwork packed_;
  Reads reads_;
  std::vector<double> centres_;
};

template <typename Model>
class ClassicContender : public FittedContender {
 public:
  explicit ClassicContender(Model model) : model_(std::move(model)) {}
  double answer(std::span<const float> row) const override { return static_cast<double>(model_.best(row)); }
  size_t bytes() const override { return model_.bytes(); }

 private:
  Model model_;
};

LutRows rows_of(const TabularSet& set) { return {set.rows, set.inputs, {}}; }

Fitted of_network(Result<LutNetwork> network, NetworkContender::Reads reads, std::vector<double> centres = {}) {
  if (!network) return network.error();
  return std::unique_ptr<FittedContender>(
      std::make_unique<NetworkContender>(std::move(*network), reads, std::move(centres)));
}

LutTrainingOptions gradient_options(size_t levels, size_t arity, size_t luts, uint64_t seed, bool few) {
  LutTrainingOptions options;
  options.levels = levels;
  options.short_thresholds = true;
  options.arity = arity;
  options.luts = {luts};
  options.epochs = few ? 60 : 30;
  options.decay_epochs = few ? 25 : 12;
  options.batch = 32;
  options.seed = seed;
  return options;
}

constexpr size_t kFewRows = 500;

}  // namespace

std::vector<Contender> majority_contenders(const TabularSet&) {
  return {{"majority", {{"", [](const TabularSet& training, uint64_t) -> Fitted {
                           std::vector<size_t> counts(training.classes, 0);
                           for (const uint32_t label : training.labels) ++counts[label];
                           const auto most = std::max_element(counts.begin(), counts.end());
                           return std::unique_ptr<FittedContender>(
                               std::make_unique<Majority>(static_cast<double>(most - counts.begin())));
                         }}}}};
}

std::vector<Contender> weightless_classifiers(const TabularSet& set) {
  const bool few = set.count() < kFewRows;
  Contender gradient{"dwn, votes", {}}, half{"dwn, half the votes", {}}, grown{"dwn, numbers", {}},
      wisard{"wisard", {}}, bloom{"bthowen", {}};
  const auto add_votes = [&](Contender& contender, size_t arity, size_t tables) {
    contender.settings.push_back(
        {fmt::format("{} tables of {} bits a class", tables, arity),
         [arity, tables, few](const TabularSet& training, uint64_t seed) -> Fitted {
           return of_network(train_lut_classifier(rows_of(training), training.labels, training.classes,
                                                  gradient_options(8, arity, tables * training.classes, seed, few)),
                             NetworkContender::Reads::kBest);
         }});
  };
  const size_t most = few ? 16 : 64;
  for (const size_t arity : few ? std::vector<size_t>{3, 4, 6} : std::vector<size_t>{4, 6}) {
    add_votes(gradient, arity, most);
    add_votes(half, arity, most / 2);
  }
  // One number for each class, learnt as 1 for the right one and 0 for the others.
  for (const size_t tables : {100, 300}) {
    grown.settings.push_back(
        {fmt::format("{} tables of 3 bits", tables), [tables](const TabularSet& training, uint64_t seed) -> Fitted {
           std::vector<float> targets(training.count() * training.classes, 0.0f);
           for (size_t r = 0; r < training.count(); ++r) targets[r * training.classes + training.labels[r]] = 1;
           TableBoostOptions options;
           options.tables = tables;
           options.levels = 16;
           options.seed = seed;
           return of_network(boost_tables(rows_of(training), targets, training.classes, options),
                             NetworkContender::Reads::kBest);
         }});
  }
  for (const size_t tuple : {4, 8, 16}) {
    wisard.settings.push_back(
        {fmt::format("tuples of {}", tuple), [tuple](const TabularSet& training, uint64_t seed) -> Fitted {
           auto model =
               Wisard::train(rows_of(training), training.labels, training.classes, {.tuple = tuple, .seed = seed});
           if (!model) return model.error();
           return std::unique_ptr<FittedContender>(std::make_unique<ClassicContender<Wisard>>(std::move(*model)));
         }});
    bloom.settings.push_back(
        {fmt::format("tuples of {}, 256 entries", tuple), [tuple](const TabularSet& training, uint64_t seed) -> Fitted {
           auto model = BloomClassifier::train(rows_of(training), training.labels, training.classes,
                                               {.tuple = tuple, .seed = seed});
           if (!model) return model.error();
           return std::unique_ptr<FittedContender>(
               std::make_unique<ClassicContender<BloomClassifier>>(std::move(*model)));
         }});
  }
  return {gradient, half, grown, wisard, bloom};
}

std::vector<Contender> weightless_regressions() {
  Contender bits{"dwn, a number a bit", {}}, grown{"dwn, a number an address", {}}, bins{"dwn, votes for bins", {}};
  for (const size_t arity : {2, 4}) {
    bits.settings.push_back(
        {fmt::format("128 tables of {} bits", arity), [arity](const TabularSet& training, uint64_t seed) -> Fitted {
           return of_network(
               train_lut_regressor(rows_of(training), training.targets, 1, gradient_options(8, arity, 128, seed, true)),
               NetworkContender::Reads::kValue);
         }});
    bins.settings.push_back(
        {fmt::format("8 bins of 16 tables of {} bits", arity),
         [arity](const TabularSet& training, uint64_t seed) -> Fitted {
           // Bins of equally many rows; what is forecast is the mean of their means, weighed by votes.
           constexpr size_t kBins = 8;
           std::vector<size_t> order(training.count());
           std::iota(order.begin(), order.end(), size_t{0});
           std::stable_sort(order.begin(), order.end(),
                            [&](size_t a, size_t b) { return training.targets[a] < training.targets[b]; });
           std::vector<uint32_t> labels(order.size());
           std::vector<double> centres(kBins, 0), counts(kBins, 0);
           for (size_t i = 0; i < order.size(); ++i) {
             const size_t bin = i * kBins / order.size();
             labels[order[i]] = static_cast<uint32_t>(bin);
             centres[bin] += static_cast<double>(training.targets[order[i]]);
             ++counts[bin];
           }
           for (size_t b = 0; b < kBins; ++b) centres[b] /= std::max(1.0, counts[b]);
           return of_network(train_lut_classifier(rows_of(training), labels, kBins,
                                                  gradient_options(8, arity, 16 * kBins, seed, true)),
                             NetworkContender::Reads::kBins, centres);
         }});
  }
  for (const size_t tables : {60, 150}) {
    grown.settings.push_back(
        {fmt::format("{} tables of 3 bits", tables), [tables](const TabularSet& training, uint64_t seed) -> Fitted {
           TableBoostOptions options;
           options.tables = tables;
           options.levels = 16;
           options.seed = seed;
           return of_network(boost_tables(rows_of(training), training.targets, 1, options),
                             NetworkContender::Reads::kValue);
         }});
  }
  return {bits, grown, bins};
}

}  // namespace perfcast::program::weightless_study
