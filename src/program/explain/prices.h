#pragma once
// Prices of cloud instance types, as a user's own file states them.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace perfcast::program {

struct Price {
  std::string vendor, server;
  double per_hour = 0;
  std::string where;  // file and line
};

struct PriceOptions {
  bool spot = false;  // the column whose name holds "spot", not the other
  // What one unit of a currency ("EUR") is worth in that one of the file's which has no rate here.
  std::map<std::string, double> rates = {};
};

class PriceList {
 public:
  // CSV with the columns vendor, server and one whose name holds "price" (two where one of them is "spot"): per hour,
  // or per month of 730 hours where the name holds "month". The currency is that of a column "currency", or of the name
  // (price_usd_per_hour); several where all but one have a rate. Other columns are ignored. A blank price leaves the
  // row out. "missing-column", "ambiguous-column", "bad-number", "bad-price" (not above 0, or two prices for one
  // server), "mixed-currencies", with file and line.
  static Result<PriceList> parse(std::string_view csv, const std::string& source, const PriceOptions& options = {});
  static Result<PriceList> read(const std::string& path, const PriceOptions& options = {});

  std::optional<double> per_hour(const std::string& vendor, const std::string& server) const;
  const std::vector<Price>& prices() const { return prices_; }  // one for each server, in the order of the file
  const std::string& currency() const { return currency_; }     // "USD"; empty where the file does not say
  // How the file was read where that isn't plain: "decimal commas". A person should see it.
  const std::string& form() const { return form_; }

 private:
  std::string currency_, form_;
  std::vector<Price> prices_;
  std::map<std::pair<std::string, std::string>, size_t> index_;
};

// For a note: "1 of 2 prices matches no row: cloud-z m2.x1 (p.csv:3)", five of them named. `what`: what they match none
// of.
std::string unmatched_prices_in_words(const std::vector<Price>& unmatched, size_t all, const std::string& what);

}  // namespace perfcast::program
