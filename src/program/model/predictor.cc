#include "program/model/predictor.h"

#include <functional>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "program/model/adapt/adapted_predictor.h"
#include "program/model/combined/auto_predictor.h"
#include "program/model/combined/mean_predictor.h"
#include "program/model/combined/stack_predictor.h"
#include "program/model/cores/core_model_predictor.h"
#include "program/model/cores/core_prior_predictor.h"
#include "program/model/fit/out_of_family.h"
#include "program/model/gpu/kernel_time_predictor.h"
#include "program/model/kernel/kernel_predictor.h"
#include "program/model/kinds/kind_predictor.h"
#include "program/model/linear/additive_cost.h"
#include "program/model/linear/lasso_predictor.h"
#include "program/model/neighbour/cluster_predictor.h"
#include "program/model/neighbour/knn_predictor.h"
#include "program/model/optional_families.h"
#include "program/model/physics/physics_predictor.h"
#include "program/model/tree/forest_predictor.h"
#include "program/model/weightless/integer_forecast.h"

namespace perfcast::program {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Predictor> (*make)(const char* name);  // null where this build has none
  const char* option = nullptr;                          // of CMake, that adds it
};

template <typename T>
std::unique_ptr<Predictor> make(const char*) {
  return std::make_unique<T>();
}

constexpr const char *kResearch = "PERFCAST_RESEARCH", *kWeightless = "PERFCAST_WEIGHTLESS";

// clang-format off
constexpr Entry kFamilies[] = {
    {"mean", make<MeanPredictor>},
    {"knn", make<KnnPredictor>},
    {"cluster", make<ClusterPredictor>},
    {"lasso", make<LassoPredictor>},
    {"nnlasso", [](const char*) -> std::unique_ptr<Predictor> { return std::make_unique<LassoPredictor>(true); }},
    {"nncost", make<AdditiveCostPredictor>},
    {"kernel", make<KernelPredictor>},
    {"factor", make_research_family, kResearch},
    {"forest", make<ForestPredictor>},
    {"physics", make<PhysicsPredictor>},
    {"gbt", make_research_family, kResearch},
    {"dwn", make_weightless_family, kWeightless},
    {"dnn", make_research_family, kResearch},
    {"vae-dnn", make_research_family, kResearch},
    {"vae-dnn-no-feedback", make_research_family, kResearch},
    {"vae-dnn-fixed-sigma", make_research_family, kResearch},
    {"vae-dnn-no-schedule", make_research_family, kResearch},
    {"vae-dnn-no-pretraining", make_research_family, kResearch},
    {"core-model", [](const char*) -> std::unique_ptr<Predictor> { return std::make_unique<CoreModelPredictor>(true); }},
    {"clock", [](const char*) -> std::unique_ptr<Predictor> { return std::make_unique<CoreModelPredictor>(false); }},
    {"stack", make<StackPredictor>},
    {"auto", make<AutoPredictor>},
};
// clang-format on

constexpr size_t kMostAdaptations = 200, kLongestName = 400;

// Before the name of a family that learns what models of cores leave.
constexpr std::string_view kOnCores = "cores:";
// Before that of one that forecasts programs that are no applications.
constexpr std::string_view kByKinds = "kinds:";

}  // namespace

Json Predictor::settings() const { return nullptr; }

Prediction Predictor::predict_with_disagreement(const std::vector<const Profile*>& profiles) const {
  return {predict(profiles), Eigen::VectorXd::Zero(static_cast<Eigen::Index>(profiles.size()))};
}

Eigen::MatrixXd Predictor::prior_on(const std::vector<Platform>& platforms,
                                    const std::vector<const Profile*>& profiles) const {
  return Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(profiles.size()), static_cast<Eigen::Index>(platforms.size()));
}

Eigen::MatrixXd Predictor::prior_of_training(const std::vector<Platform>&) const { return {}; }

