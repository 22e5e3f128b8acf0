#include "measure/watch/watch_stream.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "measure/watch/growing_file.h"
#include "measure/watch/http_client.h"
#include "measure/watch/line_splitter.h"
#include "measure/watch/prometheus.h"

namespace perfcast::measure {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kFlushRows = 1024;
constexpr size_t kStateLimit_bytes = size_t{1} << 30;
constexpr double kMostBackOff_s = 300, kNap_s = 0.1;
constexpr double kScrapeLimit_s = 10;
constexpr uint64_t kRowsWithoutTime = 100;
constexpr size_t kMostListed = 5;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostListed); ++i) text += (i == 0 ? "" : ", ") + printable(names[i]);
  return text + (names.size() > kMostListed ? ", ..." : "");
}

// Of a file that is all there; 0: nobody knows.
uint64_t lines_of(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) return 0;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(size_t{1} << 20);
  uint64_t lines = 0;
  while (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || file.gcount() > 0)
    lines += static_cast<uint64_t>(std::count(bytes.data(), bytes.data() + file.gcount(), '\n'));
  return lines;
}

class WatchRun {
 public:
  explicit WatchRun(const WatchRequest& request) : request_(request), watcher_(request.watcher) {}

  Result<WatchSummary> run() {
    if (Status restored = restore(); !restored) return restored.error();
    const Status watched = request_.endpoint.empty() ? read_lines() : scrape();
    if (!watched) return watched.error();
    if (Status timed = check_times(true); !timed) return timed.error();
    if (Status read = check_metrics(); !read) return read.error();
    if (Status flushed = flush(); !flushed) return flushed.error();
    if (Status saved = save(); !saved) return saved.error();
    summary_.counts = watcher_.block().counts;
    summary_.counts.rows -= rows_before_;
    summary_.late_columns = watcher_.late_columns();
    summary_.text_columns = watcher_.block().text_columns();
    summary_.text_names = watcher_.block().text_names();
    summary_.open_episodes = watcher_.open_episodes();
    summary_.columns = watcher_.block().names().size();
    summary_.groups = watcher_.groups();
    summary_.warming_up = watcher_.warming_up();
    summary_.most_warm_up_rows = watcher_.most_warm_up_rows();
    summary_.whole_warm_up = watcher_.whole_warm_up();
    return summary_;
  }

 private:
  Status restore() {
    if (request_.state.empty() || !std::filesystem::exists(request_.state)) return {};
    const auto bytes = read_file(request_.state, kStateLimit_bytes);
    if (!bytes) return bytes.error();
    auto restored = Watcher::from_bytes(*bytes, request_.watcher, request_.state);
    if (!restored) return restored.error();
    watcher_ = std::move(*restored);
    rows_before_ = watcher_.block().counts.rows;
    return {};
  }

  Status save() {
    saved_ = Clock::now();
    if (request_.state.empty()) return {};
    return write_file_atomically(request_.state, watcher_.to_bytes(), NewFile::kPrivate);
  }
  Status save_now_and_then() {
    if (watcher_.is_checking_columns()) return {};  // another stream is not to spoil it
    if (std::chrono::duration<double>(Clock::now() - saved_).count() < request_.save_every_s) return {};
    return save();
  }

  // A column of names is no column of times. Some rows without one are left to be counted, and so are all of a stream
  // whose state had times.
  Status check_times(bool at_end) const {
    const StreamCounts& counts = watcher_.block().counts;
    const uint64_t rows = counts.rows;
    if (rows == 0 || rows_before_ > 0 || counts.untimed_rows < rows || (rows < kRowsWithoutTime && !at_end)) return {};
    const std::string& column = request_.parser.time_column;
    return Error{
        "no-times",
        (rows == 1 ? "the row has no time" : "none of the first " + std::to_string(rows) + " rows has a time") +
            " that can be read",
        column.empty() ? "the column of times" : "--time " + printable(column),
        "a column of seconds, ms, us or ns since 1970, or of ISO 8601: 2026-01-02T03:04:05Z"};
  }

  // A file of something else must not look like a quiet system.
  Status check_metrics() const {
    const RowBlock& block = watcher_.block();
    if (!block.names().empty() || rows_before_ > 0 || request_.stop()) return {};
    const std::string what = block.counts.rows == 0 ? "no row of the stream can be read"
                                                    : "no column of the stream but its times has a number";
    return Error{"no-metrics", what, request_.input,
                 "CSV with a line of names and numbers with decimal points, or one JSON object a line"};
  }

