#include "ai/system/system_spec.h"

#include <algorithm>

#include "ai/system/http_system.h"
#include "ai/system/mlp_system.h"
#include "ai/system/null_endpoint.h"
#include "ai/system/null_system.h"
#include "ai/system/pipe_system.h"
#include "ai/system/transformer_system.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

using System = std::unique_ptr<SystemUnderTest>;

// Of a trace: its words are some 25 MB of a request.
constexpr int64_t kMostPromptTokens = 4'000'000;

std::string kind_of(const SystemSpec& spec) { return spec.name.substr(0, spec.name.find(':')); }

Status check_prompts(const ServingTrace& trace) {
  const auto found = std::find_if(trace.requests.begin(), trace.requests.end(), [](const ServingRequest& request) {
    return request.prompt_tokens > kMostPromptTokens;
  });
  if (found == trace.requests.end()) return {};
  return usage_error("bad-usage",
                     "request " + std::to_string(found - trace.requests.begin() + 1) + " has a prompt of " +
                         std::to_string(found->prompt_tokens) + " tokens, too many to send",
                     "--trace", "prompts of at most " + std::to_string(kMostPromptTokens) + " tokens");
}

Result<System> make_endpoint(const SystemSpec& spec) {
  const bool is_null = kind_of(spec) == "null-endpoint";
  if (const Status valid = check_endpoint(spec.name); !is_null && !valid) return valid.error();
  if (const Status valid = spec.trace ? check_prompts(*spec.trace) : Status(); !valid) return valid.error();
  // Both ends of a connection to the null endpoint are here.
  if (const Status fits = make_room_for_connections(spec.most_connections, is_null ? 2 : 1); !fits) return fits.error();
  HttpSystemOptions options;
  options.url = spec.name;
  options.model = spec.model;
  options.max_tokens = spec.max_tokens;
  options.max_tokens_wins = spec.max_tokens_given;
  options.headers = spec.headers;
  options.most_connections = spec.most_connections;
  options.ignores_end = spec.ignores_end;
  options.seed = spec.seed;
  options.trace = spec.trace;
  // A whole system that hangs is found by the load, and first.
  options.stall_limit_s = spec.answer_limit_s + 1;
  if (!spec.trace && spec.prompts_file.empty()) {
    options.prompts = made_up_prompts(spec.samples, spec.prompt_length, is_chat(spec.name), spec.seed);
  } else if (!spec.trace) {
    auto prompts = read_prompts(spec.prompts_file, is_chat(spec.name));
    if (!prompts) return prompts.error();
    options.prompts = std::move(*prompts);
  }
  if (!is_null) return System(std::make_unique<HttpSystem>(std::move(options)));
  const auto null = parse_null_endpoint(spec.name, "--system");
  if (!null) return null.error();
  return make_null_endpoint_system(*null, std::move(options));
}

}  // namespace

std::vector<std::string> system_forms() {
  return {"null",
          "null-endpoint[:PIECES[,GAP]]",
          "gemm:N",
          "mlp:IN,...,OUT",
          "transformer:MODEL[,int8][,threads=N][,slots=N]",
          "pipe (with -- CMD ARGS)",
          "http://HOST:PORT/v1/completions"};
}

bool is_transformer(const SystemSpec& spec) { return kind_of(spec) == "transformer"; }
bool is_endpoint(const SystemSpec& spec) {
  const bool is_address = spec.name.find("://") != std::string::npos && !is_transformer(spec);
  return is_address || kind_of(spec) == "null-endpoint";
}
bool is_streaming(const SystemSpec& spec) {
  return (is_endpoint(spec) && !is_embedding(spec.name)) || is_transformer(spec);
}

Result<TransformerSystemOptions> transformer_options(const SystemSpec& spec) {
  TransformerSystemOptions options;
  options.threads = spec.threads;
  options.prompt_tokens = spec.prompt_length;
  options.new_tokens = spec.max_tokens;
  options.seed = spec.seed;
  return parse_transformer_system(spec.name, options, "--system");
}

Result<System> make_system(const SystemSpec& spec) {
  if (spec.name == "null") return System(std::make_unique<NullSystem>());
  if (is_endpoint(spec)) return make_endpoint(spec);
  if (is_transformer(spec)) {
    const auto options = transformer_options(spec);
    if (!options) return options.error();
    return TransformerSystem::create(*options);
  }
  if (spec.name == "pipe") {
    if (spec.command.empty()) {
      return usage_error("bad-usage", "no command for a system behind a pipe", "--system", "the command after --");
    }
    PipeSystemOptions options;
    options.command = spec.command;
    options.show_stderr = spec.show_stderr;
    options.ready_limit_s = spec.ready_limit_s;
    return System(std::make_unique<PipeSystem>(std::move(options)));
  }
  const std::string kind = kind_of(spec);
  if (kind == "mlp" || kind == "gemm") {
    auto options = parse_mlp(spec.name, "--system");
    if (!options) return options.error();
    options->threads = spec.threads;
    options->largest_batch = spec.largest_batch;
    options->seed = spec.seed;
    return System(std::make_unique<MlpSystem>(std::move(*options)));
  }
  return usage_error("bad-usage", "there is no system '" + printable(spec.name) + "'", "--system",
                     "one of: " + join(system_forms(), ", "));
}

}  // namespace perfcast::ai