Result<Prediction> Predictor::out_of_family(const TrainingTable& table, const FitOptions& options) const {
  return predict_out_of_family([&] { return make_predictor(family(), options.settings); }, table, options);
}

Result<IntegerForecast> Predictor::as_integers(IntegerTask, const std::vector<int64_t>&) const {
  return Error{"not-exportable", "the model '" + family() + "' is not made of look-up tables", "",
               "a bundle of train --model dwn"};
}

Status Predictor::configure(const Json&, const std::string& source) {
  return Error{"bad-config", "the model '" + family() + "' has no settings", source, "a model that has"};
}

Result<std::unique_ptr<Predictor>> make_predictor(const std::string& family) {
  for (const Entry& entry : kFamilies) {
    if (family != entry.name) continue;
    auto made = entry.make(entry.name);
    if (made) return made;
    return usage_error("not-built", "this build of perfcast has no model '" + family + "'", family,
                       std::string("a build with the CMake option ") + entry.option);
  }
  if (family.starts_with(kAdaptedFamily)) {
    // Names come from files: models within models must end.
    if (family.size() > kMostAdaptations * kAdaptedFamily.size() + kLongestName) {
      return usage_error("unknown-model", "a bundle was adapted too often", "",
                         "at most " + std::to_string(kMostAdaptations) + " platforms added");
    }
    auto known = make_predictor(family.substr(kAdaptedFamily.size()));
    if (!known) return known;
    return std::unique_ptr<Predictor>(std::make_unique<AdaptedPredictor>(std::move(*known)));
  }
  if (family.starts_with(kByKinds)) {
    auto all = make_predictor(family.substr(kByKinds.size()));
    if (!all || (*all)->family().starts_with(kByKinds)) return all;
    return std::unique_ptr<Predictor>(std::make_unique<KindPredictor>(std::move(*all)));
  }
  if (family.starts_with(kOnCores)) {
    auto rest = make_predictor(family.substr(kOnCores.size()));
    if (!rest || (*rest)->family().starts_with(kOnCores)) return rest;
    return std::unique_ptr<Predictor>(std::make_unique<CorePriorPredictor>(std::move(*rest)));
  }
  if (family.starts_with(kOfKernels)) {
    auto rest = make_predictor(family.substr(kOfKernels.size()));
    if (!rest || (*rest)->family().starts_with(kOfKernels)) return rest;
    return std::unique_ptr<Predictor>(std::make_unique<KernelTimePredictor>(std::move(*rest)));
  }
  if (family.find('+') != std::string::npos) {
    const std::vector<std::string> parts = split(family, '+');
    if (is_stack_of_parts(parts)) return std::unique_ptr<Predictor>(std::make_unique<StackPredictor>(parts));
    return usage_error("unknown-model", "'" + family + "' is no mean of several models", family,
                       "two or more of " + join(stackable_families(), ", ") + ", each once, joined by '+'");
  }
  const std::vector<std::string> names = predictor_families();
  return usage_error("unknown-model", "there is no model '" + family + "'", family,
                     "one of " + join(names, ", ") +
                         ", or the mean of several: forest+physics; what core models leave to it: cores:stack; "
                         "applications apart: kinds:cores:stack; kernels of GPU programs: kernels:forest");
}

Result<std::unique_ptr<Predictor>> make_predictor(const std::string& family, const ModelSettings& settings) {
  auto predictor = make_predictor(family);
  if (!predictor || !settings || !settings->is_object()) return predictor;
  const Json own = (*predictor)->settings();
  if (!own.is_object() || own["schema"] != settings->value("schema", Json())) return predictor;
  if (auto status = (*predictor)->configure(*settings, "settings"); !status) return status.error();
  return predictor;
}

std::vector<std::string> predictor_families() {
  std::vector<std::string> names;
  for (const Entry& entry : kFamilies) {
    if (entry.option == nullptr || entry.make(entry.name)) names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace perfcast::program
