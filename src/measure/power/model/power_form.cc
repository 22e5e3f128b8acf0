#include "measure/power/model/power_form.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "base/json.h"
#include "base/random.h"
#include "base/text.h"
#include "learn/algebra/dense.h"
#include "learn/fit/standardiser.h"
#include "learn/tree/boosted_trees.h"
#include "measure/power/model/form_json.h"
#include "measure/power/model/watt_line.h"

namespace perfcast::measure {
namespace {

constexpr size_t kKernelRows = 500, kTreeRows = 4000;
constexpr double kDecay = 0.1, kLinearPart = 1, kKernelNoise = 0.1, kOwnPart = 0.3;

// Some `most` rows, at least two from each cell and as many from each as it has where they are few; never more than
// twice as many.
std::vector<size_t> stratified(const PowerCells& cells, size_t most, uint64_t seed) {
  std::vector<size_t> picked;
  if (cells.empty()) return picked;
  Random random(seed);
  const size_t each = std::max<size_t>(2, most / cells.size());
  for (const auto& [key, rows] : cells) {
    std::vector<size_t> shuffled = rows;
    random.shuffle(shuffled);
    shuffled.resize(std::min(each, shuffled.size()));
    picked.insert(picked.end(), shuffled.begin(), shuffled.end());
  }
  // Of very many cells not each has its two.
  if (picked.size() > 2 * most) {
    random.shuffle(picked);
    picked.resize(2 * most);
  }
  return picked;
}

class SharedLineForm : public PowerForm {
 public:
  SharedLineForm(const SharedLineOptions& options, SharedLine line) : options_(options), line_(std::move(line)) {}
  explicit SharedLineForm(const SharedLineOptions& options) : options_(options) {}
  PowerFormKind kind() const override { return PowerFormKind::kSharedLine; }
  Status fit(const PowerSamples& samples, const std::vector<size_t>& which) override {
    const LineMoments moments(samples.inputs, samples.target, samples.design.group, samples.design.workload, which);
    line_ = SharedLine::fit(
        moments, [](const LineMoments::Cell&) { return true; }, options_);
    return {};
  }
  Eigen::VectorXd forecast(const PowerSamples& samples, const std::vector<size_t>& which) const override {
    std::map<int, Eigen::VectorXd> of;
    Eigen::VectorXd result(static_cast<Eigen::Index>(which.size()));
    for (size_t i = 0; i < which.size(); ++i) {
      const int group = samples.design.group[which[i]];
      const auto [at, fresh] = of.try_emplace(group);
      if (fresh) at->second = line_.coefficients(group);
      result(static_cast<Eigen::Index>(i)) = samples.inputs.row(static_cast<Eigen::Index>(which[i])).dot(at->second);
    }
    return result;
  }
  Json to_json() const override {
    return {{"form", to_text(kind())},
            {"shared", as_json(line_.shared())},
            {"groups", line_.groups()},
            {"own", rows_json(line_.own().transpose())},
            {"noise_variance", line_.noise_variance()}};
  }

 private:
  SharedLineOptions options_;
  SharedLine line_;
};

class KernelForm : public PowerForm {
 public:
  explicit KernelForm(uint64_t seed) : seed_(seed) {}
  KernelForm(Eigen::MatrixXd rows, std::vector<int> groups, Eigen::VectorXd dual, double mean)
      : rows_(std::move(rows)), groups_(std::move(groups)), dual_(std::move(dual)), mean_(mean) {}
  PowerFormKind kind() const override { return PowerFormKind::kKernel; }

  Status fit(const PowerSamples& samples, const std::vector<size_t>& which) override {
    const std::vector<size_t> picked = stratified(cells_of(samples, which), kKernelRows, seed_);
    const Eigen::Index size = samples.inputs.cols() - 1;
    rows_.resize(static_cast<Eigen::Index>(picked.size()), size);
    groups_.clear();
    Eigen::VectorXd target(rows_.rows());
    for (size_t i = 0; i < picked.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      rows_.row(at) = samples.inputs.row(static_cast<Eigen::Index>(picked[i])).head(size);
      target(at) = samples.target(static_cast<Eigen::Index>(picked[i]));
      groups_.push_back(samples.design.group[picked[i]]);
    }
    mean_ = target.size() > 0 ? target.mean() : 0;
    Eigen::MatrixXd kernel = similarity(rows_, groups_);
    kernel.diagonal().array() += kKernelNoise;
    dual_ = solve_positive_definite(kernel, Eigen::VectorXd(target.array() - mean_));
    return {};
  }

