#include "studies/power/rival_methods.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.h"
#include "learn/neural/vae_regressor.h"
#include "measure/power/model/activity_features.h"
#include "studies/power/random_forest.h"

namespace perfcast::measure::power_study {
namespace {

constexpr size_t kForestRows = 4000, kNetworkRows = 2000;

// As many rows of each (group, workload) as it has where they are few.
std::vector<size_t> rival_rows(const PowerSamples& samples, const std::vector<size_t>& train, size_t most) {
  std::map<std::pair<int, int>, std::vector<size_t>> cells;
  for (const size_t r : train) {
    if (!std::isnan(samples.target(static_cast<Eigen::Index>(r))))
      cells[{samples.design.group[r], samples.design.workload[r]}].push_back(r);
  }
  Random random(1);
  const size_t each = std::max<size_t>(2, most / std::max<size_t>(1, cells.size()));
  std::vector<size_t> picked;
  for (auto& [cell, rows] : cells) {
    random.shuffle(rows);
    rows.resize(std::min(each, rows.size()));
    picked.insert(picked.end(), rows.begin(), rows.end());
  }
  return picked;
}

// Inputs without the column of ones, then one column for each group.
Eigen::MatrixXd with_groups(const PowerSamples& samples, const std::vector<size_t>& rows) {
  const Eigen::Index own = samples.inputs.cols() - 1;
  Eigen::MatrixXd inputs = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rows.size()),
                                                 own + static_cast<Eigen::Index>(samples.design.groups.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    inputs.row(at).head(own) = samples.inputs.row(static_cast<Eigen::Index>(rows[i])).head(own);
    inputs(at, own + samples.design.group[rows[i]]) = 1;
  }
  return inputs;
}

// 1 where an input is there, 0 where it is absent; groups are always there.
RowMatrixF presence(const PowerSamples& samples, const std::vector<size_t>& rows, Eigen::Index columns) {
  RowMatrixF mask = RowMatrixF::Ones(static_cast<Eigen::Index>(rows.size()), columns);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (Eigen::Index c = 0; c < samples.design.rows.cols(); ++c) {
      if (std::isnan(samples.design.rows(static_cast<Eigen::Index>(rows[i]), c)))
        mask(static_cast<Eigen::Index>(i), c) = 0;
    }
  }
  return mask;
}

PowerSamples rival_samples(const PowerTable& table, const std::vector<size_t>& train) {
  return PowerSamples::of(ActivityFeatures::learn(table, train, ActivitySet::kCounters).design(table), train);
}

PowerForecast in_watts(const PowerSamples& samples, const std::vector<size_t>& rows,
                       const Eigen::VectorXd& log_target) {
  PowerForecast forecast;
  forecast.watts.resize(log_target.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    forecast.watts(at) = std::exp(log_target(at) + samples.design.log_scale(static_cast<Eigen::Index>(rows[i])));
  }
  return forecast;
}

}  // namespace

PowerMethod random_forest_method() {
  return [](const PowerTable& table, const std::vector<size_t>& train,
            const std::vector<size_t>& test) -> Result<PowerForecast> {
    const PowerSamples samples = rival_samples(table, train);
    const std::vector<size_t> picked = rival_rows(samples, train, kForestRows);
    Eigen::VectorXd target(static_cast<Eigen::Index>(picked.size()));
    for (size_t i = 0; i < picked.size(); ++i)
      target(static_cast<Eigen::Index>(i)) = samples.target(static_cast<Eigen::Index>(picked[i]));
    const RandomForest forest =
        RandomForest::fit(with_groups(samples, picked), target, Eigen::VectorXd::Ones(target.size()), {});
    const Eigen::MatrixXd asked = with_groups(samples, test);
    Eigen::VectorXd log_target(asked.rows());
    for (Eigen::Index r = 0; r < asked.rows(); ++r) log_target(r) = forest.predict(asked.row(r));
    return in_watts(samples, test, log_target);
  };
}

PowerMethod dense_network_method(bool with_vae) {
  return [with_vae](const PowerTable& table, const std::vector<size_t>& train,
                    const std::vector<size_t>& test) -> Result<PowerForecast> {
    const PowerSamples samples = rival_samples(table, train);
    const std::vector<size_t> picked = rival_rows(samples, train, kNetworkRows);
    VaeTrainingData data;
    data.x = with_groups(samples, picked).cast<float>();
    data.mask = presence(samples, picked, data.x.cols());
    data.y.resize(data.x.rows(), 1);
    data.weights = RowMatrixF::Ones(data.x.rows(), 1);
    for (size_t i = 0; i < picked.size(); ++i) {
      data.y(static_cast<Eigen::Index>(i), 0) =
          static_cast<float>(samples.target(static_cast<Eigen::Index>(picked[i])));
    }
    VaeRegressorConfig config;
    config.batch = 64;
    config.use_vae = with_vae;
    config.latent = 16;
    config.hidden = {64, 64};
    config.pretrain = false;  // there is no first stage
    config.vae_epochs = 60;
    config.head_hidden = {128, 128, 128};
    config.head_learning_rate = 1e-3;
    config.head_epochs = 100;
    const auto network = VaeRegressor::train(data, config);
    if (!network) return network.error();
    const RowMatrixF asked = with_groups(samples, test).cast<float>();
    const auto made = network->predict(asked, presence(samples, test, asked.cols()));
    if (!made) return made.error();
    return in_watts(samples, test, made->col(0).cast<double>());
  };
}

}  // namespace perfcast::measure::power_study
