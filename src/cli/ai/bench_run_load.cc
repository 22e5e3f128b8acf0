#include "cli/ai/bench_run_load.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/csv.h"
#include "base/text.h"
#include "cli/ai/llm_serving_loads.h"
#include "cli/option_table.h"
#include "cli/shared/table_options.h"

namespace perfcast::cli {
namespace {

constexpr double kMostClients = 65'536, kMostRate = 1e6;
constexpr double kMostClientsByItself = 4096;  // of a sweep that goes on by itself
constexpr size_t kMostFurther = 20;
constexpr int64_t kMostDrawn = 1'000'000, kDrawnForClients = 20'000;

// "1,2,4" or "1,2,4,...", rising.
Result<std::vector<double>> loads_of(const std::vector<std::string>& given, const char* option, bool whole) {
  const double most = whole ? kMostClients : kMostRate;
  std::vector<double> loads;
  std::vector<std::string> words = list_of(given);
  if (words.empty() && !given.empty()) {
    return usage_error("bad-usage", whole ? "no number of clients" : "no rate", option,
                       "one number at least, as in 1,2,4,8");
  }
  const bool goes_on = !words.empty() && (words.back() == "..." || words.back() == "\xE2\x80\xA6");
  if (goes_on) words.pop_back();
  for (const std::string& word : words) {
    const auto load = parse_number(word);
    const bool fits = load && *load > 0 && *load <= most && (!whole || *load == std::floor(*load));
    if (!fits) {
      return usage_error("bad-usage", "'" + printable(word) + (whole ? "' is no number of clients" : "' is no rate"),
                         option,
                         whole ? "whole numbers from 1 to 65536, as in 1,2,4,8 or 1,2,4,..."
                               : "requests per second, above 0 and at most 1000000, as in 1,2,5 or 1,2,...");
    }
    loads.push_back(*load);
  }
  std::sort(loads.begin(), loads.end());
  loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
  if (!goes_on) return loads;
  if (loads.size() < 2) {
    return usage_error("bad-usage", "a sweep that goes on needs two numbers to begin with", option, "as in 1,2,...");
  }
  const double ratio = loads.back() / loads[loads.size() - 2];
  const double last = whole ? std::max(kMostClientsByItself, loads.back()) : most;
  for (size_t i = 0; i < kMostFurther; ++i) {
    const double next = whole ? std::round(loads.back() * ratio) : loads.back() * ratio;
    if (next > last || next <= loads.back()) break;
    loads.push_back(next);
  }
  return loads;
}

std::shared_ptr<const ai::LoadPlan> plan_of(const ai::ServingTrace& trace, size_t count) {
  auto plan = std::make_shared<ai::LoadPlan>();
  plan->reserve(count);
  for (size_t i = 0; i < std::min(count, trace.requests.size()); ++i) {
    plan->push_back({trace.requests[i].arrival_s, trace.requests[i].after});
  }
  return plan;
}

class LoadReader {
 public:
  LoadReader(const BenchArguments& arguments, double duration_s, uint64_t seed)
      : arguments_(arguments), duration_s_(duration_s), seed_(seed) {}

  Result<ClientLoads> read() {
    auto clients = loads_of(arguments_.concurrency, "--concurrency", true);
    if (!clients) return clients.error();
    auto rates = loads_of(arguments_.rates, "--rate", false);
    if (!rates) return rates.error();
    if (!clients->empty() && !rates->empty()) {
      return usage_error("bad-usage", "a rate of arrivals, and clients that wait for their answers", "--concurrency",
                         "--rate or --concurrency");
    }
    result_.by_rate = !rates->empty();
    const std::vector<double>& loads = result_.by_rate ? *rates : *clients;
    if (Status taken = take_trace(loads); !taken) return taken.error();
    for (const double load : loads) result_.loads.push_back(load_at(load));
    if (loads.empty()) result_.loads.push_back(replay());
    if (trace_) result_.trace = std::move(trace_);
    return std::move(result_);
  }

 private:
  // A trace of the file, or a drawn one that is long enough for the highest rate.
  Status take_trace(const std::vector<double>& loads) {
    if (!arguments_.trace.empty()) return read_trace(loads.empty());
    const bool is_drawn = arguments_.given("--turns") || arguments_.given("--spread") || arguments_.given("--burst");
    if (!is_drawn) return check_unused(*arguments_.verb, "requests without turns", {"--think-time"}, "--turns with it");
    if (!result_.by_rate) {
      Status unused = check_unused(*arguments_.verb, "clients that wait for their answers", {"--burst"}, "--rate");
      if (!unused) return unused;
    }
    ai::ServingTrace drawn = drawn_for(loads.back());
    trace_ = std::make_shared<const ai::ServingTrace>(std::move(drawn));
    return {};
  }

