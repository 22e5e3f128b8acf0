#include "model/weightless/lut_predictor.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "model/bundle/tensor_map.h"
#include "model/fit/targets.h"

namespace perfcast {
namespace {

constexpr Eigen::Index kMostComponents = 6;
constexpr int64_t kMostNetworks = 64;
constexpr const char* kSchema = "perfcast.dwn/1";

Error bad_setting(const std::string& key, const Json& settings, const std::string& source,
                  const std::string& expected) {
  const std::string value = settings[key].dump(-1, ' ', false, Json::error_handler_t::replace);
  return Error{"bad-config", "'" + printable(key) + "' can't be " + printable(value), source, expected};
}

Status take_count(const Json& settings, const char* key, const std::string& source, int64_t most, size_t& value) {
  if (!settings.contains(key)) return {};
  const Json& given = settings[key];
  if (!given.is_number_integer() || given.get<int64_t>() < 0 || given.get<int64_t>() > most)
    return bad_setting(key, settings, source, "a whole number up to " + std::to_string(most));
  value = static_cast<size_t>(given.get<int64_t>());
  return {};
}

Status take_number(const Json& settings, const char* key, const std::string& source, double& value) {
  if (!settings.contains(key)) return {};
  if (!settings[key].is_number()) return bad_setting(key, settings, source, "a number");
  value = settings[key].get<double>();
  return {};
}

std::vector<float> row_of(const Eigen::MatrixXd& rows, Eigen::Index r) {
  std::vector<float> row(static_cast<size_t>(rows.cols()));
  for (size_t c = 0; c < row.size(); ++c) row[c] = static_cast<float>(rows(r, static_cast<Eigen::Index>(c)));
  return row;
}

}  // namespace

Json LutPredictor::settings() const {
  const LutTrainingOptions& training = options_.training;
  return {{"schema", kSchema},
          {"networks", options_.networks},
          {"encoding", std::string(to_text(training.encoding))},
          {"levels", training.levels},
          {"luts", training.luts},
          {"arity", training.arity},
          {"learn_mapping", training.learn_mapping},
          {"epochs", training.epochs},
          {"batch", training.batch},
          {"learning_rate", training.learning_rate},
          {"decay_epochs", training.decay_epochs},
          {"table_decay", training.table_decay},
          {"order_decay", training.order_decay}};
}

Status LutPredictor::configure(const Json& settings, const std::string& source) {
  if (!settings.is_object()) return Error{"bad-config", "the settings are no object", source, kSchema};
  const Json known = this->settings();
  for (const auto& [key, value] : settings.items()) {
    if (known.contains(key)) continue;
    std::vector<std::string> keys;
    for (const auto& [name, ignored] : known.items()) keys.push_back(name);
    return Error{"bad-config", "there is no setting '" + printable(key) + "'", source, "one of " + join(keys, ", ")};
  }
  LutPredictorOptions taken = options_;
  LutTrainingOptions& training = taken.training;
  size_t networks = static_cast<size_t>(taken.networks);
  for (const Status& status : {take_count(settings, "networks", source, kMostNetworks, networks),
                               take_count(settings, "levels", source, 4096, training.levels),
                               take_count(settings, "arity", source, 6, training.arity),
                               take_count(settings, "epochs", source, 100000, training.epochs),
                               take_count(settings, "batch", source, 100000, training.batch),
                               take_count(settings, "decay_epochs", source, 100000, training.decay_epochs),
                               take_number(settings, "learning_rate", source, training.learning_rate),
                               take_number(settings, "table_decay", source, training.table_decay),
                               take_number(settings, "order_decay", source, training.order_decay)}) {
    if (!status) return status;
  }
  if (networks < 1) return bad_setting("networks", settings, source, "1 and more");
  taken.networks = static_cast<int64_t>(networks);
  if (settings.contains("learn_mapping")) {
    if (!settings["learn_mapping"].is_boolean()) return bad_setting("learn_mapping", settings, source, "true or false");
    training.learn_mapping = settings["learn_mapping"].get<bool>();
  }
  if (settings.contains("encoding")) {
    if (!settings["encoding"].is_string())
      return bad_setting("encoding", settings, source, "distributive, linear or gaussian");
    const auto kind = parse_thermometer_kind(settings["encoding"].get<std::string>());
    if (!kind) return Error{kind.error().code, kind.error().message, source, kind.error().expected};
    training.encoding = *kind;
  }
  if (settings.contains("luts")) {
    const Json& luts = settings["luts"];
    const bool counts =
        luts.is_array() && !luts.empty() && luts.size() <= 8 &&
        std::all_of(luts.begin(), luts.end(), [](const Json& count) {
          return count.is_number_integer() && count.get<int64_t>() > 0 && count.get<int64_t>() <= 1048576;
        });
    if (!counts) return bad_setting("luts", settings, source, "the tables of each layer, such as [128]");
    training.luts = luts.get<std::vector<size_t>>();
  }
  if (const Status valid = check_lut_options(training); !valid)
    return Error{valid.error().code, valid.error().message, source, valid.error().expected};
  options_ = std::move(taken);
  return {};
}

Status LutPredictor::fit(const TrainingTable& table, const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  inputs_ = StandardisedInputs::fit(table, targets->weights);
  const Eigen::MatrixXd rows = inputs_.rows(profiles_of(table));
  components_ = LeadingComponents::fit(*targets, kMostComponents);
  const Eigen::MatrixXd components = components_.of(targets->log_rpv);

  std::vector<float> inputs, outputs, weights;
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    const std::vector<float> row = row_of(rows, r), target = row_of(components, r);
    inputs.insert(inputs.end(), row.begin(), row.end());
    outputs.insert(outputs.end(), target.begin(), target.end());
    weights.push_back(static_cast<float>(targets->weights(r)));
  }
  networks_.clear();
  packed_.clear();
  for (int64_t i = 0; i < options_.networks; ++i) {
    LutTrainingOptions training = options_.training;
    training.seed = options.seed * static_cast<uint64_t>(kMostNetworks) + static_cast<uint64_t>(i);  // no two alike
    training.threads = options.threads;
    auto network = train_lut_regressor({inputs, static_cast<size_t>(rows.cols()), weights}, outputs,
                                       static_cast<size_t>(components.cols()), training);
    if (!network) return network.error();
    packed_.emplace_back(*network);
    networks_.push_back(std::move(*network));
  }
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
  Eigen::VectorXd disagreement = Eigen::VectorXd::Zero(rows.rows());
  if (mean.cols() > 0) disagreement = (square - mean.cwiseAbs2()).rowwise().mean().cwiseMax(0).cwiseSqrt();
  return {std::move(mean), std::move(disagreement)};
}

