#include "cli/ai/llm_serving_loads.h"

#include <algorithm>
#include <cmath>
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
constexpr double kMostPrefixBlocks = 1 << 27;
// Long enough to see a queue grow.
constexpr double kUsualSeconds = 600;
constexpr double kLeastUsual = 1000, kMostUsual = 100'000, kUsualRounds = 20;

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

std::string rate_words(double rate) {
  const std::string text = csv_number(rate);
  return text + (text == "1" ? " request/s" : " requests/s");
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

Status ServingLoads::read(std::vector<ai::ServingLoad>& loads, std::vector<std::string>& notes) {
  const auto rates = rates_of(arguments_.rates);
  if (!rates) return rates.error();
  const auto clients = counts_of(arguments_.clients, "--concurrency");
  if (!clients) return clients.error();
  if (!rates->empty() && !clients->empty()) {
    return usage_error("bad-usage", "a rate of arrivals, and clients that wait for their answers", "--concurrency",
                       "--rate or --concurrency");
  }
  const int64_t in_flight = arguments_.in_flight;
  if (!clients->empty() && in_flight > 0) {
    return usage_error("bad-usage", "clients of a closed loop, and a limit on requests that are under way",
                       "--most-in-flight", "--rate or a trace with it");
  }
  if (Status read = read_trace(rates->empty() && clients->empty(), notes); !read) return read;
  const std::string limited = in_flight > 0 ? ", at most " + std::to_string(in_flight) + " under way" : "";
  for (const double rate : *rates) {
    loads.push_back(
        {.rate_per_s = rate, .most_in_flight = in_flight, .words = rate_words(rate) + limited, .trace = [this, rate] {
           return trace_at(rate, 0, 0);
         }});
  }
  for (const int64_t count : *clients) {
    loads.push_back({.concurrency = count,
                     .words = std::to_string(count) + (count == 1 ? " client" : " clients"),
                     .trace = [this, count] { return trace_at(0, count, 0); }});
  }
  if (loads.empty()) {
    loads.push_back({.most_in_flight = in_flight,
                     .words = "the requests of " + printable(arguments_.trace) + limited,
                     .trace = [this] { return trace_at(0, 0, 0); }});
  }
  return check_prefixes(loads);
}

Result<ai::PlanLoad> ServingLoads::read_one(std::vector<std::string>& notes) {
  std::vector<ai::ServingLoad> loads;
  if (Status done = read(loads, notes); !done) return done.error();
  if (loads.size() > 1) {
    return usage_error("bad-usage", std::to_string(loads.size()) + " loads",
                       loads.front().concurrency > 0 ? "--concurrency" : "--rate",
                       "one: a plan is made for one load, and --growth says what more of it needs");
  }
  const double rate = loads.front().rate_per_s;
  const int64_t clients = loads.front().concurrency;
  ai::PlanLoad load{.rate_per_s = rate, .concurrency = clients, .words = loads.front().words, .trace = {}};
  if (arguments_.requests > 0) load.requests = arguments_.requests;
  load.most_in_flight = arguments_.in_flight;
  if (clients == 0 && !(rate > 0)) {
    load.is_recorded = true;
    double last_s = 0;
    for (const ai::ServingRequest& request : trace_.requests) {
      if (request.after < 0) last_s = std::max(last_s, request.arrival_s);
    }
    if (last_s > 0) load.rate_per_s = static_cast<double>(trace_.requests.size()) / last_s;
    load.trace = [this](double factor, int64_t) { return ai::scaled_trace(trace_, factor, seed_); };
  } else {
    load.trace = [this, rate, clients](double factor, int64_t requests) {
      return trace_at(clients > 0 ? 0 : factor * rate, clients, requests);
    };
  }
  return load;
}

Status ServingLoads::read_trace(bool by_itself, std::vector<std::string>& notes) {
  if (arguments_.trace.empty()) {
    if (!by_itself) return {};
    return usage_error("bad-usage", "no load is named", arguments_.command,
                       "--rate R (requests per second), --concurrency N (clients) or --trace FILE");
  }
  Status unused =
      check_unused(*arguments_.verb, "a trace, which has its own requests",
                   {"--prompt-tokens", "--output-tokens", "--spread", "--turns", "--think-time", "--shared-prefix"});
  if (unused && by_itself)
    unused = check_unused(*arguments_.verb, "a trace at its own times", {"--burst"}, "--rate with it");
  if (!unused) return unused;
  auto read = read_trace_option(arguments_.trace, by_itself);
  if (!read) return read.error();
  trace_ = std::move(read->trace);
  if (arguments_.requests > 0 && static_cast<size_t>(arguments_.requests) < trace_.requests.size()) {
    trace_.requests.resize(static_cast<size_t>(arguments_.requests));
  }
  for (const std::string& note : read->notes) notes.push_back("trace, " + read->form + ": " + note);
  return {};
}

Status ServingLoads::check_prefixes(const std::vector<ai::ServingLoad>& loads) const {
  const ai::TraceShape& shape = arguments_.shape;
  if (!arguments_.trace.empty() || shape.turns == 1) return {};
  double most = 0;
  for (const ai::ServingLoad& load : loads) {
    const double each = (shape.prompt_tokens + shape.output_tokens) * static_cast<double>(shape.turns);
    // A conversation's blocks, for each of its turns; of 16 tokens.
    most = std::max(most, static_cast<double>(requests_of(load.rate_per_s, load.concurrency)) /
                              static_cast<double>(shape.turns) * each / 16);
  }
  if (most <= kMostPrefixBlocks) return {};
  return usage_error("bad-usage", "conversations of " + human_number(most * 16) + " tokens in all", "--requests",
                     "fewer requests, or shorter ones: at most " + human_number(kMostPrefixBlocks * 16) + " tokens");
}

int64_t ServingLoads::requests_of(double rate, int64_t clients) const {
  if (arguments_.requests > 0) return arguments_.requests;
  const double usual = clients > 0 ? kUsualRounds * static_cast<double>(clients) : kUsualSeconds * rate;
  return static_cast<int64_t>(std::clamp(usual, kLeastUsual, kMostUsual));
}

ai::ServingTrace ServingLoads::trace_at(double rate, int64_t clients, int64_t requests) const {
  if (arguments_.trace.empty()) {
    ai::TraceShape shape = arguments_.shape;
    shape.requests = requests > 0 ? requests : requests_of(rate, clients);
    shape.seed = seed_;
    shape.rate_per_s = rate / static_cast<double>(shape.turns);
    return ai::draw_trace(shape);
  }
  ai::ServingTrace trace = trace_;
  if (rate > 0) {
    const auto first = std::count_if(trace.requests.begin(), trace.requests.end(),
                                     [](const ai::ServingRequest& request) { return request.after < 0; });
    const double share = static_cast<double>(first) / static_cast<double>(trace.requests.size());
    ai::draw_arrivals(trace, rate * share, arguments_.shape.burst, seed_);
  }
  return trace;
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
