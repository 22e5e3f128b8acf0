#include "ai/llm_forecast/cpu_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "ai/engine/engine_step.h"
#include "ai/llm_forecast/cpu_work.h"
#include "base/json.h"
#include "base/report/table.h"
#include "base/significant.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

// Of each thing in a model that no run covers: nothing is known of it but that.
constexpr double kUnmeasuredLogSd = 0.2;

// People leave the maker out.
Result<CpuFacts> cpu_named(const CpuCatalogue& cpus, const std::string& name, double vcpus) {
  auto cpu = cpus.find(name, vcpus);
  for (const char* maker : {"Intel ", "AMD ", "AWS ", "Azure ", "Google ", "Alibaba ", "Ampere ", "NVIDIA "}) {
    if (cpu) break;
    if (auto with_maker = cpus.find(maker + name, vcpus)) return with_maker;
  }
  return cpu;
}

Result<CpuFacts> cpu_of(const CpuCatalogue& cpus, const CpuForecastRequest& request, const std::string& name) {
  const auto other = request.others.find(name);
  return other == request.others.end() ? cpu_named(cpus, name, request.vcpus) : cpus.impute(other->second);
}

std::string bound_of(const TokenForecast& forecast) {
  if (forecast.memory_share >= std::max(forecast.compute_share, forecast.barrier_share)) return "memory";
  return forecast.compute_share >= forecast.barrier_share ? "compute" : "threads";
}

std::string bound_of(const CpuEngineStep& step) {
  const double host_s = step.host_s + step.sort_s, threads_s = step.barriers_s + step.activations_s;
  if (host_s >= std::max(step.weights_s, threads_s)) return "host";
  if (threads_s >= step.weights_s) return "threads";
  return step.memory_s >= step.core_s ? "memory" : "compute";
}

// A token reads all weights once: no faster than the data sheet of the memory.
CpuInterval within_memory(CpuInterval tokens_per_s, const CpuFacts& cpu, double weight_bytes) {
  const double most = cpu.most_memory_bytes_per_s / weight_bytes;
  if (tokens_per_s.high > most) tokens_per_s.high = most;
  return tokens_per_s;
}

CpuInterval around(double value, double log_half_width) {
  return {value * std::exp(-log_half_width), value * std::exp(log_half_width)};
}

std::string measured_in_words(const CpuForecastRow& row, const CpuEngineProfile& engine) {
  const bool bandwidth = !row.cpu.bandwidth_imputed;
  if (row.details->knows_cpu) return bandwidth ? engine.name + ", bandwidth" : engine.name;
  return bandwidth ? "bandwidth" : "nothing at this size";
}

Result<CpuForecastRow> row_under_llama(const TokenBundle& bundle, const CpuFacts& cpu, const CpuForecast& forecast,
                                       int64_t sequence, int64_t output_tokens) {
  const auto prefill = bundle.forecast(cpu, forecast.work, TokenPhase::kPrefill, sequence);
  if (!prefill) return prefill.error();
  // The bundle's generation starts without a prompt: as many tokens as give the same mean context.
  const auto generation = bundle.forecast(cpu, forecast.work, TokenPhase::kGeneration, 2 * sequence + output_tokens);
  if (!generation) return generation.error();
  CpuForecastRow row;
  row.cpu = cpu;
  row.cpu.bandwidth_imputed = generation->bandwidth_imputed;
  row.sequence = sequence;
  row.prefill_s = static_cast<double>(sequence) / prefill->tokens_per_s;
  row.tokens_per_s = generation->tokens_per_s;
  row.token_s = 1 / generation->tokens_per_s;
  row.tokens_per_s_90 = within_memory({generation->low, generation->high}, cpu, forecast.work.weight_bytes);
  row.fits_memory = generation->fits_memory;
  row.bound = bound_of(*generation);
  row.weights = forecast.weights;
  row.engine = forecast.engine;
  return row;
}

