// How well `perfcast watch` finds what is unusual, with one setting for all:
//   perfcast_watch_evaluation FOLDER [--part PART] [--days N] [--seeds N] [--false-alarms R] [--methods A,B]
//   [--threads N] [--json]
// --part development, test or both: faults that are put into recorded counters of real servers. FOLDER holds
// server_power_counters.csv.gz. Development: Opteron 6140 and Xeon X5650, on which settings were chosen; test: the
// other three servers, other seeds.
// --part nab: the Numenta benchmark. FOLDER holds windows.json and its files.
// --part generated, faultless: streams that are made up; FOLDER is not read.
// docs/watch.md has the design.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "measure/watch/detector.h"
#include "studies/output.h"
#include "studies/watch/episode_scores.h"
#include "studies/watch/isolation_forest.h"
#include "studies/watch/peak_level.h"
#include "studies/watch/recorded_server.h"
#include "studies/watch/stream_parts.h"

namespace perfcast::measure::watch_study {
namespace {

struct Options {
  std::string folder, part = "both";
  std::vector<std::string> methods = {"perfcast", "vae", "baseline", "z-score", "isolation-forest"};
  double days = 1, false_alarms = 0;
  uint64_t seeds = 6, first_seed = 1;
  int threads = 2;
  bool verbose = false, json = false;
};

bool is_development(const RecordedServer& server) {
  return server.name.find("6140") != std::string::npos || server.name.find("X5650") != std::string::npos;
}

// A day; 0: as perfcast has it by itself.
double allowed(const Options& options, const RecordedServer& server) {
  return options.false_alarms > 0 ? options.false_alarms : usual_false_alarms(server.interval_s);
}

struct Trial {
  const RecordedServer* server = nullptr;
  uint64_t seed = 0;
  std::string method;
  DetectionCounts counts;
  // Of plain scores: as if the level had been picked with the answers in sight.
  std::vector<double> time_s;
  std::vector<float> scores;
  std::vector<InjectedFault> faults;
  double low = 0;
  // Of a change that lasts: alerts of each kind within it.
  size_t changes = 0, change_alerts = 0, change_alarms_after = 0;
};

struct Streams {
  MetricStream history, live;
  std::vector<InjectedFault> faults;
  double season_s = 0;
};

Streams make_streams(const RecordedServer& server, uint64_t seed, double days) {
  // The seed alone chooses: every method sees the same days.
  Random random(seed * 1000003);
  const ServerSchedule schedule(server);
  Streams streams;
  streams.history = schedule.history(random);
  streams.season_s = schedule.cycle_s();
  streams.live = schedule.days(days, 2 * streams.season_s, random);
  streams.faults = inject_faults(server.columns, server.interval_s, streams.live, random);
  return streams;
}

DetectorOptions detector_options(const Trial& trial, const Streams& streams, const Options& options) {
  DetectorOptions result;
  result.false_alarms_per_day = options.false_alarms;
  result.warm_up_rows = streams.history.time_s.size();
  result.seed = trial.seed;
  result.use_past = trial.method != "vae";
  result.use_joint = trial.method != "baseline";
  return result;
}

void print_alerts(const Trial& trial, const std::vector<Alert>& alerts, const Streams& streams) {
  for (const Alert& alert : alerts) {
    std::string text =
        fmt::format("{} seed {} {:8.0f} s {} {} {} score {:.1f} level {:.1f} rows {}:", trial.server->name, trial.seed,
                    alert.time_s, alert.kind == AlertKind::kChange ? "change" : "anomaly",
                    alert.worse                        ? "worse"
                    : alert.state == AlertState::kOpen ? "opens"
                                                       : "closes",
                    to_text(alert.severity), alert.score, alert.level, alert.rows);
    for (const AlertMetric& metric : alert.metrics) {
      text += fmt::format(" {} {:.0f}% {} {:.3g} for {:.3g} to {:.3g};", trial.server->columns[metric.column],
                          100 * metric.share, to_text(metric.sight), metric.value, metric.low, metric.high);
    }
    for (const InjectedFault& fault : streams.faults) {
      if (alert.time_s >= fault.from_s && alert.time_s <= fault.to_s + 600) {
        text += fmt::format(" [{} {} {}]", to_text(fault.type), fault.magnitude, fault.metric);
      }
    }
    fmt::print("{}\n", text);
  }
}

Status run_detector(Trial& trial, const Streams& streams, const Options& options) {
  Detector detector(trial.server->columns.size(), detector_options(trial, streams, options));
  std::vector<Alert> alerts;
  for (const MetricStream* stream : {&streams.history, &streams.live}) {
    const Status added =
        detector.add(stream->time_s.size(), stream->time_s.data(), stream->values.data(), detector.columns(), alerts);
    if (!added) return added;
  }
  std::vector<double> alarms_s;
  for (const Alert& alert : alerts) {
    if (alert.state == AlertState::kOpen && !alert.worse) alarms_s.push_back(alert.time_s);
  }
  if (options.verbose) print_alerts(trial, alerts, streams);
  trial.counts = count_detections(streams.faults, alarms_s, options.days);
  return {};
}

// Largest |z| of a row by the history's mean and standard deviation.
class ZScore {
 public:
  void fit(const std::vector<double>& values, size_t columns) {
    for (size_t j = 0; j < columns; ++j) {
      std::vector<double> known;
      for (size_t i = j; i < values.size(); i += columns) {
        if (!std::isnan(values[i])) known.push_back(values[i]);
      }
      means_.push_back(known.empty() ? 0 : mean(known));
      deviations_.push_back(known.size() < 2 ? 1 : std::max(standard_deviation(known), 1e-12));
    }
  }
  double score(const double* row) const {
    double most = 0;
    for (size_t j = 0; j < means_.size(); ++j) {
      if (!std::isnan(row[j])) most = std::max(most, std::abs(row[j] - means_[j]) / deviations_[j]);
    }
    return most;
  }

