#include "base/http/http_request.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <utility>

namespace perfcast {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n", kEndOfLine = "\r\n";

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

std::string lower(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string* kept_field(HttpRequest& request, std::string_view name) {
  if (name == "host") return &request.host;
  if (name == "content-type") return &request.content_type;
  if (name == "authorization") return &request.authorization;
  if (name == "x-request-id") return &request.request_id;
  return name == "prefer" ? &request.prefer : nullptr;
}

}  // namespace

std::string_view reason_of(int status) {
  static constexpr std::pair<int, std::string_view> kReasons[] = {{100, "Continue"},
                                                                  {200, "OK"},
                                                                  {202, "Accepted"},
                                                                  {204, "No Content"},
                                                                  {400, "Bad Request"},
                                                                  {401, "Unauthorized"},
                                                                  {404, "Not Found"},
                                                                  {405, "Method Not Allowed"},
                                                                  {408, "Request Timeout"},
                                                                  {409, "Conflict"},
                                                                  {411, "Length Required"},
                                                                  {413, "Content Too Large"},
                                                                  {415, "Unsupported Media Type"},
                                                                  {421, "Misdirected Request"},
                                                                  {422, "Unprocessable Content"},
                                                                  {429, "Too Many Requests"},
                                                                  {431, "Request Header Fields Too Large"},
                                                                  {500, "Internal Server Error"},
                                                                  {503, "Service Unavailable"},
                                                                  {505, "HTTP Version Not Supported"}};
  const auto* const found = std::find_if(std::begin(kReasons), std::end(kReasons),
                                         [status](const auto& reason) { return reason.first == status; });
  return found == std::end(kReasons) ? "Error" : found->second;
}

bool HttpRequestReader::fail(int status, std::string words) {
  problem_ = HttpProblem{status, std::move(words)};
  return false;
}

bool HttpRequestReader::read_request_line(std::string_view line, Head& head) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return fail(400, "the first line is no request");
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!version.starts_with("HTTP/")) return fail(400, "the first line is no request");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return fail(505, "only HTTP/1.1 and HTTP/1.0 are spoken");
  const bool has_blank = std::any_of(target.begin(), target.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == 0x7f;
  });
  if (!is_token(method) || target.empty() || has_blank) return fail(400, "the first line is no request");
  head.request.method = std::string(method);
  head.request.path = std::string(target.substr(0, target.find('?')));
  head.request.is_1_0 = version == "HTTP/1.0";
  head.request.keeps_alive = !head.request.is_1_0;
  return true;
}

bool HttpRequestReader::read_field(std::string_view line, Head& head, std::optional<size_t>& length) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return fail(400, "a line of the head is no field");
  }
  const std::string name = lower(line.substr(0, colon));
  const std::string_view value = without_blanks(line.substr(colon + 1));
  if (name == "content-length") {
    size_t bytes = 0;
    const auto [end, trouble] = std::from_chars(value.data(), value.data() + value.size(), bytes);
    if (trouble == std::errc::result_out_of_range) return fail(413, "the body is too large");
    if (trouble != std::errc() || end != value.data() + value.size()) {
      return fail(400, "Content-Length is no number of bytes");
    }
    if (length && *length != bytes) return fail(400, "two values of Content-Length");
    length = bytes;
  } else if (name == "transfer-encoding") {
    return fail(411, "a body needs a Content-Length; other encodings aren't read");
  } else if (name == "connection") {
    const std::string words = lower(value);
    if (words.find("close") != std::string::npos) head.request.keeps_alive = false;
    if (words.find("keep-alive") != std::string::npos) head.request.keeps_alive = true;
  } else if (name == "expect") {
    head.expects_continue = lower(value) == "100-continue";
  } else if (std::string* const kept = kept_field(head.request, name); kept != nullptr) {
    *kept = value;
  }
  return true;
}

// What is taken goes away once it is more than the rest: many small requests in a row would else move it each time.
void HttpRequestReader::take(size_t bytes) {
  taken_ += bytes;
  searched_ = 0;
  if (taken_ <= bytes_.size() / 2) return;
  bytes_.erase(0, taken_);
  taken_ = 0;
}

bool HttpRequestReader::read_head() {
  // Empty lines before a request are to be passed over.
  size_t blank = 0;
  while (rest().substr(blank).starts_with(kEndOfLine)) blank += kEndOfLine.size();
  if (blank > 0) take(blank);
  const std::string_view bytes = rest();
  const size_t end = bytes.find(kEndOfHead, searched_);
  if (std::min(end, bytes.size()) > limits_.head_bytes) return fail(431, "the head of the request is too long");
  if (end == std::string_view::npos) {
    searched_ = bytes.size() >= kEndOfHead.size() ? bytes.size() - kEndOfHead.size() + 1 : 0;
    return false;
  }
  Head head;
  std::optional<size_t> length;
  std::string_view lines = bytes.substr(0, end);
  for (bool first = true; first || !lines.empty(); first = false) {
    const size_t line_end = std::min(lines.find(kEndOfLine), lines.size());
    const std::string_view line = lines.substr(0, line_end);
    lines.remove_prefix(std::min(line_end + kEndOfLine.size(), lines.size()));
    if (first ? !read_request_line(line, head) : !read_field(line, head, length)) return false;
  }
  head.body_bytes = length.value_or(0);
  if (head.body_bytes > limits_.body_bytes) {
    return fail(413, "the body is longer than " + std::to_string(limits_.body_bytes) + " bytes");
  }
  take(end + kEndOfHead.size());
  head_ = std::move(head);
  return true;
}

std::optional<HttpRequest> HttpRequestReader::next() {
  if (problem_ || (!head_ && !read_head())) return std::nullopt;
  if (held_bytes() < head_->body_bytes) return std::nullopt;
  HttpRequest request = std::move(head_->request);
  request.body = rest().substr(0, head_->body_bytes);
  take(head_->body_bytes);
  head_.reset();
  return request;
}

bool HttpRequestReader::wants_continue() {
  if (!head_ || !head_->expects_continue || head_->request.is_1_0) return false;
  head_->expects_continue = false;
  return true;
}

}  // namespace perfcast
