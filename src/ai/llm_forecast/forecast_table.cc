// The report as aligned text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/llm_forecast/forecast_report.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

using Align = TextTable::Align;

std::string format_names(const LlmConfig& config, const LlmRequest& request) {
  const bool has_cache = config.has_cache();
  std::string text = "weights " + weights_name(config, request.weights, request.weight_bits_per_value);
  text += fmt::format(", activations {}", info(request.activations).name);
  if (has_cache) text += fmt::format(", cache {}", info(request.kv).name);
  if (!request.fused_attention) text += ", scores through memory";
  return text;
}

// "engine: vllm 0.22, on the host Intel Xeon Platinum 8481C"
std::string engine_line(const LlmForecastReport& report) {
  const EngineTerms& first = report.devices.front().terms.engine;
  const bool runs =
      std::ranges::any_of(report.result.rows, [](const ForecastRow& row) { return row.basis != TimeBasis::kKernels; });
  if (!runs) return "engine: none, kernels alone\n";
  std::string text = fmt::format("engine: {} {}", first.profile->name, first.profile->version);
  if (first.profile->basis != EngineBasis::kMeasured) text += fmt::format(", {}", name_of(first.profile->basis));
  const bool same = std::ranges::all_of(
      report.devices, [&](const ForecastDevice& device) { return device.terms.engine.host.cpu == first.host.cpu; });
  if (!same) return text + ", on the hosts that were named\n";
  return text + (first.host.cpu.empty() ? ", host not known" : ", host " + printable(first.host.cpu)) + "\n";
}

std::string headline(const LlmForecastReport& report) {
  const LlmConfig& config = report.config;
  std::string text =
      fmt::format("{} ({}): {} parameters; {}", config.name, config.source,
                  human_number(static_cast<double>(report.parameters)), format_names(config, report.grid.request));
  if (config.has_cache()) text += fmt::format("; {} new tokens", report.grid.request.output_tokens);
  return text + "\n" + engine_line(report);
}

std::string interval(double lower, double upper, std::string (*text)(double)) {
  return text(lower) + " to " + text(upper);
}

std::string rate(double value) { return human_number(value); }

std::string times_text(const LlmForecastReport& report) {
  const ForecastRow& row = report.result.rows.front();
  TextTable table;
  table.add_column("", Align::kLeft);
  table.add_column("forecast", Align::kRight);
  table.add_column("90% interval", Align::kRight);
  table.add_column("roofline", Align::kRight);
  table.add_column("bound", Align::kLeft);
  table.add_row({row.generates ? "time to first token" : "time", human_seconds(row.prefill_s),
                 interval(row.prefill_lower_s, row.prefill_upper_s, human_seconds),
                 human_seconds(row.prefill_roofline_s), std::string(name_of(row.prefill_bound))});
  const double tokens = static_cast<double>(row.batch) * (row.generates ? 1 : static_cast<double>(row.sequence));
  if (row.generates) {
    table.add_row({"time per token", human_seconds(row.token_s),
                   interval(row.token_lower_s, row.token_upper_s, human_seconds), human_seconds(row.token_roofline_s),
                   std::string(name_of(row.token_bound))});
  }
  const double most = tokens / (row.generates ? row.token_roofline_s : row.prefill_roofline_s);
  table.add_row({"tokens/s", rate(row.tokens_per_s), interval(row.lower, row.upper, rate), rate(most), ""});
  if (row.generates) {
    table.add_row({"whole request", human_seconds(row.request_s), "", "", ""});
    if (row.basis != TimeBasis::kKernels) {
      table.add_row({"client's time per token", human_seconds(row.client_token_s), "", "", ""});
    }
    table.add_row({"tokens/s of the request", rate(row.output_per_s), "", "", ""});
  }
  if (std::isfinite(row.energy_j_per_million)) {
    table.add_row({"joules per million tokens", human_number(row.energy_j_per_million),
                   row.power_is_modelled
                       ? interval(row.energy_lower_j_per_million, row.energy_upper_j_per_million, human_number)
                       : "",
                   "", ""});
  }
  if (std::isfinite(row.cost_per_million)) {
    table.add_row({"USD per million tokens", human_number(row.cost_per_million), "", "", ""});
  }
  std::string text = table.to_text();
  if (row.generates && row.basis != TimeBasis::kKernels) {
    text +=
        "\nClients print the client's time per token as TPOT: the whole request over its new tokens, the first token's "
        "time included.\n";
  }
  return text;
}

std::string memory_text(const LlmForecast& forecast, int64_t fits_on) {
  const MemoryNeed& need = forecast.memory;
  std::string text =
      fmt::format("memory{}: {} (weights {}", forecast.request.tensor_parallel > 1 ? ", each device" : "",
                  human_bytes(need.model()), human_bytes(need.weights));
  if (need.kv > 0) text += ", cache " + human_bytes(need.kv);
  text += ", activations " + human_bytes(need.activations) + ")";
  if (!need.known()) return text + "\n";
  text += fmt::format(" of {}; the device has {}, and keeps a tenth for its driver and libraries\n",
                      human_bytes(need.available - need.reserve), human_bytes(need.available));
  if (need.fits()) return text;
  text += "DOES NOT FIT: " + human_bytes(need.missing()) + " short";
  if (fits_on > 0) return text + fmt::format("; {} devices hold it\n", fits_on);
  return text + "; no number of devices that divides its heads holds it\n";
}

