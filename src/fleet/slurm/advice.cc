#include "fleet/slurm/advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::fleet {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr std::string_view kAsk = "perfcast:";

// Less is better. Goal kCost: every row that can be chosen has a price.
double score(const AdviceRow& row, AdviceSettings::Goal goal) {
  const double rpv = row.of.forecast->rpv;
  return goal == AdviceSettings::Goal::kCost ? rpv * *row.of.partition.price_per_hour : rpv;
}

}  // namespace

Result<std::string> program_key(const JobScript& job) {
  std::string key;
  std::string where = job.source;
  if (job.comment.starts_with(kAsk)) {
    key = job.comment.substr(kAsk.size());
    where += ": --comment";
  } else if (!job.job_name.empty()) {
    key = job.job_name;
    where += ": --job-name";
  } else if (!job.command.empty()) {
    key = job.command[0].substr(job.command[0].rfind('/') + 1);
  }
  if (is_plain_name(key)) return key;
  const std::string message = key.empty() ? "the script does not tell its program: " + job.command_unclear
                                          : "'" + printable(key.substr(0, 80)) + "' is no name for a program";
  return Error{"no-program-name", message, where,
               "--program NAME, or #SBATCH --comment=perfcast:NAME, of letters, digits and . _ + -"};
}

Result<SlurmAdvice> advise(const JobScript& job, const std::string& program, std::vector<PartitionForecast> partitions,
                           const AdviceSettings& settings) {
  SlurmAdvice advice;
  advice.program = program;
  advice.script = job.source;
  advice.command = join(job.command, " ");
  advice.settings = settings;
  const bool by_cost = settings.goal == AdviceSettings::Goal::kCost;
  const auto can_be_chosen = [](const AdviceRow& row) { return row.of.forecast && row.note.empty(); };
  for (PartitionForecast& partition : partitions) {
    AdviceRow row;
    row.of = std::move(partition);
    const SlurmPartition& facts = row.of.partition;
    if (!row.of.forecast) row.note = "no forecast: " + row.of.no_forecast;
    if (row.of.forecast && facts.cores && *facts.cores < job.cores_per_task()) {
      row.note = fmt::format("too small: {} cores a node, a task asks for {}", *facts.cores, job.cores_per_task());
    }
    if (row.of.forecast && row.of.forecast->time_s && facts.price_per_hour) {
      row.cost = *row.of.forecast->time_s * *facts.price_per_hour / kSecondsPerHour;
    }
    if (by_cost && can_be_chosen(row) && !facts.price_per_hour) {
      return Error{"missing-price", "partition " + facts.name + " has no price, which choosing by cost needs",
                   "price_per_hour", "a price_per_hour for every partition, or the goal time"};
    }
    advice.rows.push_back(std::move(row));
  }
  std::stable_sort(advice.rows.begin(), advice.rows.end(), [&](const AdviceRow& a, const AdviceRow& b) {
    const auto standing = [&](const AdviceRow& row) { return can_be_chosen(row) ? 0 : row.of.forecast ? 1 : 2; };
    if (standing(a) != standing(b) || standing(a) > 0) return standing(a) < standing(b);
    return score(a, settings.goal) < score(b, settings.goal);
  });
  if (advice.rows.empty() || !can_be_chosen(advice.rows.front())) {
    std::vector<std::string> reasons;
    for (const AdviceRow& row : advice.rows) reasons.push_back(row.of.partition.name + ": " + row.note);
    return Error{"no-partition", "no partition can be chosen: " + join(reasons, "; "), job.source,
                 "a partition of a known platform whose nodes have enough cores"};
  }
  const double best = score(advice.rows.front(), settings.goal);
  for (AdviceRow& row : advice.rows) {
    if (!can_be_chosen(row) || score(row, settings.goal) > best * (1 + settings.tie_ratio)) continue;
    row.chosen = true;
    advice.chosen.push_back(row.of.partition.name);
  }
  if (!job.partition.empty()) {
    advice.notes.push_back("the script names partition " + printable(job.partition) +
                           ": Slurm takes that one, whatever is best");
  }
  return advice;
}

CacheEntry to_cache_entry(const SlurmAdvice& advice, int64_t now_unix_s) {
  CacheEntry entry;
  entry.program = advice.program;
  entry.made_unix_s = now_unix_s;
  entry.chosen = advice.chosen;
  for (const AdviceRow& row : advice.rows) {
    if (!row.of.forecast || !row.note.empty() || entry.ranking.size() == kMostCachedPartitions) continue;
    const PlatformForecast& forecast = *row.of.forecast;
    entry.ranking.push_back({row.of.partition.name, forecast.rpv, forecast.lower, forecast.upper});
  }
  if (entry.chosen.size() > entry.ranking.size()) entry.chosen.resize(entry.ranking.size());
  return entry;
}

