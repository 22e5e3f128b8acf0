#include "cli/shared/forecast_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/text.h"
#include "base/unknown.h"
#include "cli/shared/energy_text.h"
#include "profile/core/memory_counts.h"
#include "program/explain/why.h"
#include "program/forecast/forecast_tables.h"

namespace perfcast::cli {
namespace {

constexpr size_t kWidth = 118;
constexpr size_t kInputsTold = 12;

// Without "-0%".
std::string whole_percent(double share) { return fmt::format("{:.0f}%", std::round(100 * share) + 0.0); }

std::string factor(double log) { return fmt::format("x{:.2f}", std::exp(log)); }

// In lines of at most kWidth, ended.
std::string lines_of(const std::string& first_indent, const std::string& indent, const std::string& text) {
  return wrapped(text, kWidth, first_indent, indent) + "\n";
}

constexpr const char* kRed = "\x1b[1;31m";
constexpr const char* kYellow = "\x1b[33m";

std::string coloured(const std::string& text, const char* colour, const ForecastView& view) {
  return view.is_coloured ? colour + text + "\x1b[0m" : text;
}

std::string shown(const TextTable& table, const ForecastView& view) {
  return view.is_markdown ? table.to_markdown() : table.to_text();
}

std::string platforms_as_table(const program::ForecastReport& report, const ForecastView& view) {
  ReportTable table = program::platform_table(report);
  std::vector<size_t> shown_rows;
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const program::PlatformRow& row = report.rows[i];
    if (view.most_rows == 0 || i < view.most_rows || row.is_host || row.is_measured) shown_rows.push_back(i);
  }
  keep_rows(table, shown_rows);
  std::string text = rows_text(table, {.is_markdown = view.is_markdown});
  if (const size_t hidden = report.rows.size() - shown_rows.size(); hidden > 0) {
    text += fmt::format("{} more platforms: --all shows them, --filter narrows the table\n", hidden);
  }
  return text;
}

std::string instances_as_table(const program::ForecastReport& report, const ForecastView& view) {
  std::vector<program::PlacedInstance> rows;
  for (const program::PlatformRow& row : report.rows) {
    for (const program::InstanceRow& instance : row.instances) rows.emplace_back(&row, &instance);
  }
  if (rows.empty()) return "";
  const bool costs = std::ranges::any_of(
      rows, [](const program::PlacedInstance& row) { return row.second->cost_per_1000.has_value(); });
  if (costs || report.sort) {  // over all platforms, else platform by platform
    std::stable_sort(rows.begin(), rows.end(), [&report](const auto& a, const auto& b) {
      return program::instance_order(*a.second, *b.second, report.sort);
    });
  }
  ReportTable table = program::instance_table_for_people(report, rows);
  const size_t shown_count = view.most_instances > 0 ? std::min(view.most_instances, rows.size()) : rows.size();
  std::vector<size_t> first(shown_count);
  std::iota(first.begin(), first.end(), 0);
  keep_rows(table, first);
  std::string text = "\n" + rows_text(table, {.is_markdown = view.is_markdown});
  if (rows.size() > shown_count) {
    text += fmt::format("{} instances more: --all; or narrow the table with --filter\n", rows.size() - shown_count);
  }
  return text;
}

// Where the prices are from, and what was not chosen from.
std::string price_lines(const program::ForecastReport& report) {
  if (report.price_source.empty()) return "";
  std::string text = lines_of("", "  ", "prices: " + report.price_source);
  if (report.types_left_out == 0) return text;
  const bool is_one = report.types_left_out == 1;
  return text + lines_of("", "  ",
                         fmt::format("{}: {} instance type{} with shared or burstable vCPUs; --shared adds {}",
                                     report.choice.fastest ? "left out" : "nothing to choose from but",
                                     report.types_left_out, is_one ? "" : "s", is_one ? "it" : "them"));
}

// "fastest: aws c7a.large (8.1 s a run, 0.53 USD per 1000 runs with 2 copies side by side; 61% likely within 5% of the
// best)".
std::string choice_lines(const program::ForecastReport& report) {
  const program::InstanceChoice& choice = report.choice;
  if (!choice.fastest) return "";
  const std::string currency = report.currency.empty() ? "" : " " + report.currency;
  const auto line = [&](const std::string& what, const program::InstanceChoice::Pick& pick) {
    return lines_of(
        "", "  ",
        fmt::format("{}: {} {} ({}): {} a run, {}{} per 1000 runs with {}; {:.0f}% likely within 5% of the best", what,
                    printable(pick.vendor), printable(pick.server), printable(pick.platform),
                    human_seconds(pick.wall_s), money_text(pick.cost_per_1000), currency,
                    pick.copies == 1 ? "1 copy" : fmt::format("{:.0f} copies side by side", pick.copies),
                    100 * pick.chance_ratio));
  };
  const auto same = [](const program::InstanceChoice::Pick& a, const program::InstanceChoice::Pick& b) {
    return a.vendor == b.vendor && a.server == b.server;
  };
  if (same(*choice.fastest, *choice.cheapest)) return line("fastest and cheapest", *choice.cheapest);
  std::string text = line("fastest", *choice.fastest) + line("cheapest", *choice.cheapest);
  const std::string between = fmt::format("cheapest within {:g}x of the fastest", choice.within_ratio);
  for (const auto& other : {choice.fastest, choice.cheapest}) {
    if (same(*other, *choice.compromise))
      return text + between + ": " + printable(other->vendor + " " + other->server) + "\n";
  }
  return text + line(between, *choice.compromise);
}

// "cores: on zen5 (AMD EPYC 4345P) cycles go to memory 31%, L1 12%; on zen4 (this host) to ...": the fastest platform's
// design, this host's and the slowest one's.
std::string cores_line(const program::ForecastReport& report) {
  std::vector<const program::CoreDesignRow*> told;
  const auto tell = [&](const program::CoreDesignRow& row) {
    if (row.is_own && std::find(told.begin(), told.end(), &row) == told.end()) told.push_back(&row);
  };
  std::vector<const program::CoreDesignRow*> own;
  for (const program::CoreDesignRow& row : report.core_designs) {
    if (row.is_own) own.push_back(&row);
  }
  if (own.empty()) return "";
  tell(*own.front());
  for (const program::CoreDesignRow* row : own) {
    if (row->is_host) tell(*row);
  }
  tell(*own.back());
  std::vector<std::string> parts;
  for (const program::CoreDesignRow* row : told) {
    const std::string words = core_bounds_in_words(row->cycles_ratio_by_bound);
    if (words.empty()) continue;
    const std::string who = row->is_host ? "this host" : printable(row->fastest_platform);
    parts.push_back(fmt::format("on {} ({}) {} {}", row->design, who, parts.empty() ? "cycles go to" : "to", words));
  }
  const bool least = std::any_of(told.begin(), told.end(), [](const auto* row) { return row->memory_is_least; });
  return parts.empty() ? "" : "cores: " + join(parts, "; ") + (least ? "; memory is the least that counts allow" : "");
}

std::string cores_as_table(const program::ForecastReport& report, const ForecastView& view) {
  if (report.core_designs.empty()) return "";
  TextTable table;
  table.add_column("model of the core", TextTable::Align::kLeft);
  table.add_column("cycles/instruction", TextTable::Align::kRight);
  table.add_column("where its cycles go", TextTable::Align::kLeft);
  bool foreign = false;
  bool least = false;
  for (const program::CoreDesignRow& row : report.core_designs) {
    foreign |= !row.is_own;
    least |= row.memory_is_least;
    table.add_row({printable(row.design) + (row.is_own ? "" : " *"), fmt::format("{:.3f}", row.cycles_per_instruction),
                   core_bounds_in_words(row.cycles_ratio_by_bound) + (row.memory_is_least ? " +" : "") +
                       (row.is_host ? "  this host" : "")});
  }
  // Two answers to one question need a word on which holds.
  return "\n" +
         lines_of("", "  ",
                  "where cycles go, by a model of each core. For times and the order of machines believe the table of "
                  "platforms: it is learned from measured times, and a model of a core knows nothing of a machine's "
                  "clock, memory and neighbours") +
         "\n" + shown(table, view) + (least ? "+: " + std::string(kMemoryIsLeast) + "\n" : "") +
         (foreign ? "*: this core has another instruction set; perfcast assumes that it runs the same instructions\n"
                  : "");
}

std::string programs_as_table(const program::ForecastReport& report, const ForecastView& view) {
  if (report.programs.empty()) return "";
  TextTable table;
  table.add_column("program", TextTable::Align::kLeft);
  table.add_column("runs per round", TextTable::Align::kRight);
  table.add_column("of its time", TextTable::Align::kRight);
  table.add_column("nearest", TextTable::Align::kLeft);
  for (const program::WorkloadProgram& program : report.programs) {
    table.add_row({printable(program.program), fmt::format("{:g}", program.runs), whole_percent(program.time_ratio),
                   program.nearest + (program.in_distribution ? "" : " (out of distribution)")});
  }
  return "\n" + shown(table, view);
}

std::string value_in_words(const program::AttributedInput& input, double value) {
  if (std::isnan(value)) return "-";
  if (input.feature.starts_with("share_")) return fmt::format("{:.1f}%", 100 * value);
  if (input.feature.starts_with("rate_")) return program::rate_in_words(value);
  if (input.feature.starts_with("relative_")) return factor(std::log(value));
  return human_number(value);
}

// One platform, or what sets it apart from another. Names stand in lines of their own, so that none is cut.
std::string breakdown_as_text(const program::ForecastReport& report, const ForecastView& view) {
  if (!report.breakdown) return "";
  const program::ForecastAttribution& attribution = report.breakdown->attribution;
  const auto name = [&](size_t platform) { return printable(report.forecast_names[platform]); };
  const std::optional<size_t>& against = report.breakdown->against;
  const std::string platform = name(report.breakdown->platform);
  const std::string other =
      against ? name(*against) : fmt::format("the mean over {} platforms", report.forecast_names.size());
  const program::Spread spread = program::spread_of(attribution, static_cast<int64_t>(report.breakdown->platform),
                                                    against ? static_cast<int64_t>(*against) : -1);
  std::string text = "\n" + lines_of("", "  ", "input by input: " + platform + " against " + other) +
                     lines_of("  ", "  ",
                              "an input is what the model sees of the program; the effects, multiplied, give the "
                              "forecast");
  if (const std::string line = program::spread_line(spread, platform); !line.empty()) {
    text += lines_of("  compared with a typical program, ", "  ", line);
  }
  TextTable table;
  table.add_column("effect", TextTable::Align::kRight);
  table.add_column("input", TextTable::Align::kLeft);
  table.add_column("this program", TextTable::Align::kRight);
  table.add_column("a typical one", TextTable::Align::kRight);
  double rest_log = spread.log - spread.baseline_log;
  size_t told = 0;
  for (const program::SpreadEffect& effect : spread.inputs) {
    if (told == kInputsTold || effect.log == 0) break;
    const auto input = std::find_if(attribution.inputs.begin(), attribution.inputs.end(),
                                    [&](const program::AttributedInput& each) { return each.feature == effect.name; });
    table.add_row({fmt::format("x{:.3f}", std::exp(effect.log)), effect.text, value_in_words(*input, input->value),
                   value_in_words(*input, input->typical)});
    rest_log -= effect.log;
    ++told;
  }
  if (attribution.inputs.empty()) {
    for (const program::SpreadEffect& effect : spread.groups) {
      table.add_row({fmt::format("x{:.3f}", std::exp(effect.log)), effect.text, "", ""});
    }
  } else if (spread.inputs.size() > told) {
    table.add_row({fmt::format("x{:.3f}", std::exp(rest_log)),
                   fmt::format("{} other inputs (--json has all)", spread.inputs.size() - told), "", ""});
  }
  table.add_row({fmt::format("x{:.3f}", std::exp(spread.baseline_log)), "a typical program", "", ""});
  const bool is_measured = std::any_of(report.rows.begin(), report.rows.end(),
                                       [](const program::PlatformRow& row) { return row.is_measured; });
  table.add_row({fmt::format("x{:.3f}", std::exp(spread.log)),
                 is_measured ? "together: the forecast before times were measured" : "together: the forecast", "", ""});
  return text + "\n" + shown(table, view);
}

std::string explanation_as_text(const program::ForecastReport& report, const ForecastView& view) {
  const program::Attribution& attribution = report.attribution;
  std::string text;
  if (!attribution.groups.empty()) {
    // The platforms where the program stands out most, either way.
    std::vector<int64_t> order;
    // Of those that are asked for.
    std::set<std::string> wanted;
    for (const program::PlatformRow& row : report.rows) wanted.insert(row.platform.id);
    for (int64_t j = 0; j < attribution.deviation_log.size(); ++j) {
      if (wanted.contains(report.forecast_ids[static_cast<size_t>(j)])) order.push_back(j);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return attribution.deviation_log(a) < attribution.deviation_log(b); });
    if (order.size() > 4) order = {order[0], order[1], order[order.size() - 2], order[order.size() - 1]};
    // Columns have numbers, so that no name of a platform is cut.
    TextTable table;
    table.add_column("counters of", TextTable::Align::kLeft);
    table.add_column("share", TextTable::Align::kRight);
    text += "\n" + lines_of("", "  ",
                            "what sets it apart from a typical program, and what that does to its relative time "
                            "(x0.97: 3% less) on");
    for (size_t i = 0; i < order.size(); ++i) {
      const std::string column = "(" + std::to_string(i + 1) + ")";
      table.add_column(column, TextTable::Align::kRight);
      text += "  " + column + " " + printable(report.forecast_names[static_cast<size_t>(order[i])]) + "\n";
    }
    for (const program::GroupEffect& group : attribution.groups) {
      std::vector<std::string> cells = {program::describe_group(group.group), whole_percent(group.share)};
      for (const int64_t j : order) cells.push_back(factor(group.log(j)));
      table.add_row(std::move(cells));
    }
    std::vector<std::string> total = {"together", "100%"};
    for (const int64_t j : order) total.push_back(factor(attribution.deviation_log(j)));
    table.add_row(std::move(total));
    text += "\n" + shown(table, view);
  }
  if (!report.features.empty()) {
    text += "\ncounters that are most unusual, beside those of the training programs:\n";
    for (const program::FeatureStanding& feature : report.features) {
      text += fmt::format("  {}: {}\n", feature.text, program::standing_in_words(feature));
    }
  }
  return text + breakdown_as_text(report, view) + cores_as_table(report, view);
}

