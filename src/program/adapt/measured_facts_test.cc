#include "program/adapt/measured_facts.h"

#include <gmock/gmock.h>

namespace perfcast::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kNear = "bwmem_rd_16kib_per_vcpu_bytes_per_s";
constexpr const char* kFar = "bwmem_rd_256mb_per_vcpu_bytes_per_s";

// Family and model of Zen 3, and of Cascade Lake without its stepping.
Platform machine(const char* vendor, int family, int model, double near_bytes_per_s, double far_bytes_per_s) {
  Platform platform;
  platform.vendor = vendor;
  platform.arch = "x86_64";
  platform.cpu_family = family;
  platform.model = model;
  platform.facts = {{kNear, near_bytes_per_s}, {kFar, far_bytes_per_s}};
  return platform;
}

struct MeasuredFactsTest : testing::Test {
  std::vector<Platform> known = {machine("AMD", 25, 1, 100e9, 8e9), machine("AMD", 25, 1, 120e9, 12e9),
                                 machine("AMD", 25, 1, 110e9, 4e9), machine("Intel", 6, 85, 30e9, 6e9)};
  Platform here = machine("AMD", 25, 1, 0, 0);
  std::vector<std::string> notes;

  void SetUp() override { here.facts.clear(); }
  MemoryFacts take(std::map<std::string, double> facts, std::vector<std::string> left_out = {}) {
    MemoryFacts measured;
    measured.facts = std::move(facts);
    measured.left_out = std::move(left_out);
    take_memory_facts(known, measured, here, notes);
    return measured;
  }
};

TEST_F(MeasuredFactsTest, PlausibleOnesAreTaken) {
  const MemoryFacts kept = take({{kNear, 90e9}, {kFar, 2.1e9}});
  EXPECT_EQ(here.facts, (std::map<std::string, double>{{kNear, 90e9}, {kFar, 2.1e9}}));
  EXPECT_EQ(kept.facts, here.facts);
  EXPECT_THAT(notes, IsEmpty());
}

// A third of what machines of the same design do, though another one does as little: those of kin are taken.
TEST_F(MeasuredFactsTest, OfOwnCachesKinDecide) {
  const MemoryFacts kept = take({{kNear, 35e9}, {kFar, 8e9}});
  EXPECT_EQ(here.facts.at(kNear), 110e9);
  EXPECT_EQ(here.facts.at(kFar), 8e9);
  EXPECT_FALSE(kept.facts.contains(kNear));
  EXPECT_THAT(kept.left_out, ElementsAre(kNear));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("1 fact of caches and memory is far from"),
                                 "1 of the facts that were left out is taken from the bundle's platforms of the same "
                                 "core design, zen3"));
}

TEST_F(MeasuredFactsTest, WhatNoMachineDoesIsLeftOut) {
  take({{kFar, 2e9}});
  EXPECT_EQ(here.facts.at(kFar), 8e9);  // the median of kin
  here.facts.clear();
  take({{kFar, 24e9}});
  EXPECT_EQ(here.facts.at(kFar), 8e9);
  here = machine("AMD", 26, 200, 0, 0);  // of no known design: nobody is kin
  here.facts.clear();
  take({{kFar, 2e9}});
  EXPECT_THAT(here.facts, IsEmpty());
}

TEST_F(MeasuredFactsTest, WhatDidNotRepeatIsTakenFromKin) {
  take({}, {kNear});
  EXPECT_EQ(here.facts, (std::map<std::string, double>{{kNear, 110e9}}));
}

}  // namespace
}  // namespace perfcast::program
