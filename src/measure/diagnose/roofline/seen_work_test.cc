#include "measure/diagnose/roofline/seen_work.h"

#include <gtest/gtest.h>

namespace perfcast::measure {
namespace {

struct SeenWorld {
  Profile profile;
  Observation seen;
  CoreDesign design;
  SeenWorld() {
    profile.metrics = {{"instructions_count", 10e9}, {"core_some_cycles_count", 4e9}};
    profile.partly_seen = {0.1, 0.5};
    seen.run.user_s = 2;
    design.name = "some";
  }
};

TEST(SeenWork, OfAWholeRunIsAll) {
  SeenWorld world;
  world.profile.partly_seen.reset();
  const SeenWork seen = seen_work(world.profile, world.seen, &world.design, 4e9);
  EXPECT_EQ(seen.basis, SeenWork::Basis::kWhole);
  EXPECT_EQ(seen.ratio, 1);
}

// 0.4 billion cycles of 8 that the program ran for.
TEST(SeenWork, GoesByTheModelOfThisCore) {
  const SeenWorld world;
  const SeenWork seen = seen_work(world.profile, world.seen, &world.design, 4e9);
  EXPECT_EQ(seen.basis, SeenWork::Basis::kModelled);
  EXPECT_DOUBLE_EQ(seen.ratio, 0.05);
}

TEST(SeenWork, GoesByHardwareCountersWhereThereAreAny) {
  SeenWorld world;
  world.profile.metrics["hw_instructions_count"] = 4e9;
  const SeenWork seen = seen_work(world.profile, world.seen, &world.design, 4e9);
  EXPECT_EQ(seen.basis, SeenWork::Basis::kCounted);
  EXPECT_DOUBLE_EQ(seen.ratio, 0.25);
}

TEST(SeenWork, IsNotKnownWithoutEither) {
  const SeenWorld world;
  EXPECT_EQ(seen_work(world.profile, world.seen, nullptr, 4e9).basis, SeenWork::Basis::kNotKnown);
  EXPECT_EQ(seen_work(world.profile, world.seen, &world.design, 0).basis, SeenWork::Basis::kNotKnown);
}

}  // namespace
}  // namespace perfcast::measure
