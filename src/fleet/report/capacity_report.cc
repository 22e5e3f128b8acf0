#include "fleet/report/capacity_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/report/table.h"
#include "base/significant.h"
#include "base/text.h"

namespace perfcast::fleet {
namespace {

using Align = TextTable::Align;

constexpr double kSaturated = 0.99;  // share of the highest rate that nodes can carry

Json plan_json(const CapacityAnswer& answer, const NodePlan& nodes) {
  Json json = Json::object();
  for (size_t g = 0; g < nodes.size(); ++g) json[answer.platforms[g]] = nodes[g];
  return json;
}

std::string number(double value, int decimals) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, decimals);
}

std::string metric_text(ServiceMetric metric, double value) {
  if (std::isnan(value)) return "-";
  if (info(metric).at_least) return fmt::format("{:.2f}%", 100 * value);
  if (!info(metric).is_time) return significant(value, 3);
  return value > 0 ? human_seconds(value) : "0 s";
}

// A share of the target; where it is missed, by how much: shares of jobs stand in the other columns already.
std::string slack_text(const ServiceResult& row) {
  if (std::isnan(row.slack)) return "-";
  if (row.slack >= 0) return percent(row.slack, 0);
  if (info(row.objective.metric).at_least) return "none";
  return fmt::format("none, {} x target", significant(1 - row.slack, 3));
}

// All columns, in the order of JSON.
ReportTable service_table(const std::vector<ServiceResult>& service, bool with_slack) {
  using enum Quantity;
  using Row = ServiceResult;
  const auto value = [](const char* name, double Row::*of, const char* title = nullptr) {
    return ColumnOf<Row>(name, title == nullptr ? name : title, kNumber, of,
                         [of](const Row& row) { return metric_text(row.objective.metric, row.*of); });
  };
  const auto limit = [](const Row& row) {
    return std::isnan(row.rate_limit)
               ? "-"
               : fmt::format("{}{:.2f} x load", row.rate_limit_is_floor ? "over " : "", row.rate_limit);
  };
  ReportTable table =
      table_of<Row>("", service,
                    {{"objective", "objective", kText, [](const Row& row) { return info(row.objective.metric).name; },
                      [](const Row& row) { return info(row.objective.metric).text; }},
                     {"target", "target", kNumber, [](const Row& row) { return row.objective.target; },
                      [](const Row& row) {
                        return (info(row.objective.metric).at_least ? ">= " : "<= ") +
                               metric_text(row.objective.metric, row.objective.target);
                      }},
                     {"meets", " ", kText, &Row::meets, [](const Row& row) { return row.meets ? "meets" : "MISSES"; }},
                     value("median", &Row::median),
                     value("low", &Row::low),
                     value("high", &Row::high),
                     value("kept", &Row::kept, "counts"),
                     {with_slack ? "slack" : "", "slack", kShare, [](const Row& row) { return row.slack; }, slack_text},
                     {with_slack ? "rate_factor_limit" : "", "holds up to", kNumber, &Row::rate_limit, limit},
                     {with_slack ? "rate_factor_limit_is_floor" : "", "", kYes, [](const Row& row) {
                        return std::isnan(row.rate_limit) ? ReportValue() : ReportValue(row.rate_limit_is_floor);
                      }}});
  table.shows_unknown = true;
  return table;
}

void put_plan(Json& json, const CapacityAnswer& answer, const PlanResult& plan, bool with_slack) {
  json["plan"] = plan_json(answer, plan.nodes);
  put_known(json, "cost", plan.cost_per_hour);
  json["meets"] = plan.meets;
  json["draws"] = plan.draws;
  json["draws_held"] = plan.draws_held;
  json["nodes"] = plan.node_count;
  put_known(json, "average_power_w", plan.average_power_w);
  put_known(json, "fluid_load", plan.fluid_load);
  Json utilisation = Json::object();
  for (size_t g = 0; g < plan.utilisation.size(); ++g) {
    put_known(utilisation, answer.platforms[g], plan.utilisation[g]);
  }
  json["utilisation"] = std::move(utilisation);
  json["service"] = rows_json(service_table(plan.service, with_slack));
}