// One class of operators in a step; 0 s: it has none.
struct ClassCell {
  double seconds = 0;
  std::string bound;
};

struct ClassRow {
  std::string name;
  ClassCell first, next;
};

std::vector<ClassRow> class_rows(const LlmForecast& forecast) {
  std::vector<ClassRow> rows;
  const auto cell = [](const StepTime& step, OperatorClass operators) {
    return ClassCell{step.seconds_of(operators), std::string(name_of(step.bound_of(operators)))};
  };
  for (size_t i = 0; i < kOperatorClasses; ++i) {
    const auto operators = static_cast<OperatorClass>(i);
    ClassRow row{std::string(name_of(operators)), cell(forecast.prefill, operators), {}};
    if (forecast.generates) row.next = cell(forecast.token, operators);
    if (row.first.seconds > 0 || row.next.seconds > 0) rows.push_back(std::move(row));
  }
  if (forecast.basis != TimeBasis::kKernels) return rows;  // parts_text() has what the device waits for
  const auto waits = [](const StepTime& step) { return ClassCell{step.seconds - step.device_seconds, "launch"}; };
  ClassRow row{"waiting for launches", waits(forecast.prefill), {}};
  if (forecast.generates) row.next = waits(forecast.token);
  if (row.first.seconds > 0 || row.next.seconds > 0) rows.push_back(std::move(row));
  return rows;
}

std::string classes_text(const LlmForecast& forecast) {
  const std::vector<ClassRow> rows = class_rows(forecast);
  TextTable table;
  table.add_column("operators", Align::kLeft);
  std::vector<std::vector<std::string>> cells(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) cells[i].push_back(rows[i].name);
  const auto add_step = [&](const char* title, const StepTime& step, ClassCell ClassRow::*of) {
    table.add_column(title, Align::kRight);
    table.add_column("share", Align::kRight);
    table.add_column("bound", Align::kLeft);
    std::vector<double> times_s;
    times_s.reserve(rows.size());
    for (const ClassRow& row : rows) times_s.push_back((row.*of).seconds);
    const std::vector<std::string> times = seconds_column(times_s);
    const double whole_s = forecast.basis == TimeBasis::kKernels ? step.seconds : step.device_seconds;
    for (size_t i = 0; i < rows.size(); ++i) {
      const ClassCell& cell = rows[i].*of;
      const bool there = cell.seconds > 0;
      cells[i].push_back(there ? times[i] : "");
      cells[i].push_back(there ? fmt::format("{:.1f}%", 100 * cell.seconds / whole_s) : "");
      cells[i].push_back(there ? cell.bound : "");
    }
  };
  add_step(forecast.generates ? "first token" : "time", forecast.prefill, &ClassRow::first);
  if (forecast.generates) add_step("per token", forecast.token, &ClassRow::next);
  for (std::vector<std::string>& row : cells) table.add_row(std::move(row));
  return table.to_text();
}

// Both times with an engine, part by part.
std::string parts_text(const LlmForecast& forecast, bool host_overlaps) {
  const EngineTokenTime& token = forecast.engine.token;
  const EngineFirstTime& first = forecast.engine.first;
  const bool further = forecast.engine.token_operators_s > 0 && token.weights_s > 0;
  const struct {
    const char* name;
    double first_s, token_s;
  } parts[] = {
      {"HTTP, scheduler, client", first.fixed_s, 0},
      {"tokeniser", first.tokeniser_s, 0},
      {"prompt on the device", first.prefill_s, 0},
      {"waiting for launches", first.launch_s, 0},
      {"weights", 0, token.weights_s},
      {"small kernels", 0, token.kernels_s},
      {"attention", 0, token.attention_s},
      {"all-reduces", 0, token.all_reduce_s},
      {further ? "further sequences, by kernels" : "operators, by kernels", 0, forecast.engine.token_operators_s},
      {host_overlaps ? "host, at the same time" : "host", 0, token.host_s}};
  std::vector<double> first_s, token_s;
  TextTable table;
  table.add_column("part", Align::kLeft);
  table.add_column("first token", Align::kRight);
  table.add_column("per token", Align::kRight);
  for (const auto& part : parts) {
    first_s.push_back(part.first_s);
    token_s.push_back(part.token_s);
  }
  const std::vector<std::string> firsts = seconds_column(first_s), tokens = seconds_column(token_s);
  for (size_t i = 0; i < std::size(parts); ++i) {
    if (!(first_s[i] > 0) && !(token_s[i] > 0)) continue;
    table.add_row({parts[i].name, first_s[i] > 0 ? firsts[i] : "", token_s[i] > 0 ? tokens[i] : ""});
  }
  return table.to_text();
}

