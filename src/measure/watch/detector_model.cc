#include "measure/watch/detector_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "base/statistics.h"
#include "measure/watch/archive.h"

namespace perfcast::measure {
namespace {

constexpr size_t kFolds = 3;
constexpr size_t kSegment_rows = 20;
constexpr double kLowShare = 0.95;  // of scores: what is above belongs to a cluster

double median_interval(std::span<const double> time_s) {
  std::vector<double> intervals;
  for (size_t r = 1; r < time_s.size(); ++r) {
    if (time_s[r] > time_s[r - 1]) intervals.push_back(time_s[r] - time_s[r - 1]);
  }
  return intervals.empty() ? 1 : median(std::move(intervals));
}

// Neighbours in time resemble each other: whole segments are left out.
std::vector<uint8_t> folds_of(size_t rows, uint64_t seed) {
  const size_t segment = kSegment_rows;
  std::vector<uint8_t> of_segment((rows + segment - 1) / segment);
  for (size_t s = 0; s < of_segment.size(); ++s) of_segment[s] = static_cast<uint8_t>(s % kFolds);
  Random random(seed ^ 0xF01D5);
  random.shuffle(of_segment);
  std::vector<uint8_t> folds(rows);
  for (size_t r = 0; r < rows; ++r) folds[r] = of_segment[r / segment];
  return folds;
}

struct FoldModels {
  SeasonalBaseline baseline;
  Reconstruction reconstruction;
};

}  // namespace

ReconstructionOptions reconstruction_options(const DetectorOptions& options, size_t columns) {
  ReconstructionOptions result;
  result.hidden = options.hidden;
  result.latent = std::max<size_t>(std::min(options.latent, columns / 2), 1);
  result.steps = options.training_steps;
  result.seed = options.seed;
  return result;
}

Result<DetectorModel> learn_model(std::span<const double> time_s, std::span<const double> values, size_t columns,
                                  const DetectorOptions& options) {
  const size_t rows = time_s.size();
  DetectorModel model;
  model.interval_s = median_interval(time_s);
  model.transform.fit(values, rows, columns);
  model.rules.fit(values, rows, columns);
  std::vector<float> z(rows * columns);
  for (size_t r = 0; r < rows; ++r) model.transform.apply(values.data() + r * columns, z.data() + r * columns);

  const ReconstructionOptions training = reconstruction_options(options, columns);
  const std::vector<uint8_t> folds = folds_of(rows, options.seed);
  std::array<FoldModels, kFolds> left_out;
  for (size_t f = 0; f < kFolds; ++f) {
    std::vector<size_t> others;
    for (size_t r = 0; r < rows; ++r) {
      if (folds[r] != f) others.push_back(r);
    }
    left_out[f].baseline.fit(z, time_s, others, columns, options.season_s);
    if (!options.use_joint) continue;
    if (Status trained = left_out[f].reconstruction.train(z, columns, others, training); !trained)
      return trained.error();
    left_out[f].reconstruction.calibrate(z, others);
  }
  std::vector<size_t> all(rows);
  std::iota(all.begin(), all.end(), size_t{0});
  model.baseline.fit(z, time_s, all, columns, options.season_s);
  if (options.use_joint) {
    if (Status trained = model.reconstruction.train(z, columns, all, training); !trained) return trained.error();
    model.reconstruction.calibrate(z, all);
  }

  model.surprise.reset(columns);
  std::vector<float> statistics;
  statistics.reserve(rows * kChannels * columns);
  std::vector<float> u(columns, 0);
  std::vector<float> e(columns, 0);
  std::vector<float> w(columns, 0);
  uint32_t regime = 0;
  for (size_t r = 0; r < rows; ++r) {
    FoldModels& models = left_out[folds[r]];
    const float* row = z.data() + r * columns;
    models.baseline.score(row, models.baseline.part(time_s[r]), u.data());
    if (options.use_joint) {
      models.reconstruction.residuals(1, row, e.data(), &regime);
      models.reconstruction.conditional(e.data(), regime, w.data());
    }
    model.surprise.update(u.data(), w.data());
    statistics.insert(statistics.end(), model.surprise.statistics().begin(), model.surprise.statistics().end());
  }
  model.surprise.fit(statistics, rows, options.use_baseline, options.use_joint);
  std::vector<double> scores;
  for (size_t r = 0; r < rows; ++r) {
    const std::span<const float> of(statistics.data() + r * kChannels * columns, kChannels * columns);
    scores.push_back(static_cast<double>(model.surprise.score(of, u.data())));
  }
  model.clusters.low = static_cast<float>(quantile(scores, kLowShare));
  std::vector<float> maxima;
  for (const double score : scores) {
    if (model.clusters.ends(static_cast<float>(score))) maxima.push_back(model.clusters.maximum);
  }
  if (model.clusters.open) maxima.push_back(model.clusters.maximum);
  model.clusters.open = false;
  model.level.fit(std::move(maxima), static_cast<double>(rows) * model.interval_s / 86400,
                  options.false_alarms_per_day);
  return model;
}

void DetectorModel::archive(Archive& archive, size_t columns) {
  transform.archive(archive, columns);
  baseline.archive(archive, columns);
  auto has_reconstruction = reconstruction.columns() > 0;
  archive.value(has_reconstruction);
  if (has_reconstruction && archive.ok()) reconstruction.archive(archive, columns);
  surprise.archive(archive, columns);
  rules.archive(archive, columns);
  level.archive(archive);
  auto gap = static_cast<uint64_t>(clusters.gap_rows);
  auto quiet = static_cast<uint64_t>(clusters.quiet_rows);
  archive.values(clusters.low, gap, clusters.maximum, quiet);
  archive.value(clusters.open);
  clusters.gap_rows = gap;
  clusters.quiet_rows = quiet;
  archive.value(interval_s);
}

}  // namespace perfcast::measure
