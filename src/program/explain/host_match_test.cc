#include "program/explain/host_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/facts/own_machine.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;

Platform intel(const std::string& name, int64_t model, std::vector<std::string> flags, double l2_bytes) {
  Platform platform;
  platform.id = slug(name);
  platform.name = name;
  platform.arch = "x86_64";
  platform.vendor = "Intel";
  platform.cpu_family = 6;
  platform.model = model;
  platform.flags = std::move(flags);
  platform.facts["l2_bytes"] = l2_bytes;
  return platform;
}

constexpr double kMiB = 1 << 20;

std::vector<Platform> known() {
  std::vector<Platform> platforms = {
      intel("Intel(R) Xeon(R) E-2388G CPU @ 3.20GHz", 167, {"avx2", "avx512f", "sha"}, 0.5 * kMiB),
      intel("Intel(R) Xeon(R) Platinum 8473C", 143, {"avx2", "avx512f", "amx", "sha"}, 2 * kMiB),
      intel("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", 106, {"avx2", "avx512f", "sha"}, 1.25 * kMiB),
  };
  Platform amd;
  amd.id = "amd-epyc-7763-64-core-processor";
  amd.name = "AMD EPYC 7763 64-Core Processor";
  amd.arch = "x86_64";
  amd.vendor = "AMD";
  amd.cpu_family = 25;
  amd.model = 1;
  platforms.push_back(amd);
  return platforms;
}

HostFacts host(const std::string& name, const std::string& vendor, int64_t family, int64_t model) {
  HostFacts facts;
  facts.name = name;
  facts.vendor = vendor;
  facts.arch = "x86_64";
  facts.cpu_family = family;
  facts.model = model;
  return facts;
}

TEST(CpuNameKey, LeavesOutMarksClockAndCores) {
  EXPECT_EQ(cpu_name_key("AMD EPYC 7763 64-Core Processor"), "amd epyc 7763");
  EXPECT_EQ(cpu_name_key("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"), "intel xeon platinum 8375c");
  EXPECT_EQ(cpu_name_key("Intel(R) Xeon(R) Processor"), "intel xeon");
}

TEST(MatchHost, ByName) {
  const auto match = match_host(host("AMD EPYC 7763 64-Core Processor", "AuthenticAMD", 25, 1), known());
  ASSERT_TRUE(match);
  EXPECT_EQ(match->platform, 3u);
  EXPECT_EQ(match->certainty, HostMatch::Certainty::kName);
}

TEST(MatchHost, ByFamilyAndModelWhereTheNameIsHidden) {
  HostFacts facts = host("Intel(R) Xeon(R) Processor", "GenuineIntel", 6, 143);
  facts.cpu_flags = {"avx2", "avx512f", "amx_tile", "sha_ni"};
  facts.l2_bytes = 2 * kMiB;
  const auto match = match_host(facts, known());
  ASSERT_TRUE(match);
  EXPECT_EQ(match->platform, 1u);
  EXPECT_EQ(match->certainty, HostMatch::Certainty::kModel);
  EXPECT_EQ(match->how, "same CPU family 6 and model 143");
}

// Seen on a cloud: model 167 is a desktop core without AMX, but the flags and the L2 size are a Xeon's.
TEST(MatchHost, DistrustsAModelNumberThatFlagsContradict) {
  HostFacts facts = host("Intel(R) Xeon(R) Processor", "GenuineIntel", 6, 167);
  facts.cpu_flags = {"avx2", "avx512f", "amx_bf16", "sha_ni"};
  facts.l2_bytes = 2 * kMiB;
  const auto match = match_host(facts, known());
  ASSERT_TRUE(match);
  EXPECT_EQ(match->platform, 1u);
  EXPECT_EQ(match->certainty, HostMatch::Certainty::kNearest);
  EXPECT_THAT(match->how, HasSubstr("differs in model"));
}