// Where no price could be used, the answer below is to another question.
std::string unused_prices_line(const program::ForecastReport& report) {
  if (!report.unmatched_prices || report.unmatched_prices->empty()) return "";
  const auto has_cost = [](const program::PlatformRow& row) { return row.cost.has_value(); };
  if (report.choice.fastest || std::any_of(report.rows.begin(), report.rows.end(), has_cost)) return "";
  constexpr size_t kNamed = 3;
  std::vector<std::string> names;
  for (const program::Price& price : *report.unmatched_prices) {
    if (names.size() < kNamed) names.push_back(printable(price.vendor + " " + price.server));
  }
  if (report.unmatched_prices->size() > kNamed) names.emplace_back("...");
  return lines_of("", "  ",
                  "no price could be used: perfcast doesn't know " + join(names, ", ") +
                      "; perfcast predict --instances lists what it knows");
}

// "fastest: Example 600, 0.786 s a run (90%: 0.516 .. 1.197 s)"; with prices the instances to rent.
std::string answer_lines(const program::ForecastReport& report) {
  if (std::string choice = choice_lines(report); !choice.empty()) return choice + price_lines(report);
  if (report.rows.empty()) return "";
  const bool by_cost = report.sort == program::ForecastRequest::Sort::kCost;
  const auto order = [&](const program::PlatformRow& a, const program::PlatformRow& b) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    return by_cost ? a.cost.value_or(kNone) < b.cost.value_or(kNone) : a.rpv < b.rpv;
  };
  const program::PlatformRow& best = *std::min_element(report.rows.begin(), report.rows.end(), order);
  std::string text = printable(best.platform.name) + ", ";
  if (best.time_s) {
    const auto times =
        seconds_column({*best.time_s, best.time_lower_s.value_or(kUnknown), best.time_upper_s.value_or(kUnknown)});
    const std::string lower(trim(times[1]));
    text += std::string(trim(times[0])) + " a run";
    text += best.is_measured    ? " (measured)"
            : best.time_lower_s ? fmt::format(" (90%: {} .. {})", lower.substr(0, lower.find(' ')), trim(times[2]))
                                : "";
  } else {
    text += fmt::format("{:.2f} of the reference's time (90%: {:.2f} .. {:.2f})", best.rpv, best.lower, best.upper);
  }
  if (by_cost && best.cost)
    text += fmt::format(", {}{} a run", money_text(*best.cost), report.currency.empty() ? "" : " " + report.currency);
  return lines_of("", "  ", (by_cost && best.cost ? "cheapest: " : "fastest: ") + text) + price_lines(report);
}

