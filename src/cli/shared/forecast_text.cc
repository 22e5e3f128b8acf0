#include "cli/shared/forecast_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/text.h"
#include "base/unknown.h"
#include "cli/shared/energy_text.h"
#include "program/explain/why.h"

namespace perfcast::cli {
namespace {

constexpr size_t kWidth = 118;
constexpr size_t kInputsTold = 12;

// Without "-0%".
std::string whole_percent(double share) { return fmt::format("{:.0f}%", std::round(100 * share) + 0.0); }

std::string factor(double log) { return fmt::format("x{:.2f}", std::exp(log)); }

std::string ratio(double value) { return fmt::format("{:.2f}", value); }

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

// Never "2.7e-05": as prices are written.
std::string money(double amount, int digits = 3) {
  constexpr int kMostDecimals = 15;
  if (!(amount > 0)) return "0";
  const int decimals = digits - 1 - static_cast<int>(std::floor(std::log10(amount)));
  return fmt::format("{:.{}f}", amount, std::clamp(decimals, 2, kMostDecimals));
}

// A price as it was given: 0.1785 is not 0.178.
std::string price(double amount) {
  constexpr int kDigits = 5;
  std::string text = money(amount, kDigits);
  const size_t point = text.find('.');
  while (text.ends_with('0') && text.size() > point + 3) text.pop_back();
  return text;
}

std::string cheapest_name(const program::PlatformRow& row) {
  for (const program::InstanceRow& instance : row.instances) {
    if (instance.cost == row.cost) return printable(instance.server.vendor + " " + instance.server.name);
  }
  return "";
}

std::string time_title(const std::string& basis) {
  if (basis == "cpu") return "CPU time";
  return basis == "wall" ? "wall time" : "time";
}

std::string platforms_as_table(const program::ForecastReport& report, const ForecastView& view) {
  const auto any = [&](auto has) { return std::any_of(report.rows.begin(), report.rows.end(), has); };
  const bool seconds = any([](const program::PlatformRow& row) { return row.time_s.has_value(); });
  // Of one run with the machine to itself: where copies side by side are known, instances have what people pay.
  const bool copies = any([](const program::PlatformRow& row) {
    return std::any_of(row.instances.begin(), row.instances.end(),
                       [](const program::InstanceRow& instance) { return instance.cost_per_1000.has_value(); });
  });
  const bool costs = !copies && any([](const program::PlatformRow& row) { return row.cost.has_value(); });
  const bool marks = any([](const program::PlatformRow& row) { return row.is_host || row.is_measured; });
  TextTable table;
  table.add_column("platform", TextTable::Align::kLeft);
  table.add_column("rel. time", TextTable::Align::kRight);
  table.add_column("90% interval", TextTable::Align::kRight);
  if (seconds) {
    table.add_column(time_title(report.time_basis), TextTable::Align::kRight);
    table.add_column("90% interval", TextTable::Align::kRight);
  }
  if (costs) {
    table.add_column("cost per run" + (report.currency.empty() ? "" : " " + report.currency), TextTable::Align::kRight);
    table.add_column("on", TextTable::Align::kLeft);
  }
  if (marks) table.add_column("", TextTable::Align::kLeft);
  std::vector<double> times;  // with the ends of their intervals: one unit for all
  for (const program::PlatformRow& row : report.rows) {
    for (const auto& time : {row.time_s, row.time_lower_s, row.time_upper_s}) times.push_back(time.value_or(kUnknown));
  }
  const std::vector<std::string> shown_times = seconds_column(times);
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const program::PlatformRow& row = report.rows[i];
    if (view.most_rows > 0 && i >= view.most_rows && !row.is_host && !row.is_measured) continue;
    std::vector<std::string> cells = {printable(row.platform.name), ratio(row.rpv),
                                      ratio(row.lower) + " .. " + ratio(row.upper)};
    if (seconds) {
      cells.push_back(shown_times[3 * i]);
      const std::string& lower = shown_times[3 * i + 1];
      cells.push_back(row.time_lower_s == row.time_upper_s  // what was measured is no forecast
                          ? ""
                          : lower.substr(0, lower.find(' ')) + " .. " + shown_times[3 * i + 2]);
    }
    if (costs) {
      cells.push_back(row.cost ? money(*row.cost) : "-");
      cells.push_back(row.cost ? cheapest_name(row) : "");
    }
    if (marks) {
      const bool sure = report.host && report.host->certainty != program::HostMatch::Certainty::kNearest;
      std::vector<std::string> words;
      if (row.is_host) words.emplace_back(sure ? "this host" : "nearest to this host");
      if (row.is_measured) words.emplace_back("measured");
      cells.push_back(join(words, ", "));
    }
    table.add_row(std::move(cells));
  }
  std::string text = shown(table, view);
  if (const size_t hidden = report.rows.size() - table.rows(); hidden > 0) {
    text += fmt::format("{} platforms more: --all; or narrow the table with --filter\n", hidden);
  }
  return text;
}

std::string instances_as_table(const program::ForecastReport& report, const ForecastView& view) {
  std::vector<std::pair<const program::PlatformRow*, const program::InstanceRow*>> rows;
  for (const program::PlatformRow& row : report.rows) {
    for (const program::InstanceRow& instance : row.instances) rows.emplace_back(&row, &instance);
  }
  if (rows.empty()) return "";
  const auto any = [&rows](auto has) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return has(*row.second); });
  };
  const bool prices = any([](const program::InstanceRow& row) { return row.price_per_hour.has_value(); });
  const bool costs = any([](const program::InstanceRow& row) { return row.cost_per_1000.has_value(); });
  if (costs || report.sort) {  // over all platforms, else platform by platform
    std::stable_sort(rows.begin(), rows.end(), [&report](const auto& a, const auto& b) {
      return program::instance_order(*a.second, *b.second, report.sort);
    });
  }
  std::vector<double> walls;
  walls.reserve(rows.size());
  for (const auto& [platform, instance] : rows) walls.push_back(instance->wall_s.value_or(kUnknown));
  const bool times = any([](const program::InstanceRow& row) { return row.wall_s.has_value(); });
  const bool rates = any([](const program::InstanceRow& row) { return row.runs_per_hour.has_value(); });
  const std::vector<std::string> shown_walls = seconds_column(walls);
  const std::string currency = report.currency.empty() ? "" : " " + report.currency;
  TextTable table;
  table.add_column("cloud", TextTable::Align::kLeft);
  table.add_column("instance", TextTable::Align::kLeft);
  table.add_column("platform", TextTable::Align::kLeft);
  table.add_column("vCPUs", TextTable::Align::kRight);
  table.add_column("memory", TextTable::Align::kRight);
  if (times) table.add_column("one run", TextTable::Align::kRight);
  if (rates) {
    table.add_column("copies", TextTable::Align::kRight);
    table.add_column("runs/hour", TextTable::Align::kRight);
    table.add_column("90% interval", TextTable::Align::kRight);
  }
  if (prices) table.add_column("price/hour" + currency, TextTable::Align::kRight);
  if (prices && !costs) table.add_column("cost/run" + currency, TextTable::Align::kRight);
  if (costs) table.add_column("cost/1000 runs" + currency, TextTable::Align::kRight);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (view.most_instances > 0 && i >= view.most_instances) break;
    const program::InstanceRow& instance = *rows[i].second;
    const program::Server& server = instance.server;
    std::vector<std::string> cells = {printable(server.vendor), printable(server.name),
                                      printable(rows[i].first->platform.name),
                                      server.vcpus ? fmt::format("{:g}", *server.vcpus) : "-",
                                      server.memory_gib ? fmt::format("{:g} GiB", *server.memory_gib) : "-"};
    if (times) cells.push_back(shown_walls[i]);
    if (rates) {
      const bool unknown = instance.copies && !server.memory_gib;
      cells.push_back((instance.copies ? fmt::format("{:.0f}", *instance.copies) : "-") + (instance.memory_limits ? "*"
                                                                                           : unknown              ? "?"
                                                                                                     : ""));
      cells.push_back(instance.runs_per_hour ? human_number(*instance.runs_per_hour) : "-");
      cells.push_back(instance.runs_per_hour ? human_number(*instance.runs_per_hour_lower) + " .. " +
                                                   human_number(*instance.runs_per_hour_upper)
                                             : "");
    }
    if (prices) cells.push_back(instance.price_per_hour ? price(*instance.price_per_hour) : "-");
    if (prices && !costs) cells.push_back(instance.cost ? money(*instance.cost) : "-");
    if (costs) cells.push_back(instance.cost_per_1000 ? money(*instance.cost_per_1000) : "-");
    table.add_row(std::move(cells));
  }
  std::string text = "\n" + shown(table, view);
  if (rows.size() > table.rows()) {
    text += fmt::format("{} instances more: --all; or narrow the table with --filter\n", rows.size() - table.rows());
  }
  return text;
}

