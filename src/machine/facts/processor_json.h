#pragma once
// The numbers and flags of a processor in JSON.

#include "base/json_fwd.h"
#include "machine/facts/processor.h"

namespace perfcast {

class JsonReader;

inline constexpr size_t kMostFlags = 10'000;  // of one processor

// "cpu_family", "model" and "stepping".
void read_numbers(JsonReader& in, ProcessorIdentity& processor);
void put_numbers(Json& json, const ProcessorIdentity& processor);

}  // namespace perfcast