std::string plan_text(const CapacityAnswer& answer, const NodePlan& nodes) {
  std::vector<std::string> parts;
  for (size_t g = 0; g < nodes.size(); ++g) {
    if (nodes[g] > 0) parts.push_back(fmt::format("{} x {}", nodes[g], printable(answer.platforms[g])));
  }
  return parts.empty() ? "no nodes" : join(parts, " + ");
}

std::string cost_text(const CapacityAnswer& answer, double cost) {
  if (std::isnan(cost)) return "no price known";
  // Small prices in full: 0.145, not 0.14.
  return fmt::format("{:.{}f}{}{} an hour", cost, cost < 1 ? 3 : 2, answer.currency.empty() ? "" : " ",
                     printable(answer.currency));
}

std::string value_text(const CapacityAnswer& answer, double value) {
  if (std::isnan(value)) return "-";
  if (answer.goal == CapacityGoal::kCost) return cost_text(answer, value);
  if (answer.goal == CapacityGoal::kPower) return fmt::format("{:.0f} W", value);
  return fmt::format("{:.0f} node{}", value, std::round(value) == 1 ? "" : "s");
}

std::string rate_text(double jobs_per_s) {
  return jobs_per_s < 1 ? human_number(3600 * jobs_per_s) + " jobs/h" : human_number(jobs_per_s) + " jobs/s";
}

std::string plan_table(const CapacityAnswer& answer) {
  TextTable table;
  table.add_column("platform", Align::kLeft);
  table.add_column("nodes", Align::kRight);
  table.add_column("used", Align::kRight);
  for (size_t g = 0; g < answer.platforms.size(); ++g) {
    if (answer.plan.nodes[g] == 0) continue;
    table.add_row(
        {printable(answer.platforms[g]), std::to_string(answer.plan.nodes[g]), percent(answer.plan.utilisation[g], 0)});
  }
  return table.to_text();
}

std::string sensitivity_table(const CapacityAnswer& answer) {
  TextTable table;
  table.add_column("forecast error", Align::kRight);
  for (const ServiceResult& result : answer.plan.service) {
    table.add_column(info(result.objective.metric).text, Align::kRight);
  }
  table.add_column("", Align::kLeft);
  for (const SensitivityRow& row : answer.sensitivity) {
    std::vector<std::string> cells = {percent(row.error_ratio, 0)};
    for (const ServiceResult& result : row.service) cells.push_back(metric_text(result.objective.metric, result.kept));
    cells.emplace_back(row.meets ? "meets" : "MISSES");
    table.add_row(std::move(cells));
  }
  return table.to_text();
}

std::string growth_table(const CapacityAnswer& answer) {
  TextTable table;
  table.add_column("load", Align::kRight);
  table.add_column("plan", Align::kLeft);
  table.add_column(answer.goal == CapacityGoal::kCost ? "cost" : "value", Align::kRight);
  table.add_column("lower bound", Align::kRight);
  table.add_column("", Align::kLeft);
  for (const GrowthRow& row : answer.growth) {
    table.add_row({fmt::format("x {}", significant(row.rate_factor, 4)),
                   row.plan ? plan_text(answer, row.plan->nodes) : "none with the candidates' numbers",
                   row.plan ? value_text(answer, row.plan->value) : "-", value_text(answer, row.lower_bound),
                   row.plan && !row.within_budget ? "above the cost limit" : ""});
  }
  return table.to_text();
}