Result<CpuForecastRow> row_under_engine(const CpuForecastRequest& request, const CpuFacts& cpu,
                                        const CpuForecast& forecast, CpuEngineRequest asked) {
  CpuForecastRow row;
  asked.precision = request.weights.value_or(usual_cpu_precision(cpu));
  const auto details = forecast_cpu_engine(*request.engine, cpu, forecast.work, asked);
  if (!details) return details.error();
  row.cpu = cpu;
  row.sequence = asked.prompt_tokens;
  row.prefill_s = details->times.first_s();
  row.prefill_s_90 = around(row.prefill_s, details->widths.first_token);
  row.token_s = details->times.further_s();
  row.tokens_per_s = 1 / row.token_s;
  row.tokens_per_s_90 =
      within_memory(around(row.tokens_per_s, details->widths.further_token), cpu, forecast.work.weight_bytes);
  row.client_token_s_90 = around(details->client_token_s, details->widths.client_token);
  if (cpu.memory_gib > 0) {
    const double context = static_cast<double>(asked.prompt_tokens + asked.output_tokens);
    const double needed = forecast.work.file_bytes + forecast.work.kv_bytes_per_token * context;
    row.fits_memory = needed <= cpu.memory_gib * 1024 * 1024 * 1024;
  }
  row.bound = bound_of(details->times.token);
  row.weights = std::string(info(asked.precision).name);
  row.engine = forecast.engine;
  row.details = *details;
  row.measured = measured_in_words(row, *request.engine);
  return row;
}

// What the model asks of the engine, and what of it nobody measured.
Status take_engine_model(const LlmConfig& config, const CpuForecastRequest& request, CpuForecast& result,
                         CpuEngineRequest& asked) {
  const Precision weights = request.weights.value_or(Precision::kBf16);
  if (request.bits_per_value || (!request.weights && !config.stored_weight_name.empty())) {
    return usage_error("unsupported-precision",
                       fmt::format("nobody measured {} on CPUs with weights of {}", request.engine->name,
                                   request.bits_per_value ? fmt::format("{:.3g} bits", *request.bits_per_value)
                                                          : config.stored_weight_name),
                       "", "--precision bf16 or fp16 with it; or --engine llama.cpp");
  }
  auto work = cpu_work_of(config, weights);
  if (!work) return work.error();
  result.work = std::move(*work);
  EngineRequest single;
  single.prompt_tokens = 1;
  const auto engine = engine_work(config, single);
  if (!engine) return engine.error();
  result.unmeasured = unmeasured_in_words(engine->unmeasured);
  asked.unmeasured_log_sd = kUnmeasuredLogSd * std::sqrt(std::popcount(engine->unmeasured));
  asked.sorts = sampler_defaults(config).truncates;
  asked.processes = request.processes;
  asked.output_tokens = request.output_tokens;
  return {};
}

bool has_price(const CpuForecastRow& row) { return !std::isnan(row.usd_per_million); }

// All columns, in the order of JSON.
ReportTable columns_of(const CpuForecast& forecast) {
  using enum Quantity;
  using Row = CpuForecastRow;
  const auto of_engine = [](auto&& value) {
    return [value](const Row& row) { return row.details ? ReportValue(value(row)) : ReportValue(); };
  };
  return table_of<Row>(
      "", forecast.rows,
      {{"device", "CPU", kText, [](const Row& row) { return row.cpu.name; }},
       {"vcpus", "vCPUs", kCount, [](const Row& row) { return row.cpu.vcpus; }},
       {"calibrated", "", kYes, [](const Row& row) { return !row.cpu.bandwidth_imputed; }},
       {"batch", "", kCount, [](const Row&) { return 1; }},
       {"sequence", "prompt", kCount, &Row::sequence},
       {"weights", "weights", kText, of_engine([](const Row& row) { return row.weights; })},
       {"prefill_s", "first token", kSeconds, &Row::prefill_s},
       {"prefill_lower_s", "", kSeconds, [](const Row& row) { return row.prefill_s_90.low; }},
       {"prefill_upper_s", "", kSeconds, [](const Row& row) { return row.prefill_s_90.high; }},
       {"token_s", "per token", kSeconds, &Row::token_s},
       {"tokens_per_s", "tokens/s", kNumber, [](const Row& row) { return row.tokens_per_s; },
        [](const Row& row) { return significant(row.tokens_per_s, 3); }},
       {"lower", "", kNumber, [](const Row& row) { return row.tokens_per_s_90.low; }},
       {"upper", "", kNumber, [](const Row& row) { return row.tokens_per_s_90.high; }},
       {"", "90% interval", kNumber,
        [](const Row& row) {
          return significant(row.tokens_per_s_90.low, 3) + " to " + significant(row.tokens_per_s_90.high, 3);
        }},
       {"fits", "fits", kYes, [](const Row& row) { return row.fits_memory; },
        [](const Row& row) {
          if (!row.fits_memory) return "?";
          return *row.fits_memory ? "yes" : "no";
        }},
       {"bound", "bound", kText, &Row::bound},
       {"client_token_s", "", kSeconds, of_engine([](const Row& row) { return row.details->client_token_s; })},
       {"client_token_lower_s", "", kSeconds, [](const Row& row) { return row.client_token_s_90.low; }},
       {"client_token_upper_s", "", kSeconds, [](const Row& row) { return row.client_token_s_90.high; }},
       {"cost_per_million_tokens_usd", "USD/M tokens", kHuman, &Row::usd_per_million},
       {"engine", "engine", kText, &Row::engine},
       {"measured", "measured", kText, [](const Row& row) { return unless_empty(row.measured); }}});
}

}  // namespace

