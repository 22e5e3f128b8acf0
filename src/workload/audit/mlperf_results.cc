#include "workload/audit/mlperf_results.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr int64_t kMultiStreamSamples = 8;

// Pieces of the names that submissions give, the longer before what they hold.
constexpr std::array<std::pair<std::string_view, std::string_view>, 26> kAccelerators = {{
    {"A100-SXM4-80GB", "a100-sxm-80gb"},
    {"A100-SXM-80", "a100-sxm-80gb"},
    {"A100-SXM-40GB", "a100-sxm-40gb"},
    {"A100-PCIe-80GB", "a100-pcie-80gb"},
    {"A100-PCIe-40GB", "a100-pcie-40gb"},
    {"H100-SXM", "h100"},
    {"H100-PCIe", "h100-pcie"},
    {"H100-NVL", ""},
    {"H200-SXM", "h200"},
    {"GH200 Grace Hopper Superchip 96GB", "gh200"},
    {"GH200", ""},
    {"B200-SXM", "b200"},
    {"RTX 4090", "rtx-4090"},
    {"MI300X", "mi300x"},
    {"MI325X", "mi325x"},
    {"TPU v5e", "tpu-v5e"},
    {"TPU v6", "tpu-v6e"},
    {"L40S", "l40s"},
    {"L40", "l40"},
    {"NVIDIA L4", "l4"},
    {"NVIDIA A10G", "a10g"},
    {"NVIDIA A10", "a10"},
    {"NVIDIA A30", "a30"},
    {"NVIDIA A40", "a40"},
    {"NVIDIA T4", "t4"},
    {"Tesla T4", "t4"},
}};

struct ResultColumns {
  size_t version, division, submitter, platform, model, scenario, samples, tokens, latency, accelerator, per_node,
      nodes, framework;
};

Result<ResultColumns> columns_of(const CsvTable& table) {
  ResultColumns columns{};
  const std::pair<const char*, size_t ResultColumns::*> wanted[] = {
      {"version", &ResultColumns::version},
      {"division", &ResultColumns::division},
      {"submitter", &ResultColumns::submitter},
      {"platform", &ResultColumns::platform},
      {"model", &ResultColumns::model},
      {"scenario", &ResultColumns::scenario},
      {"samples_per_s", &ResultColumns::samples},
      {"tokens_per_s", &ResultColumns::tokens},
      {"mean_latency_ns", &ResultColumns::latency},
      {"accelerator", &ResultColumns::accelerator},
      {"accel_per_node", &ResultColumns::per_node},
      {"nodes", &ResultColumns::nodes},
      {"framework", &ResultColumns::framework},
  };
  for (const auto& [name, member] : wanted) {
    auto column = table.column(name);
    if (!column) return column.error();
    columns.*member = *column;
  }
  return columns;
}

void add_number(Claim& claim, ClaimMetric metric, std::optional<double> value) {
  if (!value || !(*value > 0)) return;
  claim.numbers.push_back({metric, *value, 0, claim_text(metric, *value)});
}

// "N/A" accelerators are CPUs; how many nodes have one each isn't always a number.
int64_t whole_or(std::string_view cell, int64_t fallback) {
  const auto value = parse_number(trim(cell));
  return value && *value >= 1 && *value <= 1e6 && *value == std::floor(*value) ? static_cast<int64_t>(*value)
                                                                               : fallback;
}

Result<Claim> claim_of(const CsvTable& table, const ResultColumns& columns, size_t row) {
  Claim claim;
  const auto text = [&](size_t column) { return printable(table.cell(row, column).substr(0, 200)); };
  const std::string scenario = text(columns.scenario);
  claim.id = fmt::format("{} {}/{}/{}/{} #{}", text(columns.version), text(columns.submitter), text(columns.platform),
                         text(columns.model), scenario, table.line(row));
  claim.model = text(columns.model);
  claim.device = catalogue_name(text(columns.accelerator));
  claim.devices = whole_or(table.cell(row, columns.per_node), 1) * whole_or(table.cell(row, columns.nodes), 1);
  claim.libraries = text(columns.framework);
  const auto samples = table.number(row, columns.samples);
  if (!samples) return samples.error();
  const auto tokens = table.number(row, columns.tokens);
  if (!tokens) return tokens.error();
  const auto latency_ns = table.number(row, columns.latency);
  if (!latency_ns) return latency_ns.error();
  const std::optional<double> latency_s = *latency_ns ? std::optional(**latency_ns * 1e-9) : std::nullopt;
  if (scenario == "SingleStream" || scenario == "MultiStream") {
    claim.latency_definition = LatencyDefinition::kEndToEnd;
    claim.statistic = LatencyStatistic::kMean;
    add_number(claim, ClaimMetric::kLatency, latency_s);
    claim.batch = scenario == "SingleStream" ? 1 : kMultiStreamSamples;
    if (scenario == "SingleStream") {
      claim.concurrency = 1;
      add_number(claim, ClaimMetric::kSamplesPerS, *samples);
    }
  } else {
    add_number(claim, ClaimMetric::kTokensPerS, *tokens);
    add_number(claim, ClaimMetric::kSamplesPerS, *samples);
  }
  return claim;
}

}  // namespace

std::string catalogue_name(const std::string& accelerator) {
  for (const auto& [piece, name] : kAccelerators) {
    if (accelerator.find(piece) == std::string::npos) continue;
    return name.empty() ? accelerator : std::string(name);
  }
  const bool none = accelerator.empty() || accelerator == "-" || accelerator == "N/A";
  return none ? std::string() : accelerator;
}

void inflate(PublishedResults& results, double factor) {
  for (Claim& claim : results.claims.claims) {
    for (ClaimedNumber& number : claim.numbers) {
      number.value = is_time(number.metric) ? number.value / factor : number.value * factor;
      number.text = claim_text(number.metric, number.value);
    }
  }
}

Result<PublishedResults> parse_published_results(std::string_view csv, const std::string& source,
                                                 const std::string& division) {
  const auto table = CsvTable::parse(csv, source);
  if (!table) return table.error();
  const auto columns = columns_of(*table);
  if (!columns) return columns.error();
  PublishedResults results;
  results.division = division;
  results.claims.source = source;
  std::set<std::string> divisions;
  for (size_t row = 0; row < table->rows(); ++row) {
    const std::string_view own = table->cell(row, columns->division);
    divisions.insert(printable(own.substr(0, 60)));
    if (own != division) continue;
    auto claim = claim_of(*table, *columns, row);
    if (!claim) return claim.error();
    if (claim->numbers.empty()) {
      ++results.skipped;
    } else {
      results.claims.claims.push_back(*std::move(claim));
    }
  }
  if (results.claims.claims.empty()) {
    return Error{
        "no-results", "no row of the division '" + printable(division.substr(0, 60)) + "' states a number", source,
        "one of the divisions that are there: " + nearest_names(division, {divisions.begin(), divisions.end()})};
  }
  return results;
}

}  // namespace perfcast