// When the plan is outgrown, why, and what to take then: the smallest planned growth beyond that.
std::string outgrown_text(const CapacityAnswer& answer) {
  const ServiceResult* first = nullptr;  // the objective that breaks before the others
  for (const ServiceResult& result : answer.plan.service) {
    if (!std::isnan(result.rate_limit) && (first == nullptr || result.rate_limit < first->rate_limit)) first = &result;
  }
  if (!answer.meets || first == nullptr) return "";
  const double limit = first->rate_limit;
  const std::string at = fmt::format("{:.2f} x this load ({})", limit, rate_text(limit * answer.arrivals_per_s));
  std::string text;
  if (!first->rate_limit_is_floor) {
    const ServiceObjective& objective = first->objective;
    text = fmt::format("outgrown: above {}: {} is then {} {}\n", at, info(objective.metric).text,
                       info(objective.metric).at_least ? "below" : "above",
                       metric_text(objective.metric, objective.target));
  } else if (limit * answer.plan.fluid_load > kSaturated) {
    text = fmt::format("outgrown: above {}: the nodes are then always busy, and queues grow without end\n", at);
  } else {
    return fmt::format("outgrown: not up to {}, the most that was tried\n", at);
  }
  for (const GrowthRow& row : answer.growth) {
    if (row.rate_factor <= limit) continue;
    if (!row.plan) {
      return text + fmt::format(
                        "then: more nodes than the cluster has are needed for {} x this load; --at-most N "
                        "or --unbounded plans with them\n",
                        significant(row.rate_factor, 4));
    }
    return text + fmt::format("then: {}, {}, is enough for {} x this load{}\n", plan_text(answer, row.plan->nodes),
                              value_text(answer, row.plan->value), significant(row.rate_factor, 4),
                              row.within_budget ? "" : "; that is above the cost limit");
  }
  return text;
}

// "policies tried: mct, no plan; easy, 5.00 EUR an hour"
std::string policies_text(const CapacityAnswer& answer) {
  if (answer.policies.size() < 2) return "";
  std::vector<std::string> parts;
  for (const PolicyTried& one : answer.policies) {
    parts.push_back(fmt::format("{}, {}{}", info(one.policy).name,
                                std::isnan(one.value) ? "no plan found" : value_text(answer, one.value),
                                one.meets || std::isnan(one.value) ? "" : " without limits"));
  }
  return "policies tried: " + join(parts, "; ") + "\n";
}

std::string summary_text(const CapacityAnswer& answer) {
  std::string text = fmt::format("{}: {}, policy {}\n", answer.meets ? "plan" : "no plan meets; the nearest",
                                 plan_text(answer, answer.plan.nodes), info(answer.policy).name);
  if (answer.plan.draws > 1) {
    text += fmt::format("holds in {} of {} draws", answer.plan.draws_held, answer.plan.draws);
    if (answer.fresh_draws > 0) {
      text += fmt::format(", and in {} of {} that were not used to find it", answer.fresh_held, answer.fresh_draws);
    }
    text += "\n";
  }
  if (answer.would_meet) {
    text += fmt::format(
        "without limits {} would{}, {}\n", plan_text(answer, answer.would_meet->nodes),
        answer.would_meet->draws > 1
            ? fmt::format(" hold in {} of {} draws", answer.would_meet->draws_held, answer.would_meet->draws)
            : " meet",
        value_text(answer, answer.would_meet->value));
  }
  const double power_w = answer.plan.average_power_w;
  text += fmt::format("cost: {}; power: {}; fluid load: {}\n", cost_text(answer, answer.plan.cost_per_hour),
                      std::isnan(power_w) ? "not known" : fmt::format("{:.0f} W on the average", power_w),
                      number(answer.plan.fluid_load, 3));
  if (!std::isnan(answer.budget_per_hour))
    text += fmt::format("cost limit: {}\n", cost_text(answer, answer.budget_per_hour));
  text += outgrown_text(answer);
  text += fmt::format("lower bound without queues: {} ({})", value_text(answer, answer.lower_bound),
                      plan_text(answer, answer.lower_bound_nodes));
  if (!std::isnan(answer.gap_ratio))
    text += fmt::format("; the plan is {:.1f}% above it", std::max(0.0, 100 * answer.gap_ratio));
  text += fmt::format("\n{}, {} plans in {} simulations", rate_text(answer.arrivals_per_s), answer.plans,
                      answer.simulations);
  if (answer.complete) text += "; nothing cheaper is left to try";
  return text + "\n" + policies_text(answer);
}

