// A comparison as text and as JSON.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "ai/transformer_forecast/transformer_comparison.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kErrorGoal = 0.10, kReadGoal = 0.80;

std::string percent(double share) { return fmt::format("{:+.1f}%", 100 * share); }

const char* phase_name(LlmPhase phase) { return phase == LlmPhase::kDecode ? "decode" : "prefill"; }

std::string step_title(const ComparedStep& step) {
  return step.point.phase == LlmPhase::kDecode
             ? fmt::format("a token of each of {}, at {} tokens", step.point.batch, step.point.tokens)
             : fmt::format("prompts of {} tokens, batch {}", step.point.tokens, step.point.batch);
}

void add_columns(TextTable& table, const std::vector<const char*>& titles, size_t left) {
  for (size_t i = 0; i < titles.size(); ++i) {
    table.add_column(titles[i], i < left ? TextTable::Align::kLeft : TextTable::Align::kRight);
  }
}

const char* interval_title(const ComparisonRequest& request) {
  return request.quick ? "rough interval" : "90% interval";
}

std::string interval_text(const std::string& lower, const std::string& upper) {
  return lower == "-" ? "-" : lower + " .. " + upper;
}

std::string steps_table(const ComparedTransformer& model, const ComparisonRequest& request) {
  TextTable table;
  add_columns(table,
              {"step", "batch", "forecast", interval_title(request), "measured", "off by", "tokens/s forecast",
               "measured", "bandwidth and peak", "off by", ""},
              1);
  for (const ComparedStep& step : model.steps) {
    const StepForecast& forecast = step.forecast;
    const auto times =
        seconds_column({forecast.seconds, forecast.lower_s, forecast.upper_s, step.measured_s, forecast.roofline_s});
    table.add_row({step.point.phase == LlmPhase::kDecode ? "token (TPOT)" : "prompt (TTFT)",
                   std::to_string(step.point.batch), times[0], interval_text(times[1], times[2]), times[3],
                   percent(step.error()), human_number(step.tokens_per_s(forecast.seconds)),
                   human_number(step.tokens_per_s(step.measured_s)), times[4], percent(step.roofline_error()),
                   !step.has_interval() ? "beyond"
                   : step.outside()     ? "outside"
                                        : ""});
  }
  return table.to_text();
}

// Steps that lie beyond what was learned from in the same way, together.
std::string beyond_text(const ComparedTransformer& model) {
  std::map<std::string, int64_t> steps;
  for (const ComparedStep& step : model.steps) {
    if (!step.has_interval()) ++steps[join(step.forecast.beyond, ", ")];
  }
  std::string text;
  for (const auto& [what, count] : steps) {
    text += wrapped(fmt::format("{} of {} steps lie beyond what was learned from, and have no interval: {}", count,
                                model.steps.size(), what),
                    120, "", "  ");
    text += '\n';
  }
  return text;
}

std::string operators_table(const ComparedStep& step, const ComparisonRequest& request) {
  TextTable table;
  add_columns(table, {"operator", "forecast", interval_title(request), "measured", "share", "off by", ""}, 1);
  std::vector<double> all;
  for (const ComparedOperator& each : step.operators) {
    const double measured_s = each.measured_s.value_or(kUnknown);
    for (const double value : {each.forecast.seconds, each.forecast.lower_s, each.forecast.upper_s, measured_s}) {
      all.push_back(value);
    }
  }
  const auto times = seconds_column(all);
  for (size_t i = 0; i < step.operators.size(); ++i) {
    const ComparedOperator& each = step.operators[i];
    std::string measured = times[4 * i + 3], share = "-", off = "-";
    if (each.measured_s) {
      if (*each.measured_s == 0) measured = "0 s";
      share = fmt::format("{:.1f}%", 100 * *each.measured_s / step.measured_s);
      if (*each.measured_s > 0) off = percent(each.forecast.seconds / *each.measured_s - 1);
    }
    table.add_row({operator_title(each.forecast.name), times[4 * i], interval_text(times[4 * i + 1], times[4 * i + 2]),
                   std::move(measured), std::move(share), std::move(off),
                   !each.measured_s ? "not timed"
                   : each.outside() ? "outside"
                                    : ""});
  }
  return table.to_text();
}

std::string outside_text(const ComparedStep& step) {
  const std::string text =
      fmt::format("{}: measured {} lies {} the interval", step_title(step), human_seconds(step.measured_s),
                  step.measured_s > step.forecast.upper_s ? "above" : "below");
  const ComparedOperator* const farthest = step.farthest();
  if (farthest == nullptr) return text + "; no operator of it was timed";
  return text + fmt::format("; most of the difference is of '{}': {} forecast, {} measured",
                            operator_title(farthest->forecast.name), human_seconds(farthest->forecast.seconds),
                            human_seconds(*farthest->measured_s));
}

