#include "ai/results/inference_results.h"

#include "ai/results/result_columns.h"

namespace perfcast::ai {

Result<std::vector<PublishedResult>> parse_inference_results(std::string_view csv, const std::string& source) {
  const auto table = CsvTable::parse(csv, source);
  if (!table) return table.error();
  ResultColumns columns(*table);
  const auto version = columns.need("version"), division = columns.need("division");
  const auto submitter = columns.need("submitter"), platform = columns.need("platform");
  const auto model = columns.need("model"), scenario = columns.need("scenario");
  const auto samples = columns.need("samples_per_s"), tokens = columns.need("tokens_per_s");
  const auto latency = columns.need("mean_latency_ns"), accelerator = columns.need("accelerator");
  const auto per_node = columns.need("accel_per_node"), nodes = columns.need("nodes");
  const auto framework = columns.need("framework");
  const auto p90 = columns.find("p90_latency_ns"), p99 = columns.find("p99_latency_ns");
  const auto power = columns.find("avg_power_w"), valid = columns.find("valid");
  const auto cpu = columns.find("host_cpu"), cpus = columns.find("host_cpus_per_node");
  const auto type = columns.find("system_type");
  if (Status there = columns.finish(); !there) return there.error();
  constexpr double kNanosecond_s = 1e-9;
  std::vector<PublishedResult> results;
  results.reserve(table->rows());
  for (size_t row = 0; row < table->rows(); ++row) {
    PublishedResult result;
    result.line = table->line(row);
    result.version = columns.text(row, version);
    result.division = columns.text(row, division);
    result.submitter = columns.text(row, submitter);
    result.platform = columns.text(row, platform);
    result.model = columns.text(row, model);
    result.scenario = columns.text(row, scenario);
    result.accelerator = columns.text(row, accelerator);
    result.framework = columns.text(row, framework);
    result.host_cpu = columns.text(row, cpu);
    result.system_type = columns.text(row, type);
    result.valid = !valid || table->cell(row, *valid) == "VALID";
    result.accelerators_per_node = columns.count(row, per_node);
    result.nodes = columns.count(row, nodes);
    result.host_cpus_per_node = columns.count(row, cpus);
    result.samples_per_s = columns.positive(row, samples);
    result.tokens_per_s = columns.positive(row, tokens);
    result.mean_latency_s = kNanosecond_s * columns.positive(row, latency);
    result.p90_latency_s = kNanosecond_s * columns.positive(row, p90);
    result.p99_latency_s = kNanosecond_s * columns.positive(row, p99);
    result.power_w = columns.positive(row, power);
    results.push_back(std::move(result));
  }
  if (Status read = columns.finish(); !read) return read.error();
  return results;
}

}  // namespace perfcast::ai
