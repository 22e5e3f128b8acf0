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
#include "program/explain/price_rows.h"

namespace perfcast::program {

struct Price {
  std::string vendor, server;
  double per_hour = 0;
  std::string where;  // file and line
  std::optional<double> memory_gib = std::nullopt;
};

struct PriceOptions {
  bool spot = false;         // spot prices, not those on demand
  std::string region = {};   // "eu-west-1"; empty: of each vendor the one with most prices
  bool with_shared = false;  // types whose vCPUs are shared or burstable may be chosen, too (cpu_share_of())
  // What one unit of a currency ("EUR") is worth in that one of the file's which has no rate here.
  std::map<std::string, double> rates = {};
};

class PriceList {
 public:
  // What vendors publish (price_rows.h), SkyPilot's catalogue (a column InstanceType in place of vendor and server; of
  // several zones the lowest price), or CSV with the columns vendor, server and one whose name holds "price" (two where
  // one of them is "spot"): per hour, or per month of 730 hours where the name holds "month". The currency is that of a
  // column "currency", or of the name (price_usd_per_hour); several where all but one have a rate. Other columns are
  // ignored. A blank price leaves the row out. A column "region" is heeded, "memory_gib" read. "missing-column",
  // "ambiguous-column", "bad-number", "bad-price" (not above 0, or two prices for one server), "mixed-currencies",
  // "unknown-region", with file and line.
  static Result<PriceList> parse(std::string_view csv, const std::string& source, const PriceOptions& options = {});
  static Result<PriceList> read(const std::string& path, const PriceOptions& options = {});

  // Where the list doesn't say whose a server is, by its name alone.
  std::optional<double> per_hour(const std::string& vendor, const std::string& server) const;
  std::optional<double> memory_gib(const std::string& vendor, const std::string& server) const;
  const std::vector<Price>& prices() const { return prices_; }  // one for each server, in the order of the file
  const std::string& currency() const { return currency_; }     // "USD"; empty where the file does not say
  // How the file was read where that isn't plain: "decimal commas". A person should see it.
  const std::string& form() const { return form_; }
  bool with_shared() const { return with_shared_; }
  // For people: "vms.csv (SkyPilot's catalogue, region us-east-1 of 17, on demand), the file of 2026-11-20".
  std::string source_in_words() const;
  const std::string& date() const { return date_; }  // "2026-11-20": the list's own, else the file's; empty: unknown
  const std::string& regions() const { return regions_; }  // "us-east-1", or of several vendors each; empty: none said

 private:
  Status choose_region(const PriceOptions& options, std::vector<PriceRow>& rows);
  Status take(const PriceRow& row, const PriceOptions& options, bool is_published);
  const Price* find(const std::string& vendor, const std::string& server) const;

  std::string currency_, form_, source_, what_, date_, regions_;
  size_t all_regions_ = 0;
  bool is_spot_ = false, with_shared_ = false, is_of_file_ = false;  // the date is the file's
  std::vector<Price> prices_;
  std::map<std::pair<std::string, std::string>, size_t> index_;
};

// For a note: "1 of 2 prices matches no row: cloud-z m2.x1 (p.csv:3; near: cloud-y m2.x1)", five of them named. `what`:
// what they match none of; `known`: names of those that there are, "cloud-y m2.x1".
std::string unmatched_prices_in_words(const std::vector<Price>& unmatched, size_t all, const std::string& what,
                                      const std::vector<std::string>& known);

}  // namespace perfcast::program
