#include "program/explain/prices.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <set>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "machine/facts/chip_names.h"

namespace perfcast::program {
namespace {

constexpr size_t kLargestFileBytes = size_t{1} << 30;
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

// One of several names that a column may have.
std::optional<size_t> column_called(const CsvTable& table, std::initializer_list<const char*> names) {
  for (size_t i = 0; i < table.columns().size(); ++i) {
    std::string name = lower_case(trim(table.columns()[i]));
    std::erase_if(name, [](char c) { return c == '_' || c == ' '; });
    for (const char* wanted : names) {
      if (name == wanted) return i;
    }
  }
  return std::nullopt;
}

Result<PriceRows> price_rows_of_csv(std::string_view csv, const std::string& source, bool spot) {
  const auto table = CsvTable::parse_any_form(csv, source);
  if (!table) return table.error();
  PriceRows rows;
  rows.form = table->form();
  const auto catalogue = table->find_column("server") ? std::nullopt : column_called(*table, {"instancetype"});
  const auto vendor = named_column(*table, source, "vendor", "the cloud, such as aws");
  if (!vendor && !catalogue) return vendor.error();
  const auto server = catalogue ? Result<size_t>(*catalogue)
                                : named_column(*table, source, "server", "the instance type, such as c7i.large");
  if (!server) return server.error();
  const auto price = price_column(*table, source, spot);
  if (!price) return price.error();
  if (catalogue)
    rows.what = column_called(*table, {"availabilityzone", "acceleratorname"}) ? "SkyPilot's catalogue" : "a catalogue";
  const std::string in_name = currency_in(table->columns()[*price]);
  const bool per_month = lower_case(table->columns()[*price]).find("month") != std::string::npos;
  const auto currency = column_called(*table, {"currency"}), region = column_called(*table, {"region"});
  const auto memory = column_called(*table, {"memorygib"});
  for (size_t i = 0; i < table->rows(); ++i) {
    const auto value = table->number(i, *price);
    if (!value) return value.error();
    PriceRow row;
    row.server = trim(table->cell(i, *server));
    // Catalogues have rows of accelerators alone, and 0 where a type can't be had.
    if (!*value || (catalogue && (row.server.empty() || !(**value > 0)))) continue;
    row.where = table->where(i);
    if (!(**value > 0))
      return Error{"bad-price", "the price is not above 0", row.where, "a price per hour, or a blank cell"};
    if (vendor) row.vendor = trim(table->cell(i, *vendor));
    row.currency = currency ? upper_case(trim(table->cell(i, *currency))) : "";
    if (!row.currency.empty() && !is_currency(row.currency)) {
      return Error{"bad-price", "'" + printable(row.currency) + "' is no currency", row.where,
                   "three letters, such as EUR; per hour or per month is said by the name of the price's column"};
    }
    if (row.currency.empty()) row.currency = in_name;
    if (row.currency.empty() && catalogue) row.currency = "USD";
    if (region) row.region = trim(table->cell(i, *region));
    if (memory) row.memory_gib = parse_number(trim(table->cell(i, *memory)));
    row.is_spot = spot;
    row.per_hour = **value / (per_month ? kHoursPerMonth : 1);
    rows.rows.push_back(std::move(row));
  }
  return rows;
}

bool is_region(const PriceRow& row, const std::string& wanted) {
  return lower_case(row.region) == lower_case(trim(wanted)) ||
         (!row.place.empty() && lower_case(row.place) == lower_case(trim(wanted)));
}

}  // namespace

// Keeps the rows of one region of each vendor, and those that are of every region.
Status PriceList::choose_region(const PriceOptions& options, std::vector<PriceRow>& rows) {
  std::map<std::string, std::map<std::string, std::set<std::string_view>>> servers;  // by vendor and region
  std::set<std::string> names;
  for (const PriceRow& row : rows) {
    if (row.region.empty()) continue;
    servers[row.vendor][row.region].insert(row.server);
    names.insert(row.region);
    if (!row.place.empty() && !options.region.empty()) names.insert(row.place);
  }
  std::map<std::string, std::string> chosen;
  for (const auto& [vendor, regions] : servers) {
    all_regions_ = std::max(all_regions_, regions.size());
    const auto most = std::max_element(regions.begin(), regions.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    chosen[vendor] = most->first;
  }
  if (!options.region.empty()) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const PriceRow& row) { return is_region(row, options.region); });
    if (found == rows.end()) {
      const std::string why =
          names.empty() ? "the list names no region" : "no price is of region '" + printable(options.region) + "'";
      return usage_error("unknown-region", why, "--region",
                         names.empty() ? "no --region"
                                       : "one of the list's, such as " +
                                             printable(nearest_names(options.region, {names.begin(), names.end()})));
    }
    regions_ = found->region;
    std::erase_if(rows, [&](const PriceRow& row) { return !row.region.empty() && !is_region(row, options.region); });
    return {};
  }
  std::erase_if(rows, [&](const PriceRow& row) { return !row.region.empty() && chosen[row.vendor] != row.region; });
  std::vector<std::string> words;
  for (const auto& [vendor, region] : chosen)
    words.push_back((chosen.size() > 1 && !vendor.empty() ? vendor + " " : "") + region);
  regions_ = join(words, ", ");
  return {};
}

