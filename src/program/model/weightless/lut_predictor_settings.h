#pragma once
// How the family `dwn` is fitted, and its JSON.

#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "learn/weightless/lut_trainer.h"
#include "learn/weightless/table_booster.h"

namespace perfcast::program {

inline constexpr const char* kDwnSchema = "perfcast.dwn/2";
inline constexpr int64_t kMostDwnNetworks = 64;

// Relative times: networks of different seeds, averaged, all grown or all descended. The best platform: one classifier,
// where there are few platforms.
struct LutPredictorSettings {
  bool boosted = true;
  int64_t networks = 4;
  TableBoostOptions boost;
  // Of 2 to 6 bits 4 were chosen on the compressors of the cloud corpus alone (families left out in turn).
  LutTrainingOptions gradient = {.levels = 8, .luts = {256}, .arity = 4, .epochs = 60, .batch = 32, .decay_epochs = 25};
  int64_t most_classes = 16;  // platforms; with more there is no classifier
  int64_t class_tables = 16;  // of each platform
  LutTrainingOptions classes = {
      .levels = 8, .short_thresholds = true, .arity = 4, .epochs = 60, .batch = 32, .decay_epochs = 25};
};

Json to_json(const LutPredictorSettings& settings);
// Absent keys stay as they are in `settings`, which changes only as a whole. "bad-config", with `source`: an unknown
// key (the valid ones are listed), or a value that can't be.
Status read_settings(const Json& json, const std::string& source, LutPredictorSettings& settings);

}  // namespace perfcast::program