std::string certainty_line(const program::ForecastReport& report, const ForecastView& view) {
  std::vector<std::string> names;
  for (const program::Neighbour& neighbour : report.nearest) names.push_back(neighbour.program);
  const std::string nearest = names.empty() ? "" : " (nearest: " + join(names, ", ") + ")";
  if (report.in_distribution) return "how sure: in distribution" + nearest + "\n";
  return "how sure: " + coloured("OUT OF DISTRIBUTION", kRed, view) +
         ": the intervals are wider, and may still be too narrow" + nearest + "\n";
}

// The machine that the profile is of. `explain`: also how it was recognised.
std::string host_line(const program::ForecastReport& report, bool explain) {
  std::string line = "host: " + printable(report.host_cpu.empty() ? "unknown CPU" : report.host_cpu);
  if (!report.host) {
    const bool has_seconds = std::any_of(report.rows.begin(), report.rows.end(),
                                         [](const program::PlatformRow& row) { return row.time_s.has_value(); });
    return line + "; similar to no known platform" +
           (has_seconds ? "; seconds come from times that were measured elsewhere\n" : ", so no seconds\n");
  }
  const std::string name = printable(report.host_platform->name);
  if (report.host->certainty != program::HostMatch::Certainty::kName) {
    line += "; taken as " + name;
  } else {
    line += report.host_cpu == report.host_platform->name ? " (known)" : "; known as " + name;
  }
  if (explain && report.host_cpu != report.host_platform->name) line += " (" + report.host->how + ")";
  if (explain && !report.host_runners_up.empty())
    line += "; also similar: " + printable(join(report.host_runners_up, ", "));
  if (report.host_time_s) line += "; " + human_seconds(*report.host_time_s) + " here";
  return explain ? lines_of("", "  ", line) : line + "\n";
}

}  // namespace

