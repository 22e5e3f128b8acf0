#include "ai/serving_plan/serving_plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "ai/llm/operator_graph.h"
#include "ai/serving/serving_columns.h"
#include "ai/serving/serving_report.h"
#include "ai/serving_plan/service_trials.h"
#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

using enum Quantity;
enum class PlanForm : uint8_t { kText, kJson, kCsv };

std::string name_of_device(const ServingPlan& plan, const PlannedService& service) {
  return printable(plan.request.service.devices[service.device].facts.name);
}

std::string count_of(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string service_words(const ServingPlan& plan, const PlannedService& service) {
  const std::string name = name_of_device(plan, service);
  if (service.tensor_parallel == 1) return fmt::format("{} x {}", service.replicas, name);
  return fmt::format("{} of {} x {}", count_of(service.replicas, "replica"), service.tensor_parallel, name);
}

// "3 replicas of 4 x H100: 12 devices, 36.00 USD an hour, 1.24 USD per million tokens"
std::string service_line(const ServingPlan& plan, const PlannedService& service) {
  std::vector<std::string> parts = {count_of(service.devices(), "device")};
  if (!std::isnan(service.cost_per_hour)) parts.push_back(money_text(service.cost_per_hour) + " USD an hour");
  if (std::isfinite(service.row.cost_per_million)) {
    parts.push_back(money_text(service.row.cost_per_million) + " USD per million tokens");
  }
  if (plan.request.goal == PlanGoal::kPower && !std::isnan(service.power_w)) {
    parts.push_back(fmt::format("{:.0f} W", service.power_w));
  }
  return service_words(plan, service) + ": " + join(parts, ", ");
}

// With as many digits as tell a missed share from what was asked for.
std::string kept_text(const ObjectiveOutcome& outcome) {
  int decimals = 1;
  while (!outcome.met && decimals < 4 &&
         percent(outcome.kept_share, decimals) == percent(outcome.objective.share, decimals)) {
    ++decimals;
  }
  return percent(outcome.kept_share, decimals);
}

// What goes wrong with a service; empty: nothing.
std::string miss_words(const ServingSummary& summary) {
  if (summary.pace == Pace::kFallsBehind) {
    return fmt::format("it falls behind: each second {} more requests are in it", human_number(summary.growth_per_s));
  }
  for (const ObjectiveOutcome& outcome : summary.objectives) {
    if (outcome.met) continue;
    return fmt::format("{} of the requests keep {}, {} were asked for", kept_text(outcome),
                       printable(outcome.objective.text), percent(outcome.objective.share));
  }
  if (summary.pace == Pace::kTooShort) return "the load is too short to tell whether it keeps up";
  if (summary.refused > 0) return fmt::format("{} are refused: too long", count_of(summary.refused, "request"));
  return "";
}

std::string state_lines(const ServingPlan& plan, const PlannedService& service) {
  const ServingSummary& forecast = service.row.forecast;
  std::string text =
      fmt::format("{} {}; first token after {} in the median, {} at 95%",
                  forecast.pace == Pace::kKeepsUp ? "keeps up with" : "under", printable(plan.request.load.words),
                  human_seconds(forecast.first_token.p50), human_seconds(forecast.first_token.p95));
  if (!std::isnan(forecast.further_token.p50)) {
    text += fmt::format("; each further one {} and {}", human_seconds(forecast.further_token.p50),
                        human_seconds(forecast.further_token.p95));
  }
  text += "\n";
  for (const ObjectiveOutcome& outcome : forecast.objectives) {
    text += fmt::format("{}: {} of the requests keep it, {} were asked for: {}\n", printable(outcome.objective.text),
                        kept_text(outcome), percent(outcome.objective.share), outcome.met ? "met" : "NOT MET");
  }
  return text;
}

std::string load_at(const PlanLoad& load, double factor) {
  if (load.concurrency > 0) {
    return count_of(std::llround(std::floor(factor * real_of(load.concurrency) + 1e-9)), "client");
  }
  return human_number(factor * load.rate_per_s) + " requests/s";
}

std::string headroom_line(const ServingPlan& plan) {
  const LoadLimit& limit = *plan.headroom;
  const PlanLoad& load = plan.request.load;
  if (limit.is_floor) return fmt::format("headroom: more than {:.0f} x this load\n", limit.factor);
  return fmt::format("headroom: {} more, up to {} ({:.2f} x this load); beyond that, {}\n",
                     load_at(load, limit.factor - 1), load_at(load, limit.factor), limit.factor,
                     miss_words(limit.beyond.forecast));
}

std::string sureness_line(const ServingPlan& plan) {
  const PlanSureness& sureness = *plan.sureness;
  std::string text =
      fmt::format("forecast error: the plan holds for {} of {} likely errors", sureness.held, PlanSureness::kDraws);
  if (sureness.held >= PlanSureness::kEnough) return text + "\n";
  if (!sureness.sure) {
    return text + fmt::format("; no number of these devices holds in {}\n", PlanSureness::kEnough);
  }
  return text + fmt::format("; {} would hold in {}: {}\n", service_words(plan, *sureness.sure), PlanSureness::kEnough,
                            service_line(plan, *sureness.sure).substr(service_words(plan, *sureness.sure).size() + 2));
}

// Periods until the load is so many times as large.
double periods_to(const PlanGrowthRate& rate, double factor) { return std::log(factor) / std::log1p(rate.ratio); }

std::string growth_line(const ServingPlan& plan) {
  const PlanGrowthRate& rate = *plan.request.growth_rate;
  const double periods = periods_to(rate, plan.headroom->factor);
  return fmt::format("growth: at {} more each {}, the plan is outgrown {} {:.1f} {}s\n", percent(rate.ratio, 0),
                     rate.period, plan.headroom->is_floor ? "later than after" : "after", periods, rate.period);
}

std::string limits_words(const ServingPlanRequest& request) {
  std::vector<std::string> limits;
  if (request.most_cost_per_hour) limits.push_back(money_text(*request.most_cost_per_hour) + " USD an hour");
  if (request.most_devices) limits.push_back(count_of(*request.most_devices, "device"));
  return join(limits, " and ");
}

// Where no service is enough, or none within the limits.
std::string no_plan_text(const ServingPlan& plan) {
  const PlannedService& first = plan.services.front();
  if (first.holds()) {
    std::string text =
        "no plan within " + limits_words(plan.request) + "; without limits: " + service_line(plan, first) + "\n";
    if (plan.most_allowed) {
      text += fmt::format("with {}: {}\n", service_words(plan, *plan.most_allowed),
                          miss_words(plan.most_allowed->row.forecast));
    }
    return text;
  }
  const auto kept = [](const PlannedService& service) {
    double least = service.row.requests > 0 ? 1 : -1;
    for (const auto& outcome : service.row.forecast.objectives) {
      least = std::min(least, outcome.kept_share / outcome.objective.share);
    }
    return least;
  };
  const auto nearest =
      std::max_element(plan.services.begin(), plan.services.end(),
                       [&](const PlannedService& a, const PlannedService& b) { return kept(a) < kept(b); });
  return fmt::format(
      "no plan: no number of {} is enough\nnearest: {} x {}: {}\n",
      plan.services.size() == 1 ? "these devices" : fmt::format("devices of any of {} kinds", plan.services.size()),
      nearest->tensor_parallel, name_of_device(plan, *nearest), nearest->problem);
}

std::string head_lines(const ServingPlan& plan) {
  const ServingRequestFor& service = plan.request.service;
  const EngineProfile& profile = *service.profile;
  std::string text =
      fmt::format("{} ({}): {} parameters; weights {}, activations {}, cache {}\n", service.config.name,
                  service.config.source, human_number(real_of(plan.parameters)),
                  weights_name(service.config, service.formats.weights, service.formats.weight_bits_per_value),
                  info(service.formats.activations).name, info(service.formats.kv).name);
  const ServingRow& row = plan.services.front().row;
  text += fmt::format("engine: {} {}; router {}\n", profile.name, profile.version, name_of(service.router));
  text += fmt::format("load: {}; {} of it simulated, prompts of {} tokens, outputs of {} in the mean\n",
                      printable(plan.request.load.words), count_of(row.requests, "request"),
                      human_number(row.prompt_tokens), human_number(row.output_tokens));
  return text;
}

ReportTable services_table(const ServingPlan& plan, const std::vector<PlannedService>& services, PlanForm form) {
  using Row = PlannedService;
  const auto if_holds = [](auto of) {
    return [of](const Row& row) { return row.holds() ? ReportValue(of(row)) : ReportValue(); };
  };
  const auto name = [form](const char* stem, const char* unit, const char* part) {
    return form == PlanForm::kJson ? fmt::format("{}{}.{}", stem, unit, part)
                                   : fmt::format("{}_{}{}", stem, part, unit);
  };
  const bool shares = std::any_of(services.begin(), services.end(),
                                  [](const Row& row) { return row.holds() && row.tensor_parallel > 1; });
  std::vector<ColumnOf<Row>> columns = {
      {"device", "device", kText, [&](const Row& row) { return plan.request.service.devices[row.device].facts.name; }},
      {"host_cpu", "", kText,
       [&](const Row& row) { return unless_empty(plan.request.service.devices[row.device].host.cpu); }},
      {"tensor_parallel", shares ? "in a replica" : "", kCount,
       if_holds([](const Row& row) { return row.tensor_parallel; })},
      {"replicas", shares ? "replicas" : "", kCount, if_holds([](const Row& row) { return row.replicas; })},
      {"devices", "devices", kCount, if_holds([](const Row& row) { return row.devices(); })},
      {"simulated_replicas", "", kCount, if_holds([](const Row& row) { return row.simulated_replicas; })},
      {"cost_per_hour_usd", "USD/hour", kMoney, if_holds([](const Row& row) { return row.cost_per_hour; })},
      {"cost_per_million_output_tokens_usd", "USD/M tokens", kMoney,
       if_holds([](const Row& row) { return row.row.cost_per_million; })},
      {"power_w", "power, W", kCount, if_holds([](const Row& row) {
         return std::isnan(row.power_w) ? ReportValue() : ReportValue(std::llround(row.power_w));
       })},
      {"within_limits", "", kYes, if_holds([](const Row& row) { return row.within_limits; })},
      {"problem", "", kText, [](const Row& row) { return unless_empty(row.problem); }},
      {name("first_token", "_s", "p50"), "", kSeconds,
       if_holds([](const Row& row) { return row.row.forecast.first_token.p50; })},
      {name("first_token", "_s", "p95"), "first token 95%", kSpreadSeconds,
       if_holds([](const Row& row) { return row.row.forecast.first_token.p95; })},
      {name("further_token", "_s", "p50"), "", kSeconds,
       if_holds([](const Row& row) { return row.row.forecast.further_token.p50; })},
      {name("further_token", "_s", "p95"), "per token 95%", kSpreadSeconds,
       if_holds([](const Row& row) { return row.row.forecast.further_token.p95; })},
      {"output_tokens_per_s", "tokens/s", kHuman, if_holds([](const Row& row) { return row.output_tokens_per_s; })},
      {"running", "", kHuman, if_holds([](const Row& row) { return row.row.forecast.mean_running; })},
      {"busy_share", "", kShare, if_holds([](const Row& row) { return row.row.forecast.busy_share; })},
      {"cache_use_most_share", "", kShare, if_holds([](const Row& row) { return row.row.forecast.most_cache_use; })}};
  const auto& objectives = plan.request.service.objectives;
  for (size_t i = 0; i < objectives.size() && form != PlanForm::kJson; ++i) {
    columns.push_back({"kept_share" + (objectives.size() > 1 ? "_" + std::to_string(i + 1) : ""),
                       "keep " + objectives[i].text, kShare,
                       if_holds([i](const Row& row) { return row.row.forecast.objectives[i].kept_share; }), 1});
  }
  columns.push_back({"engine_unmeasured", "", kText,
                     [](const Row& row) { return unless_empty(unmeasured_in_words(row.row.unmeasured)); }});
  return table_of<Row>("", services, columns);
}

ReportTable growth_table(const ServingPlan& plan) {
  using Row = PlanGrowth;
  const auto if_holds = [](auto of) {
    return [of](const Row& row) { return row.service.holds() ? ReportValue(of(row.service)) : ReportValue(); };
  };
  const auto load_words = [&](const Row& row) {
    const auto& rate = plan.request.growth_rate;
    std::string words = fmt::format("x {:.3g}", row.load_factor);
    if (rate) {
      words +=
          fmt::format(", after {}", count_of(std::llround(periods_to(*rate, row.load_factor)), rate->period.c_str()));
    }
    return words;
  };
  return table_of<Row>(
      "", plan.growth,
      {{"load_factor", "load", kText, [](const Row& row) { return row.load_factor; }, load_words},
       {"replicas", "replicas", kCount, if_holds([](const PlannedService& service) { return service.replicas; })},
       {"devices", "devices", kCount, if_holds([](const PlannedService& service) { return service.devices(); })},
       {"cost_per_hour_usd", "USD/hour", kMoney,
        if_holds([](const PlannedService& service) { return service.cost_per_hour; })},
       {"problem", "", kText, [](const Row& row) { return unless_empty(row.service.problem); }}});
}

Json service_json(const ServingPlan& plan, const PlannedService& service) {
  Json json = rows_json(services_table(plan, {service}, PlanForm::kJson))[0];
  const auto& outcomes = service.row.forecast.objectives;
  if (service.holds() && !outcomes.empty()) json["objectives"] = rows_json(objective_table(outcomes));
  return json;
}

// Devices without a service, by reason.
void add_left_out(const ServingPlan& plan, std::vector<std::string>& notes) {
  if (std::none_of(plan.services.begin(), plan.services.end(), [](const auto& service) { return service.holds(); }) &&
      plan.services.size() == 1) {
    return;  // the first lines say it
  }
  std::map<std::string, std::vector<std::string>> names;
  const std::string most = std::to_string(plan.request.tensor_parallel.back());
  for (const PlannedService& service : plan.services) {
    if (service.holds()) continue;
    const std::string reason =
        service.code == "no-memory"      ? "the model does not fit " + (most == "1" ? "it" : most + " of them")
        : service.code == "unknown-fact" ? "facts that a forecast needs are not known"
        : service.code == "too-long"     ? "requests are longer than its cache"
        : service.code == "objectives"   ? "the objectives are missed even if no request meets another"
                                         : "no number of devices that was tried is enough";
    names[reason].push_back(name_of_device(plan, service));
  }
  for (const auto& [reason, devices] : names)
    notes.push_back(fmt::format("left out, {}: {}", reason, join(devices, ", ")));
}

void add_service_notes(const ServingPlan& plan, std::vector<std::string>& notes) {
  ServingResult result;
  result.request = plan.request.service;
  result.request.loads = {{.words = plan.request.load.words, .trace = {}}};
  for (const PlannedService& service : plan.services) {
    if (service.holds()) result.rows.push_back(service.row);
  }
  if (result.rows.empty()) return;
  for (std::string& note : report_serving(std::move(result)).notes) notes.push_back(std::move(note));
}

}  // namespace

