#include "program/explain/prices.h"

#include <algorithm>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr size_t kLargestFileBytes = size_t{64} << 20;
constexpr double kHoursPerMonth = 730;
constexpr const char* kCurrencies[] = {"usd", "eur", "gbp", "chf", "jpy", "cny",
                                       "inr", "cad", "aud", "krw", "sek", "pln"};

// Of a column such as price_usd_per_hour; empty where its name holds none.
std::string currency_in(const std::string& column) {
  for (const char* currency : kCurrencies) {
    if (lower_case(column).find(currency) != std::string::npos) return upper_case(currency);
  }
  return "";
}

bool is_currency(const std::string& text) {
  return text.size() == 3 && std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

Result<size_t> named_column(const CsvTable& table, const std::string& source, const std::string& name,
                            const std::string& holds) {
  if (const auto found = table.find_column(name)) return *found;
  return Error{"missing-column", "there is no column '" + name + "' but " + printable(join(table.columns(), ", ")),
               source + ":1", "the columns vendor, server and a price; " + name + " is " + holds};
}

Result<size_t> price_column(const CsvTable& table, const std::string& source, bool spot) {
  std::optional<size_t> found;
  for (size_t i = 0; i < table.columns().size(); ++i) {
    const std::string name = lower_case(table.columns()[i]);
    if (name.find("price") == std::string::npos || (name.find("spot") != std::string::npos) != spot) continue;
    if (found) {
      return Error{"ambiguous-column",
                   "two columns could hold the price: " + printable(table.columns()[*found]) + " and " +
                       printable(table.columns()[i]),
                   source + ":1",
                   "one column whose name holds \"price\", and one for spot prices where there are such"};
    }
    found = i;
  }
  if (found) return *found;
  return Error{"missing-column", spot ? "no column holds the spot price" : "no column holds the price", source + ":1",
               spot ? "a column such as spot_price_per_hour beside vendor and server"
                    : "a column such as price_per_hour beside vendor and server"};
}

}  // namespace

Result<PriceList> PriceList::parse(std::string_view csv, const std::string& source, const PriceOptions& options) {
  const auto table = CsvTable::parse_any_form(csv, source);
  if (!table) return table.error();
  const auto vendor = named_column(*table, source, "vendor", "the cloud, such as aws");
  if (!vendor) return vendor.error();
  const auto server = named_column(*table, source, "server", "the instance type, such as c7i.large");
  if (!server) return server.error();
  const auto price = price_column(*table, source, options.spot);
  if (!price) return price.error();
  PriceList list;
  list.form_ = table->form();
  const std::string in_name = currency_in(table->columns()[*price]);
  const bool per_month = lower_case(table->columns()[*price]).find("month") != std::string::npos;
  const auto currency = table->column("currency");
  for (size_t row = 0; row < table->rows(); ++row) {
    const auto value = table->number(row, *price);
    if (!value) return value.error();
    if (!*value) continue;
    if (!(**value > 0)) {
      return Error{"bad-price", "the price is not above 0", table->where(row), "a price per hour, or a blank cell"};
    }
    std::string own = currency ? upper_case(trim(table->cell(row, *currency))) : "";
    if (!own.empty() && !is_currency(own)) {
      return Error{"bad-price", "'" + printable(own) + "' is no currency", table->where(row),
                   "three letters, such as EUR; per hour or per month is said by the name of the price's column"};
    }
    if (own.empty()) own = in_name;
    const auto rate = options.rates.find(own);
    if (rate == options.rates.end() && !own.empty()) {
      if (!list.currency_.empty() && own != list.currency_) {
        return Error{
            "mixed-currencies", "prices in " + printable(list.currency_) + " and in " + printable(own),
            table->where(row),
            "prices in one currency, or a rate: what 1 " + printable(own) + " is in " + printable(list.currency_)};
      }
      list.currency_ = own;
    }
    const double per_hour =
        **value / (per_month ? kHoursPerMonth : 1) * (rate == options.rates.end() ? 1 : rate->second);
    Price price_of{std::string(trim(table->cell(row, *vendor))), std::string(trim(table->cell(row, *server))), per_hour,
                   table->where(row)};
    const auto [known, is_new] = list.index_.try_emplace({price_of.vendor, price_of.server}, list.prices_.size());
    if (is_new) {
      list.prices_.push_back(std::move(price_of));
    } else if (list.prices_[known->second].per_hour != per_hour) {
      return Error{"bad-price", "a second price for " + printable(price_of.vendor) + " " + printable(price_of.server),
                   price_of.where, "one row per vendor and server"};
    }
  }
  if (list.prices_.empty()) return Error{"bad-price", "the list has no price", source, "a row for each instance type"};
  if (list.currency_.empty() && !options.rates.empty()) {
    return Error{"mixed-currencies", "no price is in a currency without a rate: nothing says what the rates are in",
                 source, "rates for all currencies of the file but one"};
  }
  return list;
}

Result<PriceList> PriceList::read(const std::string& path, const PriceOptions& options) {
  const auto text = read_file(path, kLargestFileBytes);
  if (!text) return text.error();
  return parse(*text, path, options);
}

std::optional<double> PriceList::per_hour(const std::string& vendor, const std::string& server) const {
  const auto found = index_.find({vendor, server});
  if (found == index_.end()) return std::nullopt;
  return prices_[found->second].per_hour;
}

std::string unmatched_prices_in_words(const std::vector<Price>& unmatched, size_t all, const std::string& what) {
  constexpr size_t kNamed = 5;
  std::vector<std::string> named;
  for (const Price& price : unmatched) {
    if (named.size() == kNamed) break;
    named.push_back(printable(price.vendor + " " + price.server) + " (" + printable(price.where) + ")");
  }
  std::string text = std::to_string(unmatched.size()) + " of " + std::to_string(all) + " prices " +
                     (unmatched.size() == 1 ? "matches no " : "match no ") + what + ": " + join(named, ", ");
  if (unmatched.size() > named.size()) text += " and " + std::to_string(unmatched.size() - named.size()) + " more";
  return text;
}

}  // namespace perfcast::program
