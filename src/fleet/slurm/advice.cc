#include "fleet/slurm/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::fleet {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr std::string_view kAsk = "perfcast:";

// Less is better. Goal kCost: every row that can be chosen has a price.
double score(const AdviceRow& row, AdviceSettings::Goal goal) {
  const double rpv = row.of.forecast->rpv;
  return goal == AdviceSettings::Goal::kCost ? rpv * *row.of.partition.price_per_hour * row.nodes_charged : rpv;
}

constexpr int64_t kSecondsPerMinute = 60;

int64_t whole_minutes_s(double seconds) {
  const double minutes = std::ceil(std::clamp(seconds, 1.0, 1e9) / kSecondsPerMinute);
  return static_cast<int64_t>(minutes) * kSecondsPerMinute;
}

// The longest upper end of those that are chosen; none where one has none.
std::optional<double> longest_upper_s(const SlurmAdvice& advice) {
  double longest_s = 0;
  for (const AdviceRow& row : advice.rows) {
    if (!row.chosen) continue;
    if (!row.of.forecast->time_upper_s || !std::isfinite(*row.of.forecast->time_upper_s)) return std::nullopt;
    longest_s = std::max(longest_s, *row.of.forecast->time_upper_s);
  }
  return longest_s;
}

// Whether the job's time is known from the forecast, and what that says of the script's own limit.
void limit_time(const JobScript& job, const std::string& other_run, SlurmAdvice& advice) {
  const auto longest_s = longest_upper_s(advice);
  const std::string own = job.time.empty() ? "" : "--time=" + printable(job.time);
  if (!other_run.empty() || !job.runs_more.empty()) {
    const std::string both = other_run.empty() || job.runs_more.empty() ? "" : "; ";
    advice.notes.push_back(other_run + both + job.runs_more +
                           ": the forecast is of one profiled run, so no --time is given here; " +
                           (own.empty() ? "set --time for the whole job yourself" : "the script's " + own + " stays"));
  } else if (longest_s) {
    advice.time_limit_s = whole_minutes_s(*longest_s);
  }
  if (other_run.empty() && longest_s && job.time_limit_s && static_cast<double>(*job.time_limit_s) < *longest_s) {
    advice.notes.push_back("the script's " + own + " may end the job early: " + human_seconds(*longest_s) +
                           " is the upper end of the time's 90% interval");
  }
}

// Why one of the partition's nodes can't hold what the job asks of a node. Empty where it can.
std::string too_small(const JobScript& job, const SlurmPartition& partition) {
  if (partition.cores && *partition.cores < job.cores_per_task()) {
    return fmt::format("too small: {} cores a node, a task asks for {}", *partition.cores, job.cores_per_task());
  }
  const double of_a_task =
      static_cast<double>(job.memory_bytes_per_core.value_or(0)) * static_cast<double>(job.cores_per_task());
  const double bytes = job.memory_bytes ? static_cast<double>(*job.memory_bytes) : of_a_task;
  if (!partition.memory_bytes || bytes <= *partition.memory_bytes) return "";
  return fmt::format("too small: {} of memory a node, {} for {}", human_bytes(*partition.memory_bytes),
                     job.memory_bytes ? "the job asks" : "a task asks", human_bytes(bytes));
}

}  // namespace

double nodes_charged(const JobScript& job, const SlurmPartition& partition) {
  const auto least_nodes = static_cast<double>(job.nodes.value_or(1));
  if (!partition.cores) return least_nodes;
  const double cores = job.cores(), cores_per_node = static_cast<double>(*partition.cores);
  const double nodes = std::max(least_nodes, std::ceil(cores / cores_per_node));
  if (job.exclusive || (!job.memory.empty() && !job.memory_bytes)) return nodes;  // --mem=0: all of a node's
  double share = cores / cores_per_node;
  if (partition.memory_bytes) {
    const double per_core = static_cast<double>(job.memory_bytes_per_core.value_or(0));
    const double bytes = job.memory_bytes ? static_cast<double>(*job.memory_bytes) * nodes : per_core * cores;
    share = std::max(share, bytes / *partition.memory_bytes);
  }
  return share;
}

std::string slurm_time_text(int64_t seconds) {
  const int64_t minutes = whole_minutes_s(static_cast<double>(seconds)) / kSecondsPerMinute, hours = minutes / 60;
  const std::string clock = fmt::format("{:02}:{:02}:00", hours % 24, minutes % 60);
  return hours < 24 ? clock : fmt::format("{}-{}", hours / 24, clock);
}

Result<std::string> program_key(const JobScript& job) {
  std::string key;
  std::string where = job.source;
  if (job.comment.starts_with(kAsk)) {
    key = job.comment.substr(kAsk.size());
    where += ": --comment";
  } else if (is_plain_name(job.job_name)) {
    key = job.job_name;
    where += ": --job-name";
  } else if (!job.command.empty()) {
    key = job.command[0].substr(job.command[0].rfind('/') + 1);  // also where the job's name is one for people
  } else if (!job.job_name.empty()) {
    key = job.job_name;
    where += ": --job-name";
  }
  if (is_plain_name(key)) return key;
  const std::string message = key.empty() ? "the script does not tell its program: " + job.command_unclear
                                          : "'" + printable(key.substr(0, 80)) + "' is no name for a program";
  return Error{"no-program-name", message, where,
               "--program NAME, or #SBATCH --comment=perfcast:NAME, of letters, digits and . _ + -"};
}

