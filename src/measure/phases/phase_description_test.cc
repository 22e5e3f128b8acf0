#include "measure/phases/phase_description.h"

#include <gmock/gmock.h>

#include "base/json.h"

namespace perfcast::measure {
namespace {

using testing::Contains;
using testing::Field;

// 40 intervals of adding, 40 of loading, 40 of adding; the third is seen by the simulation.
PhaseSeries three_parts() {
  PhaseSeries series;
  series.program = "/bin/three";
  series.keys = {"instructions", "op_int_alu", "op_mov", "loads", "stores", "seen_accesses", "seen_dcache_32k_miss"};
  for (size_t i = 0; i < 120; ++i) {
    const bool adds = i < 40 || i >= 80;
    const uint64_t loads = adds ? 100000 : 500000;
    PhaseInterval& interval = series.intervals.emplace_back();
    interval.counts = {
        1000000, 1000000 - loads, loads, loads, 0, i == 2 ? uint64_t{50000} : 0, i == 2 ? uint64_t{500} : 0};
    interval.code = {{static_cast<uint16_t>(adds ? 4 : 9), 1000000}};
  }
  return series;
}

CodeCourse course_of_three(size_t first, size_t second, size_t third) {
  CodeCourse course;
  course.period_s = 0.001;
  course.places.assign(first, 4);
  course.places.insert(course.places.end(), second, 9);
  course.places.insert(course.places.end(), third, 4);
  return course;
}

TEST(PhaseDescription, HasKindsTransitionsAndNativeTimes) {
  Profile profile;
  profile.program = "three";
  describe_phases(three_parts(), {course_of_three(400, 1200, 400), course_of_three(400, 1200, 400)}, {}, profile);
  EXPECT_TRUE(profile.warnings.empty());
  ASSERT_TRUE(profile.phase_kinds);
  const PhaseSet& set = *profile.phase_kinds;
  ASSERT_EQ(set.kinds.size(), 2U);
  EXPECT_EQ(set.kinds[0].instructions_count, 80e6);
  EXPECT_EQ(set.kinds[0].visits_count, 2);
  EXPECT_EQ(set.kinds[1].visits_count, 1);
  EXPECT_NEAR(set.kinds[0].native_cpu_s.value_or(0), 0.8, 0.03);
  EXPECT_NEAR(set.kinds[1].native_cpu_s.value_or(0), 1.2, 0.03);
  EXPECT_NEAR(set.kinds[1].native_deviation_s.value_or(1), 0, 1e-9);
  EXPECT_EQ(set.transitions, (std::vector<std::vector<double>>{{78, 1}, {1, 39}}));
  // One in a hundred accesses missed where it was looked at.
  EXPECT_NEAR(set.kinds[0].metrics.at("miss_32k_count"), 0.01 * 80 * 100000, 1);
  EXPECT_FALSE(set.kinds[1].metrics.contains("miss_32k_count"));
  ASSERT_EQ(profile.phases.size(), 120U);
  EXPECT_EQ(profile.phases[50].kind, 1U);
  EXPECT_EQ(profile.phases[50].first_instruction_count, 50e6);
  EXPECT_TRUE(profile.phases[2].metrics.contains("miss_32k_count"));
  EXPECT_FALSE(profile.phases[3].metrics.contains("miss_32k_count"));
}

// A file that can't be read has no symbols, but a name.
TEST(PhaseDescription, NamesFunctionsOfEachPhase) {
  CodeCourse course = course_of_three(400, 1200, 400);
  course.positions = {{"/no/such/file", 64}, {"/no/such/other", 64}};
  for (const uint16_t place : course.places) course.position_of.push_back(place == 4 ? 0 : 1);
  course.position_of[0] = kNoCodePosition;
  Profile profile;
  profile.program = "three";
  describe_phases(three_parts(), {course}, {}, profile);
  ASSERT_TRUE(profile.phase_kinds);
  const auto& first = profile.phase_kinds->kinds[0].functions;
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].file, "file");
  EXPECT_EQ(first[0].function, "");
  EXPECT_GT(first[0].time_ratio, 0.95);
  EXPECT_EQ(profile.phase_kinds->kinds[1].functions[0].file, "other");
  const auto again = profile_from_json(to_json(profile), "p.json");
  ASSERT_TRUE(again) << to_text(again.error());
  EXPECT_EQ(again->phase_kinds, profile.phase_kinds);
}

TEST(PhaseDescription, GoesThroughJson) {
  Profile profile;
  profile.program = "three";
  profile.command = {"three"};
  profile.exit_code = 0;
  describe_phases(three_parts(), {course_of_three(400, 1200, 400)}, {3, 1}, profile);
  const auto again = profile_from_json(to_json(profile), "p.json");
  ASSERT_TRUE(again) << to_text(again.error());
  EXPECT_EQ(again->phase_kinds, profile.phase_kinds);
  EXPECT_EQ(again->phases, profile.phases);
  Json broken = to_json(profile);
  broken["phase_kinds"]["kinds"].erase(1);
  EXPECT_FALSE(profile_from_json(broken, "p.json"));
}

TEST(PhaseDescription, SaysWhatIsMissing) {
  const auto codes = [](const PhaseSeries& series, const std::vector<CodeCourse>& native, const PhaseRequest& request) {
    Profile profile;
    describe_phases(series, native, request, profile);
    std::vector<std::string> found;
    for (const ProfileWarning& warning : profile.warnings) found.push_back(warning.code);
    return found;
  };
  EXPECT_THAT(codes({}, {}, {}), Contains("no-phases"));
  PhaseSeries ended = three_parts();
  ended.intervals.resize(2);
  EXPECT_THAT(codes(ended, {}, {}), Contains("no-phases"));
  PhaseSeries part = three_parts();
  part.processes = 3;
  part.instructions_ratio = 0.4;
  EXPECT_THAT(codes(part, {}, {}), Contains("phases-of-a-part"));
  EXPECT_THAT(codes(three_parts(), {course_of_three(3, 3, 3)}, {}), Contains("no-native-phases"));
  EXPECT_THAT(codes(three_parts(), {}, {7, 1}), Contains("fewer-phases"));
  Profile cut;
  cut.partly_seen = {0.3, 0.1};
  describe_phases(three_parts(), {course_of_three(400, 1200, 400)}, {}, cut);
  EXPECT_FALSE(cut.phase_kinds->kinds[0].native_cpu_s);
  EXPECT_THAT(cut.warnings, Contains(Field(&ProfileWarning::code, "no-native-phases")));
}

}  // namespace
}  // namespace perfcast::measure
