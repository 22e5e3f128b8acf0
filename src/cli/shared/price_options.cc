#include "cli/shared/price_options.h"

#include "base/csv.h"
#include "base/text.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"

namespace perfcast::cli {
namespace {

Result<program::PriceOptions> price_options_of(const PriceArguments& arguments) {
  program::PriceOptions options;
  options.spot = arguments.spot;
  options.region = arguments.region;
  options.with_shared = arguments.with_shared;
  for (const std::string& text : arguments.rates) {
    const size_t equals = text.find('=');
    const auto value = equals == std::string::npos ? std::nullopt : parse_number(trim(text.substr(equals + 1)));
    const std::string currency = upper_case(trim(text.substr(0, equals)));
    if (currency.empty() || !value || !(*value > 0) || !options.rates.emplace(currency, *value).second) {
      return usage_error("bad-usage", "'" + printable(text) + "' is no rate", "--exchange-rate",
                         "CURRENCY=WORTH, each once, such as EUR=1.08 where other prices are in USD");
    }
  }
  return options;
}

}  // namespace

void add_price_options(CLI::App& verb, PriceArguments& arguments, const std::string& text, const std::string& group) {
  CLI::Option* prices = add_basic(verb, "--prices", arguments.path, "FILE", text);
  CLI::Option* region =
      add_advanced(verb, "--region", arguments.region, "NAME",
                   "Takes the prices of this region, such as eu-west-1. Default: the region with the most prices.")
          ->needs(prices);
  CLI::Option* spot =
      add_advanced(verb, "--spot", arguments.spot, "Takes the price list's spot prices.")->needs(prices);
  // An earlier spelling, where it doesn't stand for something else.
  const bool has_rate = verb.get_option_no_throw("--rate") != nullptr;
  CLI::Option* rate =
      add_advanced(
          verb, has_rate ? "--exchange-rate" : "--exchange-rate,--rate", arguments.rates, "CURRENCY=WORTH",
          "What one unit of a currency is worth in the price list's other currency, such as EUR=1.08. Repeatable.")
          ->take_all()
          ->allow_extra_args(false)
          ->needs(prices);
  if (group.empty()) {
    add_advanced(verb, "--shared", arguments.with_shared,
                 "Also chooses among instance types whose vCPUs are shared or burstable.")
        ->needs(prices);
    return;
  }
  for (CLI::Option* option : {prices, region, spot, rate}) option->group(group);
}

Result<std::optional<program::PriceList>> read_prices(const PriceArguments& arguments) {
  if (arguments.path.empty()) return std::optional<program::PriceList>();
  if (Status there = check_named_file("--prices", arguments.path); !there) return there.error();
  auto options = price_options_of(arguments);
  if (!options) return options.error();
  auto prices = program::PriceList::read(arguments.path, *options);
  if (prices) note_form(arguments.path, prices->form());
  if (prices) return std::optional<program::PriceList>(std::move(*prices));
  Error error = prices.error();
  if (error.code == "mixed-currencies") error.expected += " (--exchange-rate CURRENCY=WORTH)";
  return error;
}

}  // namespace perfcast::cli
