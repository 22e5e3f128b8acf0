#include "program/model/weightless/lut_predictor.h"

#include <cmath>

#include "base/json.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/attribution/group_shapley.h"
#include "program/model/fit/targets.h"
#include "program/model/weightless/integer_forecast.h"

namespace perfcast::program {
namespace {

constexpr Eigen::Index kMostComponents = 6;

std::vector<float> row_of(const Eigen::MatrixXd& rows, Eigen::Index r) {
  std::vector<float> row(static_cast<size_t>(rows.cols()));
  for (size_t c = 0; c < row.size(); ++c) row[c] = static_cast<float>(rows(r, static_cast<Eigen::Index>(c)));
  return row;
}

std::vector<float> flat_rows(const Eigen::MatrixXd& rows) {
  std::vector<float> all;
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    const std::vector<float> row = row_of(rows, r);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

// What a killed training left of a network, or a new one, which is left for the next.
template <typename Train>
Result<LutNetwork> network_of(const FitOptions& options, const std::string& name, const Train& train) {
  const std::string part = options.part + "." + name;
  if (options.checkpoint != nullptr) {
    if (const std::string bytes = options.checkpoint->load(part); !bytes.empty()) {
      if (auto network = LutNetwork::from_bytes(bytes, part)) return network;
    }
  }
  Result<LutNetwork> network = train();
  if (network && options.checkpoint != nullptr) {
    if (const Status saved = options.checkpoint->save(part, network->to_bytes()); !saved) return saved.error();
  }
  return network;
}

}  // namespace

struct LutPredictor::Rows {
  std::vector<float> inputs, weights;
  size_t columns = 0;
  LutRows view() const { return {inputs, columns, weights}; }
};

Json LutPredictor::settings() const { return to_json(settings_); }

Status LutPredictor::fit(const TrainingTable& table, const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  inputs_ = StandardisedInputs::fit(table, targets->weights);
  const Eigen::MatrixXd matrix = inputs_.rows(profiles_of(table));
  components_ = LeadingComponents::fit(*targets, kMostComponents);
  Rows rows{flat_rows(matrix), {}, static_cast<size_t>(matrix.cols())};
  for (const double weight : targets->weights) rows.weights.push_back(static_cast<float>(weight));
  if (Status fitted = fit_times(rows, components_.of(targets->log_rpv), options); !fitted) return fitted;
  if (Status fitted = fit_best(rows, targets->log_rpv, targets->present, options); !fitted) return fitted;
  if (options.checkpoint == nullptr) return {};
  for (int64_t i = 0; i < settings_.networks; ++i) {
    const std::string part = options.part + ".network" + std::to_string(i);
    if (Status cleared = options.checkpoint->save(part, ""); !cleared) return cleared;
  }
  return {};
}

Status LutPredictor::fit_times(const Rows& rows, const Eigen::MatrixXd& components, const FitOptions& options) {
  const std::vector<float> outputs = flat_rows(components);
  const auto count = static_cast<size_t>(components.cols());
  networks_.clear();
  packed_.clear();
  for (int64_t i = 0; i < settings_.networks; ++i) {
    const uint64_t seed = options.seed * static_cast<uint64_t>(kMostDwnNetworks) + static_cast<uint64_t>(i);
    auto network = network_of(options, "network" + std::to_string(i), [&]() -> Result<LutNetwork> {
      if (settings_.boosted) {
        TableBoostOptions boost = settings_.boost;
        boost.seed = seed;  // no two networks alike
        boost.threads = options.threads;
        return boost_tables(rows.view(), outputs, count, boost);
      }
      LutTrainingOptions gradient = settings_.gradient;
      gradient.seed = seed;
      gradient.threads = options.threads;
      return train_lut_regressor(rows.view(), outputs, count, gradient);
    });
    if (!network) return network.error();
    packed_.emplace_back(*network);
    networks_.push_back(std::move(*network));
    if (options.progress)
      options.progress("network " + std::to_string(i + 1) + " of " + std::to_string(settings_.networks));
  }
  return {};
}

// Programs that were measured on fewer than two of the platforms say nothing about the best.
Status LutPredictor::fit_best(const Rows& rows, const Eigen::MatrixXd& log_rpv, const Eigen::MatrixXd& present,
                              const FitOptions& options) {
  best_.reset();
  const Eigen::Index platforms = log_rpv.cols();
  if (platforms < 2 || platforms > settings_.most_classes) return {};
  std::vector<float> inputs, weights;
  std::vector<uint32_t> labels;
  for (Eigen::Index r = 0; r < log_rpv.rows(); ++r) {
    if (present.row(r).sum() < 2) continue;
    Eigen::Index best = 0;
    (present.row(r).array() > 0).select(log_rpv.row(r).array(), INFINITY).minCoeff(&best);
    const auto from = rows.inputs.begin() + r * static_cast<std::ptrdiff_t>(rows.columns);
    inputs.insert(inputs.end(), from, from + static_cast<std::ptrdiff_t>(rows.columns));
    weights.push_back(rows.weights[static_cast<size_t>(r)]);
    labels.push_back(static_cast<uint32_t>(best));
  }
  if (labels.empty()) return {};
  LutTrainingOptions classes = settings_.classes;
  classes.luts = {static_cast<size_t>(platforms * settings_.class_tables)};
  classes.seed = options.seed;
  classes.threads = options.threads;
  auto network = train_lut_classifier({inputs, rows.columns, weights}, labels, static_cast<size_t>(platforms), classes);
  // Rows that are all alike, or weigh nothing: the times stand, and there is no classifier.
  if (!network && (network.error().code == "no-variation" || network.error().code == "bad-input")) return {};
  if (!network) return network.error();
  best_ = std::move(*network);
  return {};
}

Eigen::MatrixXd LutPredictor::forecasts_of(size_t network, const Eigen::MatrixXd& rows) const {
  Eigen::MatrixXd components(rows.rows(), components_.directions.rows());
  std::vector<int32_t> sums(static_cast<size_t>(components_.directions.rows()));
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    packed_[network].sums(row_of(rows, r).data(), sums.data());
    for (Eigen::Index c = 0; c < components.cols(); ++c)
      components(r, c) = networks_[network].value_of(sums[static_cast<size_t>(c)], static_cast<size_t>(c));
  }
  return components_.log_rpv(components);
}

Prediction LutPredictor::predict_with_disagreement(const std::vector<const Profile*>& profiles) const {
  const Eigen::MatrixXd rows = inputs_.rows(profiles);
  const auto count = static_cast<double>(networks_.size());
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(rows.rows(), components_.mean.size()), square = mean;
  for (size_t i = 0; i < networks_.size(); ++i) {
    const Eigen::MatrixXd forecast = forecasts_of(i, rows);
    mean += forecast / count;
    square += forecast.cwiseAbs2() / count;
  }
  Prediction prediction;
  prediction.disagreement = Eigen::VectorXd::Zero(rows.rows());
  if (mean.cols() > 0) prediction.disagreement = (square - mean.cwiseAbs2()).rowwise().mean().cwiseMax(0).cwiseSqrt();
  prediction.log_rpv = std::move(mean);
  if (best_) {
    for (Eigen::Index r = 0; r < rows.rows(); ++r)
      prediction.best.push_back(static_cast<int64_t>(best_->best(row_of(rows, r))));
  }
  return prediction;
}

Eigen::MatrixXd LutPredictor::forecast(const Eigen::MatrixXd& rows) const {
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(rows.rows(), components_.mean.size());
  for (size_t i = 0; i < networks_.size(); ++i) mean += forecasts_of(i, rows) / static_cast<double>(networks_.size());
  return mean;
}

Result<FeatureAttribution> LutPredictor::attribute_features(const AttributionRequest& request) const {
  const std::vector<std::string>& names = inputs_.chosen().names();
  Eigen::MatrixXd log = group_shapley([this](const Eigen::MatrixXd& rows) { return forecast(rows); },
                                      attributed_rows(inputs_, request), names, request);
  return attribution_of(*this, request, AttributionMethod::kGroups, names, std::move(log));
}

Eigen::MatrixXd LutPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return predict_with_disagreement(profiles).log_rpv;
}

