#pragma once
// Price lists as vendors publish them, before anything is chosen from them. Facts of the forms: AWS's pages "Reading
// the service price list file" and "get-products", Microsoft's page "Azure Retail Prices overview".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::program {

struct PriceRow {
  std::string vendor, server;  // vendor empty: the list doesn't say
  std::string region, place;   // "eu-west-1", "EU (Ireland)"; empty: of every region
  std::string currency;        // "USD"; empty where the list does not say
  double per_hour = 0;         // above 0
  bool is_spot = false;
  std::optional<double> memory_gib;
  std::string where;  // file and line, or file and number
};

struct PriceRows {
  std::vector<PriceRow> rows;
  std::string what;  // "AWS's offer file"
  std::string date;  // "2026-11-20", as the list states it; empty: it doesn't
  std::string form;  // of CSV: how it was read where that isn't plain
};

// JSON: AWS's offer file and what `aws pricing get-products` and `aws ec2 describe-spot-price-history` print, pages of
// Azure's retail prices; one document, several after each other, or an array of them. Of Linux machines that are not
// dedicated, on demand and spot. Errors: "bad-json", "bad-price" (a file of another kind, or without such a price).
Result<PriceRows> price_rows_of_json(std::string_view text, const std::string& source);

// Whether that is JSON, by its first letter.
bool looks_like_json(std::string_view text);

}  // namespace perfcast::program
