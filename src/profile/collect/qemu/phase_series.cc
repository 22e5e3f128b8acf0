#include "profile/collect/qemu/phase_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "profile/collect/native/code_course.h"
#include "profile/collect/qemu/qemu_collector.h"

namespace perfcast {
namespace {

constexpr std::string_view kPhasesMagic = "perfcast-phases";
// What the plugin writes at the most.
constexpr size_t kMostPhaseKeys = 512, kMostPhaseIntervals = 4096, kMostPhaseKeyBytes = 64;
constexpr std::string_view kSeen = "seen_", kString = "string_";

using Sums = std::map<std::string, double, std::less<>>;

class PhasesParser {
 public:
  PhasesParser(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

  Result<PhaseSeries> parse() {
    if (const Status status = read_head(); !status) return status.error();
    while (!ended_) {
      if (const Status status = read_interval(); !status) return status.error();
    }
    if (!rest_.empty()) return wrong("text after the end", "nothing after 'end 1'");
    return std::move(series_);
  }

 private:
  Error wrong(const std::string& found, const std::string& expected) const {
    return {"bad-phase-series", found, fmt::format("{}:{}", source_, line_), expected};
  }

  // A last line without its newline is a cut-off one and no line.
  std::optional<std::string_view> line() {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++line_;
    return found;
  }

  static std::string_view word(std::string_view& rest) {
    const size_t space = rest.find(' ');
    const std::string_view found = rest.substr(0, space);
    rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
    return found;
  }

  template <typename T>
  static bool number(std::string_view text, T& value) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc() && !text.empty() && end == text.data() + text.size();
  }

  Status read_head() {
    auto first = line();
    if (!first || word(*first) != kPhasesMagic)
      return wrong("no series of the QEMU plugin", "a first line 'perfcast-phases 1'");
    int64_t version = 0;
    if (!number(*first, version) || version < 1) return wrong("no version number", "'perfcast-phases 1'");
    if (version > 1) {
      return Error{"future-version", fmt::format("the plugin writes version {}", version), source_,
                   "version 1: the plugin that was built with this perfcast"};
    }
    auto names = line();
    if (!names || word(*names) != "keys") return wrong("no keys", "a second line 'keys instructions ...'");
    std::set<std::string_view> known;
    while (!names->empty()) {
      const std::string_view key = word(*names);
      const bool valid =
          !key.empty() && key.size() <= kMostPhaseKeyBytes && std::all_of(key.begin(), key.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
          });
      if (!valid) return wrong("'" + printable(key.substr(0, kMostPhaseKeyBytes)) + "' is no key", "a-z, 0-9 and _");
      if (!known.insert(key).second) return wrong("the key '" + std::string(key) + "' stands twice", "each key once");
      if (known.size() > kMostPhaseKeys) return wrong("too many keys", fmt::format("{} at the most", kMostPhaseKeys));
      series_.keys.emplace_back(key);
    }
    if (series_.keys.empty() || series_.keys[0] != "instructions")
      return wrong("no instructions", "'instructions' as the first key");
    return {};
  }

