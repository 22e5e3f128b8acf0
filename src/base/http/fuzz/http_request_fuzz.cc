// Any bytes as a connection's: no crash, and the same requests however the bytes are cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/http_request.h"

namespace {

std::vector<std::string> requests_of(std::string_view bytes, size_t step) {
  perfcast::HttpRequestReader reader({.head_bytes = 4096, .body_bytes = 4096});
  std::vector<std::string> requests;
  for (size_t at = 0; at < bytes.size(); at += step) {
    reader.add(bytes.substr(at, step));
    while (const auto request = reader.next()) {
      requests.push_back(request->method + ' ' + request->path + ' ' + request->body);
    }
  }
  if (reader.problem()) requests.push_back(std::to_string(reader.problem()->status));
  return requests;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Longer ones than a head may be are refused at one place or another, by how they are cut.
  const std::string_view bytes(reinterpret_cast<const char*>(data), std::min<size_t>(size, 4096));
  const auto whole = requests_of(bytes, bytes.size() + 1);
  if (requests_of(bytes, 1) != whole || requests_of(bytes, 7) != whole) std::abort();
  return 0;
}
