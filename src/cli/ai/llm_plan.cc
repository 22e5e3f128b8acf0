#include "cli/ai/llm_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "ai/serving_plan/plan_load.h"
#include "ai/serving_plan/serving_plan_report.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/ai/llm_devices.h"
#include "cli/option_table.h"
#include "cli/shared/table_options.h"

namespace perfcast::cli {
namespace {

constexpr int64_t kMostDegree = 1024;
constexpr const char* kPeriods[] = {"day", "week", "month", "quarter", "year"};
constexpr int kPeriodsToPlanFor[] = {3, 6, 12};
constexpr double kMostFactor = 1000;

Error bad_growth(const std::string& text) {
  return usage_error("bad-usage", "'" + printable(text) + "' is no growth", "--growth",
                     "factors of the load above 0, such as 1.25,1.5,2; a rate, such as 20%/month; or none");
}

// "20%/month"
Result<ai::PlanGrowthRate> growth_rate_of(const std::string& text) {
  const size_t percent = text.find('%'), slash = text.find('/', percent);
  if (slash == std::string::npos) return bad_growth(text);
  const auto number = parse_number(trim(text.substr(0, percent)));
  const std::string period(trim(text.substr(slash + 1)));
  if (!number || !(*number > 0) || *number > 1000 ||
      std::find(std::begin(kPeriods), std::end(kPeriods), period) == std::end(kPeriods)) {
    Error error = bad_growth(text);
    error.expected = "a rate such as 20%/month, of a day, week, month, quarter or year";
    return error;
  }
  return ai::PlanGrowthRate{*number / 100, period};
}

Result<std::vector<int64_t>> degrees_of(const std::vector<std::string>& texts) {
  auto degrees = counts_of(texts, "--tensor-parallel");
  if (!degrees) return degrees.error();
  std::sort(degrees->begin(), degrees->end());
  degrees->erase(std::unique(degrees->begin(), degrees->end()), degrees->end());
  if (degrees->empty() || degrees->back() > kMostDegree) {
    return usage_error(
        "bad-usage",
        degrees->empty() ? "no number of devices" : std::to_string(degrees->back()) + " devices share a model",
        "--tensor-parallel", "numbers from 1 to " + std::to_string(kMostDegree) + ", as in 1,2,4,8");
  }
  return degrees;
}

}  // namespace

Status take_load_growth(const std::vector<std::string>& texts, ai::ServingPlanRequest& request) {
  for (const std::string& text : list_of(texts)) {
    if (text == "none") continue;
    if (text.find('%') != std::string::npos) {
      if (request.growth_rate || !request.growth.empty()) return bad_growth(join(list_of(texts), ","));
      const auto rate = growth_rate_of(text);
      if (!rate) return rate.error();
      request.growth_rate = *rate;
      for (const int periods : kPeriodsToPlanFor) {
        const double factor = std::pow(1 + rate->ratio, periods);
        if (factor <= kMostFactor) request.growth.push_back(factor);
      }
      continue;
    }
    const auto factor = parse_number(text);
    if (!factor || !(*factor > 0) || *factor > kMostFactor || request.growth_rate) return bad_growth(text);
    request.growth.push_back(*factor);
  }
  return {};
}

void add_llm_plan_options(CLI::App& verb, LlmPlanArguments& arguments) {
  ServingArguments& serving = arguments.serving;
  serving.verb = &verb;
  serving.command = "perfcast capacity --llm";
  serving.any_device = true;
  add_basic(verb, "--on", serving.on, "DEVICE,...",
            "The devices to choose from, such as H100,L40S. Default: those that --price names, else all.");
  add_basic(verb, "--price", serving.prices, "DEVICE=USD",
            "US dollars per hour of one device, such as H100=3.5, or one number for all.");
  add_serving_load_options(verb, serving);
  add_basic(verb, "--tensor-parallel", arguments.degrees, "N,...", "How many devices may share a replica's layers.")
      ->capture_default_str();
  add_advanced(verb, "--confidence", arguments.confidence, "SHARE",
               "The plan must hold in this share of the draws of the forecast's error, such as 0.9. Default: it must "
               "hold for the forecast itself.")
      ->check(CLI::Range(0.01, 0.99));
  add_serving_engine_options(verb, serving);
  add_engine_option(verb, serving.engine);
  add_llm_precision_options(verb, serving.precision, false);
  add_advanced(verb, "--device-file", serving.device_file, "FILE",
               "Adds the facts of more devices from this file (JSON).");
  add_advanced(verb, "--csv", serving.csv, "Prints one line of CSV for each device.");
}

int run_llm_plan(const CommonOptions& common, const LlmPlanArguments& arguments, ai::ServingPlanRequest request,
                 std::optional<ai::PlanGoal> goal) {
  const ServingArguments& serving = arguments.serving;
  if (Status fine = check_serving(serving, common); !fine) return report_error(fine.error(), common);
  auto degrees = degrees_of(arguments.degrees);
  if (!degrees) return report_error(degrees.error(), common);
  request.tensor_parallel = *std::move(degrees);
  auto service = serving_request_of(serving);
  if (!service) return report_error(service.error(), common);
  request.service = *std::move(service);
  request.goal = goal.value_or(serving.prices.empty() ? ai::PlanGoal::kDevices : ai::PlanGoal::kCost);
  std::vector<std::string> notes;
  const auto loads = serving_loads_of(serving, common.seed, notes);
  if (!loads) return report_error(loads.error(), common);
  auto load = ai::plan_load_of(*loads);
  if (!load) return report_error(load.error(), common);
  request.load = *std::move(load);
  request.confidence = arguments.confidence;
  if (request.load.concurrency > 0 && request.service.objectives.empty()) {
    return report_error(usage_error("bad-usage", "clients wait for whatever comes: one device is enough for any number",
                                    "--objective", "limits, such as --objective ttft=1s,tpot=50ms,share=95%"),
                        common);
  }
  ProgressLine progress(common);
  request.progress = [&progress](const ai::PlanProgress& now) {
    progress.show(fmt::format("{}: {} simulations", now.stage, now.simulations));
  };
  auto plan = ai::plan_serving(std::move(request));
  if (!plan) return report_error(as_usage(with_option_names(plan.error(), *serving.verb)), common);
  ai::ServingPlanReport report = ai::report_serving_plan(*std::move(plan), std::move(notes));
  if (common.quiet && !common.json) report.notes.clear();
  if (serving.csv) {
    for (const std::string& note : report.notes) std::fprintf(stderr, "note: %s\n", printable(note).c_str());
  }
  const int written = write_result(common.json   ? to_text(ai::serving_plan_json(report))
                                   : serving.csv ? ai::serving_plan_csv(report)
                                                 : ai::serving_plan_text(report),
                                   common);
  // Scripts ask whether there is a plan.
  return written == kExitDone && !report.plan.has_plan() ? kExitFailure : written;
}

}  // namespace perfcast::cli
