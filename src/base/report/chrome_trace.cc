#include "base/report/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace perfcast {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 16;

}  // namespace

std::string json_quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

ChromeTraceWriter::ChromeTraceWriter(Sink sink, std::string_view about, const std::string& text)
    : sink_(std::move(sink)),
      text_(fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"{}\":{}}},\"traceEvents\":[\n", about,
                        json_quoted(text))) {}

void ChromeTraceWriter::event(std::string_view json) {
  if (!first_) text_ += ",\n";
  first_ = false;
  text_ += json;
  if (text_.size() < kPieceBytes) return;
  sink_(text_);
  text_.clear();
}

void ChromeTraceWriter::name_process(int64_t process, const std::string& name, int64_t place) {
  event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process, json_quoted(name)));
  event(fmt::format(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})", process, place));
}

void ChromeTraceWriter::name_thread(int64_t process, int64_t thread, const std::string& name,
                                    std::optional<int64_t> place) {
  event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", process, thread,
                    json_quoted(name)));
  if (!place) return;
  event(fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", process,
                    thread, *place));
}

void ChromeTraceWriter::span(const TraceSpan& span) {
  event(fmt::format(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                    span.quoted_name, span.category, span.process, span.thread, span.start_us,
                    std::max<int64_t>(0, span.end_us - span.start_us), span.args));
}

void ChromeTraceWriter::counter(int64_t process, std::string_view name, int64_t at_us, double value) {
  event(fmt::format(R"({{"ph":"C","name":"{0}","pid":{1},"tid":0,"ts":{2},"args":{{"{0}":{3}}}}})", name, process,
                    at_us, value));
}

void ChromeTraceWriter::end() {
  text_ += "\n]}\n";
  sink_(text_);
  text_.clear();
}

}  // namespace perfcast
