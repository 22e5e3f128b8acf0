// Any two tables, of servers and of rates, divided by a line "====": no crash; levels that are read are found by name,
// and are written and read again as the same text. What stands behind another such line is a host's name to find.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ai/engine/host_level.h"
#include "base/json.h"
#include "machine/facts/processor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBorder = "\n====\n";
  const size_t border = input.find(kBorder);
  if (border == std::string_view::npos) return 0;
  const std::string_view behind = input.substr(border + kBorder.size());
  const size_t second = behind.find(kBorder);
  const auto levels = HostLevels::from_tables(input.substr(0, border), behind.substr(0, second), "servers", "rates");
  if (!levels) return 0;
  for (const HostLevel& level : levels->levels()) {
    if (!(level.level >= 0.01 && level.level <= 100) || level.servers < 1) std::abort();
    const auto host = levels->find(level.name);
    const bool is_name = !cpu_name_key_or_clock(level.name).empty();
    if (is_name && (!host || !host->known || !(host->level > 0))) std::abort();
  }
  if (second != std::string_view::npos) {
    const auto host = levels->find(std::string(behind.substr(second + kBorder.size())));
    if (host && !(host->level > 0)) std::abort();
  }
  const std::string text = to_text(levels->to_json());
  const auto json = parse_json(text, "again");
  if (!json) std::abort();
  const auto again = HostLevels::from_json(*json, "again");
  if (!again || to_text(again->to_json()) != text) std::abort();
  return 0;
}