ServingPlanReport report_serving_plan(ServingPlan plan, std::vector<std::string> notes) {
  ServingPlanReport report{std::move(plan), std::move(notes)};
  const ServingPlan& made = report.plan;
  add_left_out(made, report.notes);
  if (made.request.service.objectives.empty()) {
    report.notes.emplace_back("no objective is named: the plan keeps up, however long a request takes (--objective)");
  }
  if (std::any_of(made.services.begin(), made.services.end(), [](const PlannedService& service) {
        return service.holds() && service.simulated_replicas < service.replicas;
      })) {
    report.notes.emplace_back(
        "of more than 8 replicas, 8 are simulated with their share of the load; all up to 300 of the plan and of those "
        "near to it");
  }
  add_service_notes(made, report.notes);
  return report;
}

std::string serving_plan_text(const ServingPlanReport& report) {
  const ServingPlan& plan = report.plan;
  const PlannedService& first = plan.services.front();
  std::string text;
  if (plan.has_plan()) {
    text = "plan: " + service_line(plan, first) + "\n" + state_lines(plan, first) + headroom_line(plan) +
           sureness_line(plan);
    if (plan.request.growth_rate) text += growth_line(plan);
  } else {
    text = no_plan_text(plan);
  }
  text += head_lines(plan);
  std::vector<PlannedService> enough;
  std::copy_if(plan.services.begin(), plan.services.end(), std::back_inserter(enough),
               [](const PlannedService& service) { return service.holds(); });
  if (enough.size() > 1) {
    text += "\nthe least of each device\n" + rows_text(services_table(plan, enough, PlanForm::kText));
  }
  if (!plan.growth.empty()) {
    text += "\nif the load grows, of the plan's kind\n" + rows_text(growth_table(plan));
  }
  text += "\n";
  for (const std::string& note : report.notes) text += "note: " + printable(note) + "\n";
  return text;
}

