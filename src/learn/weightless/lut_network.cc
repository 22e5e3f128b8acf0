#include "learn/weightless/lut_network.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "base/bytes.h"
#include "learn/weightless/extended_difference.h"

namespace perfcast {
namespace {

constexpr std::string_view kMagic = "PCLUTS1";
constexpr uint32_t kVersion = 2;
// What version 2 may save of: flags behind the version; version 1 has none.
constexpr uint8_t kShortThresholds = 1, kFewLevels = 2, kSortedVotes = 4;
constexpr size_t kMostLayers = 16, kMostTables = size_t{1} << 20, kMostOutputs = 65535;
// How the head counts, as the bytes have it.
constexpr uint8_t kByBit = 0, kVotes = 1, kByAddress = 2;

Error bad_network(const std::string& what, const std::string& source = "") {
  return Error{"bad-network", what, source, "a network that perfcast trained"};
}

Status check_layer(const LutLayer& layer, size_t inputs) {
  if (layer.arity < 1 || layer.arity > kMostLutInputs) return bad_network("a table reads no bit, or more than 6");
  if (layer.inputs != inputs) return bad_network("a layer reads other bits than the one before it gives");
  if (layer.luts() == 0 || layer.luts() > kMostTables) return bad_network("a layer has no table, or too many");
  if (layer.mapping.size() != layer.luts() * layer.arity) return bad_network("a layer's mapping is of another size");
  for (const uint32_t bit : layer.mapping) {
    if (bit >= inputs) return bad_network("a table reads a bit that isn't there");
  }
  const size_t entries = size_t{1} << layer.arity;
  for (const uint64_t table : layer.tables) {
    if (entries < 64 && table >> entries != 0) return bad_network("a table has more entries than its bits address");
  }
  return {};
}

// Keeps what is read: the new number of each, and the old one of each new.
struct Kept {
  std::vector<uint32_t> number;
  std::vector<size_t> old;
};
Kept kept_of(const LutLayer& reader) {
  Kept kept;
  kept.number.assign(reader.inputs, 0);
  std::vector<bool> read(reader.inputs, false);
  for (const uint32_t bit : reader.mapping) read[bit] = true;
  for (size_t bit = 0; bit < reader.inputs; ++bit) {
    if (!read[bit]) continue;
    kept.number[bit] = static_cast<uint32_t>(kept.old.size());
    kept.old.push_back(bit);
  }
  return kept;
}

void read_from(const Kept& kept, LutLayer& reader) {
  reader.inputs = kept.old.size();
  for (uint32_t& bit : reader.mapping) bit = kept.number[bit];
}

}  // namespace

Result<LutNetwork> LutNetwork::create(Thermometer encoder, std::vector<LutLayer> layers, LutHead head) {
  if (layers.empty() || layers.size() > kMostLayers) return bad_network("no layer, or more than 16");
  size_t bits = encoder.bits();
  for (const LutLayer& layer : layers) {
    if (const Status fits = check_layer(layer, bits); !fits) return fits.error();
    bits = layer.luts();
  }
  const size_t entries = head.by_address ? size_t{1} << layers.back().arity : 1;
  if (head.outputs == 0 || head.weights.size() != bits * entries * head.outputs || head.bias.size() != head.outputs ||
      !std::isfinite(head.scale) || (!head.offset.empty() && head.offset.size() != head.outputs))
    return bad_network("the sums don't fit the last layer");
  if (head.outputs > kMostOutputs || bits > kMostLutWeights / entries / head.outputs)
    return bad_network("the sums are too many");
  if (head.by_address &&
      !std::all_of(layers.back().tables.begin(), layers.back().tables.end(), [](uint64_t table) { return table == 0; }))
    return bad_network("a table counts by its address and has a bit, too");
  for (size_t o = 0; o < head.outputs; ++o) {
    int64_t most = std::abs(int64_t{head.bias[o]});
    for (size_t j = 0; j < bits; ++j) {
      int64_t largest = 0;
      for (size_t k = 0; k < entries; ++k)
        largest = std::max(largest, std::abs(int64_t{head.weights[(j * entries + k) * head.outputs + o]}));
      most += largest;
    }
    if (most > INT32_MAX) return bad_network("a sum could overflow");
    if (!head.offset.empty() && !std::isfinite(head.offset[o])) return bad_network("an offset is not finite");
  }
  LutNetwork network;
  network.encoder_ = std::move(encoder);
  network.layers_ = std::move(layers);
  network.head_ = std::move(head);
  return network;
}

size_t LutNetwork::luts() const {
  size_t sum = 0;
  for (const LutLayer& layer : layers_) sum += layer.luts();
  return sum;
}

std::vector<int32_t> LutNetwork::sums(std::span<const float> row) const {
  std::vector<uint8_t> bits(encoder_.bits());
  encoder_.encode(row, bits);
  std::vector<uint8_t> addresses;
  for (const LutLayer& layer : layers_) {
    std::vector<uint8_t> next(layer.luts());
    addresses.assign(layer.luts(), 0);
    for (size_t j = 0; j < layer.luts(); ++j) {
      size_t address = 0;
      for (size_t l = 0; l < layer.arity; ++l) address |= size_t{bits[layer.mapping[j * layer.arity + l]]} << l;
      addresses[j] = static_cast<uint8_t>(address);
      next[j] = static_cast<uint8_t>(layer.tables[j] >> address & 1U);
    }
    bits = std::move(next);
  }
  std::vector<int32_t> sums = head_.bias;
  const size_t entries = size_t{1} << layers_.back().arity;
  for (size_t j = 0; j < bits.size(); ++j) {
    if (!head_.by_address && bits[j] == 0) continue;
    const size_t entry = head_.by_address ? j * entries + addresses[j] : j;
    for (size_t o = 0; o < head_.outputs; ++o) sums[o] += head_.weights[entry * head_.outputs + o];
  }
  return sums;
}

size_t LutNetwork::best(std::span<const float> row) const {
  const std::vector<int32_t> of = sums(row);
  return static_cast<size_t>(std::max_element(of.begin(), of.end()) - of.begin());
}

std::vector<double> LutNetwork::values(std::span<const float> row) const {
  const std::vector<int32_t> of = sums(row);
  std::vector<double> values;
  for (size_t o = 0; o < of.size(); ++o) values.push_back(value_of(of[o], o));
  return values;
}

LutNetwork LutNetwork::pruned() const {
  LutNetwork network = *this;
  for (size_t layer = network.layers_.size(); layer-- > 1;) {
    const Kept kept = kept_of(network.layers_[layer]);
    read_from(kept, network.layers_[layer]);
    const LutLayer all = network.layers_[layer - 1];
    LutLayer& before = network.layers_[layer - 1];
    before.mapping.clear();
    before.tables.clear();
    for (const size_t old : kept.old) {
      before.tables.push_back(all.tables[old]);
      const auto first = all.mapping.begin() + static_cast<std::ptrdiff_t>(old * all.arity);
      before.mapping.insert(before.mapping.end(), first, first + static_cast<std::ptrdiff_t>(all.arity));
    }
  }
  const Kept kept = kept_of(network.layers_.front());
  read_from(kept, network.layers_.front());
  std::vector<std::vector<float>> thresholds(encoder_.inputs());
  for (const size_t bit : kept.old) thresholds[encoder_.input_of(bit)].push_back(encoder_.threshold_of(bit));
  network.encoder_ = *Thermometer::from_thresholds(thresholds);
  return network;
}

std::string LutNetwork::to_bytes() const {
  const std::vector<uint16_t> classes = votes();
  uint8_t saved = kShortThresholds | kFewLevels;
  for (size_t bit = 0; bit < encoder_.bits(); ++bit) {
    if (short_threshold(encoder_.threshold_of(bit)) != encoder_.threshold_of(bit)) saved &= ~kShortThresholds;
  }
  for (size_t input = 0; input < encoder_.inputs(); ++input) {
    if (encoder_.thresholds(input).size() > 255) saved &= ~kFewLevels;
  }
  if (!classes.empty() && std::is_sorted(classes.begin(), classes.end())) saved |= kSortedVotes;
  ByteWriter out(kMagic);
  out.put(kVersion);
  out.put(saved);
  const auto count = [&](size_t value) { out.put(static_cast<uint32_t>(value)); };
  count(encoder_.inputs());
  for (size_t input = 0; input < encoder_.inputs(); ++input) {
    const auto thresholds = encoder_.thresholds(input);
    if ((saved & kFewLevels) != 0) {
      out.put(static_cast<uint8_t>(thresholds.size()));
    } else {
      out.put(static_cast<uint16_t>(thresholds.size()));
    }
    if ((saved & kShortThresholds) == 0) {
      out.put_raw(thresholds.data(), thresholds.size_bytes());
      continue;
    }
    for (const float threshold : thresholds) out.put(static_cast<uint16_t>(std::bit_cast<uint32_t>(threshold) >> 16U));
  }
  count(layers_.size());
  for (const LutLayer& layer : layers_) {
    out.put(static_cast<uint8_t>(layer.arity));
    count(layer.luts());
    // Two bytes name a bit where there are few, as nearly always.
    for (const uint32_t bit : layer.mapping) {
      if (layer.inputs <= 65536) {
        out.put(static_cast<uint16_t>(bit));
      } else {
        out.put(bit);
      }
    }
    const size_t table_bytes = std::max<size_t>(1, (size_t{1} << layer.arity) / 8);
    for (const uint64_t table : layer.tables) out.put_raw(&table, table_bytes);
  }
  count(head_.outputs);
  out.put(head_.scale);
  for (const int32_t bias : head_.bias) out.put(bias);
  out.put(static_cast<uint8_t>(head_.offset.empty() ? 0 : 1));
  for (const double offset : head_.offset) out.put(offset);
  out.put(head_.by_address ? kByAddress : !classes.empty() ? kVotes : kByBit);
  if ((saved & kSortedVotes) != 0) {
    // How many tables count for each class.
    for (size_t o = 0; o < head_.outputs; ++o)
      count(static_cast<size_t>(std::count(classes.begin(), classes.end(), static_cast<uint16_t>(o))));
  } else if (!classes.empty()) {
    for (const uint16_t of : classes) out.put(of);
  } else {
    for (const int16_t weight : head_.weights) out.put(weight);
  }
  return std::move(out).finish();
}

// Of a classifier the class of each table is enough: empty where it is none.
std::vector<uint16_t> LutNetwork::votes() const {
  const size_t tables = layers_.back().luts();
  std::vector<uint16_t> classes;
  if (head_.by_address || head_.outputs > 65535) return classes;
  classes.reserve(tables);
  for (size_t j = 0; j < tables; ++j) {
    const auto of = std::span(head_.weights).subspan(j * head_.outputs, head_.outputs);
    const auto one = std::find(of.begin(), of.end(), int16_t{1});
    if (one == of.end() || std::count(of.begin(), of.end(), int16_t{0}) + 1 != static_cast<std::ptrdiff_t>(of.size()))
      return {};
    classes.push_back(static_cast<uint16_t>(one - of.begin()));
  }
  return classes;
}

Result<LutNetwork> LutNetwork::from_bytes(std::string_view bytes, const std::string& source) {
  ByteFrame frame = open_frame(bytes, kMagic, kVersion);
  uint8_t saved = 0;
  const bool is_first_version = frame.state == ByteFrame::State::kOtherVersion && frame.version == 1;
  if (is_first_version) frame = open_frame(bytes, kMagic, 1);
  if (frame.state != ByteFrame::State::kGood) {
    return bad_network(frame.state == ByteFrame::State::kOtherVersion
                           ? "the network is of version " + std::to_string(frame.version) +
                                 ", this perfcast reads 1 and " + std::to_string(kVersion)
                       : frame.state == ByteFrame::State::kCorrupt ? "the network is corrupt: its checksum doesn't fit"
                                                                   : "this is no weightless network",
                       source);
  }
  ByteReader in(frame.body);
  if (!is_first_version) in.get(saved);
  if (saved > (kShortThresholds | kFewLevels | kSortedVotes))
    return bad_network("the network saves of what this perfcast does not know", source);
  // Never more than the bytes that are left can hold: hostile counts cost nothing.
  const auto count = [&in](size_t bytes_each) {
    uint32_t value = 0;
    in.get(value);
    if (value > in.left() / bytes_each) in.fail();
    return in.ok() ? size_t{value} : size_t{0};
  };
  const bool is_short = (saved & kShortThresholds) != 0;
  std::vector<std::vector<float>> thresholds(count((saved & kFewLevels) != 0 ? 1 : 2));
  for (auto& of : thresholds) {
    uint16_t levels = 0;
    in.get_raw(&levels, (saved & kFewLevels) != 0 ? 1 : 2);
    if (!in.ok() || levels > in.left() / (is_short ? 2 : 4)) return bad_network("the network is cut", source);
    of.resize(levels);
    for (float& threshold : of) {
      uint32_t bits = 0;
      in.get_raw(&bits, is_short ? 2 : 4);
      threshold = std::bit_cast<float>(is_short ? bits << 16U : bits);
    }
  }
  if (!in.ok()) return bad_network("the network is cut", source);
  auto encoder = Thermometer::from_thresholds(thresholds);
  if (!encoder) return bad_network(encoder.error().message, source);
  std::vector<LutLayer> layers(std::min(count(1), kMostLayers + 1));
  size_t bits = encoder->bits();
  for (LutLayer& layer : layers) {
    uint8_t arity = 0;
    in.get(arity);
    layer.inputs = bits;
    layer.arity = arity;
    if (arity < 1 || arity > kMostLutInputs) return bad_network("a table reads no bit, or more than 6", source);
    const size_t named = bits <= 65536 ? sizeof(uint16_t) : sizeof(uint32_t);
    const size_t luts = count(arity * named);
    layer.mapping.resize(luts * arity);
    for (uint32_t& bit : layer.mapping) in.get_raw(&bit, named);
    layer.tables.resize(luts);
    for (uint64_t& table : layer.tables) in.get_raw(&table, std::max<size_t>(1, (size_t{1} << arity) / 8));
    bits = luts;
  }
  LutHead head;
  head.outputs = count(sizeof(int32_t));
  in.get(head.scale);
  head.bias.resize(head.outputs);
  for (int32_t& bias : head.bias) in.get(bias);
  uint8_t has_offset = 0;
  in.get(has_offset);
  if (has_offset > 1) in.fail();
  head.offset.resize(has_offset == 1 ? head.outputs : 0);
  for (double& offset : head.offset) in.get(offset);
  uint8_t counts = 0;
  in.get(counts);
  if (!in.ok() || counts > kByAddress) return bad_network("the network is cut", source);
  head.by_address = counts == kByAddress;
  const size_t entries = head.by_address && !layers.empty() ? size_t{1} << layers.back().arity : 1;
  const bool is_sorted = counts == kVotes && (saved & kSortedVotes) != 0;
  const size_t weight_bytes = counts == kVotes ? (is_sorted ? 0 : sizeof(uint16_t))
                                               : sizeof(int16_t) * entries * std::max<size_t>(1, head.outputs);
  if (weight_bytes > 0 && bits > in.left() / weight_bytes) return bad_network("the network is cut", source);
  if (head.outputs > kMostOutputs) return bad_network("the sums are too many", source);
  if (head.outputs > 0 && bits > kMostLutWeights / entries / head.outputs)
    return bad_network("the sums are too many", source);
  head.weights.assign(bits * entries * head.outputs, 0);
  if (is_sorted) {
    size_t j = 0;
    for (size_t o = 0; o < head.outputs; ++o) {
      uint32_t tables = 0;
      in.get(tables);
      if (!in.ok() || tables > bits - j) return bad_network("a class has more tables than there are", source);
      for (const size_t end = j + tables; j < end; ++j) head.weights[j * head.outputs + o] = 1;
    }
    if (j != bits) return bad_network("a table counts for no class", source);
  } else if (counts == kVotes) {
    for (size_t j = 0; j < bits; ++j) {
      uint16_t of = 0;
      in.get(of);
      if (of >= head.outputs) return bad_network("a table counts for a class that isn't there", source);
      head.weights[j * head.outputs + of] = 1;
    }
  } else {
    for (int16_t& weight : head.weights) in.get(weight);
  }
  if (!in.at_end()) return bad_network("the network is cut, or something follows it", source);
  auto network = create(std::move(*encoder), std::move(layers), std::move(head));
  if (!network) {
    Error error = network.error();
    error.where = source;
    return error;
  }
  return network;
}

}  // namespace perfcast
