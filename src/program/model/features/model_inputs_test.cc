#include "program/model/features/model_inputs.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/cores/modelled_cycles.h"
#include "program/model/features/work_features.h"

namespace perfcast::program {
namespace {

using testing::ElementsAre;

Profile on(const std::string& gpu, MetricValues metrics) {
  Profile profile;
  profile.host.name = gpu;
  profile.metrics = std::move(metrics);
  return profile;
}

std::vector<const Profile*> pointers(const std::vector<Profile>& profiles) {
  std::vector<const Profile*> result;
  result.reserve(profiles.size());
  for (const Profile& profile : profiles) result.push_back(&profile);
  return result;
}

std::vector<Profile> three() {
  return {on("B", {{"occupancy_ratio", 0.25}, {"warps_count", 0}, {"clock_hz", 1e9}, {"rare_count", 1}}),
          on("A", {{"occupancy_ratio", 0.5}, {"warps_count", 8}, {"clock_hz", 1e9}}),
          on("A", {{"occupancy_ratio", 1.0}, {"warps_count", 800}})};
}

TEST(ModelInputs, NamesTheCountersThatAProfileLacks) {
  const std::vector<Profile> profiles = three();
  const ModelInputs chosen = ModelInputs::choose(pointers(profiles));
  EXPECT_THAT(chosen.missing_counters(profiles[2]), ElementsAre());
  EXPECT_THAT(chosen.missing_counters(on("A", {{"occupancy_ratio", 0.5}})), ElementsAre("warps_count"));
  EXPECT_THAT(chosen.missing_counters(on("A", {})), ElementsAre("occupancy_ratio", "warps_count"));
  EXPECT_THAT(ModelInputs().missing_counters(on("A", {})), ElementsAre());  // work: too many to name
}

InputChoice with_source(InputChoice::Source source) {
  InputChoice inputs;
  inputs.source = source;
  return inputs;
}

InputChoice table1() {
  InputChoice inputs;
  inputs.counters = InputChoice::Counters::kTable1;
  return inputs;
}

TEST(ModelInputs, TakesTheCountersThatVary) {
  const std::vector<Profile> profiles = three();
  const ModelInputs chosen = ModelInputs::choose(pointers(profiles));
  EXPECT_EQ(chosen.kind(), ModelInputs::Kind::kCounters);
  // A constant and a counter of a single profile say nothing; what spans magnitudes comes as a logarithm.
  EXPECT_THAT(chosen.names(), ElementsAre("occupancy_ratio", "log_warps_count", "on_A", "on_B"));
  const Eigen::MatrixXd rows = chosen.extract(pointers(profiles));
  EXPECT_EQ(rows(0, 0), 0.25);
  EXPECT_DOUBLE_EQ(rows(0, 1), std::log(4));  // half of the smallest positive value stands in for 0
  EXPECT_DOUBLE_EQ(rows(2, 1), std::log(804));
  EXPECT_EQ(rows(0, 2), 0);
  EXPECT_EQ(rows(0, 3), 1);
}

TEST(ModelInputs, KeepsWhatIsAbsentAbsent) {
  const std::vector<Profile> profiles = three();
  const ModelInputs chosen = ModelInputs::choose(pointers(profiles));
  const std::vector<Profile> other = {on("", {{"warps_count", -1}, {"occupancy_ratio", NAN}})};
  EXPECT_TRUE(chosen.extract(pointers(other)).array().isNaN().all());
  EXPECT_FALSE(chosen.knows_source(other[0]));
}

// Another platform is none of those that training profiles were taken on; that much is known.
TEST(ModelInputs, AnUnknownPlatformIsNoneOfTheKnown) {
  const std::vector<Profile> profiles = three();
  const ModelInputs chosen = ModelInputs::choose(pointers(profiles));
  const Profile other = on("C", {{"occupancy_ratio", 0.5}});
  const Eigen::MatrixXd row = chosen.extract({&other});
  EXPECT_EQ(row(0, 2), 0);
  EXPECT_EQ(row(0, 3), 0);
  EXPECT_FALSE(chosen.knows_source(other));
  EXPECT_TRUE(chosen.knows_source(profiles[0]));
  EXPECT_THAT(chosen.sources(), ElementsAre("A", "B"));
}

TEST(ModelInputs, LeavesTheSourceOut) {
  const std::vector<Profile> profiles = three();
  const ModelInputs chosen = ModelInputs::choose(pointers(profiles), with_source(InputChoice::Source::kNone));
  EXPECT_THAT(chosen.names(), ElementsAre("occupancy_ratio", "log_warps_count"));
  EXPECT_TRUE(chosen.knows_source(on("C", {})));
  EXPECT_THAT(chosen.constant(), ElementsAre("clock_hz"));
  EXPECT_THAT(chosen.in_one_only(), ElementsAre("rare_count"));
}

TEST(ModelInputs, TellsTheSourceByItsFacts) {
  const std::vector<Profile> profiles = three();
  InputChoice inputs = with_source(InputChoice::Source::kFacts);
  inputs.facts = {{"A", {{"l2_bytes", 1000}, {"max_hz", 2e9}, {"sm_count", 8}}},
                  {"B", {{"l2_bytes", 64000}, {"max_hz", 1e9}, {"sm_count", 8}}}};
  const ModelInputs chosen = ModelInputs::choose(pointers(profiles), inputs);
  EXPECT_THAT(chosen.names(),
              ElementsAre("occupancy_ratio", "log_warps_count", "source_log_l2_bytes", "source_max_hz"));
  const Eigen::MatrixXd rows = chosen.extract(pointers(profiles));
  EXPECT_DOUBLE_EQ(rows(0, 2), std::log(64000));
  EXPECT_EQ(rows(1, 3), 2e9);
  // An unknown platform has the facts that its profile states, and lacks the others.
  Profile other = on("C", {{"occupancy_ratio", 0.5}});
  other.host.l2_bytes = 2000;
  const Eigen::MatrixXd row = chosen.extract({&other});
  EXPECT_DOUBLE_EQ(row(0, 2), std::log(2000));
  EXPECT_TRUE(std::isnan(row(0, 3)));
  EXPECT_FALSE(chosen.knows_source(other));
}

TEST(ModelInputs, SeesTable1Alone) {
  const auto profile = [](const std::string& host, double scale) {
    Profile made;
    for (const std::string& metric : work_feature_metrics()) made.metrics[metric] = 10 * scale;
    made.metrics["instructions_count"] = 1000 * scale * scale;
    made.metrics["page_faults_minor_count"] = 5 * scale;
    made.metrics["page_faults_major_count"] = 2;
    made.host.name = host;
    return made;
  };
  const std::vector<Profile> profiles = {profile("A", 1), profile("A", 3), profile("B", 7)};
  const ModelInputs chosen = ModelInputs::choose(pointers(profiles), table1());
  EXPECT_EQ(chosen.kind(), ModelInputs::Kind::kCounters);
  // Counters as they are, and what follows from others.
  EXPECT_THAT(chosen.names(), testing::IsSupersetOf({"log_instructions_count", "page_faults_count", "on_A", "on_B"}));
  EXPECT_THAT(chosen.names(), testing::Not(testing::Contains("page_faults_minor_count")));
  const auto column =
      std::find(chosen.names().begin(), chosen.names().end(), "page_faults_count") - chosen.names().begin();
  EXPECT_EQ(chosen.extract(pointers(profiles))(1, column), 17);
}

TEST(ModelInputs, WorkCanHaveASourceToo) {
  Profile one;
  for (const std::string& metric : work_feature_metrics()) one.metrics[metric] = 10;
  one.metrics["instructions_count"] = 1000;
  one.host.name = "A";
  Profile other = one;
  other.host.name = "B";
  const ModelInputs chosen = ModelInputs::choose({&one, &other}, with_source(InputChoice::Source::kOneHot));
  EXPECT_EQ(chosen.kind(), ModelInputs::Kind::kWork);
  ASSERT_EQ(chosen.names().size(), work_feature_names().size() + 2);
  EXPECT_EQ(chosen.names().back(), "on_B");
  const Eigen::MatrixXd rows = chosen.extract({&one, &other});
  const auto work = static_cast<Eigen::Index>(work_feature_names().size());
  EXPECT_EQ(rows.rightCols(2), (Eigen::MatrixXd(2, 2) << 1, 0, 0, 1).finished());
  const Eigen::MatrixXd plain = extract_work_features({&one});
  for (Eigen::Index c = 0; c < work; ++c) EXPECT_TRUE(rows(0, c) == plain(0, c) || std::isnan(plain(0, c)));
}

TEST(ModelInputs, IsTheWorkWhereProfilesHaveAnInstructionMix) {
  Profile profile;
  for (const std::string& metric : work_feature_metrics()) profile.metrics[metric] = 10;
  profile.metrics["instructions_count"] = 1000;
  const ModelInputs chosen = ModelInputs::choose({&profile, &profile});
  EXPECT_EQ(chosen.kind(), ModelInputs::Kind::kWork);
  EXPECT_EQ(chosen.names(), work_feature_names());
}

TEST(ModelInputs, SeesModelledCyclesWhereMostProfilesHaveThem) {
  Profile plain;
  for (const std::string& metric : work_feature_metrics()) plain.metrics[metric] = 10;
  plain.metrics["instructions_count"] = 1000;
  plain.instruction_set = "x86_64";
  Profile modelled = plain;
  for (const std::string& metric : core_metrics()) modelled.metrics[metric] = 100;
  modelled.metrics["core_zen3_cycles_count"] = 200;
  EXPECT_EQ(ModelInputs::choose({&plain, &plain, &modelled}).names(), work_feature_names());
  const ModelInputs chosen = ModelInputs::choose({&plain, &modelled, &modelled});
  EXPECT_EQ(chosen.names().size(), work_feature_names().size() + core_metrics().size());
  TensorMap tensors;
  chosen.save(tensors);
  ModelInputs loaded;
  ASSERT_TRUE(loaded.load(tensors).ok());
  EXPECT_EQ(loaded.names(), chosen.names());
  const auto column = std::find(chosen.names().begin(), chosen.names().end(), "relative_core_zen3_cycles_count") -
                      chosen.names().begin();
  const Eigen::MatrixXd rows = loaded.extract({&plain, &modelled});
  EXPECT_TRUE(std::isnan(rows(0, column)));
  EXPECT_GT(rows(1, column), 0.5);
  // A bundle of earlier versions says nothing of them.
  tensors.put_json("feature_space", {{"kind", "work"}});
  ASSERT_TRUE(loaded.load(tensors).ok());
  EXPECT_EQ(loaded.names(), work_feature_names());
  tensors.put_json("feature_space", {{"kind", "work"}, {"cores", 1}});
  EXPECT_FALSE(loaded.load(tensors).ok());
}

TEST(ModelInputs, ReadsTheSameAfterSaveAndLoad) {
  const std::vector<Profile> profiles = three();
  const ModelInputs chosen = ModelInputs::choose(pointers(profiles));
  TensorMap tensors;
  chosen.save(tensors);
  ModelInputs back;
  ASSERT_TRUE(back.load(tensors));
  EXPECT_EQ(back.names(), chosen.names());
  EXPECT_EQ(back.extract(pointers(profiles)), chosen.extract(pointers(profiles)));
  EXPECT_EQ(back.sources(), chosen.sources());
  tensors.put_json("feature_space", {{"kind", "counters"}, {"counters", {{{"metric", 3}}}}});
  EXPECT_EQ(back.load(tensors).error().code, "bad-bundle");

  InputChoice inputs = table1();
  inputs.source = InputChoice::Source::kFacts;
  inputs.facts = {{"A", {{"max_hz", 2e9}}}, {"B", {{"max_hz", 1e9}}}};
  std::vector<Profile> counted = profiles;
  for (size_t i = 0; i < counted.size(); ++i) counted[i].metrics["instructions_count"] = 10.0 + static_cast<double>(i);
  const ModelInputs facts = ModelInputs::choose(pointers(counted), inputs);
  EXPECT_THAT(facts.names(), ElementsAre("instructions_count", "source_max_hz"));
  facts.save(tensors);
  ASSERT_TRUE(back.load(tensors));
  EXPECT_EQ(back.names(), facts.names());
  EXPECT_EQ(back.extract(pointers(counted)), facts.extract(pointers(counted)));
  for (const Json& damaged : {Json(3), Json{{"A", 1}}, Json{{"A", {{"max_hz", "fast"}}}}}) {
    Json json = *tensors.get_json("feature_space");
    json["host_facts"] = damaged;
    tensors.put_json("feature_space", json);
    EXPECT_EQ(back.load(tensors).error().code, "bad-bundle") << damaged;
  }
}

TEST(DescribeInputs, SaysWhatIsLeftOutAndWhatLacks) {
  TrainingTable table;
  table.profiles = three();
  auto notes = describe_inputs(table);
  ASSERT_TRUE(notes);
  EXPECT_THAT(*notes, ElementsAre("inputs: left out as constant over all profiles: clock_hz",
                                  "inputs: left out as stated by one profile or none: rare_count"));
  table.inputs.counters = InputChoice::Counters::kTable1;
  EXPECT_EQ(describe_inputs(table).error().code, "missing-counters");
  EXPECT_THAT(describe_inputs(table).error().expected, testing::HasSubstr("instructions_count, "));
  for (size_t i = 0; i < 3; ++i) table.profiles[i].metrics["instructions_count"] = 1.0 + static_cast<double>(i);
  notes = describe_inputs(table);
  ASSERT_TRUE(notes);
  EXPECT_THAT((*notes)[0], testing::StartsWith("inputs: 1 metrics of Table I; the profiles lack io_read_bytes, "));
  table.inputs.source = InputChoice::Source::kFacts;
  EXPECT_EQ(describe_inputs(table).error().code, "unknown-source");
  table.inputs.source = InputChoice::Source::kOneHot;
  EXPECT_TRUE(describe_inputs(table));
  for (Profile& profile : table.profiles) profile.host.name = "A";
  EXPECT_THAT(describe_inputs(table).error().message, testing::HasSubstr("one platform"));
  for (Profile& profile : table.profiles) profile.metrics = {{"clock_hz", 1e9}, {"rare_count", NAN}};
  table.inputs = {};
  EXPECT_EQ(describe_inputs(table).error().code, "missing-counters");
}

}  // namespace
}  // namespace perfcast::program
