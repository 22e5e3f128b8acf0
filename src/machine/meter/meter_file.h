#pragma once
// Meters whose readings another program writes to a file; open_meter_file() is declared in meter.h.

#include <string>
#include <string_view>

#include "machine/meter/meter.h"

namespace perfcast {

inline constexpr size_t kLargestMeterFileBytes = size_t{256} << 20;

// Whether what --meter names is a file that is there, with "#SENSOR" behind it or without.
bool names_a_file(const std::string& name);
// The path; what follows '#' goes to the options.
std::string path_in_meter_name(const std::string& name, MeterFileOptions& options);

enum class MeterFileKind { kCsv, kIpmi, kRedfish };
// By what the file holds: "bad-meter-file" for none of them.
Result<MeterFileKind> meter_file_kind(std::string_view text, const std::string& source);

}  // namespace perfcast
