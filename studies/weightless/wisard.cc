#include "studies/weightless/wisard.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace perfcast::program::weightless_study {
namespace {

constexpr size_t kMostTuple = 63, kMostEntriesLog2 = 20;

Status check_labels(const LutRows& rows, std::span<const uint32_t> labels, size_t classes) {
  if (Status fit = check_lut_rows(rows); !fit) return fit;
  if (labels.size() != rows.count() || classes < 2 ||
      !std::all_of(labels.begin(), labels.end(), [&](uint32_t label) { return label < classes; }))
    return Error{"bad-input", "the classes don't fit the rows", "", "a class for each row, of two or more"};
  return {};
}

// Every bit once, in drawn order, and some again where the last tuple has room.
std::vector<uint32_t> drawn_order(size_t bits, size_t tuple, Random& random) {
  std::vector<uint32_t> order(bits);
  std::iota(order.begin(), order.end(), 0U);
  random.shuffle(order);
  const size_t whole = (bits + tuple - 1) / tuple * tuple;
  while (order.size() < whole) order.push_back(static_cast<uint32_t>(random.below(bits)));
  return order;
}

// The most, of equal ones the first; whether no other has as many.
std::pair<size_t, bool> leader(const std::vector<uint32_t>& answers) {
  const auto most = std::max_element(answers.begin(), answers.end());
  return {static_cast<size_t>(most - answers.begin()), std::count(answers.begin(), answers.end(), *most) == 1};
}

}  // namespace

Result<Wisard> Wisard::train(const LutRows& rows, std::span<const uint32_t> labels, size_t classes,
                             const WisardOptions& options) {
  if (Status fit = check_labels(rows, labels, classes); !fit) return fit.error();
  if (options.tuple < 1 || options.tuple > kMostTuple)
    return Error{"bad-config", "a tuple of " + std::to_string(options.tuple) + " bits", "", "1 to 63"};
  auto encoder = Thermometer::fit(rows.rows, rows.inputs, options.levels, options.encoding);
  if (!encoder) return encoder.error();
  Wisard made;
  made.encoder_ = std::move(*encoder);
  made.tuple_ = options.tuple;
  made.classes_ = classes;
  Random random(options.seed);
  made.order_ = drawn_order(made.encoder_.bits(), options.tuple, random);
  made.tuples_ = made.order_.size() / options.tuple;
  made.counts_.resize(classes * made.tuples_);
  for (size_t r = 0; r < rows.count(); ++r) {
    const std::vector<uint64_t> of = made.addresses(rows.rows.subspan(r * rows.inputs, rows.inputs));
    for (size_t t = 0; t < made.tuples_; ++t) ++made.counts_[labels[r] * made.tuples_ + t][of[t]];
  }
  return made;
}

std::vector<uint64_t> Wisard::addresses(std::span<const float> row) const {
  std::vector<uint8_t> bits(encoder_.bits());
  encoder_.encode(row, bits);
  std::vector<uint64_t> addresses(tuples_, 0);
  for (size_t i = 0; i < order_.size(); ++i) addresses[i / tuple_] |= uint64_t{bits[order_[i]]} << (i % tuple_);
  return addresses;
}

size_t Wisard::best(std::span<const float> row) const {
  const std::vector<uint64_t> of = addresses(row);
  std::vector<uint32_t> seen(classes_ * tuples_, 0);
  uint32_t most = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    const auto found = counts_[i].find(of[i % tuples_]);
    seen[i] = found == counts_[i].end() ? 0 : found->second;
    most = std::max(most, seen[i]);
  }
  size_t best = 0;
  for (uint32_t bound = 0; bound == 0 || bound < most; ++bound) {
    std::vector<uint32_t> answers(classes_, 0);
    for (size_t i = 0; i < seen.size(); ++i) answers[i / tuples_] += seen[i] > bound ? 1 : 0;
    const auto [first, alone] = leader(answers);
    if (answers[first] == 0) break;  // nothing is left to decide by
    best = first;
    if (alone) break;
  }
  return best;
}

size_t Wisard::bytes() const {
  size_t entries = 0;
  for (const auto& table : counts_) entries += table.size();
  const size_t address = (tuple_ + 7) / 8;
  return entries * (address + 1) + encoder_.bits() * sizeof(float) + order_.size() * sizeof(uint16_t);
}