bool knows_cpu(const CpuCatalogue& cpus, const std::string& name) { return cpu_named(cpus, name, kUnknown).ok(); }

Result<CpuForecast> forecast_on_cpus(const TokenBundle& bundle, const LlmConfig& config,
                                     const CpuForecastRequest& request) {
  CpuForecast result;
  CpuEngineRequest asked;
  if (request.engine != nullptr) {
    result.engine = request.engine->name + " " + request.engine->version;
    if (Status status = take_engine_model(config, request, result, asked); !status) return status.error();
  } else {
    const Precision weights = request.weights.value_or(Precision::kQ4_K_M);
    result.engine = "llama.cpp";
    result.weights =
        request.bits_per_value ? fmt::format("{:.3f} bits", *request.bits_per_value) : std::string(info(weights).name);
    auto work = cpu_work_of(config, weights, request.bits_per_value);
    if (!work) return work.error();
    result.work = std::move(*work);
  }
  for (const std::string& name : request.cpus) {
    const auto cpu = cpu_of(bundle.cpus, request, name);
    if (!cpu) return cpu.error();
    const auto price = request.usd_per_hour.find(name);
    const auto largest = cpu_named(bundle.cpus, name, kUnknown);
    for (const int64_t sequence : request.sequences) {
      asked.prompt_tokens = sequence;
      auto row = request.engine != nullptr ? row_under_engine(request, *cpu, result, asked)
                                           : row_under_llama(bundle, *cpu, result, sequence, request.output_tokens);
      if (!row) return row.error();
      if (largest) row->largest_measured_vcpus = largest->vcpus;
      if (price != request.usd_per_hour.end()) row->usd_per_million = price->second / 3600 * row->token_s * 1e6;
      result.rows.push_back(std::move(*row));
    }
  }
  if (result.weights.empty()) {
    for (const CpuForecastRow& row : result.rows) {
      result.weights = result.weights.empty() || result.weights == row.weights ? row.weights : "of 16 bits";
    }
  }
  return result;
}

Json cpu_forecast_json(const CpuForecast& forecast) {
  Json json;
  json["schema"] = "perfcast.llm.forecast/1";
  json["model"] = forecast.work.name;
  json["parameters"] = static_cast<int64_t>(forecast.work.parameters);
  json["weights"] = forecast.weights;
  json["rows"] = rows_json(columns_of(forecast));
  for (size_t i = 0; i < forecast.rows.size(); ++i) {
    if (!forecast.rows[i].details) continue;
    json["rows"][i]["engine_basis"] =
        std::string(name_of(forecast.unmeasured.empty() ? EngineBasis::kMeasured : EngineBasis::kPhysics));
    put_known(json["rows"][i], "engine_unmeasured", forecast.unmeasured);
  }
  return json;
}

std::string cpu_forecast_csv(const CpuForecast& forecast) {
  std::vector<std::string_view> names = {"device",  "vcpus",        "calibrated", "batch", "sequence", "prefill_s",
                                         "token_s", "tokens_per_s", "lower",      "upper", "bound",    "engine"};
  if (!forecast.rows.empty() && forecast.rows.front().details) {
    names.insert(names.end(), {"measured", "weights", "prefill_lower_s", "prefill_upper_s", "client_token_s",
                               "client_token_lower_s", "client_token_upper_s"});
  }
  if (std::ranges::any_of(forecast.rows, has_price)) names.emplace_back("cost_per_million_tokens_usd");
  return rows_csv(picked(columns_of(forecast), names), {.digits = 6, .yes = "true", .no = "false"});
}