Result<SlurmAdvice> advise(const JobScript& job, const std::string& program, std::vector<PartitionForecast> partitions,
                           const AdviceSettings& settings, const std::string& other_run) {
  SlurmAdvice advice;
  advice.program = program;
  advice.script = job.source;
  advice.command = join(job.command, " ");
  advice.settings = settings;
  const bool by_cost = settings.goal == AdviceSettings::Goal::kCost;
  std::vector<std::string> whole_nodes;
  const auto can_be_chosen = [](const AdviceRow& row) { return row.of.forecast && row.note.empty(); };
  for (PartitionForecast& partition : partitions) {
    AdviceRow row;
    row.of = std::move(partition);
    const SlurmPartition& facts = row.of.partition;
    if (!row.of.forecast) row.note = "no forecast: " + row.of.no_forecast;
    if (row.of.forecast && row.note.empty()) row.note = too_small(job, facts);
    row.nodes_charged = nodes_charged(job, facts);
    if (facts.price_per_hour && !facts.cores) whole_nodes.push_back(facts.name);
    if (row.of.forecast && row.of.forecast->time_s && facts.price_per_hour) {
      row.cost = *row.of.forecast->time_s * *facts.price_per_hour * row.nodes_charged / kSecondsPerHour;
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
                 "a partition of a known platform whose nodes have enough cores and memory"};
  }
  const double best = score(advice.rows.front(), settings.goal);
  for (AdviceRow& row : advice.rows) {
    if (!can_be_chosen(row) || score(row, settings.goal) > best * (1 + settings.tie_ratio)) continue;
    row.chosen = true;
    advice.chosen.push_back(row.of.partition.name);
  }
  limit_time(job, other_run, advice);
  if (!whole_nodes.empty()) {
    advice.notes.push_back("whole nodes are charged on " + join(whole_nodes, ", ") +
                           ": the file of partitions does not state the cores of a node");
  }
  if (!job.partition.empty() && job.partition != join(advice.chosen, ",")) {
    advice.notes.push_back("the script names partition " + printable(job.partition) +
                           ": --partition on sbatch's command line overrides it");
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

namespace {

// All columns of the partitions, in the order of JSON.
ReportTable partitions_table(const SlurmAdvice& advice) {
  using enum Quantity;
  using Row = AdviceRow;
  const auto of = [](auto PlatformForecast::*member) {
    return [member](const Row& row) { return row.of.forecast ? ReportValue(*row.of.forecast.*member) : ReportValue(); };
  };
  const auto short_number = [](const std::optional<double>& value, int digits) {
    return value ? fmt::format("{:.{}g}", *value, digits) : "-";
  };
  return table_of<Row>(
      "", advice.rows,
      {{"name", "partition", kText, [](const Row& row) { return row.of.partition.name; }},
       {"platform", "platform", kText,
        [](const Row& row) { return row.of.forecast ? row.of.forecast->platform : row.of.partition.platform; }},
       {"chosen", "", kYes, &Row::chosen},
       {"rpv", "rel. time", kNumber, of(&PlatformForecast::rpv), 2},
       {"", "90% interval", kNumber,
        [](const Row& row) {
          return row.of.forecast ? ReportValue(ValueRange{row.of.forecast->lower, row.of.forecast->upper})
                                 : ReportValue();
        },
        2},
       {"lower", "", kNumber, of(&PlatformForecast::lower)},
       {"upper", "", kNumber, of(&PlatformForecast::upper)},
       {"time_s", "time", kSeconds, of(&PlatformForecast::time_s)},
       {"time_upper_s", "", kSeconds, of(&PlatformForecast::time_upper_s)},
       {"price_per_hour", "price per hour", kNumber, [](const Row& row) { return row.of.partition.price_per_hour; },
        [=](const Row& row) { return short_number(row.of.partition.price_per_hour, 6); }},
       {"nodes_charged", "nodes charged", kNumber,
        [](const Row& row) { return row.of.partition.price_per_hour ? ReportValue(row.nodes_charged) : ReportValue(); },
        [=](const Row& row) {
          return row.of.partition.price_per_hour ? short_number(row.nodes_charged, 3) : std::string("-");
        }},
       {"cost", "cost per run", kNumber, &Row::cost,
        [](const Row& row) { return row.cost ? money_text(*row.cost) : std::string("-"); }},
       {"note", " ", kText, [](const Row& row) { return row.note.empty() ? ReportValue() : ReportValue(row.note); },
        [](const Row& row) { return row.chosen ? "chosen" : row.note; }}});
}

}  // namespace

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
  if (advice.time_limit_s) json["time_limit_s"] = *advice.time_limit_s;
  json["partitions"] = rows_json(partitions_table(advice));
  json["notes"] = advice.notes;
  return json;
}

std::string to_text(const SlurmAdvice& advice) {
  std::string text = "submit with: sbatch --partition=" + join(advice.chosen, ",");
  if (advice.time_limit_s) text += " --time=" + slurm_time_text(*advice.time_limit_s);
  text += " " + printable(advice.script) + "\n";
  if (advice.chosen.size() > 1) {
    text += fmt::format("within {:g}% of the best, all are as good: Slurm takes the one that starts first\n",
                        100 * advice.settings.tie_ratio);
  }
  text += "\nprogram: " + advice.program;
  if (!advice.command.empty()) text += "      runs: " + printable(advice.command.substr(0, 80));
  text += "\nreference: " + printable(advice.reference) + "      ";
  text += advice.in_distribution ? "in distribution\n" : "OUT OF DISTRIBUTION: intervals are widened\n";
  text += "\n" + rows_text(partitions_table(advice));
  if (!advice.notes.empty()) text += "\n";
  for (const std::string& note : advice.notes) text += "note: " + printable(note) + "\n";
  return text;
}

}  // namespace perfcast::fleet