Eigen::MatrixXd LutPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return predict_with_disagreement(profiles).log_rpv;
}

void LutPredictor::save(TensorMap& tensors) const {
  inputs_.save(tensors);
  components_.save(tensors);
  tensors.put_json("networks", networks_.size());
  for (size_t i = 0; i < networks_.size(); ++i)
    tensors.put_bytes("network" + std::to_string(i), networks_[i].to_bytes());
}

Status LutPredictor::load(const TensorMap& tensors) {
  if (auto status = inputs_.load(tensors); !status) return status;
  if (auto status = components_.load(tensors); !status) return status;
  const Eigen::Index outputs = components_.directions.rows();
  if (outputs < 1 || outputs > kMostComponents)
    return Error{"bad-bundle", "the weightless model has other components than it can", "directions", "1 to 6 rows"};
  const auto count = tensors.get_json("networks");
  if (!count) return count.error();
  if (!count->is_number_integer() || count->get<int64_t>() < 1 || count->get<int64_t>() > kMostNetworks)
    return Error{"bad-bundle", "the weightless model has no networks, or too many", "networks", "1 to 64"};
  networks_.clear();
  packed_.clear();
  for (int64_t i = 0; i < count->get<int64_t>(); ++i) {
    const std::string name = "network" + std::to_string(i);
    const auto bytes = tensors.get_bytes(name);
    if (!bytes) return bytes.error();
    auto network = LutNetwork::from_bytes(*bytes, name);
    if (!network) return Error{"bad-bundle", network.error().message, name, network.error().expected};
    if (network->inputs() != static_cast<size_t>(inputs_.columns()) ||
        network->outputs() != static_cast<size_t>(outputs))
      return Error{"bad-bundle", "a network has other inputs or outputs than the model", name,
                   "a bundle that perfcast trained"};
    packed_.emplace_back(*network);
    networks_.push_back(std::move(*network));
  }
  return {};
}

}  // namespace perfcast
