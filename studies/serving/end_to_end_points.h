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
  std::string engine, model;      // perfcast's names
  std::string system, precision;  // as the table has them
  int64_t prompt_tokens = 0, output_tokens = 0;
  int64_t clients = 0;                // of each group of devices
  int64_t tensor_parallel = 1;        // devices of a group
  int64_t groups = 1;                 // that attend to requests of their own
  bool drawn_lengths = false;         // the client draws them between 80 and 100% of what it was asked for
  double first_s = 0, further_s = 0;  // means of requests; medians of rows of one setting

  // "b200_sxm deepseek-r1": what is left out together. Formats of one model on one system are kin.
  std::string group() const { return system + " " + model; }
};

struct EndToEndPoints {
  std::vector<EndToEndPoint> points;
  std::map<std::string, int64_t> left_out;  // rows, by the reason
};

// Rows whose prompts and tokens are computed on the same devices. Degrees that exports state twice over (16 where
// 4 share both attention and experts) are read as the smaller one, and the clients of all groups are those they state.
//
// The table was put together from several exports of a public benchmark, and most runs are in it several times: under
// two names of one model (the rows of DeepSeek-V3 are those of R1, to the last digit), and with degrees that were
// stated differently. So of each engine, system, model and format only the newest export counts. Older ones also mix in
// runs whose tokens are guessed several at a time, without saying which.
//
// Left out, too: rows without the engine's version, of the benchmark's first months (first tokens of many take 7 to 9 s
// whatever the load, as if kernels were compiled at the start); older versions in one setting; rows whose numbers of
// clients contradict each other; those that wait in a queue of the engine longer than they run, for its limit isn't
// stated. "missing-column" and errors of reading.
Result<EndToEndPoints> read_end_to_end(const std::string& path);

// The model as the point runs it. "unknown-precision".
Result<LlmConfig> model_of(const EndToEndPoint& point);
// The load: ten requests for each client, at least 16, whose lengths are drawn.
ServingTrace trace_of(const EndToEndPoint& point);

}  // namespace perfcast::ai::serving_study