std::string noise_floor_text(const ComparisonScores& scores) {
  if (std::isnan(scores.noise_floor)) return "noise floor: unknown, of one round";
  return fmt::format("noise floor: medians of two halves of the rounds differ by {:.1f}%, the mean of the steps",
                     100 * scores.noise_floor);
}

std::string scores_text(const std::vector<ComparedStep>& steps, const ComparisonRequest& request) {
  const ComparisonScores scores = scores_of(steps);
  return fmt::format(
      "{} steps: mean error {:.1f}% (bandwidth and peak alone {:.1f}%), worst {:.1f}%; {} of {} that have one in their "
      "{}\n{}\n",
      scores.steps, 100 * scores.mean_error, 100 * scores.roofline_mean_error, 100 * scores.worst_error, scores.inside,
      scores.with_interval, interval_title(request), noise_floor_text(scores));
}

void put_interval(Json& json, double lower_s, double upper_s) {
  if (std::isnan(lower_s) || std::isnan(upper_s)) return;
  json["lower_s"] = lower_s;
  json["upper_s"] = upper_s;
}

Json step_json(const ComparedStep& step, const HostRates& facts) {
  Json json = {{"phase", phase_name(step.point.phase)},
               {"batch", step.point.batch},
               {"tokens", step.point.tokens},
               {"forecast_s", step.forecast.seconds},
               {"measured_s", step.measured_s},
               {"runs", step.runs},
               {"wall_ratio", step.wall_ratio},
               {"roofline_s", step.forecast.roofline_s},
               {"footprint_bytes", step.footprint_bytes},
               {"forecast_tokens_per_s", step.tokens_per_s(step.forecast.seconds)},
               {"measured_tokens_per_s", step.tokens_per_s(step.measured_s)}};
  if (!std::isnan(step.halves_difference_ratio)) json["halves_difference_ratio"] = step.halves_difference_ratio;
  put_interval(json, step.forecast.lower_s, step.forecast.upper_s);
  if (step.has_interval()) {
    json["outside"] = step.outside();
  } else {
    json["beyond"] = step.forecast.beyond;
  }
  if (step.point.phase == LlmPhase::kDecode) json["read_share"] = step.read_share(facts);
  if (const ComparedOperator* const farthest = step.farthest(); step.outside() && farthest != nullptr) {
    json["farthest_operator"] = operator_title(farthest->forecast.name);
  }
  for (const ComparedOperator& each : step.operators) {
    Json one = {{"name", operator_title(each.forecast.name)},
                {"forecast_s", each.forecast.seconds},
                {"roofline_s", each.forecast.roofline_s}};
    put_interval(one, each.forecast.lower_s, each.forecast.upper_s);
    if (each.measured_s) one["measured_s"] = *each.measured_s;
    if (each.measured_s && step.has_interval()) one["outside"] = each.outside();
    json["operators"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string to_text(const TransformerComparison& comparison, bool operators) {
  const HostRates& facts = comparison.facts;
  std::string text = fmt::format(
      "{}, {} thread{}, weights {}: reads {}/s of {} over and over, computes {}FLOP/s in fp32{}\n", facts.cpu,
      facts.threads, facts.threads == 1 ? "" : "s", info(comparison.request.precision).name,
      human_bytes(facts.memory_bytes_per_s()), human_bytes(facts.most_read_bytes()),
      human_number(facts.fp32_flops_per_s),
      std::isnan(facts.int8_ops_per_s) ? "" : fmt::format(", {}OP/s in int8", human_number(facts.int8_ops_per_s)));
  text += fmt::format(
      "learned from other transformers; each left out of it once: off by {:.1f}% (prompts), {:.1f}% (tokens)\n",
      100 * comparison.left_out_prefill_error, 100 * comparison.left_out_decode_error);
  if (comparison.request.quick) {
    text += "learned in one short round from three small ones alone: intervals are rough, and hold nothing of 90%\n";
  }
  std::vector<ComparedStep> all;
  for (const ComparedTransformer& model : comparison.models) {
    text +=
        fmt::format("\n{} ({}): {} parameters, {} weights, prompts of {} tokens, {} new ones\n\n", model.config.name,
                    model.config.source, human_number(model.parameters), model.random_weights ? "random" : "its own",
                    comparison.request.prompt_tokens, comparison.request.new_tokens);
    text += steps_table(model, comparison.request) + beyond_text(model);
    text += fmt::format("memory: {} forecast, {} held, {} more in this process\n",
                        human_bytes(model.forecast_memory_bytes), human_bytes(model.held_bytes),
                        std::isnan(model.resident_bytes) ? "an unknown amount" : human_bytes(model.resident_bytes));
    for (const ComparedStep& step : model.steps) {
      if (step.point.phase == LlmPhase::kDecode && step.point.batch == 1) {
        text += fmt::format("a token reads {} at {}/s, {:.0f}% of {}/s that this machine reads of as much\n",
                            human_bytes(step.footprint_bytes), human_bytes(step.footprint_bytes / step.measured_s),
                            100 * step.read_share(facts), human_bytes(facts.read_bytes_per_s(step.footprint_bytes)));
      }
    }
    for (const ComparedStep& step : model.steps) {
      if (operators) text += fmt::format("\n{}\n{}", step_title(step), operators_table(step, comparison.request));
      if (step.outside()) text += wrapped(outside_text(step), 120, "", "  ") + "\n";
      all.push_back(step);
    }
  }
  return text + "\n" + scores_text(all, comparison.request);
}

std::string goals_text(const TransformerComparison& comparison) {
  std::vector<ComparedStep> all;
  std::string text;
  for (const ComparedTransformer& model : comparison.models) {
    for (const ComparedStep& step : model.steps) {
      all.push_back(step);
      if (step.point.phase != LlmPhase::kDecode || step.point.batch != 1) continue;
      const double share = step.read_share(comparison.facts);
      text += fmt::format("goal: a token reads at least {:.0f}% of the bandwidth measured here; {}: {:.1f}%, {}\n",
                          100 * kReadGoal, model.config.name, 100 * share, share >= kReadGoal ? "kept" : "short");
    }
  }
  const ComparisonScores scores = scores_of(all);
  text += fmt::format("goal: mean error of at most {:.0f}%: {:.1f}%, {}\n", 100 * kErrorGoal, 100 * scores.mean_error,
                      scores.mean_error <= kErrorGoal ? "kept" : "short");
  const bool holds = scores.with_interval > 0 && 10 * scores.inside >= 9 * scores.with_interval;
  return text + fmt::format("goal: 90% intervals hold: {} of {} steps, {}; {} lie beyond what was learned from\n",
                            scores.inside, scores.with_interval, holds ? "kept" : "short",
                            scores.steps - scores.with_interval);
}

Json to_json(const TransformerComparison& comparison) {
  const HostRates& facts = comparison.facts;
  Json json = {{"schema", "perfcast.bench.forecast/1"},
               {"cpu", facts.cpu},
               {"threads", facts.threads},
               {"precision", info(comparison.request.precision).name},
               {"prompt_tokens", comparison.request.prompt_tokens},
               {"new_tokens", comparison.request.new_tokens},
               {"rough", comparison.request.quick},
               {"fp32_flops_per_s", facts.fp32_flops_per_s},
               {"memory_bytes_per_s", facts.memory_bytes_per_s()},
               {"memory_footprint_bytes", facts.most_read_bytes()},
               {"left_out_prefill_error_ratio", comparison.left_out_prefill_error},
               {"left_out_decode_error_ratio", comparison.left_out_decode_error},
               {"took_s", comparison.took_s}};
  if (!std::isnan(facts.int8_ops_per_s)) json["int8_ops_per_s"] = facts.int8_ops_per_s;
  for (const auto& [bytes, rate] : facts.read) {
    json["read"].push_back({{"footprint_bytes", bytes}, {"bytes_per_s", rate}});
  }
  for (const LeftOutStep& step : comparison.left_out) {
    json["left_out"].push_back({{"model", step.model},
                                {"phase", phase_name(step.point.phase)},
                                {"batch", step.point.batch},
                                {"tokens", step.point.tokens},
                                {"forecast_s", step.forecast_s},
                                {"measured_s", step.measured_s}});
  }
  std::vector<ComparedStep> all;
  for (const ComparedTransformer& model : comparison.models) {
    Json one = {{"model", model.config.name},
                {"parameters", model.parameters},
                {"random_weights", model.random_weights},
                {"forecast_memory_bytes", model.forecast_memory_bytes},
                {"held_bytes", model.held_bytes}};
    if (!std::isnan(model.resident_bytes)) one["resident_bytes"] = model.resident_bytes;
    for (const ComparedStep& step : model.steps) {
      one["steps"].push_back(step_json(step, facts));
      all.push_back(step);
    }
    json["models"].push_back(std::move(one));
  }
  const ComparisonScores scores = scores_of(all);
  json["scores"] = {{"steps", scores.steps},
                    {"with_interval", scores.with_interval},
                    {"inside", scores.inside},
                    {"mean_error_ratio", scores.mean_error},
                    {"roofline_mean_error_ratio", scores.roofline_mean_error},
                    {"worst_error_ratio", scores.worst_error}};
  if (!std::isnan(scores.noise_floor)) json["scores"]["noise_floor_ratio"] = scores.noise_floor;
  return json;
}

}  // namespace perfcast::ai