  Eigen::VectorXd forecast(const PowerSamples& samples, const std::vector<size_t>& which) const override {
    constexpr size_t kBlock = 1024;
    Eigen::VectorXd result(static_cast<Eigen::Index>(which.size()));
    for (size_t from = 0; from < which.size(); from += kBlock) {
      const size_t count = std::min(kBlock, which.size() - from);
      Eigen::MatrixXd block(static_cast<Eigen::Index>(count), rows_.cols());
      std::vector<int> groups;
      for (size_t i = 0; i < count; ++i) {
        block.row(static_cast<Eigen::Index>(i)) =
            samples.inputs.row(static_cast<Eigen::Index>(which[from + i])).head(rows_.cols());
        groups.push_back(samples.design.group[which[from + i]]);
      }
      result.segment(static_cast<Eigen::Index>(from), static_cast<Eigen::Index>(count)) =
          (similarity(block, groups) * dual_).array() + mean_;
    }
    return result;
  }

  Json to_json() const override {
    return {{"form", to_text(kind())},
            {"mean", mean_},
            {"groups", groups_},
            {"rows", rows_json(rows_)},
            {"dual", rows_json(dual_)}};
  }

 private:
  // Alike by inputs, more so within a group, and a line over all.
  Eigen::MatrixXd similarity(const Eigen::MatrixXd& rows, const std::vector<int>& groups) const {
    Eigen::MatrixXd result = similarity_of(rows, rows_, kDecay);
    for (Eigen::Index j = 0; j < result.cols(); ++j) {
      for (Eigen::Index i = 0; i < result.rows(); ++i) {
        if (groups[static_cast<size_t>(i)] == groups_[static_cast<size_t>(j)]) result(i, j) *= 1 + kOwnPart;
      }
    }
    result.noalias() +=
        kLinearPart / static_cast<double>(std::max<Eigen::Index>(1, rows_.cols())) * rows * rows_.transpose();
    return result;
  }

  uint64_t seed_ = 1;
  Eigen::MatrixXd rows_;  // standardised
  std::vector<int> groups_;
  Eigen::VectorXd dual_;
  double mean_ = 0;
};

class TreesForm : public PowerForm {
 public:
  explicit TreesForm(uint64_t seed) : seed_(seed) {}
  TreesForm(BoostedTrees trees, int groups, double mean) : trees_(std::move(trees)), groups_(groups), mean_(mean) {}
  PowerFormKind kind() const override { return PowerFormKind::kTrees; }

  Status fit(const PowerSamples& samples, const std::vector<size_t>& which) override {
    const PowerCells cells = cells_of(samples, which);
    const std::vector<size_t> picked = stratified(cells, kTreeRows, seed_);
    groups_ = static_cast<int>(samples.design.groups.size());
    Eigen::MatrixXd rows(static_cast<Eigen::Index>(picked.size()), width(samples));
    Eigen::VectorXd target(rows.rows()), weights(rows.rows());
    std::map<std::pair<int, int>, double> count;
    for (const size_t r : picked) ++count[{samples.design.group[r], samples.design.workload[r]}];
    for (size_t i = 0; i < picked.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      rows.row(at) = tree_row(samples, picked[i]);
      target(at) = samples.target(static_cast<Eigen::Index>(picked[i]));
      weights(at) = 1 / count[{samples.design.group[picked[i]], samples.design.workload[picked[i]]}];
    }
    weights *= static_cast<double>(picked.size()) / weights.sum();
    mean_ = weights.dot(target) / weights.sum();
    BoostOptions options;
    options.seed = seed_;
    auto trees = BoostedTrees::fit(rows, target.array() - mean_, weights, options);
    if (!trees) return trees.error();
    trees_ = std::move(*trees);
    return {};
  }

  Eigen::VectorXd forecast(const PowerSamples& samples, const std::vector<size_t>& which) const override {
    Eigen::VectorXd result(static_cast<Eigen::Index>(which.size()));
    std::vector<float> row(static_cast<size_t>(samples.inputs.cols() - 1 + groups_));
    for (size_t i = 0; i < which.size(); ++i) {
      const Eigen::RowVectorXd values = tree_row(samples, which[i]);
      for (size_t c = 0; c < row.size(); ++c) row[c] = static_cast<float>(values(static_cast<Eigen::Index>(c)));
      result(static_cast<Eigen::Index>(i)) = trees_.predict(row) + mean_;
    }
    return result;
  }

