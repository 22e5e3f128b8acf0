#pragma once
// Published results of MLPerf inference as claims, from a table of them in CSV (one row for each performance log;
// ai/results/inference_results.h has its columns): what an audit must not call impossible.
//   Offline, Server   samples_per_s, or tokens_per_s of language models, of the whole system
//   SingleStream      the mean latency, and the rate with one request in flight
//   MultiStream       the mean latency of a query of 8 samples

#include <string>
#include <string_view>

#include "ai/audit/claim.h"
#include "base/result.h"

namespace perfcast::ai {

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

}  // namespace perfcast::ai
