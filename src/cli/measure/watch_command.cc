// perfcast watch: rows of metrics as they come, and what is unusual about them.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process/duration.h"
#include "base/process/interrupt.h"
#include "base/text.h"
#include "base/unknown.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "measure/watch/alertmanager.h"
#include "measure/watch/http_client.h"
#include "measure/watch/stream_page.h"
#include "measure/watch/watch_stream.h"

namespace perfcast::cli {
namespace {

constexpr double kMostWarmUpBytes = 1 << 30;

struct WatchArguments {
  std::string input, format = "detect", time_column, group_column, endpoint, interval, season = "auto",
                     change_after = "20m", state, report, alertmanager;
  std::string false_alarms = "auto", warm_up = "auto";
  size_t most_metrics = 200, most_groups = 64;
  uint64_t scrapes = 0;
  bool follow = false;
};

// "20m", and days, which other options don't have.
Result<double> watch_duration(const std::string& text, const char* option) {
  if (!text.ends_with('d')) return parse_duration_s(text, option);
  const auto days = parse_duration_s(text.substr(0, text.size() - 1) + "h", option);
  if (days) return *days * 24;
  return usage_error("bad-usage", "'" + printable(text) + "' is no time", option, "such as 1d, 2h, 20m or 30s");
}

// "1/d", "2/h", "0.5/d", "1/7d": alarms a day.
Result<double> alarms_per_day(const std::string& text) {
  const size_t slash = text.find('/');
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string within = slash == std::string::npos ? "d" : text.substr(slash + 1);
  const size_t figures = std::min(within.find_first_not_of("0123456789."), within.size());
  const std::string unit = within.substr(figures);
  const double units = figures == 0 ? 1 : parse_number(within.substr(0, figures)).value_or(0);
  const double a_day = (unit == "d"   ? 1
                        : unit == "h" ? 24
                        : unit == "w" ? 1.0 / 7
                                      : 0) /
                       (units > 0 ? units : kUnknown);
  const bool whole = end == text.c_str() + (slash == std::string::npos ? text.size() : slash);
  if (whole && a_day > 0 && number > 0 && number * a_day <= 10000) return number * a_day;
  return usage_error("bad-usage", "'" + printable(text) + "' is no rate of alarms", "--false-alarms",
                     "auto, or such as 1/d, 2/h, 1/w or 1/7d");
}

Result<measure::WatchRequest> watch_request(const WatchArguments& arguments, const CommonOptions& options) {
  measure::WatchRequest request;
  request.input = arguments.input.empty() ? "-" : arguments.input;
  request.endpoint = arguments.endpoint;
  request.follow = arguments.follow;
  request.most_scrapes = arguments.scrapes;
  request.state = arguments.state;
  if (!arguments.endpoint.empty() && !arguments.input.empty())
    return usage_error("bad-usage", "a file and an endpoint are given", "--prometheus", "one of them");
  if (arguments.endpoint.empty() && arguments.input.empty())
    return usage_error("bad-usage", "there is nothing to watch", "FILE",
                       "a file, - for standard input, or --prometheus URL");
  request.parser.format = arguments.format == "csv"    ? measure::StreamFormat::kCsv
                          : arguments.format == "json" ? measure::StreamFormat::kJsonLines
                                                       : measure::StreamFormat::kDetect;
  request.parser.time_column = arguments.time_column;
  request.parser.group_column = arguments.group_column;
  if (!arguments.interval.empty()) {
    const auto interval = watch_duration(arguments.interval, "--interval");
    if (!interval) return interval.error();
    request.interval_s = request.parser.interval_s = *interval;
  }
  measure::DetectorOptions& detector = request.watcher.detector;
  if (arguments.false_alarms != "auto") {
    const auto rate = alarms_per_day(arguments.false_alarms);
    if (!rate) return rate.error();
    detector.false_alarms_per_day = *rate;
  }
  if (arguments.season == "none") {
    detector.season_s = 0;
  } else if (arguments.season != "auto") {
    const auto season = watch_duration(arguments.season, "--season");
    if (!season) return season.error();
    detector.season_s = *season;
  }
  const auto change = watch_duration(arguments.change_after, "--change-after");
  if (!change) return change.error();
  detector.change_after_s = *change;
  unsigned long rows = measure::kMostWarmUp;
  if (arguments.warm_up != "auto") {
    char* end = nullptr;
    rows = std::strtoul(arguments.warm_up.c_str(), &end, 10);
    if (*end != '\0' || rows < measure::kLeastWarmUp || rows > 200000) {
      return usage_error("bad-usage", "'" + printable(arguments.warm_up) + "' is no number of rows to learn from",
                         "--warm-up", "auto, or " + std::to_string(measure::kLeastWarmUp) + " to 200000");
    }
    detector.warm_up_rows = rows;
  }
  // Rows to learn from are kept until there are enough, of each group.
  const double most_bytes =
      8.0 * static_cast<double>(rows) * static_cast<double>(arguments.most_metrics * arguments.most_groups);
  if (most_bytes > kMostWarmUpBytes) {
    return usage_error("bad-usage",
                       "rows to learn from could take " + std::to_string(static_cast<int64_t>(most_bytes / (1 << 20))) +
                           " MiB of memory",
                       "--warm-up", "--warm-up x --max-metrics x --max-groups of 128 million numbers (1 GiB) at most");
  }
  detector.seed = options.seed;
  request.watcher.most_columns = arguments.most_metrics;
  request.watcher.most_groups = arguments.most_groups;
  return request;
}

// Alerts go out as they come: to a file or a pipe as JSON lines, to a person as text.
class AlertOutput {
 public:
  explicit AlertOutput(const CommonOptions& options) : options_(options) {}
  ~AlertOutput() {
    if (file_ != nullptr && file_ != stdout) std::fclose(file_);
  }
  AlertOutput(const AlertOutput&) = delete;
  AlertOutput& operator=(const AlertOutput&) = delete;

