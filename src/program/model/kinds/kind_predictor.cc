#include "program/model/kinds/kind_predictor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/features/work_features.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {
namespace {

// What a profile has to say of an application. More inputs were worse: there are few applications to learn from.
constexpr std::array kApplicationInputs = {"share_wide_vector"};

const std::vector<Eigen::Index>& input_columns() {
  static const std::vector<Eigen::Index> columns = [] {
    std::vector<Eigen::Index> found;
    found.reserve(kApplicationInputs.size());
    const std::vector<std::string>& names = work_feature_names();
    for (const char* input : kApplicationInputs) {
      found.push_back(std::find(names.begin(), names.end(), input) - names.begin());
    }
    return found;
  }();
  return columns;
}

Eigen::MatrixXd raw_inputs(const std::vector<const Profile*>& profiles) {
  return extract_work_features(profiles)(Eigen::all, input_columns());
}

std::vector<std::string> input_names() { return {kApplicationInputs.begin(), kApplicationInputs.end()}; }

}  // namespace

KindPredictor::KindPredictor(std::unique_ptr<Predictor> all) : all_(std::move(all)) {}

std::string KindPredictor::family() const { return "kinds:" + all_->family(); }

Json KindPredictor::settings() const { return all_->settings(); }

Status KindPredictor::configure(const Json& settings, const std::string& source) {
  return all_->configure(settings, source);
}

Status KindPredictor::fit(const TrainingTable& table, const FitOptions& options) {
  if (auto status = may_read_work(table); !status) return status;
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  kind_.fit(table);
  const std::vector<const Profile*> profiles = profiles_of(table);
  const Eigen::MatrixXd raw = raw_inputs(profiles);
  Eigen::VectorXd weights = targets->weights;
  bool any = false;
  for (size_t p = 0; p < table.programs.size(); ++p) {
    if (table.programs[p].group == kApplicationGroup) {
      any = true;
    } else {
      weights(static_cast<Eigen::Index>(p)) = 0;
    }
  }
  if (!any) {
    return Error{"no-applications", "no program with a profile is an application, of which this model learns apart", "",
                 "programs of the group application, or the model '" + all_->family() + "'"};
  }
  standardiser_ = Standardiser::fit(raw, weights);
  applications_.fit(table, standardiser_.apply(raw), weighted_mean(targets->log_rpv, targets->weights));
  return all_->fit(table, options);
}

Eigen::MatrixXd KindPredictor::application_inputs(const std::vector<const Profile*>& profiles) const {
  return standardiser_.apply(raw_inputs(profiles));
}

Eigen::MatrixXd KindPredictor::as_application(const std::vector<const Profile*>& profiles) const {
  return applications_.predict(application_inputs(profiles));
}

Eigen::MatrixXd KindPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return predict_with_disagreement(profiles).log_rpv;
}

Prediction KindPredictor::predict_with_disagreement(const std::vector<const Profile*>& profiles) const {
  Prediction said = all_->predict_with_disagreement(profiles);
  const Eigen::MatrixXd own = as_application(profiles);
  const Eigen::VectorXd chance = kind_.share(profiles);
  const Eigen::VectorXd other = Eigen::VectorXd::Ones(chance.size()) - chance;
  const Eigen::VectorXd apart = (own - said.log_rpv).rowwise().squaredNorm() / static_cast<double>(own.cols());
  said.log_rpv = chance.asDiagonal() * own + other.asDiagonal() * said.log_rpv;
  // Of two answers of which one is right: their variance, beside what the parts of the other model disagree by.
  said.disagreement = (said.disagreement.cwiseAbs2() + chance.cwiseProduct(other).cwiseProduct(apart)).cwiseSqrt();
  said.best.clear();
  return said;
}

Eigen::MatrixXd KindPredictor::prior_on(const std::vector<Platform>& platforms,
                                        const std::vector<const Profile*>& profiles) const {
  return all_->prior_on(platforms, profiles);
}

int64_t KindPredictor::outputs() const { return all_->outputs(); }

// Of a product's change each factor has its own change times the other's mean.
Result<FeatureAttribution> KindPredictor::attribute_features(const AttributionRequest& request) const {
  auto all = perfcast::program::attribute_features(*all_, request);
  if (!all) return all;
  const std::vector<const Profile*> both = {request.profile, request.reference};
  const Eigen::VectorXd chance = kind_.share(both);
  const double usual = chance.mean(), change = chance(0) - chance(1);
  const Eigen::MatrixXd as_application = this->as_application(both), as_other = all_->predict(both);

  FeatureAttribution applications;
  applications.baseline_log = usual * as_application.row(1).transpose();
  applications.forecast_log = usual * as_application.row(0).transpose();
  applications.features = input_names();
  const Eigen::MatrixXd inputs = application_inputs(both);
  applications.log = usual * (inputs.row(0) - inputs.row(1)).transpose().asDiagonal() * applications_.slopes();

  FeatureAttribution kind;
  const Eigen::VectorXd gap = (as_application.colwise().mean() - as_other.colwise().mean()).transpose();
  kind.features = KindOfProgram::inputs();
  const Eigen::VectorXd odds = kind_.log_odds_change(*request.profile, *request.reference);
  const double total = odds.sum();
  const Eigen::VectorXd shares = std::abs(total) > 1e-12
                                     ? Eigen::VectorXd(odds / total)
                                     : Eigen::VectorXd::Constant(odds.size(), 1 / static_cast<double>(odds.size()));
  kind.log = change * shares * gap.transpose();
  kind.baseline_log = Eigen::VectorXd::Zero(gap.size());
  kind.forecast_log = change * gap;

  all->log *= 1 - usual;
  all->baseline_log *= 1 - usual;
  all->forecast_log *= 1 - usual;
  FeatureAttribution result = sum_of({std::move(*all), std::move(applications), std::move(kind)}, 1);
  result.parts.push_back({"kinds", AttributionMethod::kAdditive, 0});
  const Eigen::MatrixXd forecasts = predict(both);
  result.baseline_log = forecasts.row(1).transpose();
  result.forecast_log = forecasts.row(0).transpose();
  return result;
}

void KindPredictor::save(TensorMap& tensors) const {
  tensors.put_json("kinds", {{"all", all_->family()}, {"inputs", input_names()}});
  const auto put = [&tensors](const char* name, const auto& part) {
    TensorMap state;
    part.save(state);
    tensors.put_within(name, state);
  };
  put("kind", kind_);
  put("inputs", standardiser_);
  put("applications", applications_);
  put("all", *all_);
}

Status KindPredictor::load(const TensorMap& tensors) {
  const auto json = tensors.get_json("kinds");
  if (!json) return json.error();
  if (!json->is_object() || json->value("all", Json()) != all_->family() ||
      json->value("inputs", Json()) != Json(input_names())) {
    return Error{"bad-bundle", "what it says of kinds of programs is of another model", "kinds",
                 "a bundle written by this version of perfcast train"};
  }
  if (auto status = kind_.load(tensors.within("kind")); !status) return status;
  if (auto status = standardiser_.load(tensors.within("inputs"), input_names().size()); !status) return status;
  if (auto status = applications_.load(tensors.within("applications"), input_names().size()); !status) return status;
  if (auto status = all_->load(tensors.within("all")); !status) return status;
  if (applications_.level().size() != all_->outputs()) {
    return Error{"bad-bundle", "the parts of the model forecast different numbers of platforms", "kinds",
                 "a bundle written by perfcast train"};
  }
  return {};
}

}  // namespace perfcast::program