std::string cpu_forecast_rows_text(const CpuForecast& forecast) {
  std::vector<std::string_view> names = {"device",  "vcpus",        "sequence",     "prefill_s",
                                         "token_s", "tokens_per_s", "90% interval", "bound"};
  const bool of_engine = !forecast.rows.empty() && forecast.rows.front().details;
  if (std::ranges::any_of(forecast.rows, has_price)) names.emplace_back("cost_per_million_tokens_usd");
  if (of_engine) {
    names.insert(names.begin() + 3, "weights");
    names.insert(names.end(), {"engine", "measured"});
  } else {
    names.emplace_back("fits");
  }
  return rows_text(picked(columns_of(forecast), names));
}

std::string cpu_forecast_answer(const CpuForecast& forecast) {
  const auto& rows = forecast.rows;
  const auto several = [&](auto&& value) {
    return std::ranges::any_of(rows, [&](const CpuForecastRow& row) { return value(row) != value(rows.front()); });
  };
  const bool of_prompts = several([](const CpuForecastRow& row) { return row.sequence; });
  const auto named = [&](const CpuForecastRow& row) {
    return row.cpu.name + (of_prompts ? ", prompt " + std::to_string(row.sequence) : "");
  };
  std::string text;
  if (rows.size() > 1) {
    const auto fastest = std::ranges::max_element(rows, {}, &CpuForecastRow::tokens_per_s);
    text += fmt::format("most tokens/s: {}: {} tokens/s ({} to {})\n", named(*fastest),
                        significant(fastest->tokens_per_s, 3), significant(fastest->tokens_per_s_90.low, 3),
                        significant(fastest->tokens_per_s_90.high, 3));
  }
  const auto dear = [](const CpuForecastRow& row) { return has_price(row) ? row.usd_per_million : INFINITY; };
  const auto cheapest = std::ranges::min_element(rows, {}, dear);
  if (cheapest == rows.end() || !has_price(*cheapest)) return text;
  const auto unpriced = rows.size() - static_cast<size_t>(std::ranges::count_if(rows, has_price));
  return text + fmt::format("cheapest: {}: {} USD per million tokens, {} tokens/s{}\n", named(*cheapest),
                            significant(cheapest->usd_per_million, 3), significant(cheapest->tokens_per_s, 3),
                            unpriced == 0 ? ""
                                          : fmt::format("; {} row{} without a price (--price CPU=USD)", unpriced,
                                                        unpriced == 1 ? "" : "s"));
}

std::string cpu_engine_parts_text(const CpuForecastRow& row) {
  struct Part {
    const char* name;
    double first_s, token_s;
  };
  const CpuEngineStep &first = row.details->times.first, &token = row.details->times.token;
  const auto known = [](double seconds) { return seconds > 0 ? seconds : kUnknown; };
  std::vector<Part> parts = {
      {"HTTP, tokeniser, client", row.details->times.http_s, kUnknown},
      {"products of the prompt", known(first.products_s), kUnknown},
      {"attention", known(first.attention_s), kUnknown},
      {"reading weights", first.weights_s, token.weights_s},
      {"activations", first.activations_s, token.activations_s},
      {"threads wait for each other", first.barriers_s, token.barriers_s},
      {"scheduler, inputs, output", first.host_s, token.host_s},
      {"ordering the vocabulary", known(first.sort_s), known(token.sort_s)},
  };
  std::erase_if(parts, [](const Part& part) { return std::isnan(part.first_s) && std::isnan(part.token_s); });
  const auto ms = [](double seconds) { return std::isfinite(seconds) ? fmt::format("{:.2f} ms", 1e3 * seconds) : ""; };
  return rows_text(
      table_of<Part>("", parts,
                     {{"part", "part", Quantity::kText, [](const Part& part) { return part.name; }},
                      {"first_s", "first token", Quantity::kSeconds, [](const Part& part) { return part.first_s; },
                       [ms](const Part& part) { return ms(part.first_s); }},
                      {"token_s", "per token", Quantity::kSeconds, [](const Part& part) { return part.token_s; },
                       [ms](const Part& part) { return ms(part.token_s); }}}));
}

}  // namespace perfcast::ai
