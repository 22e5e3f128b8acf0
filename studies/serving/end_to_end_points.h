#pragma once
// Whole deployments of serving engines that were measured end to end (AIConfigurator's database, end_to_end.csv): time
// to the first token and time per further token, of so many clients that each wait for their answer.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ai/llm/model_config.h"
#include "ai/serving/serving_request.h"
#include "base/result.h"

namespace perfcast::ai::serving_study {

struct EndToEndPoint {
  std::string engine, system, model, precision;  // perfcast's name of the engine; the others as the table has them
  int64_t prompt_tokens = 0, output_tokens = 0;
  int64_t clients = 0;                // of each group of devices
  int64_t tensor_parallel = 1;        // devices of a group
  int64_t groups = 1;                 // that attend to requests of their own
  bool drawn_lengths = false;         // the client draws them between 80 and 100% of what it was asked for
  double first_s = 0, further_s = 0;  // medians of rows of one setting
};

struct EndToEndPoints {
  std::vector<EndToEndPoint> points;
  std::map<std::string, int64_t> left_out;  // rows, by the reason
};

// Rows whose prompts and tokens are computed on the same devices. Degrees that the table states twice over (16 where 4
// share both attention and experts) are read as the smaller one. Left out: those that wait in a queue of the engine
// longer than they run, for its limit isn't stated. "missing-column" and errors of reading.
Result<EndToEndPoints> read_end_to_end(const std::string& path);

// The model as the point runs it. "unknown-model"; "unknown-precision".
Result<LlmConfig> model_of(const EndToEndPoint& point);
// How often the engine looked for new requests: the public benchmark starts SGLang with --scheduler-recv-interval 10,
// and 30 from 16 clients.
int64_t receive_steps_of(const EndToEndPoint& point);
// The load: ten requests for each client, at least 16.
ServingTrace trace_of(const EndToEndPoint& point);

}  // namespace perfcast::ai::serving_study