Result<IntegerForecast> LutPredictor::as_integers(IntegerTask task, const std::vector<int64_t>& platforms) const {
  if (task == IntegerTask::kBestPlatform) {
    if (!best_) {
      return Error{"not-exportable", "the model has no classifier of the best platform", "",
                   "--task times, or a bundle of at most " + std::to_string(settings_.most_classes) +
                       " platforms (train --platforms)"};
    }
    return best_as_integers(*best_, inputs_, platforms);
  }
  return times_as_integers(networks_, components_, inputs_, platforms);
}

void LutPredictor::save(TensorMap& tensors) const {
  inputs_.save(tensors);
  components_.save(tensors);
  tensors.put_json("networks", networks_.size());
  for (size_t i = 0; i < networks_.size(); ++i)
    tensors.put_bytes("network" + std::to_string(i), networks_[i].to_bytes());
  if (best_) tensors.put_bytes("best", best_->to_bytes());
}

Status LutPredictor::load(const TensorMap& tensors) {
  if (auto status = inputs_.load(tensors); !status) return status;
  if (auto status = components_.load(tensors); !status) return status;
  const Eigen::Index outputs = components_.directions.rows();
  if (outputs < 1 || outputs > kMostComponents)
    return Error{"bad-bundle", "the weightless model has other components than it can", "directions", "1 to 6 rows"};
  const auto count = tensors.get_json("networks");
  if (!count) return count.error();
  if (!count->is_number_integer() || count->get<int64_t>() < 1 || count->get<int64_t>() > kMostDwnNetworks)
    return Error{"bad-bundle", "the weightless model has no networks, or too many", "networks", "1 to 64"};
  const auto network_called = [&](const std::string& name, Eigen::Index expected) -> Result<LutNetwork> {
    const auto bytes = tensors.get_bytes(name);
    if (!bytes) return bytes.error();
    auto network = LutNetwork::from_bytes(*bytes, name);
    if (!network) return Error{"bad-bundle", network.error().message, name, network.error().expected};
    if (network->inputs() != static_cast<size_t>(inputs_.columns()) ||
        network->outputs() != static_cast<size_t>(expected))
      return Error{"bad-bundle", "a network has other inputs or outputs than the model", name,
                   "a bundle that perfcast trained"};
    return network;
  };
  networks_.clear();
  packed_.clear();
  for (int64_t i = 0; i < count->get<int64_t>(); ++i) {
    auto network = network_called("network" + std::to_string(i), outputs);
    if (!network) return network.error();
    packed_.emplace_back(*network);
    networks_.push_back(std::move(*network));
  }
  best_.reset();
  if (!tensors.has("best")) return {};
  auto best = network_called("best", components_.mean.size());
  if (!best) return best.error();
  best_ = std::move(*best);
  return {};
}

}  // namespace perfcast::program
