#pragma once
// Times of an engine's steps from its measured operators: perfcast.engine-steps/1, a file that `perfcast bench serve
// --calibrate` writes of the built-in engine on the machine at hand.
//
//   step = scale * (layers(rows) + head(rows of logits) + attention)
//
// rows: all tokens of the step; of logits: its sequences. Both are tables, straight lines between what was measured:
// an engine on CPUs has other loops for few rows than for many, and fills many up to whole blocks. Attention is linear
// in sequences, prompts, their tokens, and in the keys that are gone through.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ai/llm/model_config.h"
#include "ai/serving/batch_time.h"
#include "ai/serving/replica.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast::ai {

struct RowTime {
  int64_t rows = 1;
  double seconds = 0;
};

struct AttentionTimes {
  double sequence_s = 0, sequence_key_s = 0;                   // of sequences that generate: each, and each key it sees
  double prompt_s = 0, prompt_token_s = 0, prompt_pair_s = 0;  // of prompts: each piece, token, query with a key
};

struct MeasuredSteps {
  std::string model, weights, cpu;  // names, for reports
  double parameters = 0;
  int64_t threads = 1;
  EngineLimits limits;
  int64_t exact_rows = 8, row_block = 16;  // more rows than the first are filled up to a multiple of the second
  std::vector<RowTime> layers, head;       // ascending in rows
  AttentionTimes attention;
  double scale = 1;
  double front_end_s = 0;  // from a request's first byte to the scheduler
  // Steps of other mixtures than those of the tables, measured to check the sum: how many, and what nine in ten of them
  // differ by at the most, as a logarithm.
  int64_t checked_steps = 0;
  double log_half_width = 0;
};

// Errors: "bad-json", "bad-json-field", "bad-schema".
Result<MeasuredSteps> parse_measured_steps(std::string_view text, const std::string& source);
Json to_json(const MeasuredSteps& steps);

class MeasuredStepTime final : public BatchTime {
 public:
  // `steps` must outlive it. `scale`: a forecast's error, as a factor.
  explicit MeasuredStepTime(const MeasuredSteps& steps, double scale = 1) : steps_(steps), scale_(scale) {}
  double seconds(const StepBatch& batch) const override;

 private:
  const MeasuredSteps& steps_;
  double scale_;
};

}  // namespace perfcast::ai
