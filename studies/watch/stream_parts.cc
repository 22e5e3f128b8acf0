#include "studies/watch/stream_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "measure/watch/detector.h"
#include "studies/watch/generated_stream.h"
#include "studies/watch/nab.h"
#include "studies/watch/peak_level.h"

namespace perfcast::measure::watch_study {
namespace {

constexpr size_t kGeneratedRows = 20000, kFaultlessRows = 40000;
constexpr double kBehind_s = 1800;  // behind a fault's end: an alert of it
constexpr uint64_t kRandomSeeds = 20;

// As `perfcast watch FILE` does it: a tenth of the stream is the warm-up. Opening alerts alone.
Result<std::vector<Alert>> opened(const MetricStream& stream, size_t columns, double false_alarms,
                                  bool verbose = false) {
  DetectorOptions options;
  options.false_alarms_per_day = false_alarms;
  options.warm_up_rows = warm_up_of(stream.time_s.size());
  Detector detector(columns, options);
  std::vector<Alert> alerts;
  const Status added = detector.add(stream.time_s.size(), stream.time_s.data(), stream.values.data(), columns, alerts);
  if (!added) return added.error();
  std::vector<std::string> names;
  for (size_t j = 0; j < columns; ++j) names.push_back(fmt::format("m{}", j));
  for (const Alert& alert : alerts) {
    if (verbose) {
      const char* seen = alert.metrics.empty() ? "" : to_text(alert.metrics[0].sight);
      fmt::print("  row {}: ({}) {}\n", alert.row, seen, alert_text(alert, names));
    }
  }
  std::erase_if(alerts, [](const Alert& alert) { return alert.state != AlertState::kOpen || alert.worse; });
  return alerts;
}

std::vector<size_t> rows_of(const std::vector<Alert>& alerts) {
  std::vector<size_t> rows;
  rows.reserve(alerts.size());
  for (const Alert& alert : alerts) rows.push_back(alert.row);
  return rows;
}

// Alarms of |x - mean| / deviation, by the first 15% (at most 750 rows) and a level from them.
std::vector<size_t> z_score_alarms(const NabFile& file, double false_alarms) {
  const std::vector<double>& x = file.stream.values;
  const size_t learnt = std::clamp<size_t>(x.size() * 15 / 100, 2, 750);
  const std::vector<double> first(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(learnt));
  const double centre = mean(first);
  const double deviation = std::max(standard_deviation(first), 1e-12);
  const auto score = [&](size_t r) { return static_cast<float>(std::abs(x[r] - centre) / deviation); };
  std::vector<double> scores;
  for (size_t r = 0; r < learnt; ++r) scores.push_back(static_cast<double>(score(r)));
  ScoreClusters clusters;
  clusters.low = static_cast<float>(quantile(scores, 0.95));
  std::vector<float> maxima;
  for (size_t r = 0; r < learnt; ++r) {
    if (clusters.ends(score(r))) maxima.push_back(clusters.maximum);
  }
  const double days = (file.stream.time_s[learnt - 1] - file.stream.time_s[0]) / 86400;
  const double allowed =
      false_alarms > 0 ? false_alarms : usual_false_alarms(days * 86400 / static_cast<double>(learnt));
  const double level = peak_level(maxima, days, allowed);
  std::vector<size_t> alarms;
  size_t quiet = 30;
  for (size_t r = learnt; r < x.size(); ++r) {
    const bool above = static_cast<double>(score(r)) > level;
    if (above && quiet >= 30) alarms.push_back(r);
    quiet = above ? 0 : quiet + 1;
  }
  return alarms;
}

struct NabRow {
  std::string method, part;
  NabCounts counts;
  double random = 0;  // score of as many alarms at random
};

struct NabTrial {
  std::vector<size_t> alarms, z_alarms;
};

// As many alarms in each file as there were, anywhere behind the part for learning.
double random_score(const std::vector<const NabFile*>& files, const std::vector<const NabTrial*>& trials) {
  double sum = 0;
  for (uint64_t seed = 1; seed <= kRandomSeeds; ++seed) {
    Random random(seed);
    NabCounts all;
    for (size_t i = 0; i < files.size(); ++i) {
      const size_t rows = files[i]->stream.time_s.size();
      const size_t learnt = std::min<size_t>(rows * 15 / 100, 750);
      std::vector<size_t> alarms;
      for (const size_t row : trials[i]->alarms) {
        if (row >= learnt) alarms.push_back(learnt + random.below(rows - learnt));
      }
      std::sort(alarms.begin(), alarms.end());
      all.add(nab_counts(*files[i], alarms));
    }
    sum += all.score();
  }
  return sum / static_cast<double>(kRandomSeeds);
}

ReportTable nab_table(const std::vector<NabRow>& rows) {
  return table_of<NabRow>(
      "Numenta benchmark, standard profile", rows,
      {{"method", "method", Quantity::kText, [](const NabRow& row) { return row.method; }},
       {"part", "files", Quantity::kText, [](const NabRow& row) { return row.part; }},
       {"score", "score", Quantity::kNumber, [](const NabRow& row) { return row.counts.score(); }, 1},
       {"random_score", "as many alarms at random", Quantity::kNumber, [](const NabRow& row) { return row.random; }, 1},
       {"files", "n", Quantity::kCount, [](const NabRow& row) { return row.counts.files; }},
       {"windows", "windows", Quantity::kCount, [](const NabRow& row) { return row.counts.windows; }},
       {"found", "found", Quantity::kCount, [](const NabRow& row) { return row.counts.found; }},
       {"false_alarms", "false alarms", Quantity::kCount, [](const NabRow& row) { return row.counts.false_alarms; }}});
}

}  // namespace

Status add_nab(const std::string& folder, const PartOptions& options, StudyOutput& output) {
  const auto files = read_nab(folder);
  if (!files) return files.error();
  std::vector<NabTrial> trials(files->size());
  Status done = parallel_for(files->size(), options.verbose ? 1 : options.threads, [&](size_t i) -> Status {
    const NabFile& file = (*files)[i];
    if (options.verbose) {
      fmt::print("{}/{}{}:", file.category, file.name, file.tuned ? "" : " (not tuned on)");
      for (const auto& [first, last] : file.windows) fmt::print(" {}-{}", first, last);
      fmt::print("\n");
    }
    const auto alerts = opened(file.stream, 1, options.false_alarms, options.verbose);
    if (!alerts) return alerts.error();
    trials[i].alarms = rows_of(*alerts);
    trials[i].z_alarms = z_score_alarms(file, options.false_alarms);
    return {};
  });
  if (!done) return done;
  std::vector<NabRow> rows;
  const auto add = [&](const std::string& part, const auto& belongs) {
    NabRow ours{"perfcast", part, {}, kUnknown};
    NabRow z_score{"z-score", part, {}, kUnknown};
    std::vector<const NabFile*> of;
    std::vector<const NabTrial*> their;
    for (size_t i = 0; i < files->size(); ++i) {
      const NabFile& file = (*files)[i];
      if (!belongs(file)) continue;
      of.push_back(&file);
      their.push_back(&trials[i]);
      ours.counts.add(nab_counts(file, trials[i].alarms));
      z_score.counts.add(nab_counts(file, trials[i].z_alarms));
    }
    ours.random = random_score(of, their);
    rows.push_back(ours);
    rows.push_back(z_score);
  };
  add("all", [](const NabFile&) { return true; });
  add("tuned on", [](const NabFile& file) { return file.tuned; });
  add("not tuned on", [](const NabFile& file) { return !file.tuned; });
  std::vector<std::string> categories;
  for (const NabFile& file : *files) {
    if (categories.empty() || categories.back() != file.category) categories.push_back(file.category);
  }
  for (const std::string& category : categories)
    add(category, [&](const NabFile& file) { return file.category == category; });
  output.add("nab", nab_table(rows));
  return {};
}

Status add_generated(const PartOptions& options, StudyOutput& output) {
  struct Trial {
    size_t faults = 0, found = 0, alerts = 0, of_faults = 0;
    double days = 0;
    std::vector<double> delays_s;
  };
  std::vector<Trial> trials(options.seeds);
  Status done = parallel_for(trials.size(), options.verbose ? 1 : options.threads, [&](size_t i) -> Status {
    const GeneratedStream made = generate_with_faults(options.first_seed + i, kGeneratedRows);
    if (options.verbose) {
      fmt::print("seed {}:", options.first_seed + i);
      for (const GeneratedFault& fault : made.faults) {
        const auto row = [&](double time_s) { return (time_s - made.stream.time_s[0]) / kGeneratedInterval_s; };
        fmt::print(" {:.0f}-{:.0f}", row(fault.from_s), row(fault.to_s));
      }
      fmt::print("\n");
    }
    const auto alerts = opened(made.stream, made.columns, options.false_alarms, options.verbose);
    if (!alerts) return alerts.error();
    Trial& trial = trials[i];
    trial.alerts = alerts->size();
    trial.days = 0.9 * (made.stream.time_s.back() - made.stream.time_s.front()) / 86400;
    for (const GeneratedFault& fault : made.faults) {
      ++trial.faults;
      bool found = false;
      for (const Alert& alert : *alerts) {
        if (alert.time_s < fault.from_s || alert.time_s > fault.to_s + kBehind_s) continue;
        ++trial.of_faults;
        if (!found) trial.delays_s.push_back(alert.time_s - fault.from_s);
        found = true;
      }
      trial.found += found ? 1 : 0;
    }
    return {};
  });
  if (!done) return done;
  Trial all;
  for (const Trial& trial : trials) {
    all.faults += trial.faults;
    all.found += trial.found;
    all.alerts += trial.alerts;
    all.of_faults += trial.of_faults;
    all.days += trial.days;
    all.delays_s.insert(all.delays_s.end(), trial.delays_s.begin(), trial.delays_s.end());
  }
  const auto per = [](size_t part, size_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kUnknown;
  };
  output.add(
      "generated",
      table_of<Trial>(
          fmt::format("Generated streams: 5 metrics, daily season, {} rows, 3 faults; {} seeds", kGeneratedRows,
                      options.seeds),
          std::vector<Trial>{all},
          {{"method", "method", Quantity::kText, [](const Trial&) { return std::string("perfcast"); }},
           {"faults", "faults", Quantity::kCount, [](const Trial& row) { return row.faults; }},
           {"recall", "found", Quantity::kShare, [=](const Trial& row) { return per(row.found, row.faults); }, 1},
           {"alerts_per_fault", "alerts per fault", Quantity::kNumber,
            [=](const Trial& row) { return per(row.alerts, row.faults); }},
           {"alerts_per_found", "of them within a found fault", Quantity::kNumber,
            [=](const Trial& row) { return per(row.of_faults, row.found); }},
           {"false_alarms_per_day", "false alarms a day", Quantity::kNumber,
            [](const Trial& row) { return static_cast<double>(row.alerts - row.of_faults) / row.days; }},
           {"delay_s", "delay, median s", Quantity::kNumber,
            [](const Trial& row) { return row.delays_s.empty() ? kUnknown : median(row.delays_s); }, 0}}));
  return {};
}

Status add_faultless(const PartOptions& options, StudyOutput& output) {
  struct Row {
    Faultless kind = Faultless::kLoad;
    double asked = 0;
    double alerts = 0, days = 0;
    double delivered() const { return alerts / days; }
  };
  std::vector<Row> rows;
  for (size_t kind = 0; kind < kFaultlessKinds; ++kind) {
    for (const double asked : {1.0, 1.0 / 7}) rows.push_back({static_cast<Faultless>(kind), asked});
  }
  std::vector<Row> trials;
  for (const Row& row : rows) trials.insert(trials.end(), options.seeds, row);
  Status done = parallel_for(trials.size(), options.verbose ? 1 : options.threads, [&](size_t i) -> Status {
    const GeneratedStream made =
        generate_faultless(trials[i].kind, options.first_seed + i % options.seeds, kFaultlessRows);
    if (options.verbose)
      fmt::print("{} seed {} asked {:.2f}:\n", to_text(trials[i].kind), options.first_seed + i % options.seeds,
                 trials[i].asked);
    const auto alerts = opened(made.stream, made.columns, trials[i].asked, options.verbose);
    if (!alerts) return alerts.error();
    trials[i].alerts = static_cast<double>(alerts->size());
    trials[i].days = 0.9 * (made.stream.time_s.back() - made.stream.time_s.front()) / 86400;
    return {};
  });
  if (!done) return done;
  for (size_t i = 0; i < trials.size(); ++i) {
    rows[i / options.seeds].alerts += trials[i].alerts;
    rows[i / options.seeds].days += trials[i].days;
  }
  output.add(
      "faultless",
      table_of<Row>(
          fmt::format("Streams without faults: {} rows, a minute apart; {} seeds", kFaultlessRows, options.seeds), rows,
          {{"kind", "stream", Quantity::kText, [](const Row& row) { return std::string(to_text(row.kind)); }},
           {"asked_per_day", "false alarms a day: asked for", Quantity::kNumber,
            [](const Row& row) { return row.asked; }},
           {"delivered_per_day", "delivered", Quantity::kNumber, [](const Row& row) { return row.delivered(); }},
           {"ratio", "delivered / asked for", Quantity::kNumber,
            [](const Row& row) { return row.delivered() / row.asked; }},
           {"alerts", "alerts", Quantity::kNumber, [](const Row& row) { return row.alerts; }, 0}}));
  return {};
}

}  // namespace perfcast::measure::watch_study
