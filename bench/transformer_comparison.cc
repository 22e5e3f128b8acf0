// perfcast_transformer_comparison: forecast beside measurement, for tools/bench-transformer.
#include "ai/transformer_forecast/transformer_comparison.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "ai/transformer/transformer_model.h"
#include "base/file.h"
#include "base/json.h"

int main(int argc, char** argv) {
  using namespace perfcast;
  using namespace perfcast::ai;
  CLI::App app(
      "What a transformer takes on this machine: forecast from others that ran here, beside what was measured");
  ComparisonRequest request;
  request.models = built_in_transformers();
  request.batches = {1, 2, 4, 8};
  std::string precision = "fp32", json_path;
  bool operators = false;
  app.add_option("--models", request.models, "names, folders, config.json")->delimiter(',')->capture_default_str();
  app.add_option("--precision", precision, "of weights: fp32 or int8")->capture_default_str();
  app.add_option("--threads", request.threads)->capture_default_str();
  app.add_option("--batches", request.batches)->delimiter(',')->capture_default_str();
  app.add_option("--prompt-tokens", request.prompt_tokens)->capture_default_str();
  app.add_option("--new-tokens", request.new_tokens)->capture_default_str();
  app.add_option("--rounds", request.rounds, "calibration and measurement in turns")->capture_default_str();
  app.add_option("--seed", request.seed)->capture_default_str();
  app.add_flag("--operators", operators, "operator by operator");
  app.add_option("--json", json_path, "a file for perfcast.bench.forecast/1");
  CLI11_PARSE(app, argc, argv);

  const auto fail = [](const Error& error) {
    fmt::print(stderr, "{}\n", to_text(error));
    return 1;
  };
  const auto named = precision_named(precision);
  if (!named)
    return fail(usage_error("bad-usage", "there is no precision '" + precision + "'", "--precision", "fp32 or int8"));
  request.precision = *named;
  const auto comparison =
      compare_with_forecast(request, [](const std::string& what) { fmt::print(stderr, "{}\n", what); });
  if (!comparison) return fail(comparison.error());
  fmt::print("{}{}", to_text(*comparison, operators), goals_text(*comparison));
  if (json_path.empty()) return 0;
  const auto status = write_file_atomically(json_path, perfcast::to_text(to_json(*comparison)));
  return status ? 0 : fail(status.error());
}
