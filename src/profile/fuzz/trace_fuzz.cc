// Any bytes in the place of a process' trace: no crash; what is accepted can be gone through and comes back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/trace/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  if (decode_trace(bytes, "input").ok()) return 0;  // the checksum keeps nearly all out
  const auto process = parse_process_trace(bytes, "input");
  if (!process) return 0;
  const std::string written = encode_trace({"fuzz", {}, {*process}});
  const auto again = decode_trace(written, "input");
  if (!again || encode_trace(*again) != written) std::abort();
  for (const TracePiece& piece : process->pieces) {
    TraceReader reader(*process, piece);
    TraceStep step;
    while (reader.next(step)) {
    }
    if (!reader.ok()) std::abort();
  }
  return 0;
}