// More nodes of the plan's own platforms may be cheaper still, and another policy may do with less.
std::string name_of_second_best(const CapacityAnswer& answer) {
  std::vector<std::string> without;
  for (size_t g = 0; g < answer.platforms.size(); ++g) {
    if (answer.plan.nodes[g] > 0 && answer.second_best->nodes[g] == 0)
      without.push_back(printable(answer.platforms[g]));
  }
  const std::string name = without.empty() ? "best with further platforms" : "best without " + join(without, " and ");
  return answer.policies.size() > 1 ? name + " under " + info(answer.policy).name : name;
}

}  // namespace

std::string capacity_text(const CapacityAnswer& answer) {
  std::string text = summary_text(answer);
  text += "\n" + plan_table(answer);
  std::vector<std::string_view> shown = {"objective", "target", "median"};
  if (answer.plan.draws > 1) shown.insert(shown.end(), {"low", "high", "kept"});  // of one draw all are the same
  shown.insert(shown.end(), {"slack", "rate_factor_limit", "meets"});
  text += "\n" + rows_text(picked(service_table(answer.plan.service, true), shown));
  if (answer.second_best) {
    text += fmt::format("\n{}: {}, {}\n", name_of_second_best(answer), plan_text(answer, answer.second_best->nodes),
                        value_text(answer, answer.second_best->value));
  }
  if (!answer.sensitivity.empty()) text += "\nthe same nodes with other forecasts\n" + sensitivity_table(answer);
  if (!answer.growth.empty()) text += "\nwhat if the load grows\n" + growth_table(answer);
  for (const std::string& note : answer.notes) text += "\nnote: " + printable(note);
  if (!answer.notes.empty()) text += "\n";
  return text;
}

Json capacity_json(const CapacityAnswer& answer) {
  Json json;
  json["schema"] = "perfcast.capacity/1";
  put_plan(json, answer, answer.plan, true);
  json["second_best"] = nullptr;
  if (answer.second_best) put_plan(json["second_best"] = Json::object(), answer, *answer.second_best, false);
  json["goal"] = name_of(answer.goal);
  json["policy"] = info(answer.policy).name;
  for (const PolicyTried& one : answer.policies) {
    Json row = {{"policy", info(one.policy).name}, {"meets", one.meets}};
    put_known(row, "value", one.value);
    json["policies_tried"].push_back(std::move(row));
  }
  if (!answer.currency.empty()) json["currency"] = answer.currency;
  json["arrivals_per_s"] = answer.arrivals_per_s;
  if (answer.fresh_draws > 0) {
    json["fresh_draws"] = answer.fresh_draws;
    json["fresh_draws_held"] = answer.fresh_held;
  }
  if (answer.would_meet) put_plan(json["would_meet"] = Json::object(), answer, *answer.would_meet, false);
  put_known(json, "budget_per_hour", answer.budget_per_hour);
  json["lower_bound"]["plan"] = plan_json(answer, answer.lower_bound_nodes);
  put_known(json["lower_bound"], "value", answer.lower_bound);
  put_known(json, "gap_ratio", answer.gap_ratio);
  json["complete"] = answer.complete;
  Json sensitivity = Json::array();
  for (const SensitivityRow& row : answer.sensitivity) {
    Json item;
    item["error_ratio"] = row.error_ratio;
    item["meets"] = row.meets;
    item["service"] = rows_json(service_table(row.service, false));
    sensitivity.push_back(std::move(item));
  }
  json["sensitivity"] = std::move(sensitivity);
  Json growth = Json::array();
  for (const GrowthRow& row : answer.growth) {
    Json item;
    item["rate_factor"] = row.rate_factor;
    if (row.plan) put_plan(item, answer, *row.plan, false);
    if (row.plan) item["within_budget"] = row.within_budget;
    if (!row.plan) item["meets"] = false;
    put_known(item, "lower_bound_value", row.lower_bound);
    item["complete"] = row.complete;
    growth.push_back(std::move(item));
  }
  json["growth"] = std::move(growth);
  json["plans"] = answer.plans;
  json["simulations"] = answer.simulations;
  json["notes"] = answer.notes;
  return json;
}

}  // namespace perfcast::fleet
