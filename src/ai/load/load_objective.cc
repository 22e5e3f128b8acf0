#include "ai/load/load_objective.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr const char* kForm = "such as ttft=2s,tpot=200ms or latency=15ms,share=99.9%";

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> seconds_of(std::string_view text) {
  const std::pair<std::string_view, double> units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  for (const auto& [unit, factor] : units) {
    if (!text.ends_with(unit)) continue;
    const auto value = number_of(text.substr(0, text.size() - unit.size()));
    if (value && *value > 0) return *value * factor;
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<double> share_of(std::string_view text) {
  const bool percent = text.ends_with("%");
  const auto value = number_of(percent ? text.substr(0, text.size() - 1) : text);
  const double share = value ? *value / (percent ? 100 : 1) : 0;
  if (share <= 0 || share > 1) return std::nullopt;
  return share;
}

// Whether a time is known and within a limit; no limit: it is.
bool keeps(const std::optional<double>& limit_s, int64_t time_ns) {
  return !limit_s || (time_ns >= 0 && static_cast<double>(time_ns) <= *limit_s * 1e9);
}

}  // namespace

Result<LoadObjective> parse_load_objective(std::string_view text, const std::string& where) {
  LoadObjective objective;
  objective.text = printable(text);
  const auto bad = [&](const std::string& found) { return usage_error("bad-usage", found, where, kForm); };
  for (const std::string& part : split(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) return bad("'" + printable(part) + "' names no limit");
    const std::string name(trim(std::string_view(part).substr(0, equals)));
    const std::string_view value = trim(std::string_view(part).substr(equals + 1));
    if (name == "share") {
      const auto share = share_of(value);
      if (!share) return bad("'" + printable(value) + "' is no share above 0 and at most 1");
      objective.share = *share;
      continue;
    }
    auto* const limit = name == "latency" ? &objective.latency_s
                        : name == "ttft"  ? &objective.ttft_s
                        : name == "tpot"  ? &objective.tpot_s
                                          : nullptr;
    if (limit == nullptr) return bad("'" + printable(name) + "' is none of latency, ttft, tpot, share");
    if (*limit) return bad("'" + name + "' is given twice");
    *limit = seconds_of(value);
    if (!*limit) return bad("'" + printable(value) + "' is no time in ns, us, ms or s");
  }
  if (!objective.latency_s && !objective.ttft_s && !objective.tpot_s) return bad("an objective without a limit");
  return objective;
}

ObjectiveOutcome judge_load_objective(const LoadObjective& objective, const LoadResult& result, double samples_per_s) {
  ObjectiveOutcome outcome;
  outcome.objective = objective;
  outcome.requests = result.samples;
  const bool streams = result.settings.tokens;
  for (size_t i = 0; i < result.latencies_ns.size(); ++i) {
    const int64_t ttft_ns = streams ? result.ttft_ns[i] : -1, tpot_ns = streams ? result.tpot_ns[i] : -1;
    const bool kept = keeps(objective.latency_s, result.latencies_ns[i]) && keeps(objective.ttft_s, ttft_ns) &&
                      keeps(objective.tpot_s, tpot_ns);
    outcome.kept += kept ? 1 : 0;
  }
  if (outcome.requests > 0) {
    outcome.kept_share = static_cast<double>(outcome.kept) / static_cast<double>(outcome.requests);
  }
  outcome.met = outcome.requests > 0 && outcome.kept_share >= objective.share;
  if (result.answered > 0) {
    outcome.goodput_per_s = samples_per_s * static_cast<double>(outcome.kept) / static_cast<double>(result.answered);
  }
  return outcome;
}

}  // namespace perfcast::ai