  int64_t requests_at(double load) const {
    const double wanted = result_.by_rate ? std::ceil(load * duration_s_) : static_cast<double>(kDrawnForClients);
    const auto most = arguments_.max_queries > 0 ? std::min(arguments_.max_queries, kMostDrawn) : kMostDrawn;
    return static_cast<int64_t>(std::clamp(wanted, 1.0, static_cast<double>(most)));
  }

  ai::ServingTrace drawn_for(double load) const {
    ai::TraceShape shape = arguments_.shape;
    shape.requests = requests_at(load);
    shape.prompt_tokens = static_cast<double>(arguments_.system.prompt_length);
    shape.output_tokens = static_cast<double>(std::max<int64_t>(arguments_.system.max_tokens, 1));
    shape.seed = seed_;
    shape.rate_per_s = 0;
    return ai::draw_trace(shape);
  }

  Status read_trace(bool by_itself) {
    Status unused = check_unused(
        *arguments_.verb, "a trace, which has its own requests",
        {"--prompts", "--prompt-words", "--max-tokens", "--samples", "--turns", "--spread", "--think-time"});
    if (unused && by_itself) {
      unused = check_unused(*arguments_.verb, "a trace at its own times", {"--burst"}, "--rate with it");
    }
    if (!unused) return unused;
    auto read = read_trace_option(arguments_.trace, by_itself);
    if (!read) return read.error();
    if (static_cast<int64_t>(read->trace.requests.size()) > ai::kMostOutstandingSamples) {
      read->trace.requests.resize(static_cast<size_t>(ai::kMostOutstandingSamples));
      read->notes.push_back("only the first " + std::to_string(ai::kMostOutstandingSamples) + " requests are used");
    }
    for (const std::string& note : read->notes) result_.notes.push_back("trace, " + read->form + ": " + note);
    trace_ = std::make_shared<const ai::ServingTrace>(std::move(read->trace));
    return {};
  }

  ClientLoad load_at(double load) const {
    ClientLoad made;
    made.load = load;
    made.scenario = result_.by_rate ? (trace_ ? ai::LoadScenario::kTrace : ai::LoadScenario::kServer)
                                    : ai::LoadScenario::kConcurrency;
    if (!trace_) return made;
    if (!result_.by_rate) {
      made.plan = plan_of(*trace_, trace_->requests.size());
      return made;
    }
    ai::ServingTrace timed;
    const auto count = arguments_.trace.empty() ? static_cast<size_t>(requests_at(load)) : trace_->requests.size();
    timed.requests.assign(trace_->requests.begin(), trace_->requests.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                                   count, trace_->requests.size())));
    const auto firsts = std::count_if(timed.requests.begin(), timed.requests.end(),
                                      [](const ai::ServingRequest& request) { return request.after < 0; });
    const double share = static_cast<double>(firsts) / static_cast<double>(timed.requests.size());
    ai::draw_arrivals(timed, load * share, arguments_.shape.burst, seed_);
    made.plan = plan_of(timed, timed.requests.size());
    return made;
  }

  // At its own times; its rate is that of its requests.
  ClientLoad replay() const {
    ClientLoad made;
    made.scenario = ai::LoadScenario::kTrace;
    made.plan = plan_of(*trace_, trace_->requests.size());
    double last_s = 0;
    for (const ai::PlannedQuery& query : *made.plan) {
      if (query.after < 0) last_s = query.at_s;
    }
    made.load = last_s > 0 ? static_cast<double>(made.plan->size()) / last_s : 1;
    return made;
  }

  const BenchArguments& arguments_;
  double duration_s_;
  uint64_t seed_;
  ClientLoads result_;
  std::shared_ptr<const ai::ServingTrace> trace_;
};

}  // namespace

bool asks_for_clients(const BenchArguments& arguments) {
  return !arguments.concurrency.empty() || !arguments.rates.empty() || !arguments.trace.empty();
}

Result<ClientLoads> client_loads(const BenchArguments& arguments, double duration_s, uint64_t seed) {
  return LoadReader(arguments, duration_s, seed).read();
}

}  // namespace perfcast::cli