std::string forecast_text(const program::ForecastReport& report, const ForecastView& view) {
  std::string text = report.unanswered.empty() ? "" : lines_of("", "  ", report.unanswered);
  text += unused_prices_line(report) + answer_lines(report) + certainty_line(report, view);
  const auto is_reason = [&report](const ProfileWarning& warning) {
    return std::ranges::find(report.outside, warning.code) != report.outside.end();
  };
  for (const bool reasons : {true, false}) {  // why it is out of distribution comes first
    for (const ProfileWarning& warning : report.warnings) {
      if (is_reason(warning) != reasons) continue;
      const char* const label = reasons ? "  reason: " : "  warning: ";
      text += coloured(lines_of(label, "    ", printable(warning.message)), kYellow, view);
      if (!warning.advice.empty()) text += lines_of("    advice: ", "      ", printable(warning.advice));
    }
  }
  if (!view.answer_only || !report.choice.fastest) {
    text += programs_as_table(report, view) + "\n" + platforms_as_table(report, view) +
            instances_as_table(report, view) + energy_as_table(report, view);
  }
  text +=
      frequencies_as_table(report, view) + "\n" +
      lines_of("", "  ",
               "program: " + printable(report.program) + "; times relative to " + printable(report.reference_name)) +
      host_line(report, view.explain);
  for (const std::string& note : report.notes) text += lines_of("note: ", "  ", note);
  if (!view.explain) return text;
  if (const std::string why = program::why_line(report.attribution, report.features); !why.empty())
    text += "\n" + lines_of("", "  ", why);
  if (const std::string cores = cores_line(report); !cores.empty()) text += "\n" + lines_of("", "  ", cores);
  return text + explanation_as_text(report, view);
}

}  // namespace perfcast::cli
