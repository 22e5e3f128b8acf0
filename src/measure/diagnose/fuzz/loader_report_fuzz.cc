// What stands in a file of the dynamic linker may be cut or another program's: no crash, no number below 0.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "measure/diagnose/bloat/code_sizes.h"
#include "measure/diagnose/bloat/loader_start.h"
#include "measure/diagnose/observe/mapped_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::measure;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const LoaderStart start = parse_loader_report(text, 1e9);
  if (!(start.starts_count >= 0) || !(start.start_s >= 0) || !(start.by_name_count >= 0)) std::abort();
  const auto libraries = listed_libraries(text);
  if (libraries) {
    for (const std::string& path : *libraries) {
      if (!path.starts_with('/')) std::abort();
    }
  }
  MappedFiles files;
  for (const CodeMapping& mapping : executable_mappings(text)) {
    if (mapping.start >= mapping.end) std::abort();
    add_mapping(files, mapping);
  }
  return 0;
}
