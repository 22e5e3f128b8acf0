#include "machine/facts/processor_json.h"

#include "base/json.h"

namespace perfcast {

void read_numbers(JsonReader& in, ProcessorIdentity& processor) {
  processor.cpu_family = in.optional_integer("cpu_family", 0, INT64_MAX);
  processor.model = in.optional_integer("model", 0, INT64_MAX);
  processor.stepping = in.optional_integer("stepping", 0, INT64_MAX);
}

void put_numbers(Json& json, const ProcessorIdentity& processor) {
  put_known(json, "cpu_family", processor.cpu_family);
  put_known(json, "model", processor.model);
  put_known(json, "stepping", processor.stepping);
}

}  // namespace perfcast
