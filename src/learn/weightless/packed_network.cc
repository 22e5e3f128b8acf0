#include "learn/weightless/packed_network.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>

#include "learn/weightless/packed_kernels.h"

namespace perfcast {
namespace {

constexpr size_t kPadding = 64;
constexpr size_t kAlignment = 64;
constexpr size_t kGroup = 16;  // bits of PackedView::group_input
constexpr size_t kWordsOnStack = 64, kLutsOnStack = 512;
constexpr std::array<std::string_view, 4> kNames = {"scalar", "AVX2", "AVX-512", "AVX-512 VBMI"};

const PackedKernels& kernels_of(PackedPath path) {
#if defined(__x86_64__)
  if (path == PackedPath::kAvx512Vbmi) return kPackedAvx512Vbmi;
  if (path == PackedPath::kAvx512) return kPackedAvx512;
  if (path == PackedPath::kAvx2) return kPackedAvx2;
#else
  static_cast<void>(path);
#endif
  return kPackedScalar;
}

size_t address_of(const LutLayer& layer, size_t lut, const uint64_t* bits) {
  size_t address = 0;
  for (size_t i = 0; i < layer.arity; ++i) {
    const uint32_t bit = layer.mapping[lut * layer.arity + i];
    address |= (bits[bit / 64] >> (bit % 64) & 1U) << i;
  }
  return address;
}

}  // namespace

std::string_view to_text(PackedPath path) { return kNames.at(static_cast<size_t>(path)); }

std::vector<PackedPath> packed_paths() {
  std::vector<PackedPath> paths = {PackedPath::kScalar};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) paths.push_back(PackedPath::kAvx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    paths.push_back(PackedPath::kAvx512);
  if (paths.back() == PackedPath::kAvx512 && __builtin_cpu_supports("avx512vbmi"))
    paths.push_back(PackedPath::kAvx512Vbmi);
#endif
  return paths;
}

PackedLutNetwork::PackedLutNetwork(const LutNetwork& network, PackedPath path) : path_(path) {
  const Thermometer& encoder = network.encoder();
  inputs_ = network.inputs();
  outputs_ = network.outputs();
  for (size_t bit = 0; bit < encoder.bits(); ++bit) {
    bit_input_.push_back(static_cast<uint32_t>(encoder.input_of(bit)));
    bit_threshold_.push_back(encoder.threshold_of(bit));
  }
  layers_ = network.layers();
  lay_out_first_layer();
  lay_out_picked_bits();
  const LutHead& head = network.head();
  const size_t luts = layers_.back().luts();
  words_ = (luts + 63) / 64;
  bias_ = head.bias;
  by_address_ = head.by_address;
  one_hot_ = !by_address_ && std::all_of(bias_.begin(), bias_.end(), [](int32_t bias) { return bias == 0; });
  for (size_t j = 0; j < luts && one_hot_; ++j) {
    const auto of = std::span(head.weights).subspan(j * outputs_, outputs_);
    const auto zeros = static_cast<size_t>(std::count(of.begin(), of.end(), int16_t{0}));
    const auto one = std::find(of.begin(), of.end(), int16_t{1});
    one_hot_ = zeros + 1 == outputs_ && one != of.end();
    vote_.push_back(static_cast<uint32_t>(one - of.begin()));
  }
  if (one_hot_) {
    masks_.assign(outputs_ * words_, 0);
    for (size_t j = 0; j < luts; ++j) masks_[vote_[j] * words_ + j / 64] |= uint64_t{1} << (j % 64);
    votes_counted_ = outputs_ <= 256 && std::is_sorted(vote_.begin(), vote_.end());
  } else {
    weights_ = head.weights;
  }
  size_t most_bits = encoder.bits();
  for (const LutLayer& layer : layers_) {
    layer_views_.push_back({layer.luts(), layer.arity, layer.mapping.data(), layer.tables.data()});
    most_bits = std::max(most_bits, layer.luts());
  }
  view_ = {inputs_,
           encoder.bits(),
           bit_input_.data(),
           bit_threshold_.data(),
           layers_.front().arity,
           padded_tables_.size(),
           read_input_.data(),
           read_threshold_.data(),
           padded_tables_.data(),
           group_base_.size(),
           group_base_.data(),
           group_input_.data(),
           group_threshold_.data(),
           pick_byte_.data(),
           pick_bit_.data(),
           layer_views_.data(),
           layer_views_.size(),
           most_bits,
           outputs_,
           vote_.data()};
}

void PackedLutNetwork::lay_out_first_layer() {
  const LutLayer& first = layers_.front();
  const size_t padded = (first.luts() + kPadding - 1) / kPadding * kPadding;
  // What pads reads nothing above infinity, and its table is empty: a bit that is never set.
  read_input_.assign(first.arity * padded, 0);
  read_threshold_.assign(first.arity * padded, std::numeric_limits<float>::infinity());
  padded_tables_.assign(padded, 0);
  for (size_t j = 0; j < first.luts(); ++j) {
    padded_tables_[j] = first.tables[j];
    for (size_t l = 0; l < first.arity; ++l) {
      const uint32_t bit = first.mapping[j * first.arity + l];
      read_input_[l * padded + j] = static_cast<int32_t>(bit_input_[bit]);
      read_threshold_[l * padded + j] = bit_threshold_[bit];
    }
  }
}

void PackedLutNetwork::lay_out_picked_bits() {
  const LutLayer& first = layers_.front();
  // Bits of an input stand together, lowest threshold first.
  std::vector<uint32_t> used = first.mapping;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::map<uint32_t, size_t> place;
  size_t lanes = kGroup;
  for (const uint32_t bit : used) {
    const auto input = static_cast<int32_t>(bit_input_[bit]);
    if (lanes == kGroup || input - group_base_.back() >= static_cast<int32_t>(kWindow)) {
      // A window ends with the row.
      const auto last = inputs_ > kWindow ? static_cast<int32_t>(inputs_ - kWindow) : 0;
      group_base_.push_back(std::min(input, last));
      group_input_.resize(group_base_.size() * kGroup, 0);
      group_threshold_.resize(group_base_.size() * kGroup, std::numeric_limits<float>::infinity());
      lanes = 0;
    }
    const size_t at = (group_base_.size() - 1) * kGroup + lanes++;
    group_input_[at] = input - group_base_.back();
    group_threshold_[at] = bit_threshold_[bit];
    place[bit] = at;
  }
  if (group_base_.size() > kMostGroups) {
    group_base_.clear();
    return;
  }
  const size_t padded = padded_tables_.size();
  pick_byte_.assign(first.arity * padded, 0);
  pick_bit_.assign(first.arity * padded, 0);
  for (size_t j = 0; j < first.luts(); ++j) {
    for (size_t l = 0; l < first.arity; ++l) {
      const size_t at = place[first.mapping[j * first.arity + l]];
      pick_byte_[l * padded + j] = static_cast<uint8_t>(at / 8);
      pick_bit_[l * padded + j] = static_cast<uint8_t>(1U << (at % 8));
    }
  }
}

size_t PackedLutNetwork::words() const {
  size_t most = view_.padded;
  for (const LutLayer& layer : layers_) most = std::max(most, layer.luts());
  return most / 64 + 2;
}

void PackedLutNetwork::bits_of(size_t layers, const float* row, uint64_t* words) const {
  kernels_of(path_).first_layer(view_, row, words);
  if (layers == 1) return;
  std::vector<uint64_t> bits(words, words + (layers_.front().luts() + 63) / 64), next;
  for (size_t l = 1; l < layers; ++l) {
    const LutLayer& layer = layers_[l];
    next.assign((layer.luts() + 63) / 64, 0);
    for (size_t j = 0; j < layer.luts(); ++j)
      next[j / 64] |= (layer.tables[j] >> address_of(layer, j, bits.data()) & 1U) << (j % 64);
    bits.swap(next);
  }
  std::copy(bits.begin(), bits.end(), words);
}

void PackedLutNetwork::sums_by_address(const float* row, int32_t* sums) const {
  std::array<uint64_t, kWordsOnStack> few;
  std::vector<uint64_t> many;
  std::copy(bias_.begin(), bias_.end(), sums);
  const LutLayer& last = layers_.back();
  const size_t entries = size_t{1} << last.arity;
  const auto add = [&](size_t j, size_t address) {
    const int16_t* const weights = weights_.data() + (j * entries + address) * outputs_;
    for (size_t o = 0; o < outputs_; ++o) sums[o] += weights[o];
  };
  if (layers_.size() == 1) {
    std::array<uint8_t, kLutsOnStack> addresses;
    for (size_t first = 0; first < last.luts(); first += addresses.size()) {
      const size_t count = std::min(addresses.size(), last.luts() - first);
      std::fill_n(addresses.begin(), count, uint8_t{0});
      for (size_t l = 0; l < last.arity; ++l) {
        const int32_t* const input = read_input_.data() + l * view_.padded + first;
        const float* const threshold = read_threshold_.data() + l * view_.padded + first;
        for (size_t j = 0; j < count; ++j)
          addresses[j] = static_cast<uint8_t>(addresses[j] | (row[input[j]] > threshold[j] ? 1U : 0U) << l);
      }
      for (size_t j = 0; j < count; ++j) add(first + j, addresses[j]);
    }
    return;
  }
  uint64_t* words = few.data();
  const size_t wanted = this->words();
  if (wanted > few.size()) {
    many.resize(wanted);
    words = many.data();
  }
  bits_of(layers_.size() - 1, row, words);
  for (size_t j = 0; j < last.luts(); ++j) add(j, address_of(last, j, words));
}

void PackedLutNetwork::sums(const float* row, int32_t* sums) const {
  if (by_address_) return sums_by_address(row, sums);
  // Most networks are small: no memory is asked for.
  std::array<uint64_t, kWordsOnStack> few;
  std::vector<uint64_t> many;
  uint64_t* words = few.data();
  const size_t wanted = this->words();
  if (wanted > few.size()) {
    many.resize(wanted);
    words = many.data();
  }
  bits_of(layers_.size(), row, words);
  if (one_hot_) return kernels_of(path_).count_votes(words, words_, masks_.data(), outputs_, sums);
  std::copy(bias_.begin(), bias_.end(), sums);
  for (size_t w = 0; w < words_; ++w) {
    for (uint64_t left = words[w]; left != 0; left &= left - 1) {
      const size_t j = 64 * w + static_cast<size_t>(std::countr_zero(left));
      const int16_t* const weights = weights_.data() + j * outputs_;
      for (size_t o = 0; o < outputs_; ++o) sums[o] += weights[o];
    }
  }
}

size_t PackedLutNetwork::best(const float* row) const {
  std::array<int32_t, 64> few;
  std::vector<int32_t> many;
  int32_t* of = few.data();
  if (outputs_ > few.size()) {
    many.resize(outputs_);
    of = many.data();
  }
  sums(row, of);
  // Without branches, which would be guessed wrong: the first of the largest.
  size_t best = 0;
  int32_t most = of[0];
  for (size_t o = 1; o < outputs_; ++o) {
    best = of[o] > most ? o : best;
    most = std::max(most, of[o]);
  }
  return best;
}

bool PackedLutNetwork::best(const float* rows, size_t count, uint8_t* best) const {
  if (outputs_ > 256) return false;
  const PackedKernels& kernels = kernels_of(path_);
  size_t done = 0;
  if (votes_counted_ && count >= kernels.block_rows) {
    const size_t bytes = (kernels.room_words(view_) * sizeof(uint64_t) + kAlignment - 1) / kAlignment * kAlignment;
    const std::unique_ptr<void, decltype(&std::free)> room(std::aligned_alloc(kAlignment, bytes), &std::free);
    if (room != nullptr) {
      for (; done + kernels.block_rows <= count; done += kernels.block_rows)
        kernels.block_best(view_, rows + done * inputs_, static_cast<uint64_t*>(room.get()), best + done);
    }
  }
  for (; done < count; ++done) best[done] = static_cast<uint8_t>(this->best(rows + done * inputs_));
  return true;
}

}  // namespace perfcast
