// perfcast bench serve: the built-in transformer behind OpenAI's interface, and its steps measured here.

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include "ai/endpoint/completion_server.h"
#include "ai/transformer/transformer_files.h"
#include "ai/transformer_forecast/step_calibration.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process/interrupt.h"
#include "base/report/table.h"
#include "base/text.h"
#include "cli/ai/bench_command.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"

namespace perfcast::cli {
namespace {

constexpr int kDrainSteps = 100;
constexpr double kDrainStep_s = 0.1;
constexpr double kLeastCpuShare = 0.6;  // of the time of all threads while steps are measured

struct ServeArguments {
  std::string model = "perfcast-15m", host = "127.0.0.1", calibrate;
  int port = 8000;
  bool int8 = false;
  int64_t max_sequences = 8, step_tokens = ai::kPassRows, context_tokens = 0, rounds = 5;
  const CLI::App* verb = nullptr;
};

class BenchServe {
 public:
  BenchServe(const ServeArguments& arguments, const CommandContext& context)
      : arguments_(arguments), options_(context.options) {}

  int run() {
    if (Status fine = check(); !fine) return report_error(fine.error(), options_);
    ai::TransformerOptions with;
    with.precision = arguments_.int8 ? ai::Precision::kInt8 : ai::Precision::kFp32;
    with.threads = options_.threads;
    with.slots = arguments_.max_sequences;
    with.context = arguments_.context_tokens;
    const InterruptGuard guard;
    auto opened = ai::open_transformer(arguments_.model, options_.seed, with);
    if (!opened) {
      Error error = opened.error();
      if (error.where == "slots") error.where = "--max-sequences";
      if (error.where == "context") error.where = "--context-tokens";
      return report_error(as_named_file(error, true), options_);
    }
    return arguments_.calibrate.empty() ? serve(*std::move(opened)) : calibrate(*opened);
  }

 private:
  Status check() const {
    if (arguments_.step_tokens < arguments_.max_sequences) {
      return usage_error(
          "bad-usage", fmt::format("steps of {} tokens", arguments_.step_tokens), "--step-tokens",
          fmt::format("at least --max-sequences, {}: each answer gets a token in a step", arguments_.max_sequences));
    }
    if (!arguments_.calibrate.empty()) {
      if (Status unused = check_unused(*arguments_.verb, "a calibration, which serves nobody", {"--host", "--port"});
          !unused) {
        return unused;
      }
      return check_output_file("--calibrate", arguments_.calibrate);
    }
    return check_unused(*arguments_.verb, "a server", {"--rounds"}, "--calibrate FILE with it");
  }

  int calibrate(ai::OpenedTransformer& opened) const {
    std::optional<ProgressLine> line(std::in_place, options_);
    line->show("measures steps of " + printable(opened.transformer.model().config.name));
    ai::StepCalibration calibration(opened.transformer, arguments_.step_tokens, options_.seed);
    const auto began = std::chrono::steady_clock::now();
    const std::clock_t cpu_began = std::clock();
    Status done;
    for (int64_t round = 0; done && round < arguments_.rounds; ++round) {
      done = calibration.run_round([] { return interrupting_signal() != 0; });
    }
    line.reset();
    if (!done) {
      const int status = report_error(done.error(), options_);
      return interrupting_signal() != 0 ? kExitBySignal + interrupting_signal() : status;
    }
    const double cpu_s = static_cast<double>(std::clock() - cpu_began) / CLOCKS_PER_SEC;
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const ai::MeasuredSteps steps = calibration.fit();
    const double share = cpu_s / (wall_s * static_cast<double>(std::max<int64_t>(steps.threads, 1)));
    if (share < kLeastCpuShare && !options_.quiet) {
      fmt::print(
          stderr,
          "perfcast: the steps had a CPU for only {} of their time, as other programs ran: they are measured too "
          "long. Calibrate again on an idle machine\n",
          percent(share, 0));
    }
    const Json json = ai::to_json(steps);
    if (Status written = write_file_atomically(arguments_.calibrate, to_text(json)); !written) {
      return report_error(written.error(), options_);
    }
    return write_result(options_.json ? to_text(json) : calibration_text(steps), options_);
  }

  std::string calibration_text(const ai::MeasuredSteps& steps) const {
    const ai::MeasuredStepTime times(steps);
    const double keys = static_cast<double>(steps.limits.context_tokens) / 2;
    std::string text = fmt::format(
        "{}: steps of {} {}, {} thread{}, on {}\n"
        "{} other steps were measured: nine in ten differ from the sum of their parts by at most {}\n\n",
        printable(arguments_.calibrate), printable(steps.model), steps.weights, steps.threads,
        steps.threads == 1 ? "" : "s", printable(steps.cpu), steps.checked_steps,
        percent(std::exp(steps.log_half_width) - 1, 1));
    for (const int64_t sequences : {int64_t{1}, steps.limits.max_sequences}) {
      const auto count = static_cast<double>(sequences);
      text += fmt::format("a token of {} answer{} at once, {} tokens in each: {}\n", sequences,
                          sequences == 1 ? "" : "s", keys,
                          human_seconds(times.seconds({.decodes = sequences, .decode_context_tokens = count * keys})));
      if (steps.limits.max_sequences == 1) break;
    }
    const auto rows = static_cast<double>(std::min(steps.limits.step_tokens, steps.limits.context_tokens));
    text += fmt::format(
        "a prompt of {} tokens: {}\n", rows,
        human_seconds(times.seconds(
            {.prefills = 1, .prefill_tokens = rows, .prefill_pairs = rows * (rows + 1) / 2, .completed_prefills = 1})));
    return text + "next: perfcast llm serve-sim --system " + printable(arguments_.calibrate) + " --rate R\n";
  }