  Status flush() {
    if (Status timed = check_times(false); !timed) return timed;
    if (Status fits = watcher_.check_columns(request_.state); !fits) return fits;
    alerts_.clear();
    if (request_.rows) request_.rows(watcher_.block());
    if (Status flushed = watcher_.flush(alerts_); !flushed) return flushed;
    for (const Alert& alert : alerts_) {
      summary_.alerts += alert.state == AlertState::kOpen && !alert.worse ? 1 : 0;
      summary_.changes += alert.kind == AlertKind::kChange ? 1 : 0;
      if (Status told = request_.alert(alert, watcher_.block().names()); !told) return told;
    }
    if (request_.judged) request_.judged();
    return {};
  }

  Status take_line(std::string_view line) {
    if (!parser_) {
      if (trim(line).empty()) return {};
      const std::string& header = watcher_.position.header;
      parser_ = make_parser(request_.parser, header.empty() ? line : header);
      if (!header.empty()) {
        if (Status taken = parser_->line(header, watcher_.block()); !taken) return taken;
      }
    } else if (restarted_ && looks_like_header(line)) {
      parser_ = make_parser(request_.parser, line);
    }
    restarted_ = false;
    if (trim(line).empty()) return {};
    if (Status taken = parser_->line(line, watcher_.block()); !taken) return taken;
    return watcher_.block().rows() >= kFlushRows ? flush() : Status{};
  }

  // Of a file that began anew: rows of CSV have numbers.
  static bool looks_like_header(std::string_view line) {
    if (trim(line).starts_with("{")) return false;
    for (const std::string& cell : split(line, ',')) {
      if (parse_cell(cell)) return false;
    }
    return true;
  }
  static bool parse_cell(const std::string& cell) {
    const std::string_view text = trim(cell);
    return !text.empty() &&
           ((text.front() >= '0' && text.front() <= '9') || text.front() == '-' || text.front() == '.');
  }

  Status read_lines() {
    auto file =
        GrowingFile::open(request_.input, request_.follow, watcher_.position.inode, watcher_.position.offset_bytes);
    if (!file) return file.error();
    // Rows of several groups are not counted by group.
    const bool is_whole = !request_.follow && request_.parser.group_column.empty();
    if (const uint64_t rows = is_whole ? lines_of(request_.input) : 0; rows > 0) watcher_.set_stream_rows(rows);
    // From the beginning there is a header to read.
    if (file->offset_bytes() == 0) watcher_.position.header.clear();
    std::string bytes;
    Status problem;
    const auto take = [&](std::string_view line) {
      problem = take_line(line);
      return problem.ok();
    };
    for (;;) {
      if (request_.stop()) break;
      const auto read = file->read(bytes);
      if (!read) return read.error();
      if (*read == GrowingFile::Read::kEnd) break;
      if (*read == GrowingFile::Read::kRestarted) {
        if (!lines_.finish(take)) return problem;
        restarted_ = true;
        ++watcher_.block().counts.restarts;
      }
      if (!bytes.empty() && !lines_.feed(bytes, take)) return problem;
      watcher_.block().counts.long_lines = lines_.long_lines();
      if (Status flushed = flush(); !flushed) return flushed;
      note_position(*file);
      if (Status saved = save_now_and_then(); !saved) return saved;
    }
    // What follows may still end the last line.
    if (!request_.follow && !lines_.finish(take)) return problem;
    watcher_.block().counts.long_lines = lines_.long_lines();
    note_position(*file);
    return {};
  }

  void note_position(const GrowingFile& file) {
    if (!request_.follow) {
      watcher_.position = {};
      return;
    }
    watcher_.position.inode = file.inode();
    watcher_.position.offset_bytes = file.offset_bytes() - lines_.partial_bytes();
    if (parser_) watcher_.position.header = parser_->header();
  }

  void nap(double seconds) const {
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    while (Clock::now() < until && !request_.stop()) {
      const double left = std::chrono::duration<double>(until - Clock::now()).count();
      std::this_thread::sleep_for(std::chrono::duration<double>(std::clamp(left, 0.0, kNap_s)));
    }
  }