// `is_published`: of several prices for one server the lowest counts, as of several zones; else they are a mistake.
Status PriceList::take(const PriceRow& row, const PriceOptions& options, bool is_published) {
  const auto rate = options.rates.find(row.currency);
  if (rate == options.rates.end() && !row.currency.empty()) {
    if (!currency_.empty() && row.currency != currency_) {
      return Error{
          "mixed-currencies", "prices in " + printable(currency_) + " and in " + printable(row.currency), row.where,
          "prices in one currency, or a rate: what 1 " + printable(row.currency) + " is in " + printable(currency_)};
    }
    currency_ = row.currency;
  }
  const double per_hour = row.per_hour * (rate == options.rates.end() ? 1 : rate->second);
  const auto [known, is_new] = index_.try_emplace({row.vendor, row.server}, prices_.size());
  if (is_new) {
    prices_.push_back({row.vendor, row.server, per_hour, row.where, row.memory_gib});
    return {};
  }
  Price& before = prices_[known->second];
  if (!is_published && before.per_hour != per_hour) {
    return Error{"bad-price", "a second price for " + printable(row.vendor) + " " + printable(row.server), row.where,
                 "one row per vendor and server"};
  }
  before.per_hour = std::min(before.per_hour, per_hour);
  return {};
}

Result<PriceList> PriceList::parse(std::string_view text, const std::string& source, const PriceOptions& options) {
  auto read = looks_like_json(text) ? price_rows_of_json(text, source) : price_rows_of_csv(text, source, options.spot);
  if (!read) return read.error();
  PriceList list;
  list.form_ = read->form;
  list.source_ = source;
  list.what_ = read->what;
  list.date_ = read->date;
  list.is_spot_ = options.spot;
  list.with_shared_ = options.with_shared;
  const size_t all = read->rows.size();
  std::erase_if(read->rows, [&](const PriceRow& row) { return row.is_spot != options.spot; });
  if (read->rows.empty()) {
    const std::string other = all > 0 ? std::string("the list has no ") +
                                            (options.spot ? "spot price" : "price on demand, only spot prices: --spot")
                                      : "the list has no price";
    return Error{"bad-price", other, source, "a row for each instance type; of vendors' lists machines with Linux"};
  }
  if (Status chosen = list.choose_region(options, read->rows); !chosen) return chosen.error();
  const bool is_published = !read->what.empty();
  for (const PriceRow& row : read->rows) {
    if (Status taken = list.take(row, options, is_published); !taken) return taken.error();
  }
  if (list.currency_.empty() && !options.rates.empty()) {
    return Error{"mixed-currencies", "no price is in a currency without a rate: nothing says what the rates are in",
                 source, "rates for all currencies of the file but one"};
  }
  return list;
}

Result<PriceList> PriceList::read(const std::string& path, const PriceOptions& options) {
  const auto text = read_file(path, kLargestFileBytes);
  if (!text) return text.error();
  auto list = parse(*text, path, options);
  std::error_code problem;
  const auto written = std::filesystem::last_write_time(path, problem);
  if (list && list->date_.empty() && !problem && std::filesystem::is_regular_file(path, problem)) {
    const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::file_clock::to_sys(written));
    std::tm parts{};
    gmtime_r(&time, &parts);
    char date[16];
    std::strftime(date, sizeof date, "%Y-%m-%d", &parts);
    list->date_ = date;
    list->is_of_file_ = true;
  }
  return list;
}

const Price* PriceList::find(const std::string& vendor, const std::string& server) const {
  auto found = index_.find({vendor, server});
  if (found == index_.end()) found = index_.find({"", server});
  return found == index_.end() ? nullptr : &prices_[found->second];
}

std::optional<double> PriceList::per_hour(const std::string& vendor, const std::string& server) const {
  const Price* price = find(vendor, server);
  return price == nullptr ? std::nullopt : std::optional(price->per_hour);
}

std::optional<double> PriceList::memory_gib(const std::string& vendor, const std::string& server) const {
  const Price* price = find(vendor, server);
  return price == nullptr || !price->memory_gib || !(*price->memory_gib > 0) ? std::nullopt : price->memory_gib;
}

std::string PriceList::source_in_words() const {
  std::vector<std::string> words;
  if (!what_.empty()) words.push_back(what_);
  if (!regions_.empty()) {
    words.push_back("region " + printable(regions_));
    if (all_regions_ > 1) words.back() += " of " + std::to_string(all_regions_);
  }
  if (is_spot_) words.emplace_back("spot");
  std::string text = printable(source_);
  if (!words.empty()) text += " (" + join(words, ", ") + ")";
  if (!date_.empty()) text += (is_of_file_ ? ", the file of " : ", of ") + date_;
  return text;
}

std::string unmatched_prices_in_words(const std::vector<Price>& unmatched, size_t all, const std::string& what,
                                      const std::vector<std::string>& known) {
  constexpr size_t kNear = 2;
  constexpr size_t kNamed = 5;
  std::vector<std::string> named;
  for (const Price& price : unmatched) {
    if (named.size() == kNamed) break;
    const std::string name(trim(price.vendor + " " + price.server));
    const std::string near = nearest_names(name, known, kNear);
    const std::string chip = chip_of_instance_type(price.vendor, price.server);
    named.push_back(printable(name) + " (" + printable(price.where) +
                    (chip.empty() ? "" : "; its CPU is " + chip + ", and nobody measured this type") +
                    (near.empty() ? "" : "; near: " + printable(near)) + ")");
  }
  std::string text = std::to_string(unmatched.size()) + " of " + std::to_string(all) + " prices " +
                     (unmatched.size() == 1 ? "matches no " : "match no ") + what + ": " + join(named, ", ");
  if (unmatched.size() > named.size()) text += " and " + std::to_string(unmatched.size() - named.size()) + " more";
  return text;
}

}  // namespace perfcast::program
