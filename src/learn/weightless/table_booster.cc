#include "learn/weightless/table_booster.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "base/random.h"
#include "learn/weightless/extended_difference.h"

namespace perfcast {
namespace {

constexpr size_t kMostBoosted = size_t{1} << 16;
constexpr double kMostEntry = 32767;

Error bad_boost(const std::string& what, const std::string& expected) {
  return Error{"bad-config", what, "", expected};
}

class TableBooster {
 public:
  TableBooster(const LutRows& rows, std::span<const float> targets, size_t outputs, const TableBoostOptions& options)
      : rows_(rows), targets_(targets), outputs_(outputs), options_(options), random_(options.seed) {}

  Result<LutNetwork> run();

 private:
  struct Choice {
    double gain = -1;
    size_t bit = 0;
  };

  Status set_up();
  Choice best_bit_of(size_t input) const;
  Status grow_table();
  LutHead head() const;

  const LutRows& rows_;
  const std::span<const float> targets_;
  const size_t outputs_;
  const TableBoostOptions& options_;
  Random random_;

  Thermometer encoder_;
  std::vector<size_t> first_bit_;   // of each input
  std::vector<uint16_t> exceeded_;  // [inputs x rows] how many thresholds the number is above
  std::vector<double> weights_, mean_;
  std::vector<double> left_;       // [rows x outputs] what no table says yet
  std::vector<uint32_t> mapping_;  // [tables x arity]
  std::vector<double> entries_;    // [tables x 2^arity x outputs]