 private:
  std::vector<double> means_, deviations_;
};

// Plain scores get their level from the history as perfcast's do.
template <typename Method>
void run_plain(Trial& trial, const Streams& streams, const Options& options, const Method& method, bool by_thousands) {
  const size_t columns = trial.server->columns.size();
  const auto scores_of = [&](const MetricStream& stream) {
    std::vector<float> scores;
    for (size_t r = 0; r < stream.time_s.size(); ++r) {
      // The forest's lie between 0 and 1; a scale on which an excess of 1 is much suits the level's rules.
      scores.push_back(static_cast<float>((by_thousands ? 100 : 1) * method.score(stream.values.data() + r * columns)));
    }
    return scores;
  };
  const std::vector<float> history = scores_of(streams.history);
  ScoreClusters clusters;
  clusters.low = static_cast<float>(quantile({history.begin(), history.end()}, 0.95));
  std::vector<float> maxima;
  for (const float score : history) {
    if (clusters.ends(score)) maxima.push_back(clusters.maximum);
  }
  const double level = peak_level(maxima, static_cast<double>(history.size()) * trial.server->interval_s / 86400,
                                  allowed(options, *trial.server));
  trial.low = static_cast<double>(clusters.low);
  trial.time_s = streams.live.time_s;
  trial.scores = scores_of(streams.live);
  trial.faults = streams.faults;
  trial.counts =
      count_detections(streams.faults, alarms_of(trial.time_s, trial.scores, trial.low, level), options.days);
}

Status run_trial(Trial& trial, const Options& options) {
  const Streams streams = make_streams(*trial.server, trial.seed, options.days);
  const size_t columns = trial.server->columns.size();
  if (trial.method == "z-score") {
    ZScore method;
    method.fit(streams.history.values, columns);
    run_plain(trial, streams, options, method, false);
  } else if (trial.method == "isolation-forest") {
    IsolationForest method;
    method.fit(streams.history.values, columns, 100, 256, trial.seed);
    run_plain(trial, streams, options, method, true);
  } else {
    return run_detector(trial, streams, options);
  }
  return {};
}

struct MethodCounts {
  std::string method;
  DetectionCounts counts;
};

ReportTable methods_table(const std::string& caption, const std::vector<MethodCounts>& methods) {
  using Row = MethodCounts;
  const auto share = [](const char* name, const char* title, std::function<double(const DetectionCounts&)> value) {
    return ColumnOf<Row>{name, title, Quantity::kShare, [=](const Row& row) { return value(row.counts); }, 1};
  };
  return table_of<Row>(
      caption, methods,
      {{"method", "method", Quantity::kText, [](const Row& row) { return row.method; }},
       share("recall", "recall", [](const auto& counts) { return counts.recall(); }),
       share("recall_small", "small", [](const auto& counts) { return counts.recall(0); }),
       share("recall_medium", "medium", [](const auto& counts) { return counts.recall(1); }),
       share("recall_large", "large", [](const auto& counts) { return counts.recall(2); }),
       share("precision", "precision", [](const auto& counts) { return counts.precision(); }),
       {"false_alarms_per_day", "false alarms a day", Quantity::kNumber,
        [](const Row& row) { return row.counts.false_alarms_per_day(); }},
       {"delay_s", "delay, median s", Quantity::kNumber,
        [](const Row& row) { return row.counts.delays_s.empty() ? kUnknown : median(row.counts.delays_s); }, 0}});
}

// By type of fault.
ReportTable faults_table(const DetectionCounts& counts) {
  std::vector<size_t> types(kFaultTypes);
  for (size_t t = 0; t < kFaultTypes; ++t) types[t] = t;
  std::vector<ColumnOf<size_t>> columns = {{"fault", "perfcast: fault", Quantity::kText,
                                            [](size_t t) { return std::string(to_text(static_cast<FaultType>(t))); }}};
  constexpr const char* kNames[kMagnitudes] = {"small", "medium", "large"};
  for (size_t m = 0; m < kMagnitudes; ++m) {
    columns.push_back({kNames[m], kNames[m], Quantity::kShare,
                       [&counts, m](size_t t) {
                         return static_cast<double>(counts.found[t][m]) /
                                static_cast<double>(std::max<size_t>(counts.faults[t][m], 1));
                       },
                       1});
  }
  columns.push_back({"n", "n of each", Quantity::kCount, [&counts](size_t t) { return counts.faults[t][0]; }});
  return table_of<size_t>("", types, columns);
}

// The best that plain scores could do: per server the lowest level with no more false alarms than allowed, picked on
// the very days that it is scored on.
DetectionCounts in_hindsight(const std::vector<const Trial*>& trials, const Options& options) {
  std::map<std::string, std::vector<const Trial*>> by_server;
  for (const Trial* trial : trials) by_server[trial->server->name].push_back(trial);
  DetectionCounts all;
  for (const auto& [name, of] : by_server) {
    std::vector<double> levels;
    for (const Trial* trial : of) {
      for (double p = 0.95; p < 1; p += (1 - p) * 0.25) {
        if (1 - p < 1e-6) break;
        levels.push_back(quantile({trial->scores.begin(), trial->scores.end()}, p));
      }
    }
    std::sort(levels.begin(), levels.end());
    DetectionCounts best;
    for (size_t i = 0; i < levels.size(); i += 4) {
      DetectionCounts counts;
      for (const Trial* trial : of) {
        counts.add(count_detections(trial->faults, alarms_of(trial->time_s, trial->scores, trial->low, levels[i]),
                                    options.days));
      }
      best = counts;
      if (counts.false_alarms_per_day() <= allowed(options, *of.front()->server)) break;
    }
    all.add(best);
  }
  return all;
}

void write_part(const std::vector<Trial>& trials, bool development, const Options& options, StudyOutput& output) {
  std::set<std::string> names;
  for (const Trial& trial : trials) {
    if (is_development(*trial.server) == development) names.insert(trial.server->name);
  }
  if (names.empty()) return;
  std::vector<MethodCounts> methods, servers;
  DetectionCounts ours;
  for (const std::string& method : options.methods) {
    MethodCounts of{method, {}};
    std::vector<const Trial*> plain;
    for (const Trial& trial : trials) {
      if (trial.method != method || is_development(*trial.server) != development) continue;
      of.counts.add(trial.counts);
      if (!trial.scores.empty()) plain.push_back(&trial);
    }
    methods.push_back(of);
    if (method == "perfcast") ours = of.counts;
    if (!plain.empty()) methods.push_back({method + ", level in hindsight", in_hindsight(plain, options)});
  }
  for (const std::string& name : names) {
    servers.push_back({"perfcast on " + name, {}});
    for (const Trial& trial : trials) {
      if (trial.method == "perfcast" && trial.server->name == name) servers.back().counts.add(trial.counts);
    }
  }
  const std::string part = development ? "development" : "test";
  output.add(part, methods_table(fmt::format("{}: {}; {} seeds of {:g} day(s), 24 faults a day",
                                             development ? "development (settings were chosen here)" : part,
                                             join({names.begin(), names.end()}, ", "), options.seeds, options.days),
                                 methods));
  output.add(part + "_faults", faults_table(ours));
  output.add(part + "_servers", methods_table("", servers));
}

int run_servers(const Options& options, StudyOutput& output) {
  const auto servers = read_recorded_servers(options.folder);
  if (!servers) {
    fmt::print(stderr, "{}\n", to_text(servers.error()));
    return 1;
  }
  std::vector<Trial> trials;
  for (const RecordedServer& server : *servers) {
    const bool development = is_development(server);
    if (options.part != "both" && (options.part == "development") != development) continue;
    const ServerSchedule schedule(server);
    output.note(fmt::format(
        "{}: {} metrics, every {:g} s; history {} rows, live rows to draw days from {}; a cycle takes {:.2f} h",
        server.name, server.columns.size(), server.interval_s, schedule.history_rows(), schedule.live_rows(),
        schedule.cycle_s() / 3600));
    for (const std::string& method : options.methods) {
      for (uint64_t seed = 1; seed <= options.seeds; ++seed) {
        Trial trial;
        trial.server = &server;
        trial.seed = seed + (development ? 0 : 1000);
        trial.method = method;
        trials.push_back(std::move(trial));
      }
    }
  }
  const Status done =
      parallel_for(trials.size(), options.threads, [&](size_t i) { return run_trial(trials[i], options); });
  if (!done) {
    fmt::print(stderr, "{}\n", to_text(done.error()));
    return 1;
  }
  write_part(trials, true, options, output);
  write_part(trials, false, options, output);
  return 0;
}

int run(const Options& options) {
  StudyOutput output("watch", options.json);
  const PartOptions part{options.false_alarms, options.seeds, options.first_seed, options.threads, options.verbose};
  Status done;
  if (options.part == "nab") {
    done = add_nab(options.folder, part, output);
  } else if (options.part == "generated") {
    done = add_generated(part, output);
  } else if (options.part == "faultless") {
    done = add_faultless(part, output);
  } else if (const int failed = run_servers(options, output); failed != 0) {
    return failed;
  }
  if (!done) {
    fmt::print(stderr, "{}\n", to_text(done.error()));
    return 1;
  }
  output.finish();
  return 0;
}

}  // namespace
}  // namespace perfcast::measure::watch_study

int main(int argc, char** argv) {
  try {
    perfcast::measure::watch_study::Options options;
    CLI::App app("What perfcast watch finds in records, in the Numenta benchmark and in streams that are made up");
    app.add_option("folder", options.folder)->required();
    app.add_option("--days", options.days, "Of each seed")->check(CLI::Range(0.5, 100.0));
    app.add_option("--seeds", options.seeds);
    app.add_option("--first-seed", options.first_seed, "Of generated streams");
    app.add_option("--false-alarms", options.false_alarms, "Allowed a day; 0: as perfcast has it by itself");
    app.add_option("--part", options.part)
        ->check(CLI::IsMember({"development", "test", "both", "nab", "generated", "faultless"}));
    app.add_option("--methods", options.methods)->delimiter(',');
    app.add_option("--threads", options.threads);
    app.add_flag("--json", options.json, "For programs");
    app.add_flag("--verbose", options.verbose, "Print every alert");
    CLI11_PARSE(app, argc, argv);
    return perfcast::measure::watch_study::run(options);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