Json to_json(const SlurmAdvice& advice) {
  Json json;
  json["schema"] = kSlurmAdviceSchema;
  json["program"] = advice.program;
  json["script"] = advice.script;
  if (!advice.command.empty()) json["command"] = advice.command;
  json["reference"] = advice.reference;
  json["in_distribution"] = advice.in_distribution;
  json["goal"] = advice.settings.goal == AdviceSettings::Goal::kCost ? "cost" : "time";
  json["chosen"] = advice.chosen;
  json["partitions"] = Json::array();
  for (const AdviceRow& row : advice.rows) {
    Json item{{"name", row.of.partition.name}, {"platform", row.of.partition.platform}, {"chosen", row.chosen}};
    if (row.of.forecast) {
      const PlatformForecast& forecast = *row.of.forecast;
      item["platform"] = forecast.platform;
      item["rpv"] = forecast.rpv;
      item["lower"] = forecast.lower;
      item["upper"] = forecast.upper;
      if (forecast.time_s) item["time_s"] = *forecast.time_s;
    }
    if (row.of.partition.price_per_hour) item["price_per_hour"] = *row.of.partition.price_per_hour;
    if (row.cost) item["cost"] = *row.cost;
    if (!row.note.empty()) item["note"] = row.note;
    json["partitions"].push_back(std::move(item));
  }
  json["notes"] = advice.notes;
  return json;
}

std::string to_text(const SlurmAdvice& advice) {
  const auto any = [&](auto has) { return std::any_of(advice.rows.begin(), advice.rows.end(), has); };
  const bool seconds = any([](const AdviceRow& row) { return row.of.forecast && row.of.forecast->time_s; });
  const bool prices = any([](const AdviceRow& row) { return row.of.partition.price_per_hour.has_value(); });
  const bool costs = any([](const AdviceRow& row) { return row.cost.has_value(); });
  TextTable table;
  table.add_column("partition", TextTable::Align::kLeft);
  table.add_column("platform", TextTable::Align::kLeft);
  table.add_column("rel. time", TextTable::Align::kRight);
  table.add_column("90% interval", TextTable::Align::kRight);
  if (seconds) table.add_column("time", TextTable::Align::kRight);
  if (prices) table.add_column("price per hour", TextTable::Align::kRight);
  if (costs) table.add_column("cost per run", TextTable::Align::kRight);
  table.add_column("", TextTable::Align::kLeft);
  std::vector<double> times_s;
  for (const AdviceRow& row : advice.rows) {
    times_s.push_back(row.of.forecast ? row.of.forecast->time_s.value_or(kUnknown) : kUnknown);
  }
  const std::vector<std::string> times = seconds_column(times_s);
  for (size_t i = 0; i < advice.rows.size(); ++i) {
    const AdviceRow& row = advice.rows[i];
    const auto& forecast = row.of.forecast;
    std::vector<std::string> cells = {
        row.of.partition.name, printable(forecast ? forecast->platform : row.of.partition.platform),
        forecast ? fmt::format("{:.2f}", forecast->rpv) : "-",
        forecast ? fmt::format("{:.2f} .. {:.2f}", forecast->lower, forecast->upper) : "-"};
    if (seconds) cells.push_back(times[i]);
    const auto& price = row.of.partition.price_per_hour;
    if (prices) cells.push_back(price ? fmt::format("{:g}", *price) : "-");
    if (costs) cells.push_back(row.cost ? fmt::format("{:.3g}", *row.cost) : "-");
    cells.push_back(row.chosen ? "chosen" : printable(row.note));
    table.add_row(std::move(cells));
  }
  std::string text = "program: " + advice.program;
  if (!advice.command.empty()) text += "      runs: " + printable(advice.command.substr(0, 80));
  text += "\nreference: " + printable(advice.reference) + "      ";
  text += advice.in_distribution ? "in distribution\n" : "OUT OF DISTRIBUTION: intervals are widened\n";
  for (const std::string& note : advice.notes) text += "note: " + printable(note) + "\n";
  text += "\n" + table.to_text() + "\n";
  if (advice.chosen.size() > 1) {
    text += fmt::format("within {:g}% of the best, all are as good: Slurm takes the one that starts first\n",
                        100 * advice.settings.tie_ratio);
  }
  return text + "submit with: sbatch --partition=" + join(advice.chosen, ",") + " " + printable(advice.script) + "\n";
}

}  // namespace perfcast::fleet