  // Of the table at hand.
  std::vector<uint32_t> sample_;  // rows
  std::vector<size_t> inputs_;
  std::vector<uint8_t> address_;  // [rows]
  size_t addresses_ = 1;
};

Status TableBooster::set_up() {
  auto encoder = Thermometer::fit(rows_.rows, rows_.inputs, options_.levels, options_.encoding);
  if (!encoder) return encoder.error();
  encoder_ = std::move(*encoder);
  const size_t count = rows_.count();
  exceeded_.resize(rows_.inputs * count);
  size_t bit = 0;
  for (size_t input = 0; input < rows_.inputs; ++input) {
    const auto thresholds = encoder_.thresholds(input);
    first_bit_.push_back(bit);
    bit += thresholds.size();
    for (size_t r = 0; r < count; ++r) {
      const auto above = std::lower_bound(thresholds.begin(), thresholds.end(), rows_.rows[r * rows_.inputs + input]);
      exceeded_[input * count + r] = static_cast<uint16_t>(above - thresholds.begin());
    }
  }
  double sum = 0;
  mean_.assign(outputs_, 0);
  for (size_t r = 0; r < count; ++r) {
    weights_.push_back(rows_.weights.empty() ? 1.0 : static_cast<double>(rows_.weights[r]));
    sum += weights_.back();
    for (size_t o = 0; o < outputs_; ++o) mean_[o] += weights_[r] * static_cast<double>(targets_[r * outputs_ + o]);
  }
  for (double& mean : mean_) mean /= sum;
  left_.resize(count * outputs_);
  for (size_t i = 0; i < left_.size(); ++i) left_[i] = static_cast<double>(targets_[i]) - mean_[i % outputs_];
  address_.assign(count, 0);
  return {};
}

// The threshold that leaves least, of the sampled rows at all addresses at once: the sum over both sides of
// |sum of w r|^2 / (sum of w + ridge) is largest (the gain of Newton's step; Chen & Guestrin 2016, formula 7).
TableBooster::Choice TableBooster::best_bit_of(size_t input) const {
  const size_t levels = encoder_.thresholds(input).size(), fields = outputs_ + 1;
  if (levels == 0) return {};
  const uint16_t* const exceeded = exceeded_.data() + input * rows_.count();
  std::vector<double> sums(addresses_ * (levels + 1) * fields, 0.0);  // by address and thresholds exceeded
  for (const uint32_t r : sample_) {
    double* const of = sums.data() + (address_[r] * (levels + 1) + exceeded[r]) * fields;
    of[outputs_] += weights_[r];
    for (size_t o = 0; o < outputs_; ++o) of[o] += weights_[r] * left_[r * outputs_ + o];
  }
  std::vector<double> gains(levels, 0.0), all(fields), above(fields);
  const auto score = [&](const double* side) {
    double square = 0;
    for (size_t o = 0; o < outputs_; ++o) square += side[o] * side[o];
    const double weight = side[outputs_] + options_.ridge;
    return weight > 0 ? square / weight : 0;
  };
  std::vector<double> below(fields);
  for (size_t address = 0; address < addresses_; ++address) {
    const double* const of = sums.data() + address * (levels + 1) * fields;
    std::fill(all.begin(), all.end(), 0.0);
    std::fill(above.begin(), above.end(), 0.0);
    for (size_t level = 0; level <= levels; ++level)
      for (size_t f = 0; f < fields; ++f) all[f] += of[level * fields + f];
    for (size_t level = levels; level-- > 0;) {
      for (size_t f = 0; f < fields; ++f) {
        above[f] += of[(level + 1) * fields + f];
        below[f] = all[f] - above[f];
      }
      gains[level] += score(above.data()) + score(below.data());
    }
  }
  const auto best = std::max_element(gains.begin(), gains.end());
  return {*best, first_bit_[input] + static_cast<size_t>(best - gains.begin())};
}

Status TableBooster::grow_table() {
  const size_t count = rows_.count(), entries = size_t{1} << options_.arity;
  sample_.clear();
  for (size_t r = 0; r < count; ++r) {
    if (random_.uniform() < options_.row_share) sample_.push_back(static_cast<uint32_t>(r));
  }
  inputs_.resize(rows_.inputs);
  std::iota(inputs_.begin(), inputs_.end(), size_t{0});
  std::erase_if(inputs_, [this](size_t input) { return encoder_.thresholds(input).empty(); });
  random_.shuffle(inputs_);
  const auto drawn = std::ceil(options_.input_share * static_cast<double>(inputs_.size()));
  inputs_.resize(std::max<size_t>(1, static_cast<size_t>(drawn)));
  std::sort(inputs_.begin(), inputs_.end());

  std::fill(address_.begin(), address_.end(), uint8_t{0});
  addresses_ = 1;
  for (size_t l = 0; l < options_.arity; ++l) {
    std::vector<Choice> choices(inputs_.size());
    Status found = parallel_for(inputs_.size(), options_.threads, [&](size_t i) -> Status {
      choices[i] = best_bit_of(inputs_[i]);
      return {};
    });
    if (!found) return found;
    const auto best = std::max_element(choices.begin(), choices.end(),
                                       [](const Choice& a, const Choice& b) { return a.gain < b.gain; });
    mapping_.push_back(static_cast<uint32_t>(best->bit));
    const size_t input = encoder_.input_of(best->bit), level = best->bit - first_bit_[input];
    const uint16_t* const exceeded = exceeded_.data() + input * count;
    for (size_t r = 0; r < count; ++r)
      address_[r] = static_cast<uint8_t>(address_[r] | (exceeded[r] > level ? 1U : 0U) << l);
    addresses_ *= 2;
  }
  std::vector<double> weight(entries, options_.ridge), sum(entries * outputs_, 0.0);
  for (const uint32_t r : sample_) {
    weight[address_[r]] += weights_[r];
    for (size_t o = 0; o < outputs_; ++o) sum[address_[r] * outputs_ + o] += weights_[r] * left_[r * outputs_ + o];
  }
  for (size_t i = 0; i < sum.size(); ++i)
    sum[i] = weight[i / outputs_] > 0 ? options_.learning_rate * sum[i] / weight[i / outputs_] : 0;
  for (size_t r = 0; r < count; ++r) {
    for (size_t o = 0; o < outputs_; ++o) left_[r * outputs_ + o] -= sum[address_[r] * outputs_ + o];
  }
  entries_.insert(entries_.end(), sum.begin(), sum.end());
  return {};
}

LutHead TableBooster::head() const {
  LutHead head;
  head.outputs = outputs_;
  head.by_address = true;
  double largest = 1e-20;
  for (const double entry : entries_) largest = std::max(largest, std::abs(entry));
  head.scale = largest / kMostEntry;
  for (const double entry : entries_) head.weights.push_back(static_cast<int16_t>(std::lround(entry / head.scale)));
  head.bias.assign(outputs_, 0);
  head.offset = mean_;
  return head;
}

Result<LutNetwork> TableBooster::run() {
  if (const Status made = set_up(); !made) return made.error();
  for (size_t t = 0; t < options_.tables; ++t) {
    if (const Status grown = grow_table(); !grown) return grown.error();
    if (options_.progress && (t + 1) % 50 == 0)
      options_.progress("table " + std::to_string(t + 1) + " of " + std::to_string(options_.tables));
  }
  LutLayer layer;
  layer.inputs = encoder_.bits();
  layer.arity = options_.arity;
  layer.mapping = mapping_;
  layer.tables.assign(options_.tables, 0);
  auto network = LutNetwork::create(encoder_, {std::move(layer)}, head());
  if (!network) return network.error();
  return network->pruned();
}

}  // namespace

Status check_table_boost(const TableBoostOptions& options) {
  if (options.levels < 1 || options.levels > 4096)
    return bad_boost(std::to_string(options.levels) + " levels", "1 to 4096");
  if (options.arity < 1 || options.arity > kMostLutInputs)
    return bad_boost("a table that reads " + std::to_string(options.arity) + " bits (arity)", "1 to 6");
  if (options.tables < 1 || options.tables > kMostBoosted)
    return bad_boost(std::to_string(options.tables) + " tables", "1 to 65536");
  for (const double share : {options.learning_rate, options.row_share, options.input_share}) {
    if (!(share > 0 && share <= 1)) return bad_boost("a share or learning rate outside of 0 to 1", "above 0, up to 1");
  }
  if (!(options.ridge >= 0 && std::isfinite(options.ridge))) return bad_boost("a negative ridge", "0 and more");
  return {};
}

Result<LutNetwork> boost_tables(const LutRows& rows, std::span<const float> targets, size_t outputs,
                                const TableBoostOptions& options) {
  if (const Status fit = check_lut_rows(rows); !fit) return fit.error();
  if (const Status fit = check_lut_targets(rows, targets, outputs); !fit) return fit.error();
  if (const Status valid = check_table_boost(options); !valid) return valid.error();
  if (outputs > kMostLutWeights / options.tables >> options.arity) {
    return bad_boost(std::to_string(options.tables) + " tables of " + std::to_string(size_t{1} << options.arity) +
                         " entries (tables, arity) for " + std::to_string(outputs) + " outputs",
                     "at most " + std::to_string(kMostLutWeights) + " numbers in all");
  }
  return TableBooster(rows, targets, outputs, options).run();
}

}  // namespace perfcast