std::string serving_plan_csv(const ServingPlanReport& report) {
  return rows_csv(services_table(report.plan, report.plan.services, PlanForm::kCsv),
                  {.digits = 9, .yes = "true", .no = "false"});
}

Json serving_plan_json(const ServingPlanReport& report) {
  const ServingPlan& plan = report.plan;
  const ServingPlanRequest& request = plan.request;
  const PlannedService& first = plan.services.front();
  Json json{{"schema", "perfcast.serving-plan/1"},
            {"model", request.service.config.name},
            {"source", request.service.config.source},
            {"parameters", plan.parameters},
            {"engine", request.service.profile->name + " " + request.service.profile->version},
            {"engine_basis", name_of(request.service.profile->basis)},
            {"goal", name_of(request.goal)},
            {"meets", plan.has_plan()}};
  if (plan.has_plan()) {
    json["plan"] = service_json(plan, first);
  } else if (first.holds()) {
    json["plan_without_limits"] = service_json(plan, first);
  }
  if (plan.most_allowed) {
    Json& allowed = json["most_allowed"] = service_json(plan, *plan.most_allowed);
    allowed["problem"] = miss_words(plan.most_allowed->row.forecast);
    const ServingSummary& forecast = plan.most_allowed->row.forecast;
    if (forecast.pace == Pace::kFallsBehind) allowed["growth_per_s"] = forecast.growth_per_s;
  }
  Json& load = json["load"] = Json::object();
  put_known(load, "rate_per_s", request.load.rate_per_s);
  if (request.load.concurrency > 0) load["concurrency"] = request.load.concurrency;
  if (first.row.requests > 0) {
    load["requests_simulated"] = first.row.requests;
    load["prompt_tokens_mean"] = first.row.prompt_tokens;
    load["output_tokens_mean"] = first.row.output_tokens;
  }
  if (plan.headroom) {
    const LoadLimit& limit = *plan.headroom;
    Json& headroom = json["headroom"] =
        Json{{"load_factor_limit", limit.factor}, {"load_factor_limit_is_floor", limit.is_floor}};
    put_known(headroom, "rate_limit_per_s", limit.factor * request.load.rate_per_s);
    if (request.load.concurrency > 0) {
      headroom["concurrency_limit"] = std::llround(std::floor(limit.factor * real_of(request.load.concurrency) + 1e-9));
    }
    if (!limit.is_floor) headroom["then"] = miss_words(limit.beyond.forecast);
  }
  if (plan.sureness) {
    Json& sureness = json["forecast_error"] = Json{{"draws", PlanSureness::kDraws},
                                                   {"draws_held", plan.sureness->held},
                                                   {"holds", plan.sureness->held >= PlanSureness::kEnough}};
    if (plan.sureness->sure) sureness["holds_with"] = service_json(plan, *plan.sureness->sure);
  }
  if (request.growth_rate && plan.headroom) {
    const PlanGrowthRate& rate = *request.growth_rate;
    json["growth_rate"] =
        Json{{"ratio", rate.ratio}, {"period", rate.period}, {"periods_held", periods_to(rate, plan.headroom->factor)}};
  }
  if (!plan.growth.empty()) json["growth"] = rows_json(growth_table(plan));
  Json& rows = json["rows"] = Json::array();
  for (const PlannedService& service : plan.services) rows.push_back(service_json(plan, service));
  json["simulations"] = plan.simulations;
  json["notes"] = report.notes;
  return json;
}

}  // namespace perfcast::ai
