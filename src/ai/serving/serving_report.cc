#include "ai/serving/serving_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ai/serving/serving_columns.h"
#include "base/json.h"
#include "base/statistics.h"
#include "base/text.h"
#include "machine/meter/accelerator_power.h"

namespace perfcast::ai {
namespace {

bool is_simulated(const ServingRow& row) { return row.problem.empty(); }

const ServingDevice& device_of(const ServingReport& report, const ServingRow& row) {
  return report.result.request.devices[row.device];
}
const ServingLoad& load_of(const ServingReport& report, const ServingRow& row) {
  return report.result.request.loads[row.load];
}

bool meets_all(const ServingRow& row) {
  return std::all_of(row.forecast.objectives.begin(), row.forecast.objectives.end(),
                     [](const ObjectiveOutcome& outcome) { return outcome.met; });
}

// Serves the load, as far as can be told.
bool is_enough(const ServingRow& row) {
  const bool keeps_up = row.forecast.pace == Pace::kKeepsUp || row.forecast.pace == Pace::kNotAsked;
  return is_simulated(row) && keeps_up && meets_all(row);
}

std::string count_of(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : std::string_view(what).ends_with("ss") ? "es" : "s");
}

// "2 x NVIDIA H100", "2 replicas of 4 x ...", "1 replica for prompts and 2 of 4 x ...".
std::string service_words(const ServingReport& report, const ServingRow& row) {
  const ServingRequestFor& request = report.result.request;
  const int64_t all = request.replicas + request.prefill_replicas;
  const std::string& device = device_of(report, row).facts.name;
  const std::string each = row.devices > all ? fmt::format("{} x {}", row.devices / all, device) : device;
  if (request.prefill_replicas > 0) {
    return printable(fmt::format("{} for prompts and {} for answers, each {}",
                                 count_of(request.prefill_replicas, "replica"), request.replicas, each));
  }
  return printable(all > 1 ? fmt::format("{} replicas of {}", all, each) : each);
}

std::string objectives_words(const ServingRow& row) {
  std::vector<std::string> words;
  for (const ObjectiveOutcome& outcome : row.forecast.objectives) {
    words.push_back(fmt::format("{}: {} of the requests keep it, {} were asked for: {}",
                                printable(outcome.objective.text), percent(outcome.kept_share, 1),
                                percent(outcome.objective.share, 1), outcome.met ? "met" : "NOT MET"));
  }
  return join(words, "\n");
}

// What one row comes to, in a sentence or two.
std::string answer_of(const ServingReport& report, const ServingRow& row) {
  const ServingSummary& forecast = row.forecast;
  const std::string who = service_words(report, row);
  const bool several = row.devices > 1;
  std::string text;
  switch (forecast.pace) {
    case Pace::kNotAsked:
      text = fmt::format("{} with {}: {} tokens/s", who, load_of(report, row).words,
                         human_number(forecast.output_tokens_per_s));
      break;
    case Pace::kKeepsUp:
      text = fmt::format("{} {} up with {}", who, several ? "keep" : "keeps", load_of(report, row).words);
      break;
    case Pace::kTooShort:
      text = fmt::format("{} under {}: the load is too short to tell whether {} up", who, load_of(report, row).words,
                         several ? "they keep" : "it keeps");
      break;
    case Pace::kFallsBehind:
      text = fmt::format(
          "{} {} NOT KEEP UP with {}: each second {} more requests are in the service, and times grow as long as "
          "the load lasts",
          who, several ? "DO" : "DOES", load_of(report, row).words, human_number(forecast.growth_per_s));
      break;
  }
  text += fmt::format("; first token after {} in the median, {} at 95%\n", human_seconds(forecast.first_token.p50),
                      human_seconds(forecast.first_token.p95));
  if (!forecast.objectives.empty()) text += objectives_words(row) + "\n";
  return text;
}

std::string answer_of_all(const ServingReport& report) {
  const std::vector<ServingRow>& rows = report.result.rows;
  std::vector<const ServingRow*> enough;
  for (const ServingRow& row : rows) {
    if (is_enough(row)) enough.push_back(&row);
  }
  const bool is_open = std::any_of(rows.begin(), rows.end(), [](const ServingRow& row) {
    return is_simulated(row) && row.forecast.pace != Pace::kNotAsked;
  });
  const bool is_judged = !report.result.request.objectives.empty();
  if (!is_open && !is_judged) {  // clients wait for whatever comes
    const auto most = std::max_element(rows.begin(), rows.end(), [](const ServingRow& a, const ServingRow& b) {
      return a.forecast.output_tokens_per_s < b.forecast.output_tokens_per_s;
    });
    return fmt::format("most tokens/s: {} with {}, {}\n", service_words(report, *most), load_of(report, *most).words,
                       human_number(most->forecast.output_tokens_per_s));
  }
  const char* what = !is_open ? "meet the objectives" : is_judged ? "keep up and meet the objectives" : "keep up";
  const auto untold = std::count_if(rows.begin(), rows.end(), [](const ServingRow& row) {
    return is_simulated(row) && row.forecast.pace == Pace::kTooShort;
  });
  const std::string short_text =
      untold > 0 ? fmt::format("; {} of the loads {} too short to tell", untold, untold == 1 ? "is" : "are") : "";
  if (enough.empty()) return fmt::format("none of {} services {}{}\n", rows.size(), what, short_text);
  std::string text = fmt::format("{} of {} services {}{}", enough.size(), rows.size(), what, short_text);
  const auto cheapest = std::min_element(enough.begin(), enough.end(), [](const ServingRow* a, const ServingRow* b) {
    return std::isnan(b->cost_per_million) || a->cost_per_million < b->cost_per_million;
  });
  if (std::isfinite((*cheapest)->cost_per_million)) {
    text += fmt::format("; the cheapest: {} with {}, {} USD per million tokens", service_words(report, **cheapest),
                        load_of(report, **cheapest).words, money_text((*cheapest)->cost_per_million));
  }
  return text + "\n";
}

// How the devices of a replica share its work, where they do.
std::string parallel_line(const ServingRequestFor& request) {
  std::vector<std::string> parts;
  if (request.formats.tensor_parallel > 1) {
    parts.push_back(fmt::format("{} devices share every layer", request.formats.tensor_parallel));
  }
  if (request.pipeline_parallel > 1) parts.push_back(fmt::format("{} stages", request.pipeline_parallel));
  if (request.data_parallel > 1) {
    parts.push_back(fmt::format("{} engines{}", request.data_parallel,
                                !request.config.has_moe() ? " that share nothing"
                                : request.expert_parallel ? ", each with a part of the experts"
                                                          : ", each with a part of each expert"));
  }
  if (request.draft_tokens > 0) {
    parts.push_back(fmt::format("{} a step, {} of them right", count_of(request.draft_tokens, "guess"),
                                percent(request.acceptance, 0)));
  }
  return parts.empty() ? "" : "each replica: " + join(parts, "; ") + "\n";
}

std::string head_lines(const ServingReport& report) {
  const ServingRequestFor& request = report.result.request;
  const EngineProfile& profile = *request.profile;
  std::string text =
      fmt::format("{} ({}): {} parameters; weights {}, activations {}, cache {}\n", request.config.name,
                  request.config.source, human_number(static_cast<double>(report.result.parameters)),
                  weights_name(request.config, request.formats.weights, request.formats.weight_bits_per_value),
                  info(request.formats.activations).name, info(request.formats.kv).name);
  text += fmt::format("engine: {} {}", profile.name, profile.version);
  if (profile.basis != EngineBasis::kMeasured) text += fmt::format(", {}", name_of(profile.basis));
  const auto& devices = request.devices;
  const bool same = std::all_of(devices.begin(), devices.end(), [&](const ServingDevice& device) {
    return device.host.cpu == devices.front().host.cpu;
  });
  text += !same                              ? ", on the hosts that were named"
          : devices.front().host.cpu.empty() ? ", host not known"
                                             : ", host " + printable(devices.front().host.cpu);
  if (request.replicas > 1) text += fmt::format("; router {}", name_of(request.router));
  return text + "\n" + parallel_line(request);
}

std::string load_line(const ServingRow& row) {
  return fmt::format("load: {}; prompts of {} tokens, outputs of {} in the mean\n", count_of(row.requests, "request"),
                     human_number(row.prompt_tokens), human_number(row.output_tokens));
}

std::string limits_line(const EngineLimits& limits) {
  return fmt::format(
      "each engine: {} sequences and {} tokens a step at the most, a cache of {} tokens{}{}{}{}{}\n",
      limits.max_sequences, limits.step_tokens, limits.cache_tokens,
      limits.cache_reserve_share > 0 ? fmt::format(" with {:.3g}% in reserve", 100 * limits.cache_reserve_share) : "",
      limits.prefix_cache ? "" : ", no prefix cache", limits.chunked_prefill ? "" : ", prompts in one piece",
      limits.prompts_apart ? ", prompts in steps of their own" : "",
      limits.receive_steps == 1 ? "" : fmt::format("; new requests every {} steps", limits.receive_steps));
}

std::string single_text(const ServingReport& report) {
  const ServingRow& row = report.result.rows.front();
  return answer_of(report, row) + head_lines(report) + load_line(row) + limits_line(row.limits) + "\n" +
         figures_text(row);
}

std::string table_text(const ServingReport& report) {
  std::string text = answer_of_all(report) + head_lines(report);
  const std::vector<ServingRow>& rows = report.result.rows;
  const bool alike = std::all_of(rows.begin(), rows.end(), [&](const ServingRow& row) {
    return row.requests == rows.front().requests && row.prompt_tokens == rows.front().prompt_tokens &&
           row.output_tokens == rows.front().output_tokens;
  });
  if (alike) text += load_line(rows.front());
  return text + "\n" + rows_text(serving_table(report.result, ServingForm::kText));
}

void add_engine_notes(const ServingReport& report, std::vector<std::string>& notes) {
  const EngineProfile& profile = *report.result.request.profile;
  uint32_t unmeasured = 0;
  bool host_known = true;
  for (const ServingRow& row : report.result.rows) {
    unmeasured |= row.unmeasured;
    host_known = host_known && device_of(report, row).host.known;
  }
  if (profile.rows > 0) {
    notes.push_back(
        fmt::format("{} {}: fitted to {} measured single streams; a step with several requests follows from "
                    "what it reads and computes, and intervals are wider for it",
                    profile.name, profile.version, profile.rows));
  }
  unmeasured &= ~static_cast<uint32_t>(kUnmeasuredBatch);
  if (unmeasured != 0) {
    notes.push_back(fmt::format("nobody measured {} here with {}; intervals are wider for it", profile.name,
                                unmeasured_in_words(unmeasured)));
  }
  if (!host_known) {
    notes.emplace_back(
        "the host's CPU is not known (--host): a usual server is assumed, and intervals are wider for it");
  }
}

void add_parallel_notes(const ServingReport& report, std::vector<std::string>& notes) {
  const ServingRequestFor& request = report.result.request;
  if (request.data_parallel > 1 || request.pipeline_parallel > 1 || request.draft_tokens > 0 ||
      request.prefill_replicas > 0) {
    notes.emplace_back(
        "nobody measured engines that share experts or stages, guess tokens or hand requests over here: their times "
        "follow from what they compute, read and send, and intervals are no wider for it");
  }
  if (request.draft_tokens > 0) {
    notes.emplace_back("all sequences keep the same number of guesses in a step: their mean");
  }
  if (request.prefill_replicas > 0 && std::isnan(request.transfer_bytes_per_s)) {
    notes.emplace_back("keys go over the devices' way to their hosts (--transfer-rate names another speed)");
  }
  for (const ServingRow& row : report.result.rows) {
    if (std::isnan(row.forecast.energy_j)) continue;
    const double log_sd = accelerator_power_log_deviation(device_of(report, row).facts.name);
    notes.push_back(fmt::format(
        "energy follows from what steps compute and read, and the stated power; within a factor of {:.1f} for 90%",
        std::exp(kNormal95 * log_sd)));
    break;
  }
}

}  // namespace