  Status open() {
    file_ = options_.output == "-" ? stdout : std::fopen(options_.output.c_str(), "a");
    if (file_ == nullptr)
      return environment_error("cannot-write", "cannot write alerts", options_.output,
                               "-o with a file in an existing folder that you may write");
    as_json_ = options_.json || file_ != stdout || ::isatty(STDOUT_FILENO) == 0;
    return {};
  }
  Status write(const measure::Alert& alert, const std::vector<std::string>& names) {
    const std::string line =
        (as_json_ ? measure::alert_json(alert, names).dump(-1, ' ', false, Json::error_handler_t::replace)
                  : measure::alert_text(alert, names)) +
        "\n";
    const bool written = std::fwrite(line.data(), 1, line.size(), file_) == line.size() && std::fflush(file_) == 0;
    if (written && file_ != stdout) fdatasync(fileno(file_));  // a device has no such thing
    if (written) return {};
    if (errno != EPIPE) {
      return environment_error("cannot-write", std::string("cannot write alerts: ") + std::strerror(errno),
                               options_.output, "-o with a place that has room");
    }
    Error gone = environment_error("closed-pipe", "nobody reads the alerts any more", options_.output, "");
    gone.kind = ErrorKind::kReaderGone;
    return gone;
  }

 private:
  const CommonOptions& options_;
  std::FILE* file_ = nullptr;
  bool as_json_ = true;
};

int run_watch(const WatchArguments& arguments, const CommonOptions& options) {
  auto request = watch_request(arguments, options);
  if (!request) return report_error(request.error(), options);
  for (const auto& [option, path] : {std::pair{"--state", arguments.state}, std::pair{"--report", arguments.report}}) {
    if (Status writable = check_output_file(option, path); !writable) return report_error(writable.error(), options);
    if (Status kept = check_not_read(option, path, {arguments.input}); !kept)
      return report_error(kept.error(), options);
  }
  std::optional<measure::Alertmanager> alertmanager;
  if (!arguments.alertmanager.empty()) {
    if (Status valid = measure::check_url(arguments.alertmanager, "--alertmanager"); !valid)
      return report_error(valid.error(), options);
    alertmanager.emplace(arguments.alertmanager, arguments.input.empty() ? arguments.endpoint : arguments.input);
  }
  if (Status kept = check_not_read("-o", options.output, {arguments.input, arguments.state}); !kept)
    return report_error(kept.error(), options);
  AlertOutput output(options);
  if (Status opened = output.open(); !opened) return report_error(opened.error(), options);
  const InterruptGuard guard;
  measure::StreamPage page;
  request->alert = [&](const measure::Alert& alert, const std::vector<std::string>& names) {
    if (!arguments.report.empty()) page.add_alert(alert, names);
    if (alertmanager) alertmanager->add(alert, names);
    return output.write(alert, names);
  };
  if (!arguments.report.empty()) request->rows = [&](const measure::RowBlock& block) { page.add_rows(block); };
  if (alertmanager) {
    request->judged = [&, failing = false]() mutable {
      const Status sent = alertmanager->send();
      if (!sent && !failing) {
        request->note("--alertmanager: " + sent.error().message + "; perfcast tries again, at most every 10 s");
      }
      failing = !sent;
    };
  }
  request->note = [](const std::string& text) { std::fprintf(stderr, "note: %s\n", printable(text).c_str()); };
  request->stop = [] { return interrupting_signal() != 0; };
  const auto summary = measure::watch_stream(*request);
  if (!summary) return report_error(summary.error(), options);
  if (alertmanager) {
    if (const Status sent = alertmanager->send(true); !sent) {
      request->note(std::to_string(alertmanager->waiting()) +
                    " alerts did not reach --alertmanager: " + sent.error().message);
    }
  }
  if (!arguments.report.empty()) {
    const std::string source = arguments.input.empty() ? arguments.endpoint : arguments.input;
    std::vector<std::string> lines = measure::summary_lines(*summary, request->watcher);
    lines.insert(lines.begin(), std::to_string(summary->counts.rows) + " rows of " + std::to_string(summary->columns) +
                                    (summary->columns == 1 ? " metric" : " metrics"));
    if (Status written = write_file_atomically(arguments.report, page.to_html(source, lines)); !written)
      return report_error(written.error(), options);
  }
  if (!options.quiet) {
    std::fprintf(stderr, "%llu rows of %zu metric%s%s: %llu alerts, and %llu of them are changes\n",
                 static_cast<unsigned long long>(summary->counts.rows), summary->columns,
                 summary->columns == 1 ? "" : "s",
                 summary->groups > 1 ? (" in " + std::to_string(summary->groups) + " groups").c_str() : "",
                 static_cast<unsigned long long>(summary->alerts), static_cast<unsigned long long>(summary->changes));
    for (const std::string& line : measure::summary_lines(*summary, request->watcher))
      std::fprintf(stderr, "note: %s\n", line.c_str());
  }
  return kExitDone;
}

}  // namespace

void add_watch_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<WatchArguments>();
  CLI::App* verb = add_verb(app, {"watch",
                                  "Watches a stream of metrics, and says which are unusual and since when.",
                                  "",
                                  {"perfcast watch metrics.csv --group machine",
                                   "perfcast watch --prometheus http://localhost:9100/metrics --state watch.json"},
                                  "watch"});
  add_basic(*verb, "FILE", arguments->input, "FILE",
            "The file with the rows: CSV or JSON lines, each with a time and numbers. - is standard input.");
  add_advanced(*verb, "--format", arguments->format, "FORMAT", "The form of the rows: detect, csv or json.")
      ->check(CLI::IsMember({"detect", "csv", "json"}))
      ->capture_default_str();
  add_advanced(*verb, "--time", arguments->time_column, "COLUMN",
               "The column with the times. Default: time_s, timestamp or time.");
  add_basic(*verb, "--group", arguments->group_column, "COLUMN",
            "The column that names the machine or service of a row. Each machine is watched by itself.");
  add_basic(*verb, "--follow", arguments->follow,
            "Waits for more rows at the end of the file. The file may be rotated or truncated meanwhile.");
  add_basic(*verb, "--prometheus", arguments->endpoint, "URL", "Reads metrics from this address instead of a file.");
  add_advanced(*verb, "--interval", arguments->interval, "TIME",
               "With --prometheus: the time between two reads. Default: 10s. For rows without a time: the time between "
               "two rows. Default: 1s.");
  add_advanced(*verb, "--scrapes", arguments->scrapes, "N",
               "With --prometheus: ends after this many reads. 0 means never.")
      ->capture_default_str();
  add_basic(
      *verb, "--false-alarms", arguments->false_alarms, "N/TIME",
      "How many false alarms you accept, such as 1/w (one a week), 1/d or 2/h. auto: one a week, and at most one in "
      "500 rows.")
      ->capture_default_str();
  add_basic(
      *verb, "--warm-up", arguments->warm_up, "ROWS",
      "Learns from this many rows before it says anything. auto: a tenth of a file, at most 5000 rows; 300 rows of "
      "a stream.")
      ->capture_default_str();
  add_basic(
      *verb, "--season", arguments->season, "TIME",
      "The time after which the usual pattern repeats, such as 1d; or none. auto: found in the warm-up, else a day.")
      ->capture_default_str();
  add_advanced(*verb, "--change-after", arguments->change_after, "TIME",
               "Calls an unusual state a change, and the new normal, once it has lasted this long.")
      ->capture_default_str();
  add_basic(*verb, "--state", arguments->state, "FILE",
            "Keeps what perfcast has learned in this file, and starts from it after a restart.");
  add_basic(*verb, "--report", arguments->report, "FILE",
            "Writes a page (HTML) at the end, which draws the stream with what was unusual.");
  add_basic(*verb, "--alertmanager", arguments->alertmanager, "URL",
            "Sends the alerts to this Prometheus Alertmanager, too, such as http://localhost:9093.");
  add_advanced(*verb, "--max-metrics", arguments->most_metrics, "N",
               "Watches at most this many columns, and leaves out the others.")
      ->check(CLI::Range(1, 500))
      ->capture_default_str();
  add_advanced(*verb, "--max-groups", arguments->most_groups, "N",
               "Watches at most this many groups, and leaves out the rows of others.")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->footer(
      "Alerts are JSON lines (perfcast.alert/1) with --json, with -o, or if standard output is not a terminal. At the "
      "end, perfcast tells on stderr what was wrong with the rows.");
  add_common_options(*verb, context, kQuietOption | kSeedOption);
  verb->callback([arguments, &context] {
    context.run = [arguments, &context] { return run_watch(*arguments, context.options); };
  });
}

}  // namespace perfcast::cli
