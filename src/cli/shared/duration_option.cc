#include "cli/shared/duration_option.h"

#include <fmt/format.h>

#include <string>

#include "base/process/duration.h"

namespace perfcast::cli {

CLI::Option* takes_duration(CLI::Option* option, bool zero) {
  return option->transform(CLI::Validator(
      [zero](std::string& text) -> std::string {
        if (zero && text == "0") return "";
        const auto seconds = parse_duration_s(text, "");
        if (!seconds) return seconds.error().message + ": it is " + seconds.error().expected;
        text = fmt::format("{}", *seconds);
        return "";
      },
      ""));
}

}  // namespace perfcast::cli
