#include "cli/shared/amount_option.h"

#include <cmath>
#include <string>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast::cli {

CLI::Option* takes_amount(CLI::Option* option) {
  return option->check(CLI::Validator(
      [](std::string& text) -> std::string {
        const auto value = parse_number(text);
        if (value && std::isfinite(*value) && *value >= 0) return "";
        return "'" + printable(text.substr(0, 60)) + "' is no number of 0 or more";
      },
      ""));
}

}  // namespace perfcast::cli