  Json to_json() const override {
    return {{"form", to_text(kind())},
            {"mean", mean_},
            {"group_count", groups_},
            {"trees", rows_json(trees_.to_tensor().cast<double>())}};
  }

 private:
  Eigen::Index width(const PowerSamples& samples) const { return samples.inputs.cols() - 1 + groups_; }
  Eigen::RowVectorXd tree_row(const PowerSamples& samples, size_t r) const {
    const Eigen::Index size = samples.inputs.cols() - 1;
    Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(width(samples));
    row.head(size) = samples.inputs.row(static_cast<Eigen::Index>(r)).head(size);
    const int group = samples.design.group[r];
    if (group >= 0 && group < groups_) row(size + group) = 1;
    return row;
  }

  uint64_t seed_ = 1;
  BoostedTrees trees_;
  int groups_ = 0;
  double mean_ = 0;
};

// Any row is taken for one of the group that the line is of.
class UpdatedLineForm : public PowerForm {
 public:
  explicit UpdatedLineForm(UpdatedLine line) : line_(std::move(line)) {}
  PowerFormKind kind() const override { return PowerFormKind::kUpdatedLine; }
  Status fit(const PowerSamples& /*samples*/, const std::vector<size_t>& /*which*/) override {
    return Error{"not-fitted", "a line that was updated can't be fitted anew", "", "another form"};
  }
  Eigen::VectorXd forecast(const PowerSamples& samples, const std::vector<size_t>& which) const override {
    Eigen::VectorXd result(static_cast<Eigen::Index>(which.size()));
    for (size_t i = 0; i < which.size(); ++i) {
      result(static_cast<Eigen::Index>(i)) =
          samples.inputs.row(static_cast<Eigen::Index>(which[i])).dot(line_.coefficients);
    }
    return result;
  }
  Eigen::VectorXd half_widths(const PowerSamples& samples, const std::vector<size_t>& which) const override {
    Eigen::VectorXd result(static_cast<Eigen::Index>(which.size()));
    for (size_t i = 0; i < which.size(); ++i) {
      const Eigen::VectorXd x = samples.inputs.row(static_cast<Eigen::Index>(which[i]));
      result(static_cast<Eigen::Index>(i)) =
          line_.interval_factor * std::sqrt(line_.noise + std::max(0.0, x.dot(line_.covariance * x)));
    }
    return result;
  }
  Json to_json() const override {
    return {{"form", to_text(kind())},
            {"coefficients", as_json(line_.coefficients)},
            {"covariance", rows_json(line_.covariance)},
            {"noise_variance", line_.noise},
            {"interval_factor", line_.interval_factor}};
  }