  Status scrape() {
    if (Status valid = check_url(request_.endpoint, "--prometheus"); !valid) return valid;
    PrometheusReader reader;
    uint64_t failures = 0;
    bool answered = false;
    std::string last_failure;
    const auto ended = [&]() -> Status {
      if (answered) return {};
      return environment_error("no-answer", "the endpoint never gave a sample: " + last_failure, request_.endpoint,
                               "an address that answers in Prometheus' text format: try curl");
    };
    for (uint64_t scrapes = 1;; ++scrapes) {
      const auto begun = Clock::now();
      const double time_s = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
      Status taken;
      if (const auto body = http_get(request_.endpoint, std::min(kScrapeLimit_s, request_.interval_s)); !body) {
        taken = body.error();
      } else {
        taken = reader.take(*body, time_s, watcher_.block());
      }
      if (!taken) {
        ++watcher_.block().counts.failed_reads;
        last_failure = taken.error().message;
        if (failures++ == 0) {
          request_.note(request_.endpoint + ": " + taken.error().message +
                        "; perfcast tries again, at growing intervals of up to 5 minutes");
        }
        reader.forget();
      } else {
        if (failures > 0)
          request_.note(request_.endpoint + ": answers again, after " + std::to_string(failures) + " failed");
        failures = 0;
        answered = true;
      }
      if (Status flushed = flush(); !flushed) return flushed;
      if (Status saved = save_now_and_then(); !saved) return saved;
      if (request_.most_scrapes > 0 && scrapes >= request_.most_scrapes) return ended();
      const double passed_s = std::chrono::duration<double>(Clock::now() - begun).count();
      const double back_off =
          std::min(request_.interval_s * std::exp2(std::min<double>(static_cast<double>(failures), 20)),
                   std::max(kMostBackOff_s, request_.interval_s));
      nap((failures > 0 ? back_off : request_.interval_s) - passed_s);
      if (request_.stop()) return ended();
    }
  }

  const WatchRequest& request_;
  Watcher watcher_;
  uint64_t rows_before_ = 0;  // that the state counted
  WatchSummary summary_;
  LineSplitter lines_;
  std::unique_ptr<RowParser> parser_;
  bool restarted_ = false;
  std::vector<Alert> alerts_;
  Clock::time_point saved_ = Clock::now();
};

}  // namespace

Result<WatchSummary> watch_stream(const WatchRequest& request) { return WatchRun(request).run(); }

std::vector<std::string> summary_lines(const WatchSummary& summary, const WatcherOptions& options) {
  std::vector<std::string> lines;
  const auto add = [&](uint64_t count, const std::string& one, const std::string& many, const std::string& what) {
    if (count > 0) lines.push_back(std::to_string(count) + " " + (count == 1 ? one : many) + " " + what);
  };
  const StreamCounts& counts = summary.counts;
  add(counts.bad_lines, "line", "lines", "that can't be read: left out");
  add(counts.long_lines, "line", "lines", "longer than 1 MiB: left out");
  add(counts.short_rows, "row", "rows", "with fewer cells than columns: the others are absent");
  add(counts.long_rows, "row", "rows", "with more cells than columns: the further ones are left out");
  add(counts.absent_cells, "cell", "cells", "empty, null, NaN or infinite: absent");
  add(counts.bad_cells, "cell", "cells", "that should be numbers and are none: absent");
  add(counts.untimed_rows, "row", "rows", "without a time that can be read: taken at the time of the row before");
  add(counts.assumed_times, "row", "rows", "of a stream without times: taken to be --interval apart");
  add(counts.backward_rows, "row", "rows", "earlier than the row before: taken at the time of that");
  add(counts.clocks_set_back, "clock", "clocks", "set back, after 100 rows that were earlier: time goes on from there");
  add(counts.equal_times, "row", "rows", "at the same time as the row before");
  add(counts.ignored_columns, "column", "columns",
      "beyond the " + std::to_string(options.most_columns) + " that are watched (--max-metrics): left out");
  add(summary.late_columns, "column", "columns", "that came after the warm-up: left out");
  add(summary.text_columns, "column", "columns",
      "of text, without a number: left out (" + listed(summary.text_names) +
          (summary.text_columns > summary.text_names.size() ? ", ...)" : ")"));
  if (!summary.open_episodes.empty()) lines.push_back("still unusual at the end: " + listed(summary.open_episodes));
  add(counts.ignored_groups, "row", "rows",
      "of groups beyond the " + std::to_string(options.most_groups) + " that are watched (--max-groups): left out");
  add(counts.restarts, "time", "times", "the file began anew");
  add(counts.failed_reads, "scrape", "scrapes", "failed");
  add(counts.counter_resets, "counter", "counters", "began anew: rates from 0");
  if (summary.warming_up > 0) {
    const std::string who = summary.groups > 1 ? std::to_string(summary.warming_up) + " of " +
                                                     std::to_string(summary.groups) + " groups are"
                                               : "it is";
    lines.push_back(who + " still learning: " + std::to_string(summary.most_warm_up_rows) + " of " +
                    std::to_string(summary.whole_warm_up) + " rows (--warm-up)");
  }
  return lines;
}

}  // namespace perfcast::measure
