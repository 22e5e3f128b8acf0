#include "ai/system/sse_reader.h"

namespace perfcast::ai {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Status SseReader::feed(std::string_view bytes, const std::function<void(std::string_view data)>& event) {
  while (!bytes.empty() && !too_long_) {
    if (after_return_ && bytes.front() == '\n') bytes.remove_prefix(1);  // of a carriage return and line feed
    after_return_ = false;
    const size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    too_long_ = line_.size() + data_.size() + part.size() > kLongestEvent;
    if (too_long_) break;
    line_.append(part);
    if (end == std::string_view::npos) break;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    take_line(event);
  }
  if (!too_long_) return {};
  return Error{"event-too-long", "an event of more than 4 MiB", "", "events of a few KiB"};
}

void SseReader::take_line(const std::function<void(std::string_view)>& event) {
  std::string_view line = line_;
  if (is_first_line_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  is_first_line_ = false;
  if (line.empty()) {
    if (has_data_) event(data_);
    data_.clear();
    has_data_ = false;
  } else {
    const size_t colon = line.find(':');
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (line.substr(0, colon) == "data") {
      if (has_data_) data_ += '\n';
      data_.append(value);
      has_data_ = true;
    }
  }
  line_.clear();
}

}  // namespace perfcast::ai