// "fastest: aws c7a.large (8.1 s a run, 0.53 USD per 1000 runs; 61% likely within 5% of the best)".
std::string choice_lines(const program::ForecastReport& report) {
  const program::InstanceChoice& choice = report.choice;
  if (!choice.fastest) return "";
  const std::string currency = report.currency.empty() ? "" : " " + report.currency;
  const auto line = [&](const std::string& what, const program::InstanceChoice::Pick& pick) {
    return lines_of(
        "", "  ",
        fmt::format("{}: {} {} ({}): {} a run, {}{} per 1000 runs; {:.0f}% likely within 5% of the best", what,
                    printable(pick.vendor), printable(pick.server), printable(pick.platform),
                    human_seconds(pick.wall_s), money(pick.cost_per_1000), currency, 100 * pick.chance_ratio));
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
  return parts.empty() ? "" : "cores: " + join(parts, "; ");
}

std::string cores_as_table(const program::ForecastReport& report, const ForecastView& view) {
  if (report.core_designs.empty()) return "";
  TextTable table;
  table.add_column("model of the core", TextTable::Align::kLeft);
  table.add_column("cycles/instruction", TextTable::Align::kRight);
  table.add_column("where its cycles go", TextTable::Align::kLeft);
  bool foreign = false;
  for (const program::CoreDesignRow& row : report.core_designs) {
    foreign |= !row.is_own;
    table.add_row({printable(row.design) + (row.is_own ? "" : " *"), fmt::format("{:.3f}", row.cycles_per_instruction),
                   core_bounds_in_words(row.cycles_ratio_by_bound) + (row.is_host ? "  this host" : "")});
  }
  return "\n" + shown(table, view) +
         (foreign ? "*: another instruction set; the same instructions are taken for its own\n" : "");
}

std::string programs_as_table(const program::ForecastReport& report, const ForecastView& view) {
  if (report.programs.empty()) return "";
  TextTable table;
  table.add_column("program", TextTable::Align::kLeft);
  table.add_column("runs a round", TextTable::Align::kRight);
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
  std::string text = "\n" + lines_of("", "  ", "taken apart: " + platform + " against " + other) +
                     lines_of("  by ", "     ", program::method_in_words(attribution));
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
    table.add_column("against a typical program", TextTable::Align::kLeft);
    table.add_column("share", TextTable::Align::kRight);
    text += "\n";
    for (size_t i = 0; i < order.size(); ++i) {
      const std::string column = "(" + std::to_string(i + 1) + ")";
      table.add_column(column, TextTable::Align::kRight);
      text += column + " " + printable(report.forecast_names[static_cast<size_t>(order[i])]) + "\n";
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
    text += "\nmost unusual counters:\n";
    for (const program::FeatureStanding& feature : report.features) {
      text += fmt::format("  {}: {}\n", feature.text, program::standing_in_words(feature));
    }
  }
  return text + breakdown_as_text(report, view) + cores_as_table(report, view);
}

// "fastest: Example 600, 0.786 s a run (90%: 0.516 .. 1.197 s)"; with prices the instances to rent.
std::string answer_lines(const program::ForecastReport& report) {
  if (const std::string choice = choice_lines(report); !choice.empty()) return choice;
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
    text += fmt::format("{} of the reference's time (90%: {} .. {})", ratio(best.rpv), ratio(best.lower),
                        ratio(best.upper));
  }
  if (by_cost && best.cost)
    text += fmt::format(", {}{} a run", money(*best.cost), report.currency.empty() ? "" : " " + report.currency);
  return lines_of("", "  ", (by_cost && best.cost ? "cheapest: " : "fastest: ") + text);
}