ServingReport report_serving(ServingResult result, std::vector<std::string> notes) {
  ServingReport report{std::move(result), std::move(notes)};
  std::vector<std::string>& all = report.notes;
  const std::vector<ServingRow>& rows = report.result.rows;
  std::set<size_t> named;
  for (const ServingRow& row : rows) {
    if (!is_simulated(row) && named.insert(row.device).second && rows.size() > 1) {
      all.push_back(fmt::format("{}: {}{}", printable(device_of(report, row).facts.name), row.problem,
                                row.fits_on > 0 ? fmt::format("; {} such devices hold it", row.fits_on) : ""));
    }
    if (row.forecast.refused > 0 && is_simulated(row)) {
      all.push_back(
          fmt::format("{} of {} requests are refused on {}: longer than the {} tokens that the engine can hold",
                      row.forecast.refused, row.requests, printable(device_of(report, row).facts.name),
                      row.limits.context_tokens > 0 ? std::min(row.limits.context_tokens, row.limits.cache_tokens)
                                                    : row.limits.cache_tokens));
    }
    if (row.forecast.pace == Pace::kKeepsUp && row.slow.pace == Pace::kFallsBehind) {
      all.push_back(fmt::format("{} may not keep up with {}: at the slow end of the interval it does not",
                                printable(device_of(report, row).facts.name), load_of(report, row).words));
    }
    if (row.forecast.pace == Pace::kFallsBehind && row.fast.pace == Pace::kKeepsUp) {
      all.push_back(fmt::format("{} may keep up with {}: at the fast end of the interval it does",
                                printable(device_of(report, row).facts.name), load_of(report, row).words));
    }
  }
  std::set<std::string> seen;  // of a device's several loads one will do
  std::erase_if(all, [&](const std::string& note) { return !seen.insert(note).second; });
  add_engine_notes(report, all);
  if (report.result.request.config.windowed_layers > 0) {
    all.emplace_back("layers with a window keep no more than it of a mean request: the cache's size is that of a mean");
  }
  if (report.result.request.config.has_moe()) all.emplace_back("tokens visit experts uniformly");
  add_parallel_notes(report, all);
  all.emplace_back("not modelled: the network between client and server");
  return report;
}

