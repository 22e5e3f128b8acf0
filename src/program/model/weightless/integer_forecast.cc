#include "program/model/weightless/integer_forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "learn/weightless/export/source_text.h"

namespace perfcast::program {
namespace {

constexpr double kMostWeight = 32767, kMostSum = 1e9;
constexpr int kMostFraction = 24;  // bits behind the point of a sum

Error not_exportable(const std::string& what) {
  return Error{"not-exportable", what, "", "a weightless model that perfcast trained: train --model dwn"};
}

// The threshold of an input as it is that tells what `of` tells of it standardised. Thresholds are numbers of training
// rows, which lie on them, not above: a little more, so that rounding lifts none over.
float raw_threshold(const StandardisedInputs& inputs, size_t input, float of) {
  constexpr double kRounding = 0x1p-22;  // two roundings to float, of the larger of what is added
  const auto column = static_cast<Eigen::Index>(input);
  const double centre = inputs.as_it_was(column, 0), raw = inputs.as_it_was(column, static_cast<double>(of));
  return static_cast<float>(raw + kRounding * (std::abs(centre) + std::abs(raw - centre)));
}

Result<std::vector<int64_t>> kept_platforms(const std::vector<int64_t>& platforms, int64_t count) {
  std::vector<int64_t> kept = platforms;
  if (kept.empty()) {
    kept.resize(static_cast<size_t>(count));
    std::iota(kept.begin(), kept.end(), int64_t{0});
  }
  for (const int64_t platform : kept) {
    if (platform < 0 || platform >= count)
      return Error{"unknown-platform", "the model has no platform of that number", std::to_string(platform), ""};
  }
  return kept;
}

// Several networks of equally many layers, side by side on one encoder of raw thresholds; heads are left out.
struct Joined {
  Thermometer encoder;
  std::vector<LutLayer> layers;
};
Result<Joined> as_one_network(std::span<const LutNetwork> networks, const StandardisedInputs& inputs) {
  const auto columns = static_cast<size_t>(inputs.columns());
  std::vector<std::vector<float>> thresholds(columns);  // ascending, each once
  std::vector<std::vector<float>> of_bit(networks.size());
  for (size_t n = 0; n < networks.size(); ++n) {
    const Thermometer& encoder = networks[n].encoder();
    for (size_t bit = 0; bit < encoder.bits(); ++bit) {
      of_bit[n].push_back(raw_threshold(inputs, encoder.input_of(bit), encoder.threshold_of(bit)));
      thresholds[encoder.input_of(bit)].push_back(of_bit[n].back());
    }
  }
  Joined joined;
  std::vector<size_t> first(columns, 0);
  size_t bits = 0;
  for (size_t input = 0; input < columns; ++input) {
    std::vector<float>& of = thresholds[input];
    std::sort(of.begin(), of.end());
    of.erase(std::unique(of.begin(), of.end()), of.end());
    first[input] = bits;
    bits += of.size();
  }
  auto encoder = Thermometer::from_thresholds(thresholds);
  if (!encoder) return not_exportable(encoder.error().message);
  joined.encoder = std::move(*encoder);
  const size_t depth = networks.front().layers().size(), arity = networks.front().layers().front().arity;
  joined.layers.resize(depth);
  for (size_t n = 0; n < networks.size(); ++n) {
    if (networks[n].layers().size() != depth) return not_exportable("networks of different depth");
    for (size_t l = 0; l < depth; ++l) {
      const LutLayer& from = networks[n].layers()[l];
      if (from.arity != arity) return not_exportable("tables of different sizes");
      LutLayer& to = joined.layers[l];
      to.arity = arity;
      // What the networks before this one put into the layer below.
      const size_t below = l == 0 ? 0 : joined.layers[l - 1].luts() - from.inputs;
      for (const uint32_t bit : from.mapping) {
        if (l > 0) {
          to.mapping.push_back(static_cast<uint32_t>(below + bit));
          continue;
        }
        const size_t input = networks[n].encoder().input_of(bit);
        const std::vector<float>& of = thresholds[input];
        const auto at = std::lower_bound(of.begin(), of.end(), of_bit[n][bit]);
        to.mapping.push_back(static_cast<uint32_t>(first[input] + static_cast<size_t>(at - of.begin())));
      }
      to.tables.insert(to.tables.end(), from.tables.begin(), from.tables.end());
    }
  }
  for (size_t l = 0; l < depth; ++l) joined.layers[l].inputs = l == 0 ? bits : joined.layers[l - 1].luts();
  return joined;
}

// Whether 16 bits hold every weight and 32 every sum, in whole numbers.
bool are_held(const std::vector<double>& weights, const std::vector<double>& bias, size_t entries) {
  double largest = 0, most = 0;
  for (const double of : bias) most = std::isfinite(of) ? std::max(most, std::abs(of)) : INFINITY;
  for (const double weight : weights) largest = std::isfinite(weight) ? std::max(largest, std::abs(weight)) : INFINITY;
  const size_t tables = weights.size() / entries / bias.size();
  return largest <= kMostWeight && most + largest * static_cast<double>(tables) < kMostSum;
}

// The bits behind the point with which every weight fits 16 bits and every sum 32.
int fraction_of(const std::vector<double>& weights, const std::vector<double>& bias, size_t entries) {
  double largest = 1e-12, sums = 0;
  for (const double of : bias) sums = std::max(sums, std::abs(of));
  for (const double weight : weights) largest = std::max(largest, std::abs(weight));
  const size_t outputs = bias.size(), tables = weights.size() / entries / outputs;
  sums += largest * static_cast<double>(tables);
  int fraction = 0;
  while (fraction < kMostFraction && std::ldexp(largest, fraction + 1) <= kMostWeight &&
         std::ldexp(sums, fraction + 1) < kMostSum)
    ++fraction;
  return fraction;
}

// Without inputs that no table reads.
IntegerForecast described(IntegerTask task, const LutNetwork& whole, const StandardisedInputs& inputs,
                          std::vector<int64_t> platforms) {
  const LutNetwork network = whole.pruned();
  std::vector<size_t> columns;
  std::vector<float> fill;
  std::vector<std::vector<float>> thresholds;
  for (size_t input = 0; input < network.inputs(); ++input) {
    const auto of = network.encoder().thresholds(input);
    if (of.empty()) continue;
    columns.push_back(input);
    fill.push_back(static_cast<float>(inputs.as_it_was(static_cast<Eigen::Index>(input), 0)));
    thresholds.emplace_back(of.begin(), of.end());
  }
  // The order of bits stays.
  auto read = LutNetwork::create(*Thermometer::from_thresholds(thresholds), network.layers(), network.head());
  return {task, std::move(*read), inputs.chosen(), std::move(columns), std::move(fill), std::move(platforms)};
}

}  // namespace

std::vector<std::string> IntegerForecast::names() const {
  std::vector<std::string> names;
  for (const size_t column : columns) names.push_back(inputs.names()[column]);
  return names;
}

std::vector<float> IntegerForecast::row(const Profile& profile) const {
  const Eigen::MatrixXd of = inputs.extract({&profile});
  std::vector<float> row;
  for (const size_t column : columns) row.push_back(static_cast<float>(of(0, static_cast<Eigen::Index>(column))));
  return row;
}

Result<IntegerForecast> best_as_integers(const LutNetwork& votes, const StandardisedInputs& inputs,
                                         const std::vector<int64_t>& platforms) {
  auto kept = kept_platforms(platforms, static_cast<int64_t>(votes.outputs()));
  if (!kept) return kept.error();
  const LutHead& counted = votes.head();
  if (votes_of(counted, votes.layers().back().luts()).empty())
    return not_exportable("a classifier that doesn't count votes");
  auto joined = as_one_network({&votes, 1}, inputs);
  if (!joined) return joined.error();
  // Tables that vote for platforms that nobody asked about are left out; the others stand class by class.
  LutLayer& last = joined->layers.back();
  LutLayer chosen{last.inputs, last.arity, {}, {}};
  LutHead head;
  head.outputs = kept->size();
  head.bias.assign(head.outputs, 0);
  for (size_t o = 0; o < kept->size(); ++o) {
    for (size_t j = 0; j < last.luts(); ++j) {
      if (votes.head().weights[j * votes.outputs() + static_cast<size_t>((*kept)[o])] == 0) continue;
      const auto reads = last.mapping.begin() + static_cast<std::ptrdiff_t>(j * last.arity);
      chosen.mapping.insert(chosen.mapping.end(), reads, reads + static_cast<std::ptrdiff_t>(last.arity));
      chosen.tables.push_back(last.tables[j]);
      for (size_t other = 0; other < kept->size(); ++other) head.weights.push_back(other == o ? 1 : 0);
    }
  }
  last = std::move(chosen);
  auto network = LutNetwork::create(std::move(joined->encoder), std::move(joined->layers), std::move(head));
  if (!network) return not_exportable(network.error().message);
  return described(IntegerTask::kBestPlatform, *network, inputs, std::move(*kept));
}

Result<IntegerForecast> times_as_integers(std::span<const LutNetwork> networks, const LeadingComponents& components,
                                          const StandardisedInputs& inputs, const std::vector<int64_t>& platforms) {
  auto kept = kept_platforms(platforms, components.mean.size());
  if (!kept) return kept.error();
  auto joined = as_one_network(networks, inputs);
  if (!joined) return joined.error();
  // What a component adds to each platform, rows about their mean over all of them.
  Eigen::MatrixXd directions = components.directions;
  directions.colwise() -= directions.rowwise().mean().eval();
  const Eigen::VectorXd mean = components.mean.array() - components.mean.mean();
  const size_t outputs = kept->size(), of_network = networks.front().outputs();
  const bool by_address = networks.front().head().by_address;
  const size_t entries = by_address ? size_t{1} << joined->layers.back().arity : 1;
  std::vector<double> weights, bias;
  for (const int64_t platform : *kept) bias.push_back(mean(platform));
  for (const LutNetwork& network : networks) {
    const LutHead& head = network.head();
    if (head.by_address != by_address) return not_exportable("networks that count differently");
    const double share = 1 / static_cast<double>(networks.size());
    for (size_t j = 0; j < head.weights.size() / of_network; ++j) {
      for (const int64_t platform : *kept) {
        double sum = 0;
        for (size_t c = 0; c < of_network; ++c)
          sum += head.weights[j * of_network + c] * head.scale * directions(static_cast<Eigen::Index>(c), platform);
        weights.push_back(share * sum);
      }
    }
    for (size_t o = 0; o < outputs; ++o) {
      for (size_t c = 0; c < of_network; ++c)
        bias[o] += share * network.value_of(head.bias[c], c) * directions(static_cast<Eigen::Index>(c), (*kept)[o]);
    }
  }
  if (!are_held(weights, bias, entries)) return not_exportable("numbers that no 32-bit sum holds");
  const int fraction = fraction_of(weights, bias, entries);
  LutHead head;
  head.outputs = outputs;
  head.by_address = by_address;
  head.scale = std::ldexp(1.0, -fraction);
  for (const double weight : weights)
    head.weights.push_back(static_cast<int16_t>(std::lround(std::ldexp(weight, fraction))));
  for (const double of : bias) head.bias.push_back(static_cast<int32_t>(std::lround(std::ldexp(of, fraction))));
  auto network = LutNetwork::create(std::move(joined->encoder), std::move(joined->layers), std::move(head));
  if (!network) return not_exportable(network.error().message);
  return described(IntegerTask::kTimes, *network, inputs, std::move(*kept));
}

}  // namespace perfcast::program
