#include "profile/collect/qemu/emulator_memory.h"

#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kShareOfFree = 0.25, kOfNative = 2;
constexpr double kRecordBytes = 24, kPageBytes = 4096;
constexpr double kFirstWithoutRecords = 8;

}  // namespace

double emulator_memory_bytes(const CollectRequest& request, double free_bytes) {
  return kShareOfFree * free_bytes + kOfNative * request.native_memory_bytes;
}

double address_records_bytes(double address_bytes) { return address_bytes / kPageBytes * kRecordBytes; }

bool keeps_address_records(const std::string& emulator_version) {
  const auto major = parse_number(emulator_version.substr(0, emulator_version.find('.')));
  return major && *major < kFirstWithoutRecords;
}

Error too_much_memory(const std::string& why, double limit_bytes, const std::string& program) {
  return {"emulator-memory",
          fmt::format("{}. It may take {} here: a quarter of the free memory, and twice what the program took natively",
                      why, human_bytes(limit_bytes)),
          program,
          "a setting with which the program reserves or uses less memory; or the native part alone: perfcast profile"};
}

}  // namespace perfcast
