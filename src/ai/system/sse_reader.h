#pragma once
// Server-sent events from bytes as they come (the event stream format of the HTML standard, section 9.2): lines end
// with a line feed, a carriage return or both, a blank line ends an event, what has no colon is a field's name alone.
// Only "data" counts here.

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast::ai {

inline constexpr size_t kLongestEvent = size_t{4} << 20;

class SseReader {
 public:
  // Calls `event` with the data of each event that these bytes end. "event-too-long" for one of more than 4 MiB; the
  // reader takes nothing more then.
  Status feed(std::string_view bytes, const std::function<void(std::string_view data)>& event);

 private:
  void take_line(const std::function<void(std::string_view)>& event);

  std::string line_, data_;
  bool has_data_ = false, after_return_ = false, is_first_line_ = true, too_long_ = false;
};

}  // namespace perfcast::ai
