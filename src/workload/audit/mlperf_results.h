#pragma once
// Published results of MLPerf inference as claims, from a table of them in CSV (one row for each performance log): what
// an audit must not call impossible. Columns: version, division, submitter, platform, model, scenario, samples_per_s,
// tokens_per_s, mean_latency_ns, accelerator, accel_per_node, nodes, framework.
//   Offline, Server   samples_per_s, or tokens_per_s of language models, of the whole system
//   SingleStream      the mean latency, and the rate with one request in flight
//   MultiStream       the mean latency of a query of 8 samples

#include <string>
#include <string_view>

#include "base/result.h"
#include "workload/audit/claim.h"

namespace perfcast {

struct PublishedResults {
  std::string division;  // "closed"
  ClaimsFile claims;     // id: "v4.1 submitter/platform/model/scenario #line"
  size_t skipped = 0;    // rows of the division that state no number
};

// "missing-column", "bad-number"; "no-results" where no row is of the division, with those that are there.
Result<PublishedResults> parse_published_results(std::string_view csv, const std::string& source,
                                                 const std::string& division);

// As if every result were `factor` times as good: what an audit would notice of that says how sharp its bounds are.
void inflate(PublishedResults& results, double factor);

// The catalogue's name for an accelerator as submissions write it ("NVIDIA H100-SXM-80GB" -> "h100"); of a part of one
// (MIG) the whole, which bounds it. The name itself where there is none.
std::string catalogue_name(const std::string& accelerator);

}  // namespace perfcast