Result<BloomClassifier> BloomClassifier::train(const LutRows& rows, std::span<const uint32_t> labels, size_t classes,
                                               const BloomOptions& options) {
  if (Status fit = check_labels(rows, labels, classes); !fit) return fit.error();
  if (options.tuple < 1 || options.tuple > kMostTuple || options.entries_log2 < 1 ||
      options.entries_log2 > kMostEntriesLog2 || options.hashes < 1 || options.hashes > 16 ||
      !(options.held_out >= 0 && options.held_out < 1))
    return Error{"bad-config", "a filter that can't be", "",
                 "tuples of 1 to 63 bits, 2 to 2^20 entries, 1 to 16 hashes, a share of 0 to 1 held out"};
  auto encoder = Thermometer::fit(rows.rows, rows.inputs, options.levels, options.encoding);
  if (!encoder) return encoder.error();
  BloomClassifier made;
  made.encoder_ = std::move(*encoder);
  made.options_ = options;
  made.classes_ = classes;
  Random random(options.seed);
  made.order_ = drawn_order(made.encoder_.bits(), options.tuple, random);
  made.tuples_ = made.order_.size() / options.tuple;
  const size_t entries = size_t{1} << options.entries_log2;
  for (size_t i = 0; i < options.hashes * options.tuple; ++i)
    made.constants_.push_back(static_cast<uint32_t>(random.below(entries)));
  std::vector<std::vector<uint32_t>> slots(rows.count());
  for (size_t r = 0; r < rows.count(); ++r) slots[r] = made.slots(rows.rows.subspan(r * rows.inputs, rows.inputs));
  const auto count_rows = [&](const std::vector<size_t>& which) {
    made.counters_.assign(classes * made.tuples_ * entries, 0);
    for (const size_t r : which) {
      for (size_t t = 0; t < made.tuples_; ++t) {
        uint32_t* const filter = made.counters_.data() + (labels[r] * made.tuples_ + t) * entries;
        const uint32_t* const of = slots[r].data() + t * options.hashes;
        uint32_t least = filter[of[0]];
        for (size_t h = 1; h < options.hashes; ++h) least = std::min(least, filter[of[h]]);
        for (size_t h = 0; h < options.hashes; ++h) filter[of[h]] = std::max(filter[of[h]], least + 1);
      }
    }
  };
  std::vector<size_t> order(rows.count());
  std::iota(order.begin(), order.end(), size_t{0});
  random.shuffle(order);
  const auto held_out = static_cast<std::ptrdiff_t>(options.held_out * static_cast<double>(order.size()));
  if (held_out > 0) {
    count_rows({order.begin() + held_out, order.end()});
    size_t most_right = 0;
    const uint32_t most = *std::max_element(made.counters_.begin(), made.counters_.end());
    for (uint32_t bound = 0; bound < most; ++bound) {
      size_t right = 0;
      for (std::ptrdiff_t i = 0; i < held_out; ++i) {
        const size_t r = order[static_cast<size_t>(i)];
        right += made.best_of(slots[r], bound) == labels[r] ? 1 : 0;
      }
      if (right <= most_right) continue;
      most_right = right;
      made.bound_ = bound;
    }
  }
  count_rows(order);
  return made;
}

std::vector<uint32_t> BloomClassifier::slots(std::span<const float> row) const {
  std::vector<uint8_t> bits(encoder_.bits());
  encoder_.encode(row, bits);
  std::vector<uint32_t> slots(tuples_ * options_.hashes, 0);
  for (size_t i = 0; i < order_.size(); ++i) {
    if (bits[order_[i]] == 0) continue;
    for (size_t h = 0; h < options_.hashes; ++h)
      slots[i / options_.tuple * options_.hashes + h] ^= constants_[h * options_.tuple + i % options_.tuple];
  }
  return slots;
}

size_t BloomClassifier::best_of(const std::vector<uint32_t>& slots, uint32_t bound) const {
  const size_t entries = size_t{1} << options_.entries_log2;
  std::vector<uint32_t> answers(classes_, 0);
  for (size_t c = 0; c < classes_; ++c) {
    for (size_t t = 0; t < tuples_; ++t) {
      const uint32_t* const filter = counters_.data() + (c * tuples_ + t) * entries;
      bool all = true;
      for (size_t h = 0; h < options_.hashes; ++h) all = all && filter[slots[t * options_.hashes + h]] > bound;
      answers[c] += all ? 1 : 0;
    }
  }
  return leader(answers).first;
}

size_t BloomClassifier::best(std::span<const float> row) const { return best_of(slots(row), bound_); }

size_t BloomClassifier::bytes() const {
  return counters_.size() / 8 + encoder_.bits() * sizeof(float) + order_.size() * sizeof(uint16_t) +
         constants_.size() * sizeof(uint32_t);
}

}  // namespace perfcast::program::weightless_study
