#pragma once
// A system under test from what a person names it by.

#include <memory>
#include <string>
#include <vector>

#include "ai/load/system_under_test.h"
#include "ai/serving/serving_request.h"
#include "base/result.h"

namespace perfcast::ai {

struct TransformerSystemOptions;

struct SystemSpec {
  std::string name;  // "null", "null-endpoint...", "mlp...", "gemm...", "transformer...", "pipe", "http://..."
  std::vector<std::string> command;  // of a pipe
  bool show_stderr = false;
  double ready_limit_s = 120;
  int threads = 1;
  int64_t largest_batch = 32;
  uint64_t seed = 1;
  int64_t samples = 1024;                     // of the data set: as many prompts are made up
  std::string model, prompts_file;            // of an endpoint
  std::shared_ptr<const ServingTrace> trace;  // of an endpoint: in the place of prompts
  int64_t prompt_length = 128;                // in words of an endpoint's, in tokens of a transformer's
  int64_t max_tokens = 64;                    // of an answer
  bool max_tokens_given = false;              // it stands above what prompts say themselves
  int64_t most_connections = 512;
  std::vector<std::string> headers;
  bool ignores_end = false;    // an endpoint's answers go on behind an end of text
  double answer_limit_s = 60;  // beyond it, a request that gets nothing fails
};

// What is built in, and the forms of what isn't: for help and errors.
std::vector<std::string> system_forms();

bool is_endpoint(const SystemSpec& spec);  // an address, or the null endpoint
bool is_transformer(const SystemSpec& spec);
// Of a transformer; errors of parse_transformer_system().
Result<TransformerSystemOptions> transformer_options(const SystemSpec& spec);
// Whether a system streams tokens by itself: a transformer and endpoints do, but those of embeddings.
bool is_streaming(const SystemSpec& spec);

// "bad-usage" with --system for a name that is none, and for a pipe without a command; those of read_prompts() and of
// TransformerSystem::create().
Result<std::unique_ptr<SystemUnderTest>> make_system(const SystemSpec& spec);

}  // namespace perfcast::ai
