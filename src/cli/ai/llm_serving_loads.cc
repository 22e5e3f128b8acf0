#include "cli/ai/llm_serving_loads.h"

#include <utility>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/ai/llm_devices.h"
#include "cli/option_table.h"
#include "cli/shared/duration_option.h"
#include "cli/shared/named_file.h"
#include "cli/shared/table_options.h"

namespace perfcast::cli {
namespace {

constexpr int64_t kMostRequests = 10'000'000;

Result<std::vector<double>> rates_of(const std::vector<std::string>& given) {
  std::vector<double> rates;
  for (const std::string& text : list_of(given)) {
    const auto rate = parse_number(text);
    if (!rate || !(*rate > 0) || *rate > 1e6) {
      return usage_error("bad-usage", "'" + printable(text) + "' is no rate", "--rate",
                         "requests per second, above 0 and at most 1000000, as in 2,5,10");
    }
    rates.push_back(*rate);
  }
  return rates;
}

}  // namespace

Result<ai::TraceRead> read_trace_option(const std::string& path, bool by_itself) {
  if (Status there = check_named_file("--trace", path); !there) return there.error();
  const auto text = read_file(path);
  if (!text) return text.error();
  auto read = ai::read_serving_trace(*text, path);
  if (read && by_itself && !read->has_arrivals) {
    return usage_error("bad-usage", printable(path) + " has no times of arrival", "--trace",
                       "--rate R or --concurrency N beside it");
  }
  return read;
}

namespace {

Status take_trace(const ServingLoadArguments& arguments, bool by_itself, ai::AskedLoads& asked,
                  std::vector<std::string>& notes) {
  Status unused =
      check_unused(*arguments.verb, "a trace, which has its own requests",
                   {"--prompt-tokens", "--output-tokens", "--spread", "--turns", "--think-time", "--shared-prefix"});
  if (unused && by_itself)
    unused = check_unused(*arguments.verb, "a trace at its own times", {"--burst"}, "--rate with it");
  if (!unused) return unused;
  auto read = read_trace_option(arguments.trace, by_itself);
  if (!read) return read.error();
  asked.trace = std::move(read->trace);
  asked.trace_name = arguments.trace;
  for (const std::string& note : read->notes) notes.push_back("trace, " + read->form + ": " + note);
  return {};
}

}  // namespace

Result<ai::ServingLoads> serving_loads_of(const ServingLoadArguments& arguments, uint64_t seed,
                                          std::vector<std::string>& notes) {
  ai::AskedLoads asked;
  auto rates = rates_of(arguments.rates);
  if (!rates) return rates.error();
  asked.rates_per_s = *std::move(rates);
  auto clients = counts_of(arguments.clients, "--concurrency");
  if (!clients) return clients.error();
  asked.clients = *std::move(clients);
  asked.shape = arguments.shape;
  asked.requests = arguments.requests;
  asked.in_flight = arguments.in_flight;
  asked.seed = seed;
  const bool by_itself = asked.rates_per_s.empty() && asked.clients.empty();
  if (!arguments.trace.empty()) {
    if (Status taken = take_trace(arguments, by_itself, asked, notes); !taken) return taken.error();
  } else if (by_itself) {
    return usage_error("bad-usage", "no load is named", arguments.command,
                       "--rate R (requests per second), --concurrency N (clients) or --trace FILE");
  }
  return ai::ServingLoads(std::move(asked));
}

void add_serving_load_options(CLI::App& verb, ServingLoadArguments& arguments) {
  add_basic(verb, "--rate", arguments.rates, "R,...", "Requests per second, at random times, such as 2,5,10.");
  add_basic(verb, "--concurrency", arguments.clients, "N,...",
            "The number of clients, instead of a rate. Each client sends its next request when it has its answer.");
  add_basic(
      verb, "--trace", arguments.trace, "FILE",
      "Reads the requests from a file: CSV or lines of JSON, from Vidur, Azure, Mooncake, an engine's log or your "
      "own. With --rate or --concurrency, only their lengths are used.");
  add_basic(verb, "--prompt-tokens", arguments.shape.prompt_tokens, "N", "The mean number of tokens of a prompt.")
      ->check(CLI::Range(int64_t{1}, kMostServingTokens))
      ->capture_default_str();
  add_basic(verb, "--output-tokens", arguments.shape.output_tokens, "N", "The mean number of tokens of an answer.")
      ->check(CLI::Range(int64_t{1}, kMostServingTokens))
      ->capture_default_str();
  add_advanced(
      verb, "--spread", arguments.shape.log_spread, "S",
      "How much lengths differ: the standard deviation of their logarithms. With 0, all are equal. Real traces "
      "have about 1.")
      ->check(CLI::Range(0.0, 4.0))
      ->capture_default_str();
  add_advanced(verb, "--burst", arguments.shape.burst, "B",
               "How uneven arrivals are. 1 is random (Poisson), 0 is even, and more than 1 is in bursts.")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  add_advanced(verb, "--turns", arguments.shape.turns, "N",
               "The number of turns of a conversation. The prompt of each turn contains all earlier turns.")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->capture_default_str();
  takes_duration(add_advanced(verb, "--think-time", arguments.shape.think_s, "TIME",
                              "The time from the end of an answer to the next turn. The default is 0."),
                 true);
  add_advanced(verb, "--shared-prefix", arguments.shape.shared_tokens, "N",
               "The number of tokens with which all prompts begin, such as a system prompt.")
      ->check(CLI::Range(int64_t{0}, kMostServingTokens));
  add_advanced(verb, "--requests", arguments.requests, "N",
               "The number of requests. The default is what comes in 10 minutes, but 1000 to 100000; of a trace, all.")
      ->check(CLI::Range(int64_t{1}, kMostRequests));
}

}  // namespace perfcast::cli