std::string single_text(const LlmForecastReport& report) {
  const ForecastRow& row = report.result.rows.front();
  const LlmForecast& detail = report.details.front();
  const bool runs = row.basis != TimeBasis::kKernels;
  const std::string words = runs ? ", " + engine_words(report.engine(row), row.basis) : "";
  std::string text = fmt::format("on {}{}{}: batch {}, {} {}, {} math{}\n\n",
                                 row.tensor_parallel > 1 ? fmt::format("{} x ", row.tensor_parallel) : "",
                                 printable(report.device(row).name), row.calibrated ? "" : " (uncalibrated)", row.batch,
                                 row.generates ? "prompt" : "tokens", row.sequence, name_of(row.mode), words);
  const std::string memory = memory_text(detail, report.fits_on.front());
  if (row.memory_known && !row.fits) return text + memory;  // times would be those of another device
  text += times_text(report) + "\n" + memory + "\n";
  if (row.basis == TimeBasis::kKernels) return text + classes_text(detail);
  text += parts_text(detail, report.engine(row).profile->overlaps_host);
  // The operators' times are in the forecast where an engine's own don't stand for the device.
  return row.basis == TimeBasis::kEngine || detail.engine.token.weights_s > 0 ? text
                                                                              : text + "\n" + classes_text(detail);
}

std::string with_notes(std::string text, const LlmForecastReport& report) {
  std::string notes;
  for (const std::string& note : report.notes) {
    if (note != kTimesOfMisses) notes += "note: " + printable(note) + "\n";  // there are none in a text
  }
  return notes.empty() ? text : text + "\n" + notes;
}

// Of several rows: which device gives most tokens, and which costs least, of those that hold the model.
std::string picks_text(const LlmForecastReport& report) {
  const std::vector<ForecastRow>& rows = report.result.rows;
  std::vector<const ForecastRow*> usable;
  for (const ForecastRow& row : rows) {
    if (!row.memory_known || row.fits) usable.push_back(&row);
  }
  if (usable.empty()) return "none of these holds the model: see fits\n";
  const auto varies = [&](auto member) {
    return std::ranges::any_of(rows, [&](const ForecastRow& row) { return row.*member != rows.front().*member; });
  };
  const bool batches = varies(&ForecastRow::batch), prompts = varies(&ForecastRow::sequence);
  const bool degrees = varies(&ForecastRow::tensor_parallel);
  // Rows without an engine, which takes time of its own, stand beside rows with one.
  const bool engines =
      std::ranges::any_of(rows, [](const ForecastRow& row) { return row.basis != TimeBasis::kKernels; });
  const auto name = [&](const ForecastRow& row) {
    std::string text = degrees ? fmt::format("{} x ", row.tensor_parallel) : "";
    text += printable(report.device(row).name);
    if (batches) text += fmt::format(", batch {}", row.batch);
    if (prompts) text += fmt::format(", prompt {}", row.sequence);
    return row.basis == TimeBasis::kKernels && engines ? text + " (kernels only)" : text;
  };
  const ForecastRow& fastest = **std::ranges::max_element(usable, {}, &ForecastRow::tokens_per_s);
  std::string text =
      fmt::format("{}: {}: {} tokens/s ({})", batches || prompts ? "most tokens/s" : "fastest", name(fastest),
                  rate(fastest.tokens_per_s), interval(fastest.lower, fastest.upper, rate));
  const auto near = std::ranges::count_if(
      usable, [&](const ForecastRow* row) { return row != &fastest && row->tokens_per_s >= fastest.lower; });
  if (near > 0) text += fmt::format("; {} other{} within this interval", near, near == 1 ? " lies" : "s lie");
  text += "\n";
  std::erase_if(usable, [](const ForecastRow* row) { return !std::isfinite(row->cost_per_million); });
  if (usable.empty()) return text;
  const ForecastRow& cheapest = **std::ranges::min_element(usable, {}, &ForecastRow::cost_per_million);
  text += fmt::format("cheapest: {}: {} USD per million tokens, {} tokens/s", name(cheapest),
                      human_number(cheapest.cost_per_million), rate(cheapest.tokens_per_s));
  const auto priceless =
      std::ranges::count_if(rows, [](const ForecastRow& row) { return !std::isfinite(row.cost_per_million); });
  if (priceless > 0)
    text += fmt::format("; {} row{} without a price (--price DEVICE=USD)", priceless, priceless == 1 ? "" : "s");
  return text + "\n";
}

}  // namespace

std::string forecast_text(const LlmForecastReport& report) {
  if (report.result.rows.size() == 1) return with_notes(headline(report) + single_text(report), report);
  return with_notes(picks_text(report) + headline(report) + "\n" + forecast_rows_text(report), report);
}

}  // namespace perfcast::ai
