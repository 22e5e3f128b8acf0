#pragma once
// A price list as the command line names it: shared by what forecasts and what sizes clusters.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/explain/prices.h"

namespace perfcast::cli {

struct PriceArguments {
  std::string path;  // empty: none is given
  std::vector<std::string> rates;
  std::string region;
  bool spot = false, with_shared = false;
};

// --prices (`text`: what it is for), --region, --spot, --exchange-rate; where nothing is grouped, and so types are
// chosen,
// --shared.
void add_price_options(CLI::App& verb, PriceArguments& arguments, const std::string& text,
                       const std::string& group = "");

// Nothing where none is given. Errors name the option.
Result<std::optional<program::PriceList>> read_prices(const PriceArguments& arguments);

}  // namespace perfcast::cli
