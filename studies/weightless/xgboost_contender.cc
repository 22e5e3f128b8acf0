#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "studies/weightless/contenders.h"

namespace perfcast::program::weightless_study {
namespace {

constexpr size_t kNodeBytes = 8;  // input 2, threshold or leaf 4, child 2

Error failed() { return Error{"xgboost-failed", XGBGetLastError(), "", "XGBoost 1.7"}; }

// How much each tree learns, and of which share of the inputs.
struct Pace {
  double rate, column_share;
};

class XgboostFitted : public FittedContender {
 public:
  XgboostFitted(BoosterHandle booster, size_t inputs, double mean) : booster_(booster), inputs_(inputs), mean_(mean) {}
  ~XgboostFitted() override { XGBoosterFree(booster_); }
  XgboostFitted(const XgboostFitted&) = delete;
  XgboostFitted& operator=(const XgboostFitted&) = delete;

  // By the C API's way for single rows.
  double answer(std::span<const float> row) const override {
    const std::string array = fmt::format(R"({{"data": [{}, true], "shape": [1, {}], "typestr": "<f4", "version": 3}})",
                                          reinterpret_cast<uintptr_t>(row.data()), inputs_);
    static const char* const kConfig =
        R"({"type": 0, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false,
            "cache_id": 0, "missing": NaN})";
    const bst_ulong* shape = nullptr;
    bst_ulong dimensions = 0;
    const float* result = nullptr;
    if (XGBoosterPredictFromDense(booster_, array.c_str(), kConfig, nullptr, &shape, &dimensions, &result) != 0)
      return NAN;
    return mean_ + static_cast<double>(result[0]);
  }
  size_t bytes() const override { return nodes_ * kNodeBytes; }
  size_t saved_bytes() const override { return saved_bytes_; }
  Status count_nodes() {
    bst_ulong saved = 0;
    const char* model = nullptr;
    if (XGBoosterSaveModelToBuffer(booster_, R"({"format": "ubj"})", &saved, &model) != 0) return failed();
    saved_bytes_ = saved;
    bst_ulong size = 0;
    const char** dump = nullptr;
    if (XGBoosterDumpModelEx(booster_, "", 0, "text", &size, &dump) != 0) return failed();
    for (bst_ulong t = 0; t < size; ++t) {
      const std::string text = dump[t];
      nodes_ += static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    }
    return {};
  }

 private:
  BoosterHandle booster_;
  size_t inputs_, nodes_ = 0, saved_bytes_ = 0;
  double mean_;
};

Result<std::unique_ptr<FittedContender>> fit_trees(const TabularSet& training, size_t rounds, size_t depth, Pace pace,
                                                   uint64_t seed) {
  DMatrixHandle data = nullptr;
  BoosterHandle booster = nullptr;
  const auto count = static_cast<bst_ulong>(training.count());
  std::vector<float> labels = training.targets;
  if (!training.labels.empty()) labels.assign(training.labels.begin(), training.labels.end());
  const bool regression = training.labels.empty();
  // From the mean on, as the others.
  double mean = 0;
  if (regression) {
    for (const float target : labels) mean += static_cast<double>(target) / static_cast<double>(labels.size());
    for (float& target : labels) target -= static_cast<float>(mean);
  }
  if (XGDMatrixCreateFromMat(training.rows.data(), count, training.inputs, NAN, &data) != 0) return failed();
  const std::unique_ptr<void, int (*)(DMatrixHandle)> owner(data, &XGDMatrixFree);
  if (XGDMatrixSetFloatInfo(data, "label", labels.data(), count) != 0 || XGBoosterCreate(&data, 1, &booster) != 0)
    return failed();
  auto made = std::make_unique<XgboostFitted>(booster, training.inputs, mean);
  std::vector<std::pair<std::string, std::string>> parameters = {
      {"objective", regression ? "reg:squarederror" : "multi:softmax"},
      {"max_depth", std::to_string(depth)},
      {"eta", std::to_string(pace.rate)},
      {"subsample", "0.8"},
      {"colsample_bytree", std::to_string(pace.column_share)},
      {"base_score", regression ? "0" : "0.5"},
      {"lambda", "2"},
      {"seed", std::to_string(seed)},
      {"nthread", "1"},
      {"verbosity", "0"}};
  if (!regression) parameters.emplace_back("num_class", std::to_string(training.classes));
  for (const auto& [name, value] : parameters) {
    if (XGBoosterSetParam(booster, name.c_str(), value.c_str()) != 0) return failed();
  }
  for (size_t round = 0; round < rounds; ++round) {
    if (XGBoosterUpdateOneIter(booster, static_cast<int>(round), data) != 0) return failed();
  }
  if (const Status counted = made->count_nodes(); !counted) return counted.error();
  return std::unique_ptr<FittedContender>(std::move(made));
}

}  // namespace

Contender xgboost_contender(const TabularSet& set, size_t most_bytes) {
  Contender made{most_bytes == 0 ? "xgboost" : "xgboost, as small", {}, most_bytes};
  for (const size_t depth : {1, 2, 3, 4, 6}) {
    const size_t nodes = (size_t{2} << depth) - 1;
    std::vector<size_t> rounds = {40, 120, 240};
    if (most_bytes > 0) {
      // As many as whole trees fit, or some more where they don't grow whole.
      const size_t trees = std::max<size_t>(1, most_bytes / kNodeBytes / nodes);
      const size_t whole = std::max<size_t>(1, trees / std::max<size_t>(1, set.classes));
      rounds = {whole, whole * 5 / 4 + 1, whole * 3 / 2 + 1, whole * 2 + 1};
    }
    const double slow = set.labels.empty() ? 0.06 : 0.2;
    std::vector<Pace> paces = {{slow, 0.4}};
    if (most_bytes > 0) paces.insert(paces.end(), {{0.3, 0.4}, {0.5, 1}});  // few trees have to hurry
    for (const size_t count : rounds) {
      for (const Pace& pace : paces) {
        made.settings.push_back({fmt::format("{} rounds of depth {}, rate {}", count, depth, pace.rate),
                                 [count, depth, pace](const TabularSet& training, uint64_t seed) {
                                   return fit_trees(training, count, depth, pace, seed);
                                 }});
      }
    }
  }
  return made;
}

}  // namespace perfcast::program::weightless_study