// Some sources publish names alone. What isn't known of a CPU is no agreement: a host with AVX-512 is no Celeron.
TEST(MatchHost, NothingKnownIsNotNear) {
  std::vector<Platform> platforms = known();
  Platform celeron;
  celeron.name = "Intel Celeron G5900";
  celeron.id = slug(celeron.name);
  celeron.arch = "x86_64";
  celeron.vendor = "Intel";
  platforms.insert(platforms.begin(), celeron);
  HostFacts facts = host("Intel(R) Xeon(R) Processor", "GenuineIntel", 6, 173);
  facts.stepping = 1;
  facts.cpu_flags = {"avx2", "avx512f", "amx_tile", "sha_ni"};
  facts.l1d_bytes = 48 << 10;
  facts.l2_bytes = 2 * kMiB;
  auto match = match_host(facts, platforms);
  ASSERT_TRUE(match);
  EXPECT_EQ(platforms[match->platform].name, "Intel(R) Xeon(R) Platinum 8473C");
  facts.name = celeron.name;  // its very name still decides
  match = match_host(facts, platforms);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->platform, 0U);
}

// A lab's own names carry no number, and its platforms no facts.
TEST(MatchHost, ByTheVeryNameWhereNothingContradictsIt) {
  std::vector<Platform> platforms(2);
  platforms[0].name = "Box B";
  platforms[1].name = "Box A";
  HostFacts facts;
  facts.name = "Box A";
  for (Platform& platform : platforms) platform.kind = "cpu";
  const auto match = match_host(facts, platforms);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->platform, 1U);
  EXPECT_EQ(match->certainty, HostMatch::Certainty::kName);
  facts.name = "Box C";
  EXPECT_FALSE(match_host(facts, platforms)) << "nothing is known that could make one of them near";
}

// A table's platform got a vendor, a profile of counters has none; or the other way round.
TEST(MatchHost, ByNameWhereOneSideStatesLess) {
  HostFacts facts;
  facts.name = "lab-epyc7543";
  std::vector<Platform> platforms = known();
  Platform lab;
  lab.id = "lab-lab-epyc7543";
  lab.name = facts.name;
  platforms.push_back(lab);
  const auto matched = [&] {
    const auto match = match_host(facts, platforms);
    return match && match->platform == 4U && match->certainty == HostMatch::Certainty::kName;
  };
  EXPECT_TRUE(matched());
  platforms.back().arch = "x86_64";
  platforms.back().vendor = "AMD";
  EXPECT_TRUE(matched());
  facts.vendor = "AuthenticAMD";
  EXPECT_TRUE(matched());
  platforms.back().arch = "";
  facts.arch = "x86_64";
  EXPECT_TRUE(matched());
  platforms.back().arch = "aarch64";
  EXPECT_FALSE(matched());
  platforms.back().arch = "amd64";
  platforms.back().vendor = "Intel";
  EXPECT_FALSE(matched());
}

// As `adapt --here` adds it, under a name of its own, beside a published platform of the same model.
TEST(MatchHost, KnowsThePlatformThatWasMeasuredHere) {
  HostFacts facts = host("AMD EPYC 7763 64-Core Processor", "AuthenticAMD", 25, 1);
  facts.stepping = 1;
  facts.cpu_flags = {"avx2", "sha_ni", "rdtscp"};
  facts.l2_bytes = 0.5 * kMiB;
  std::vector<Platform> platforms = known();
  Platform own = platforms[3];
  own.id = own.name = "my server";
  own.source = kOwnMachineSource;
  own.stepping = 1;
  own.flags = {"avx2", "sha"};
  own.facts = {{"l2_bytes", 0.5 * kMiB}, {"bwmem_rd_16kib_per_vcpu_bytes_per_s", 1e10}};
  platforms.push_back(own);
  for (const char* name : {"AMD EPYC 7763 64-Core Processor", "AMD EPYC", ""}) {
    facts.name = name;
    const auto match = match_host(facts, platforms);
    ASSERT_TRUE(match);
    EXPECT_EQ(match->platform, 4U) << name;
    EXPECT_EQ(match->certainty, HostMatch::Certainty::kName);
    EXPECT_THAT(match->how, HasSubstr("same facts"));
    EXPECT_TRUE(match->runners_up.empty());
  }
  // Measured again under another name: the later one.
  platforms.push_back(own);
  platforms.back().id = platforms.back().name = "my server again";
  EXPECT_EQ(match_host(facts, platforms)->platform, 5U);
  // Another machine: another stepping, other caches, other flags.
  facts.name = "AMD EPYC 7763 64-Core Processor";
  HostFacts other = facts;
  other.stepping = 2;
  EXPECT_EQ(match_host(other, platforms)->platform, 3U);
  other = facts;
  other.l2_bytes = 1 * kMiB;
  EXPECT_EQ(match_host(other, platforms)->platform, 3U);
  other = facts;
  other.cpu_flags.push_back("aes");
  EXPECT_EQ(match_host(other, platforms)->platform, 3U);
}