  Status read_interval() {
    auto counts = line();
    if (!counts) return wrong("the file is cut off", "a last line 'end 1'");
    const std::string_view what = word(*counts);
    if (what == "end") {
      ended_ = *counts == "1";
      return ended_ ? Status() : wrong("'end " + printable(counts->substr(0, 40)) + "'", "'end 1'");
    }
    if (what != "interval") return wrong("'" + printable(what.substr(0, 40)) + "'", "'interval COUNT ...' or 'end 1'");
    if (series_.intervals.size() == kMostPhaseIntervals)
      return wrong("too many intervals", fmt::format("{} at the most", kMostPhaseIntervals));
    PhaseInterval interval;
    interval.counts.resize(series_.keys.size());
    for (uint64_t& count : interval.counts) {
      if (!number(word(*counts), count))
        return wrong("an interval without all counts", fmt::format("{} integers", series_.keys.size()));
    }
    if (!counts->empty()) return wrong("more counts than keys", fmt::format("{} integers", series_.keys.size()));
    if (interval.counts[0] == 0) return wrong("an interval without instructions", "at least one");
    auto code = line();
    if (!code || word(*code) != "code") return wrong("an interval without its code", "'code PLACE:COUNT ...'");
    while (!code->empty()) {
      std::string_view pair = word(*code);
      const size_t colon = pair.find(':');
      uint16_t place = 0;
      uint64_t count = 0;
      const bool is_read = colon != std::string_view::npos && number(pair.substr(0, colon), place) &&
                           number(pair.substr(colon + 1), count) && count > 0 && place < kCodePlaces;
      if (!is_read || (!interval.code.empty() && interval.code.back().first >= place))
        return wrong("'" + printable(pair.substr(0, 40)) + "' is no place of code",
                     fmt::format("PLACE:COUNT, ascending places below {}", kCodePlaces));
      interval.code.emplace_back(place, count);
    }
    series_.intervals.push_back(std::move(interval));
    return {};
  }

  std::string_view rest_;
  const std::string& source_;
  size_t line_ = 0;
  bool ended_ = false;
  PhaseSeries series_;
};

double sum_of(const Sums& sums, std::string_view key) {
  const auto found = sums.find(key);
  return found == sums.end() ? 0 : found->second;
}

// Of what was seen of `part`, to `all`. Absent where there was something and nothing of it was seen.
std::optional<double> scale_of(double all, double part) {
  if (part > 0) return all / part;
  return all > 0 ? std::nullopt : std::optional<double>(0);
}

void scale_simulated(Sums& sums) {
  const double branches = sum_of(sums, "op_cond_branch");
  sums["branches_conditional"] = branches;
  const double indirect = sum_of(sums, "op_ind_branch") + sum_of(sums, "op_ind_call");
  const auto by_access = scale_of(sum_of(sums, "loads") + sum_of(sums, "stores"), sum_of(sums, "seen_accesses"));
  const auto by_line = scale_of(sum_of(sums, "icache_line_fetches"), sum_of(sums, "seen_lines"));
  const auto by_branch = scale_of(branches, sum_of(sums, "seen_conditional"));
  const auto by_guess = scale_of(branches, sum_of(sums, "seen_branches"));
  const auto by_indirect = scale_of(indirect, sum_of(sums, "seen_branches_indirect"));
  const auto by_return = scale_of(sum_of(sums, "op_ret"), sum_of(sums, "seen_returns"));
  const auto scaled = [&](std::string_view key) {
    if (key.starts_with("branch_miss_")) return by_guess;
    if (key == "branches_taken") return by_branch;
    if (key.starts_with("indirect_miss_") || key == "branches_indirect") return by_indirect;
    if (key.starts_with("return")) return by_return;
    return key.starts_with("icache_") ? by_line : by_access;
  };
  Sums estimates;
  for (const auto& [key, value] : sums) {
    if (!key.starts_with(kSeen)) continue;
    const std::string name = key.substr(kSeen.size());
    if (name == "instructions" || name == "accesses" || name == "lines" || name == "conditional" || name == "branches")
      continue;
    if (const auto scale = scaled(name)) estimates[name] = *scale * value + sum_of(sums, std::string(kString) + name);
  }
  std::erase_if(sums, [](const auto& entry) { return entry.first.starts_with(kSeen); });
  for (const auto& [key, value] : estimates) sums[key] = value;
}

}  // namespace

Result<PhaseSeries> parse_phase_series(std::string_view text_or_bytes, const std::string& source) {
  return PhasesParser(text_or_bytes, source).parse();
}

MetricValues interval_metrics(const PhaseSeries& series, std::span<const size_t> intervals) {
  Sums sums;
  for (size_t k = 0; k < series.keys.size(); ++k) {
    double sum = 0;
    for (const size_t i : intervals) sum += static_cast<double>(series.intervals[i].counts[k]);
    sums[series.keys[k]] = sum;
  }
  scale_simulated(sums);
  return metrics_of(sums);
}

}  // namespace perfcast
