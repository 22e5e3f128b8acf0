#include "ai/system/answer_stream.h"

#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kMostAnswerBytes = size_t{16} << 20;
constexpr size_t kShownEvent = 120;

}  // namespace

void AnswerStream::take(std::string_view bytes, int64_t at_ns, const std::function<void()>& token) {
  if (!problem_.empty()) return;
  bytes_ns_ = at_ns;
  if (!has_choices_ && body_.size() < kMostAnswerBytes) body_.append(bytes);
  const Status fed = events_.feed(bytes, [&](std::string_view data) { take_event(data, token); });
  if (!fed && problem_.empty()) problem_ = fed.error().message;
}

void AnswerStream::take_event(std::string_view data, const std::function<void()>& token) {
  data = trim(data);
  if (!problem_.empty() || data.empty()) return;
  if (data == kStreamEnd) {
    is_done_ = true;
    return;
  }
  const auto chunk = parse_completion_chunk(data);
  if (!chunk) {
    problem_ = chunk.error().message;
    return;
  }
  if (chunk->has_choices) {
    has_choices_ = true;
    body_.clear();
  } else if (foreign_.empty()) {
    foreign_ = printable(data.substr(0, kShownEvent));
  }
  if (is_done_ && !chunk->text.empty()) problem_ = "text behind the end of the stream";
  is_done_ = is_done_ || chunk->finished;
  if (chunk->completion_tokens) counted_tokens_ = *chunk->completion_tokens;
  if (chunk->prompt_tokens > 0) prompt_tokens_ = chunk->prompt_tokens;
  if (chunk->text.empty()) return;
  ++pieces_;
  piece_ns_ = bytes_ns_;
  text_ += chunk->text;
  if (text_.size() > kMostAnswerBytes) problem_ = "an answer of more than 16 MiB";
  token();
}

void AnswerStream::take_whole_body() {
  const auto chunk = parse_completion_chunk(body_);
  if (!chunk) {
    problem_ = chunk.error().message;
    return;
  }
  is_done_ = has_choices_ = chunk->has_choices;
  if (!has_choices_) foreign_ = printable(std::string_view(body_).substr(0, kShownEvent));
  text_ = chunk->text;
  if (chunk->completion_tokens) counted_tokens_ = *chunk->completion_tokens;
  prompt_tokens_ = chunk->prompt_tokens;
}

void AnswerStream::finish(const std::function<void()>& token) {
  if (problem_.empty() && !is_done_) {
    (void)events_.feed("\n\n", [&](std::string_view data) { take_event(data, token); });
  }
  if (problem_.empty() && !is_done_ && pieces_ == 0 && trim(body_).starts_with("{")) take_whole_body();
  if (!problem_.empty()) return;
  if (!has_choices_ && !foreign_.empty()) {
    problem_ = "no piece of the answer has \"choices\": " + foreign_;
  } else if (!is_done_) {
    problem_ = "the stream ended after " + std::to_string(pieces_) + " pieces without its end";
  }
}

}  // namespace perfcast::ai