TEST(MatchHost, NeverAcrossArchitecturesOrVendors) {
  HostFacts arm = host("Neoverse-N1", "ARM", 8, 1);
  arm.arch = "aarch64";
  EXPECT_FALSE(match_host(arm, known()));
  EXPECT_FALSE(match_host(host("Some CPU", "CentaurHauls", 6, 7), known()));
  EXPECT_FALSE(match_host(HostFacts{}, known()));
}

TEST(MatchHost, ACoreStandsForItsChips) {
  std::vector<Platform> chips;
  for (const char* name : {"AWS Graviton3", "Ampere Altra", "AWS Graviton2"}) {
    Platform& chip = chips.emplace_back();
    chip.name = name;
    chip.arch = "aarch64";
    chip.vendor = "ARM";
  }
  HostFacts arm = host("Neoverse-V1", "ARM", 8, 1);
  arm.arch = "aarch64";
  auto match = match_host(arm, chips);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->platform, 0U);
  EXPECT_EQ(match->certainty, HostMatch::Certainty::kName);
  EXPECT_EQ(match->how, "the only known one of that name");
  EXPECT_TRUE(match->runners_up.empty());
  arm.name = "Neoverse-N1";
  match = match_host(arm, chips);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->platform, 1U);
  EXPECT_EQ(match->certainty, HostMatch::Certainty::kModel);
  EXPECT_EQ(match->how, "one of 2 that the name stands for; they differ");
  EXPECT_THAT(match->runners_up, testing::ElementsAre(2));
  arm.name = "AWS Graviton2";
  match = match_host(arm, chips);
  EXPECT_EQ(match->platform, 2U);
  EXPECT_EQ(match->certainty, HostMatch::Certainty::kName);
  EXPECT_EQ(match->how, "same model name");
  // A bundle of before, which knows the core's name alone.
  chips[1].name = "Neoverse-N1";
  chips.pop_back();
  match = match_host(arm, chips);
  EXPECT_EQ(match->platform, 1U);
  EXPECT_EQ(match->certainty, HostMatch::Certainty::kName);
}

TEST(MatchHost, WithoutFactsIsOnlyNearest) {
  HostFacts facts;
  facts.arch = "x86_64";
  facts.vendor = "GenuineIntel";
  const auto match = match_host(facts, known());
  ASSERT_TRUE(match);
  EXPECT_EQ(match->certainty, HostMatch::Certainty::kNearest);
}

TEST(HostMatcher, RemembersHostsAndAnswersAsBefore) {
  const std::vector<Platform> platforms = known();
  const HostMatcher matcher(platforms);
  HostFacts facts;
  facts.arch = "x86_64";
  facts.vendor = "GenuineIntel";
  facts.cpu_family = 6;
  for (int round = 0; round < 3; ++round) {
    for (int64_t model = 0; model < 200; ++model) {  // more than it remembers
      facts.model = model;
      const auto expected = match_host(facts, platforms), match = matcher.match(facts);
      ASSERT_EQ(match.has_value(), expected.has_value());
      EXPECT_EQ(match->platform, expected->platform);
      EXPECT_EQ(match->certainty, expected->certainty);
      EXPECT_EQ(match->how, expected->how);
      EXPECT_EQ(matcher.match(facts)->platform, expected->platform);
    }
  }
  facts.arch = "riscv64";
  EXPECT_FALSE(matcher.match(facts).has_value());
  EXPECT_FALSE(matcher.match(facts).has_value());
}

}  // namespace
}  // namespace perfcast::program
