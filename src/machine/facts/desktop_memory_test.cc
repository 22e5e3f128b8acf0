#include "machine/facts/desktop_memory.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

ProcessorIdentity processor(const char* name, const char* vendor, int64_t family, int64_t model) {
  return {name, vendor, "x86_64", family, model, {}};
}

TEST(DesktopMemory, IsTwoChannelsOfTheDataSheet) {
  EXPECT_EQ(desktop_memory_bytes_per_s(processor("AMD Ryzen 9 5950X 16-Core", "AMD", 25, 33)), 51.2e9);
  EXPECT_EQ(desktop_memory_bytes_per_s(processor("AMD Ryzen 9 5950X", "AuthenticAMD", 25, 33)), 51.2e9);
  EXPECT_NEAR(*desktop_memory_bytes_per_s(processor("Intel Core i9-9900K", "Intel", 6, 158)), 42.7e9, 0.1e9);
}

TEST(DesktopMemory, IsUnknownWhereThereAreMoreChannels) {
  EXPECT_FALSE(desktop_memory_bytes_per_s(processor("AMD Ryzen Threadripper 1950X", "AMD", 23, 1)));
  EXPECT_FALSE(desktop_memory_bytes_per_s(processor("AMD EPYC 7551", "AMD", 23, 1)));
  EXPECT_FALSE(desktop_memory_bytes_per_s(processor("Intel Core i7-5960X", "Intel", 6, 63)));
  EXPECT_FALSE(desktop_memory_bytes_per_s({"AWS Graviton2", "ARM", "aarch64", {}, {}, {}}));
}

}  // namespace
}  // namespace perfcast