std::string serving_text(const ServingReport& report) {
  std::string text = report.result.rows.size() == 1 ? single_text(report) : table_text(report);
  text += "\n";
  for (const std::string& note : report.notes) text += "note: " + printable(note) + "\n";
  return text;
}

std::string serving_csv(const ServingReport& report) {
  return rows_csv(serving_table(report.result, ServingForm::kCsv), {.digits = 9, .yes = "true", .no = "false"});
}

Json serving_json(const ServingReport& report) {
  const ServingRequestFor& request = report.result.request;
  Json json{{"schema", "perfcast.serving/1"},
            {"model", request.config.name},
            {"source", request.config.source},
            {"parameters", report.result.parameters},
            {"engine", request.profile->name + " " + request.profile->version},
            {"engine_basis", name_of(request.profile->basis)},
            {"tensor_parallel", request.formats.tensor_parallel},
            {"replicas", request.replicas},
            {"interval", 0.9}};
  if (request.replicas > 1) json["router"] = name_of(request.router);
  if (request.data_parallel > 1) json["data_parallel"] = request.data_parallel;
  if (request.expert_parallel) json["expert_parallel"] = true;
  if (request.pipeline_parallel > 1) json["pipeline_parallel"] = request.pipeline_parallel;
  if (request.prefill_replicas > 0) json["prefill_replicas"] = request.prefill_replicas;
  if (request.draft_tokens > 0) {
    json["draft_tokens"] = request.draft_tokens;
    json["acceptance_share"] = request.acceptance;
  }
  Json& rows = json["rows"] = rows_json(serving_table(report.result, ServingForm::kJson));
  for (size_t i = 0; i < report.result.rows.size(); ++i) {
    const std::vector<ObjectiveOutcome>& outcomes = report.result.rows[i].forecast.objectives;
    if (!outcomes.empty()) rows[i]["objectives"] = rows_json(objective_table(outcomes));
  }
  json["notes"] = report.notes;
  return json;
}

}  // namespace perfcast::ai
