#include "program/map/corpus_map.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/map/map_report.h"
#include "program/map/map_request.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;

MapRequest small_request() {
  MapRequest request;
  auto table = make_training_table(synthetic_corpus({}), {});
  request.table = std::move(*table);
  request.folds = 4;
  return request;
}

TEST(CorpusMap, DropsWhatOthersStandInFor) {
  const auto map = make_corpus_map(small_request());
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->families, 8);
  EXPECT_EQ(map->kept.size(), 12U);
  ASSERT_EQ(map->drops.size(), 12U);
  // Three programs of each of eight families: one of each stays.
  std::set<std::string> families;
  for (const MappedProgram& program : map->programs) {
    if (program.kept) families.insert(program.family);
  }
  EXPECT_EQ(families.size(), 8U);
  EXPECT_EQ(map->drops.front().left, 23);
  EXPECT_EQ(map->drops.back().left, 12);
  for (size_t i = 0; i < map->drops.size(); ++i) {
    const DropStep& step = map->drops[i];
    ASSERT_TRUE(step.change_log && step.error_log) << i;
    EXPECT_GE(*step.change_log, 0);
    EXPECT_LE(step.coverage, (i == 0 ? map->coverage : map->drops[i - 1].coverage) + 1e-12);
    EXPECT_NE(std::find(map->kept.begin(), map->kept.end(), step.stands_in), map->kept.end());
  }
  EXPECT_LT(*map->drops.front().change_log, *map->drops.back().change_log);
}

TEST(CorpusMap, ClustersHoldEachProgramOnce) {
  MapRequest request = small_request();
  for (const bool by_times : {false, true}) {
    request.by_times = by_times;
    const auto map = make_corpus_map(request);
    ASSERT_TRUE(map.ok());
    std::multiset<std::string> members;
    for (const MapCluster& cluster : map->clusters) {
      EXPECT_EQ(cluster.members.front(), cluster.medoid);
      members.insert(cluster.members.begin(), cluster.members.end());
      EXPECT_LE(cluster.fastest.front().ratio, cluster.slowest.front().ratio);
    }
    EXPECT_EQ(members.size(), 24U);
    EXPECT_EQ(std::set<std::string>(members.begin(), members.end()).size(), 24U);
  }
}

TEST(CorpusMap, PlacesProfiles) {
  MapRequest request = small_request();
  Profile far = request.table.profiles[4];
  for (auto& [name, value] : far.metrics) {
    if (name.starts_with("op_fp") || name.starts_with("miss_")) value *= 300;
  }
  request.profiles = {{"known", request.table.profiles[4]}, {"far", far}};
  request.candidates = {{"twin", request.table.profiles[4]}, {"new", far}};
  request.with_tsne = true;
  const auto map = make_corpus_map(request);
  ASSERT_TRUE(map.ok());
  ASSERT_EQ(map->profiles.size(), 2U);
  const PlacedProfile& known = map->profiles[0];
  EXPECT_EQ(known.nearest.front().id, request.table.programs[4].id);
  EXPECT_EQ(known.nearest.front().distance, 0);
  EXPECT_TRUE(known.covered);
  EXPECT_EQ(known.cluster, map->programs[4].cluster);
  EXPECT_NEAR(known.point.pc1, map->programs[4].point.pc1, 1e-9);
  EXPECT_FALSE(map->profiles[1].covered);
  EXPECT_FALSE(map->profiles[1].marks.empty());
  EXPECT_LT(map->profiles[1].coverage, known.coverage);
  ASSERT_EQ(map->gains.size(), 2U);
  EXPECT_EQ(map->gains[0].name, "new");
  EXPECT_GT(map->gains[0].gain, 2 * map->gains[1].gain);
  EXPECT_TRUE(map->programs[0].point.tsne1.has_value());
  const std::string text = to_text(*map, "tiny.db");
  EXPECT_THAT(text, HasSubstr("profile far: cluster"));
  EXPECT_THAT(text, HasSubstr("OUTSIDE what the corpus covers"));
}

TEST(CorpusMap, FindsTwins) {
  MapRequest request = small_request();
  request.table.profiles[7] = request.table.profiles[2];
  const auto map = make_corpus_map(request);
  ASSERT_TRUE(map.ok());
  ASSERT_FALSE(map->redundant.empty());
  EXPECT_EQ(map->redundant.front().a, request.table.programs[2].id);
  EXPECT_EQ(map->redundant.front().b, request.table.programs[7].id);
  EXPECT_EQ(map->redundant.front().distance, 0);
  EXPECT_GT(*map->redundant.front().time_difference, 0.001);
}

TEST(CorpusMap, WithoutTimes) {
  Corpus corpus = synthetic_corpus({});
  corpus.runs.clear();
  MapRequest request;
  request.table = table_without_times(corpus, {});
  const auto map = make_corpus_map(request);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->platforms, 0);
  EXPECT_FALSE(map->error_log.has_value());
  EXPECT_FALSE(map->drops.front().change_log.has_value());
  EXPECT_THAT(to_text(*map, "c.db"), HasSubstr("no times"));
  const Json json = to_json(*map, "c.db");
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_FALSE(json["drops"][0].contains("change_ratio"));
  request.by_times = true;
  EXPECT_EQ(make_corpus_map(request).error().code, "bad-usage");
  EXPECT_EQ(table_without_times(corpus, {"user"}).programs.size(), 12U);
}

TEST(CorpusMap, CandidatesOfTheCorpusItself) {
  Corpus corpus = synthetic_corpus({});
  const std::string untimed = corpus.programs[5].id, unprofiled = corpus.programs[9].id;
  std::erase_if(corpus.runs, [&](const auto& run) { return run.program == untimed; });
  std::erase_if(corpus.profiles, [&](const StoredProfile& stored) { return stored.program == unprofiled; });
  MapRequest request;
  request.folds = 4;
  auto table = make_training_table(corpus, {});
  ASSERT_TRUE(table.ok());
  request.table = std::move(*table);
  request.untimed = untimed_programs(corpus, {}, request.table);
  ASSERT_EQ(request.untimed.size(), 1U);
  const auto map = make_corpus_map(request);
  ASSERT_TRUE(map.ok());
  ASSERT_EQ(map->gains.size(), 2U);
  EXPECT_EQ(map->gains[0].name, untimed);
  EXPECT_EQ(map->gains[0].basis, "not timed");
  EXPECT_EQ(map->gains[1].name, unprofiled);
  EXPECT_EQ(map->gains[1].basis, "not profiled");
  EXPECT_GT(map->gains[1].gain, 0);
}

TEST(CorpusMap, SaysWhatItCantDo) {
  MapRequest request = small_request();
  request.keep = 25;
  EXPECT_EQ(make_corpus_map(request).error().code, "bad-usage");
  request.keep = 24;
  const auto all = make_corpus_map(request);
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all->drops.empty());
  request.clusters = 25;
  EXPECT_EQ(make_corpus_map(request).error().where, "--clusters");
  request.clusters = 0;
  request.table = request.table.with_programs({0, 1});
  request.keep.reset();
  EXPECT_EQ(make_corpus_map(request).error().code, "empty-corpus");
}

}  // namespace
}  // namespace perfcast::program
