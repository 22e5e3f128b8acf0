#include "ai/audit/mlperf_results.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "ai/results/accelerator_names.h"
#include "ai/results/inference_results.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

void add_number(Claim& claim, ClaimMetric metric, double value) {
  if (std::isnan(value)) return;
  claim.numbers.push_back({metric, value, 0, claim_text(metric, value)});
}

Claim claim_of(const PublishedResult& result) {
  Claim claim;
  claim.id = fmt::format("{} {}/{}/{}/{} #{}", result.version, result.submitter, result.platform, result.model,
                         result.scenario, result.line);
  claim.model = result.model;
  claim.device = catalogue_name(result.accelerator);
  claim.devices = result.accelerators();  // "N/A" accelerators are CPUs
  claim.libraries = result.framework;
  if (result.scenario == "SingleStream" || result.scenario == "MultiStream") {
    claim.latency_definition = LatencyDefinition::kEndToEnd;
    claim.statistic = LatencyStatistic::kMean;
    add_number(claim, ClaimMetric::kLatency, result.mean_latency_s);
    claim.batch = result.scenario == "SingleStream" ? 1 : static_cast<int64_t>(kMultiStreamSamples);
    if (result.scenario == "SingleStream") {
      claim.concurrency = 1;
      add_number(claim, ClaimMetric::kSamplesPerS, result.samples_per_s);
    }
  } else {
    add_number(claim, ClaimMetric::kTokensPerS, result.tokens_per_s);
    add_number(claim, ClaimMetric::kSamplesPerS, result.samples_per_s);
  }
  return claim;
}

}  // namespace

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
  const auto rows = parse_inference_results(csv, source);
  if (!rows) return rows.error();
  PublishedResults results;
  results.division = division;
  results.claims.source = source;
  std::set<std::string> divisions;
  for (const PublishedResult& row : *rows) {
    divisions.insert(row.division.substr(0, 60));
    if (row.division != division) continue;
    Claim claim = claim_of(row);
    if (claim.numbers.empty()) {
      ++results.skipped;
    } else {
      results.claims.claims.push_back(std::move(claim));
    }
  }
  if (results.claims.claims.empty()) {
    return Error{
        "no-results", "no row of the division '" + printable(division.substr(0, 60)) + "' states a number", source,
        "one of the divisions that are there: " + nearest_names(division, {divisions.begin(), divisions.end()})};
  }
  return results;
}

}  // namespace perfcast::ai
