// Any bytes as a state: no crash, no memory beyond what they could hold; what is taken can be saved and read again, and
// judges rows. The checksum is made to fit.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "measure/watch/row_parser.h"
#include "measure/watch/watcher.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::measure;
  ByteWriter framed;
  framed.put_raw(data, size);
  WatcherOptions options;
  options.detector.warm_up_rows = 300;
  auto watcher = Watcher::from_bytes(std::move(framed).finish(), options, "input");
  if (!watcher) return 0;
  const std::string bytes = watcher->to_bytes();
  auto again = Watcher::from_bytes(bytes, options, "again");
  if (!again || again->to_bytes() != bytes) std::abort();
  if (watcher->groups() == 0 || watcher->warming_up() > 0) return 0;  // learning takes long
  const auto parser = make_parser({.format = StreamFormat::kCsv}, "");
  for (const char* line : {"time,a,b,c", "1700003300,10,20,3", "1700003310,90,,3.1"}) {
    static_cast<void>(parser->line(line, watcher->block()));
  }
  std::vector<Alert> alerts;
  static_cast<void>(watcher->flush(alerts));
  return 0;
}