std::string certainty_line(const program::ForecastReport& report, const ForecastView& view) {
  std::vector<std::string> names;
  for (const program::Neighbour& neighbour : report.nearest) names.push_back(neighbour.program);
  const std::string nearest = names.empty() ? "" : " (nearest: " + join(names, ", ") + ")";
  if (report.in_distribution) return "how sure: in distribution" + nearest + "\n";
  return "how sure: " + coloured("OUT OF DISTRIBUTION", kRed, view) + ": intervals are widened, nothing is promised" +
         nearest + "\n";
}

// The machine that the profile is of. `explain`: also how it was recognised.
std::string host_line(const program::ForecastReport& report, bool explain) {
  std::string line = "host: " + printable(report.host_cpu.empty() ? "unknown CPU" : report.host_cpu);
  if (!report.host) return line + "; like no known platform, so no seconds\n";
  const std::string name = printable(report.host_platform->name);
  if (report.host->certainty != program::HostMatch::Certainty::kName) {
    line += "; taken as " + name;
  } else {
    line += report.host_cpu == report.host_platform->name ? " (known)" : "; known as " + name;
  }
  if (explain && report.host_cpu != report.host_platform->name) line += " (" + report.host->how + ")";
  if (explain && !report.host_runners_up.empty())
    line += ", also near: " + printable(join(report.host_runners_up, ", "));
  if (report.host_time_s) line += "; " + human_seconds(*report.host_time_s) + " here";
  return explain ? lines_of("", "  ", line) : line + "\n";
}

}  // namespace

std::string forecast_text(const program::ForecastReport& report, const ForecastView& view) {
  std::string text = answer_lines(report) + certainty_line(report, view);
  for (const ProfileWarning& warning : report.warnings) {
    text += coloured(lines_of("  warning: ", "    ", printable(warning.message)), kYellow, view);
    if (!warning.advice.empty()) text += lines_of("    advice: ", "      ", printable(warning.advice));
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
