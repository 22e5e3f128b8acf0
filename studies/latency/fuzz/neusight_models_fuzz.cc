// Any bytes, cut at the first zero byte, as the tables of timed models and of their operators: no crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "studies/latency/neusight_data.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai::latency_study;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t cut = text.find('\0');
  const std::string_view labels = text.substr(0, cut);
  const std::string_view operators = cut == std::string_view::npos ? std::string_view{} : text.substr(cut + 1);
  const auto models = parse_neusight_models(labels, "labels", operators, "operators");
  if (models) {
    for (const TimedModel& model : *models) {
      if (!(model.seconds > 0)) std::abort();
    }
  }
  if (const auto predictions = parse_neusight_predictions(labels, "predictions"); predictions) {
    for (const PublishedPrediction& one : *predictions) {
      if (!(one.seconds > 0)) std::abort();
    }
  }
  return 0;
}