  int serve(ai::OpenedTransformer opened) const {
    ai::CompletionServerOptions how;
    how.host = arguments_.host;
    how.port = arguments_.port;
    how.step_tokens = arguments_.step_tokens;
    const ai::TransformerOptions with = opened.transformer.options();
    const bool is_random = opened.random_weights;
    auto server = ai::CompletionServer::start(std::move(opened.transformer), how);
    if (!server) return report_error(with_option_names(server.error(), *arguments_.verb), options_);
    const bool is_six = arguments_.host.find(':') != std::string::npos;
    const std::string url =
        fmt::format("http://{}{}{}:{}/v1", is_six ? "[" : "", arguments_.host, is_six ? "]" : "", (*server)->port());
    const std::string& name = (*server)->model().name;
    const std::string line =
        options_.json
            ? Json{{"schema", "perfcast.endpoint/1"},
                   {"url", url},
                   {"model", name},
                   {"weights", info(with.precision).name},
                   {"random_weights", is_random},
                   {"threads", with.threads},
                   {"max_sequences", with.slots},
                   {"context_tokens", with.context},
                   {"step_tokens", arguments_.step_tokens}}
                      .dump() +
                  "\n"
            : fmt::format("{} ({}{}, {} thread{}) answers at {}: {} at once, {} tokens each; Ctrl-C ends it\n",
                          printable(name), info(with.precision).name, is_random ? ", random weights" : "", with.threads,
                          with.threads == 1 ? "" : "s", url, with.slots, with.context);
    if (const int written = write_result(line, options_); written != kExitDone) return written;
    std::fflush(stdout);
    while (interrupting_signal() == 0) is_signalled(-1);
    // A second signal doesn't wait for answers under way. What comes within a step is the first one: timeout(1) sends
    // it twice.
    bool is_drained = (*server)->drain(kDrainStep_s);
    InterruptGuard::acknowledge();
    for (int step = 1; step < kDrainSteps && !is_drained && !is_signalled(0); ++step) {
      is_drained = (*server)->drain(kDrainStep_s);
    }
    return kExitDone;
  }

  static bool is_signalled(int wait_ms) {
    pollfd signal = {InterruptGuard::descriptor(), POLLIN, 0};
    return ::poll(&signal, 1, wait_ms) > 0;
  }

  const ServeArguments& arguments_;
  const CommonOptions& options_;
};

}  // namespace

void add_bench_serve_command(CLI::App& bench, CommandContext& context) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App* verb = add_verb(
      bench, {"serve",
              "Serves the built-in transformer over OpenAI's interface, or measures its steps.",
              "",
              {"perfcast bench serve perfcast-15m --port 8000",
               "perfcast bench run --scenario server --target-qps 2 --system http://127.0.0.1:8000/v1/completions",
               "perfcast bench serve perfcast-15m --calibrate steps.json"},
              "bench-serve"});
  arguments->verb = verb;
  add_basic(*verb, "model", arguments->model, "MODEL",
            "perfcast-15m, perfcast-110m, perfcast-400m, a config.json, or a folder with one and safetensors.")
      ->capture_default_str();
  add_basic(*verb, "--port", arguments->port, "N", "The port to listen on. 0 finds a free one.")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  add_advanced(*verb, "--host", arguments->host, "ADDRESS",
               "The address to listen on. With 0.0.0.0, other machines can connect, without a password.")
      ->capture_default_str();
  add_basic(*verb, "--int8", arguments->int8, "Stores the weights as 8-bit integers instead of 32-bit floats.");
  add_basic(*verb, "--max-sequences", arguments->max_sequences, "N", "The most answers at once. Further requests wait.")
      ->check(CLI::Range(int64_t{1}, ai::kMostTransformerSlots))
      ->capture_default_str();
  add_advanced(*verb, "--step-tokens", arguments->step_tokens, "N",
               "The most tokens in one step. Longer prompts take several steps.")
      ->check(CLI::Range(int64_t{1}, ai::kPassRows))
      ->capture_default_str();
  add_advanced(
      *verb, "--context-tokens", arguments->context_tokens, "N",
      "The most tokens of a prompt and its answer together. The default is what the model allows, at most 2048.")
      ->check(CLI::Range(int64_t{2}, int64_t{1} << 20));
  add_basic(
      *verb, "--calibrate", arguments->calibrate, "FILE",
      "Measures steps of this model here, writes their times to this file (JSON) for llm serve-sim --system FILE, "
      "and ends.");
  add_advanced(*verb, "--rounds", arguments->rounds, "N", "With --calibrate: how often each step is measured.")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->capture_default_str();
  verb->footer(
      "The first line of its output is the address. It ends after Ctrl-C or SIGTERM, when all open answers are "
      "finished, or after 10 s.");
  add_common_options(*verb, context, kQuietOption | kSeedOption | kThreadsOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return BenchServe(*arguments, context).run(); }; });
}

}  // namespace perfcast::cli
