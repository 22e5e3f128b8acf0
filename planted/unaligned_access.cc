// Planted: records of a cache line each begin behind a header of 44 bytes, so that what is used of each lies across two
// lines.
#include <cstddef>
#include <memory>

#include "planted.h"

namespace {

constexpr size_t kRecords = 256;
constexpr int kPasses = 5'000'000;

struct [[gnu::packed]] Record {
  uint8_t key[16];
  uint64_t amount;
  uint8_t rest[40];
};
static_assert(sizeof(Record) == 64);

struct Header {
  uint8_t magic[4];
  uint32_t length;
  uint8_t text[36];
};

struct File {
  Header header;
  alignas(planted::kMended ? 64 : 4) Record records[kRecords];
};

void add_interest(Record* records, uint64_t interest) {
  for (size_t i = 0; i < kRecords; ++i) records[i].amount += interest + i;
}

}  // namespace

int main() {
  alignas(64) static File file;
  planted::Random random(1);
  for (Record& record : file.records) record.amount = random.below(1000);
  for (int pass = 0; pass < kPasses; ++pass) add_interest(file.records, static_cast<uint64_t>(pass));
  uint64_t checksum = 0;
  for (const Record& record : file.records) checksum = planted::mix(checksum + record.amount);
  return planted::print_checksum(checksum);
}
