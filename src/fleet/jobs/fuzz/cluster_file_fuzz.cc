// Any bytes as a cluster's JSON and as the command line's short form: no crash; what is accepted is a cluster, and its
// own text reads back to the same text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/json.h"
#include "fleet/jobs/cluster_file.h"
#include "fleet/testing/cluster_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::fleet;
  const std::string input(reinterpret_cast<const char*>(data), size);
  const auto short_form = parse_node_groups({input});
  if (short_form && !check_cluster(*short_form)) std::abort();
  const auto cluster = parse_cluster(input, "input");
  if (!cluster) return 0;
  if (!check_cluster(*cluster)) std::abort();
  const std::string text = to_text(to_json(*cluster));
  const auto back = parse_cluster(text, "again");
  if (!back || to_text(to_json(*back)) != text) std::abort();
  return 0;
}
