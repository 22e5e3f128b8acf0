#pragma once
// The Trace Event Format, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace perfcast {

// With its quotes; bytes that are no UTF-8 are replaced.
std::string json_quoted(const std::string& text);

struct TraceSpan {
  int64_t process = 0, thread = 0;
  std::string_view quoted_name;  // json_quoted(): names come often, and are quoted once
  std::string_view category;
  int64_t start_us = 0, end_us = 0;  // an end before the start counts as the start
  std::string_view args;             // members of a JSON object
};

// Hands the trace to `sink` piece by piece, so that a million events need not be held.
class ChromeTraceWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  // `about` and its text stand in "otherData".
  ChromeTraceWriter(Sink sink, std::string_view about, const std::string& text);
  // Processes and threads are shown by their place.
  void name_process(int64_t process, const std::string& name, int64_t place);
  void name_thread(int64_t process, int64_t thread, const std::string& name, std::optional<int64_t> place = {});
  void span(const TraceSpan& span);
  void counter(int64_t process, std::string_view name, int64_t at_us, double value);
  void end();

 private:
  void event(std::string_view json);

  Sink sink_;
  std::string text_;
  bool first_ = true;
};

}  // namespace perfcast