 private:
  UpdatedLine line_;
};

}  // namespace

const char* to_text(PowerFormKind kind) {
  switch (kind) {
    case PowerFormKind::kSharedLine:
      return "shared-line";
    case PowerFormKind::kNonnegative:
      return "nonnegative";
    case PowerFormKind::kLeastSquares:
      return "least-squares";
    case PowerFormKind::kKernel:
      return "gaussian-process";
    case PowerFormKind::kTrees:
      return "trees";
    case PowerFormKind::kUpdatedLine:
      return "updated-line";
  }
  return "";
}

PowerSamples PowerSamples::of(PowerDesign design, const std::vector<size_t>& which) {
  InputScale scale = InputScale::fit(design.rows, which);
  return with_scale(std::move(design), std::move(scale));
}

PowerSamples PowerSamples::with_scale(PowerDesign design, InputScale scale) {
  PowerSamples samples;
  samples.inputs = scale.apply(design.rows);
  samples.target = design.watts.array().log() - design.log_scale.array();
  samples.scale = std::move(scale);
  samples.design = std::move(design);
  return samples;
}

PowerCells cells_of(const PowerSamples& samples, const std::vector<size_t>& which) {
  PowerCells cells;
  for (const size_t r : which) {
    if (!std::isnan(samples.target(static_cast<Eigen::Index>(r)))) {
      cells[{samples.design.group[r], samples.design.workload[r]}].push_back(r);
    }
  }
  return cells;
}

std::unique_ptr<PowerForm> make_power_form(PowerFormKind kind, const PowerFormOptions& options) {
  switch (kind) {
    case PowerFormKind::kSharedLine:
      return std::make_unique<SharedLineForm>(options.line);
    case PowerFormKind::kNonnegative:
    case PowerFormKind::kLeastSquares:
      return make_watt_line(kind, options);
    case PowerFormKind::kKernel:
      return std::make_unique<KernelForm>(options.seed);
    case PowerFormKind::kTrees:
      return std::make_unique<TreesForm>(options.seed);
    case PowerFormKind::kUpdatedLine:
      break;
  }
  return nullptr;
}

std::unique_ptr<PowerForm> make_updated_line(UpdatedLine line) {
  return std::make_unique<UpdatedLineForm>(std::move(line));
}

Result<std::unique_ptr<PowerForm>> power_form_from_json(const Json& json, const std::string& path, Eigen::Index inputs,
                                                        size_t groups) {
  JsonReader in(json, path);
  const std::string form = in.string("form");
  if (Status done = in.finish(); !done) return done.error();
  if (form == to_text(PowerFormKind::kSharedLine)) {
    Json wrapped = {{"shared", Json::array({json.contains("shared") ? json["shared"] : Json()})}};
    auto shared = matrix_from(wrapped, "shared", path, inputs + 1);
    if (!shared) return shared.error();
    auto own = matrix_from(json, "own", path, inputs + 1);
    if (!own) return own.error();
    auto of = groups_from(json, path, groups, static_cast<size_t>(own->rows()));
    if (!of) return of.error();
    const double noise = in.number("noise_variance");
    if (Status done = in.finish(); !done) return done.error();
    return std::unique_ptr<PowerForm>(std::make_unique<SharedLineForm>(
        SharedLineOptions(),
        SharedLine::from_parts(shared->row(0).transpose(), std::move(*of), own->transpose(), noise)));
  }
  for (const PowerFormKind kind : {PowerFormKind::kNonnegative, PowerFormKind::kLeastSquares}) {
    if (form == to_text(kind)) return watt_line_from_json(kind, json, path, inputs, groups);
  }
  if (form == to_text(PowerFormKind::kKernel)) {
    auto rows = matrix_from(json, "rows", path, inputs);
    if (!rows) return rows.error();
    auto dual = matrix_from(json, "dual", path, 1);
    if (!dual) return dual.error();
    auto of = groups_from(json, path, groups, static_cast<size_t>(rows->rows()));
    if (!of) return of.error();
    if (dual->rows() != rows->rows()) return bad_matrix(path + ".dual", "one number for each row");
    const double mean = in.number("mean");
    if (Status done = in.finish(); !done) return done.error();
    return std::unique_ptr<PowerForm>(
        std::make_unique<KernelForm>(std::move(*rows), std::move(*of), Eigen::VectorXd(dual->col(0)), mean));
  }
  if (form == to_text(PowerFormKind::kTrees)) {
    auto tensor = matrix_from(json, "trees", path, -1);
    if (!tensor) return tensor.error();
    const double mean = in.number("mean");
    const int64_t count = in.integer("group_count");
    if (Status done = in.finish(); !done) return done.error();
    if (count < 0 || count > static_cast<int64_t>(groups)) {
      return Error{"bad-json-field", "group_count is not that of the model", path + ".group_count",
                   "at most " + std::to_string(groups)};
    }
    auto trees = BoostedTrees::from_tensor(tensor->cast<float>(), inputs + count);
    if (!trees) return trees.error();
    return std::unique_ptr<PowerForm>(std::make_unique<TreesForm>(std::move(*trees), static_cast<int>(count), mean));
  }
  if (form == to_text(PowerFormKind::kUpdatedLine)) {
    const Json wrapped = {
        {"coefficients", Json::array({json.contains("coefficients") ? json["coefficients"] : Json()})}};
    auto coefficients = matrix_from(wrapped, "coefficients", path, inputs + 1);
    if (!coefficients) return coefficients.error();
    auto covariance = matrix_from(json, "covariance", path, inputs + 1);
    if (!covariance) return covariance.error();
    if (covariance->rows() != covariance->cols()) return bad_matrix(path + ".covariance", "as many rows as columns");
    UpdatedLine line;
    line.coefficients = coefficients->row(0).transpose();
    line.covariance = std::move(*covariance);
    line.noise = in.number("noise_variance");
    line.interval_factor = in.number("interval_factor");
    if (Status done = in.finish(); !done) return done.error();
    if (!(line.noise >= 0) || !(line.interval_factor >= 0)) {
      return Error{"bad-json-field", "a variance or a width below 0", path + ".noise_variance",
                   "numbers of at least 0"};
    }
    return make_updated_line(std::move(line));
  }
  return Error{"bad-json-field", "'" + printable(form) + "' is no form of a model of power", path + ".form",
               "shared-line, nonnegative, least-squares, gaussian-process, trees or updated-line"};
}

}  // namespace perfcast::measure
