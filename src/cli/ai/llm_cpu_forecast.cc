#include "cli/ai/llm_cpu_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/cpu_tokens/token_bundle.h"
#include "ai/engine/engine_bundle.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/significant.h"
#include "base/text.h"
#include "base/unknown.h"
#include "cli/ai/llm_devices.h"
#include "cli/ai/llm_engine.h"
#include "cli/command.h"
#include "cli/shared/table_options.h"
#include "machine/facts/chip_names.h"
#include "machine/facts/desktop_memory.h"
#include "program/evaluate/platform_name.h"
#include "program/model/bundle/bundle.h"

namespace perfcast::cli {
namespace {

constexpr const char* kTokens = "bundles/cpu-tokens.json";

std::string seconds_with_interval(double seconds, const ai::CpuInterval& interval) {
  const bool in_ms = seconds < 1;
  const auto figure = [&](double time_s) { return significant(in_ms ? 1e3 * time_s : time_s, 3); };
  return fmt::format("{} {} ({} to {})", figure(seconds), in_ms ? "ms" : "s", figure(interval.low),
                     figure(interval.high));
}

// What only one configuration has room for.
std::string details_text(const ai::CpuForecastRow& row) {
  const ai::CpuEngineMachine& machine = row.details->machine;
  return fmt::format(
      "\nfirst token             {}\nclient's time per token {}\n{:.0f} threads on {} GB/s, products: {}\n\n{}",
      seconds_with_interval(row.prefill_s, row.prefill_s_90),
      seconds_with_interval(row.details->client_token_s, row.client_token_s_90), machine.threads,
      significant(machine.memory_bytes_per_s / 1e9, 3), name_of(machine.path), ai::cpu_engine_parts_text(row));
}

// What is known of a machine's size and memory, where that bounds its forecast. Each CPU once.
std::vector<std::string> limit_notes(const ai::CpuForecast& forecast) {
  std::vector<std::string> notes;
  const auto add = [&](std::string note) {
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
  };
  for (const ai::CpuForecastRow& row : forecast.rows) {
    if (row.cpu.vcpus > row.largest_measured_vcpus) {
      add(
          fmt::format("the largest measured machine with {} has {:g} vCPUs; larger ones are forecast with its memory "
                      "bandwidth",
                      printable(row.cpu.name), row.largest_measured_vcpus));
    }
    if (row.cpu.bandwidth_imputed && row.cpu.most_memory_bytes_per_s > 0) {
      add(fmt::format("{}: by its data sheet memory has at most {} GB/s; it is forecast with {} GB/s",
                      printable(row.cpu.name), significant(row.cpu.most_memory_bytes_per_s / 1e9, 3),
                      significant(memory_bandwidth(row.cpu) / 1e9, 3)));
    }
  }
  return notes;
}

std::vector<std::string> notes_of(const ai::CpuForecast& forecast, const ai::CpuForecastRequest& request) {
  const auto any = [&](auto&& holds) { return std::ranges::any_of(forecast.rows, holds); };
  std::vector<std::string> notes = limit_notes(forecast);
  const bool imputed = any([](const ai::CpuForecastRow& row) { return row.cpu.bandwidth_imputed; });
  if (request.engine == nullptr) {
    if (imputed) notes.emplace_back("bandwidth of some of these machines was not measured; it is that of their kin");
    return notes;
  }
  notes.push_back(fmt::format("{}: fitted to {} measured single streams of {} on {} CPU models", forecast.engine,
                              request.engine->rows, join(request.engine->model_names(), ", "),
                              request.engine->cpus.size()));
  if (imputed) notes.emplace_back("measured: where bandwidth isn't named, it is that of other sizes of the CPU model");
  if (any([](const ai::CpuForecastRow& row) { return !row.details->knows_model; })) {
    notes.push_back(fmt::format("nobody measured {} under {} on CPUs; its times follow from other models",
                                forecast.work.name, request.engine->name));
  }
  if (!forecast.unmeasured.empty()) {
    notes.push_back(fmt::format("no run covers: {}; intervals are wider", forecast.unmeasured));
  }
  if (request.processes == 1 && any([](const ai::CpuForecastRow& row) { return row.cpu.numa_nodes > 1; })) {
    notes.push_back(
        fmt::format("{} uses one NUMA node of a machine; --tensor-parallel N uses N of them for one request",
                    request.engine->name));
  }
  return notes;
}

std::string text_of(const ai::LlmConfig& config, const ai::CpuForecast& forecast,
                    const ai::CpuForecastRequest& request) {
  std::string text = ai::cpu_forecast_answer(forecast);
  text += fmt::format("{}: weights {}, {} read for a token; {} new tokens, one sequence, {}\n\n{}", forecast.work.name,
                      forecast.weights, human_bytes(forecast.work.weight_bytes), request.output_tokens, forecast.engine,
                      ai::cpu_forecast_rows_text(forecast));
  if (forecast.rows.size() == 1 && forecast.rows.front().details) text += details_text(forecast.rows.front());
  std::vector<std::string> notes = notes_of(forecast, request);
  notes.insert(notes.end(), config.notes.begin(), config.notes.end());
  if (!notes.empty()) text += "\n";
  for (const std::string& note : notes) text += "note: " + note + "\n";
  return text;
}

constexpr const char* kPlatforms = "bundles/cpus.pcb";

Result<std::vector<Platform>> shipped_platforms() {
  auto bundle = program::read_bundle(shipped_file(kPlatforms));
  if (!bundle) return bundle.error();
  return std::move(bundle->platforms);
}

bool is_part_of_a_name(const ai::CpuCatalogue& cpus, const std::string& name) {
  return std::ranges::any_of(cpus.records(), [&](const ai::CpuRecord& record) {
    return lower_case(record.facts.name).find(lower_case(trim(name))) != std::string::npos;
  });
}

Error no_such_cpu(const ai::CpuCatalogue& cpus, const std::vector<Platform>& platforms, const std::string& name,
                  const char* option) {
  std::vector<std::string> names;
  for (const Platform& platform : platforms) names.push_back(platform.name);
  for (const ai::CpuRecord& record : cpus.records()) {
    if (std::ranges::find(names, record.facts.name) == names.end()) names.push_back(record.facts.name);
  }
  return usage_error("unknown-cpu", "no CPU model is called " + printable(name), option,
                     "near: " + nearest_names(name, names));
}

// Those of the CPUs that the catalogue doesn't know, and that predict does. "unknown-cpu" with near names of both.
Status take_others(const ai::CpuCatalogue& cpus, const char* option, ai::CpuForecastRequest& request) {
  std::vector<Platform> platforms;
  for (const std::string& name : request.cpus) {
    if (ai::knows_cpu(cpus, name)) continue;
    if (platforms.empty()) {
      auto read = shipped_platforms();
      if (!read) return read.error();
      platforms = std::move(*read);
    }
    const auto found = program::look_up_platform(platforms, name, option, ErrorKind::kUsage);
    if (!found) return found.error();
    if (!*found) {
      if (is_part_of_a_name(cpus, name)) continue;  // of several CPUs: the catalogue says of which
      return no_such_cpu(cpus, platforms, name, option);
    }
    auto facts = facts_of_platform(platforms[**found], request.vcpus);
    if (!facts) return facts.error();
    request.others.emplace(name, std::move(*facts));
  }
  return {};
}

}  // namespace

Result<ai::CpuFacts> facts_of_platform(const Platform& platform, double vcpus) {
  ai::CpuFacts facts;
  static_cast<ProcessorIdentity&>(facts) = platform;
  facts.flags = {platform.flags.begin(), platform.flags.end()};
  const auto fact = [&](const char* name) {
    const auto found = platform.facts.find(name);
    return found == platform.facts.end() ? kUnknown : found->second;
  };
  for (const CacheField& field : kCacheFields) facts.*field.bytes = if_known(fact(field.name));
  facts.most_memory_bytes_per_s = desktop_memory_bytes_per_s(platform).value_or(kUnknown);
  const double threads = std::isnan(fact("threads_per_core_count")) ? 1 : fact("threads_per_core_count");
  const double of_a_chip = fact("core_count") * threads;
  if (platform.segment == "desktop" && vcpus > of_a_chip) {
    return usage_error("bad-vcpus", fmt::format("{} has {:g} vCPUs", printable(platform.name), of_a_chip), "--vcpus",
                       fmt::format("{:g}, or fewer", of_a_chip));
  }
  facts.vcpus = std::isnan(vcpus) ? of_a_chip : vcpus;
  facts.cores = std::max(1.0, std::floor(facts.vcpus / threads));
  if (!std::isnan(facts.vcpus)) return facts;
  return usage_error("bad-vcpus", "nothing tells how many vCPUs a machine with " + printable(platform.name) + " has",
                     "--vcpus", "--vcpus N, its number");
}

Status take_cpu_prices(const std::vector<std::string>& given, ai::CpuForecastRequest& request) {
  for (const std::string& text : list_of(given)) {
    const size_t equals = text.rfind('=');
    const auto value = parse_number(trim(equals == std::string::npos ? text : text.substr(equals + 1)));
    if (!value || !(*value > 0)) {
      return usage_error("bad-usage", "'" + printable(text) + "' gives no number above 0", "--price",
                         "CPU=USD, per hour of the whole machine, or a number for all");
    }
    const std::string only(trim(equals == std::string::npos ? "" : text.substr(0, equals)));
    bool used = false;
    for (const std::string& name : request.cpus) {
      if (!only.empty() && plain_name(only) != plain_name(name) && !may_be_one_cpu(only, name)) continue;
      request.usd_per_hour[name] = *value;
      used = true;
    }
    if (!used) {
      return usage_error("bad-usage", printable(only) + " is not among the CPUs to forecast", "--price",
                         "one of: " + printable(join(request.cpus, ", ")));
    }
  }
  return {};
}

Result<CpuForecastRun> run_cpu_forecast(const ai::LlmConfig& config, ai::CpuForecastRequest request,
                                        const std::string& engine, const char* option) {
  const auto bundle = ai::read_token_bundle(shipped_file(kTokens));
  if (!bundle) return bundle.error();
  CpuForecastRun run;
  if (plain_name(engine) != plain_name(kCpuEngine)) {
    const auto engines = shipped_engines();
    if (!engines) return engines.error();
    const auto found = engines->find_on_cpus(engine);
    if (!found) {
      Error error = found.error();
      if (engine == kNoEngine) error.message = "kernels without an engine aren't forecast on CPUs";
      error.where = "--engine";
      error.expected += std::string(", ") + kCpuEngine;
      return error;
    }
    run.engine = **found;
    request.engine = &*run.engine;
  }
  if (Status taken = take_others(bundle->cpus, option, request); !taken) return taken.error();
  auto forecast = ai::forecast_on_cpus(*bundle, config, request);
  if (!forecast) {
    Error error = forecast.error();
    const bool of_the_cpu = error.code == "unknown-cpu" || error.code == "bad-vcpus";
    if (of_the_cpu && error.where.empty()) error.where = option;
    if (error.where == "tensor-parallel") error.where = "--tensor-parallel";
    if (error.code == "unsupported-precision") error.where = "--precision";
    return error;
  }
  run.forecast = *std::move(forecast);
  return run;
}

Result<std::string> cpu_forecast(const ai::LlmConfig& config, ai::CpuForecastRequest request, const std::string& engine,
                                 const char* option, CpuForecastFormat format) {
  const auto run = run_cpu_forecast(config, request, engine, option);
  if (!run) return run.error();
  switch (format) {
    case CpuForecastFormat::kJson:
      return to_text(ai::cpu_forecast_json(run->forecast));
    case CpuForecastFormat::kCsv:
      return ai::cpu_forecast_csv(run->forecast);
    case CpuForecastFormat::kText:
      break;
  }
  request.engine = run->engine ? &*run->engine : nullptr;
  return text_of(config, run->forecast, request);
}

Result<bool> are_cpus(const std::vector<std::string>& names, const ai::DeviceProvider& provider) {
  std::vector<std::string> others;
  for (const std::string& name : names) {
    if (!provider.find(name)) others.push_back(name);
  }
  if (others.empty()) return false;
  const auto bundle = ai::read_token_bundle(shipped_file(kTokens));
  if (!bundle) return bundle.error();
  std::vector<Platform> platforms;
  for (const std::string& name : others) {
    if (ai::knows_cpu(bundle->cpus, name)) continue;
    if (platforms.empty()) {
      auto read = shipped_platforms();
      if (!read) return read.error();
      platforms = std::move(*read);
    }
    // Of an ambiguous name they are CPUs, too.
    const auto found = program::look_up_platform(platforms, name, "--on", ErrorKind::kUsage);
    if (found && !*found) return false;
  }
  if (others.size() == names.size()) return true;
  return usage_error("bad-usage", "CPUs and devices in one forecast", "--on",
                     "one kind of both; perfcast place has them side by side");
}

}  // namespace perfcast::cli
