// Any bytes as a state: no crash, no memory beyond what they could hold; what is taken can be saved again. The checksum
// is made to fit.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "measure/watch/watcher.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::measure;
  ByteWriter framed;
  framed.put_raw(data, size);
  WatcherOptions options;
  options.detector.warm_up_rows = 300;
  auto watcher = Watcher::from_bytes(std::move(framed).finish(), options, "input");
  if (watcher && watcher->to_bytes().empty()) std::abort();
  return 0;
}
