#include "program/map/map_page.h"

#include <gmock/gmock.h>

#include <cmath>

#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/map/svg_map.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;
using testing::Not;

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

CorpusMap small_map(bool with_profile) {
  MapRequest request;
  auto table = make_training_table(synthetic_corpus({}), {});
  request.table = std::move(*table);
  request.folds = 4;
  request.with_tsne = true;
  if (with_profile) request.profiles = {{"<mine> & yours", synthetic_profile({}, 11)}};
  auto map = make_corpus_map(request);
  return std::move(*map);
}

TEST(MapPage, ShowsEachProgramAndTheOwnProfile) {
  const CorpusMap map = small_map(true);
  const std::string page = map_page(map, "tiny.db");
  EXPECT_THAT(page, HasSubstr("perfcast map of tiny.db"));
  EXPECT_THAT(page, Not(HasSubstr("<mine>"))) << "names are escaped";
  EXPECT_THAT(page, HasSubstr("&lt;mine&gt; &amp; yours"));
  for (const MappedProgram& program : map.programs) {
    // A tooltip in each of two pictures, and a row of the table.
    EXPECT_GE(count_of(page, program.id + " (family"), 2U) << program.id;
    EXPECT_THAT(page, HasSubstr("<td class=\"name\">" + program.id + "</td>"));
  }
  EXPECT_EQ(count_of(page, "class=\"own\""), 2U + 2U) << "a mark and its legend in each picture";
  EXPECT_LT(page.find("id=\"plane\""), page.find("id=\"clusters\"")) << "pictures come first";
  EXPECT_EQ(page, map_page(map, "tiny.db")) << "deterministic";
}

TEST(MapPage, EachFigureHasItsNumbers) {
  const CorpusMap map = small_map(false);
  EXPECT_EQ(count_of(principal_plane_figure(map).csv, "\n"), 1 + map.programs.size());
  EXPECT_EQ(count_of(tsne_figure(map).csv, "\n"), 1 + map.programs.size());
  EXPECT_EQ(count_of(drop_cost_figure(map).csv, "\n"), 2 + map.drops.size());
  CorpusMap bare = map;
  bare.drops.clear();
  for (MappedProgram& program : bare.programs) program.point.tsne1.reset();
  EXPECT_TRUE(tsne_figure(bare).images.empty());
  EXPECT_TRUE(drop_cost_figure(bare).images.empty());
}

TEST(MapPage, ShortNames) {
  EXPECT_EQ(short_program_name("compress.gzip.9.c"), "gzip.9.c");
  EXPECT_EQ(short_program_name("plain"), "plain");
  EXPECT_EQ(short_program_name("dot."), "dot.");
}

}  // namespace
}  // namespace perfcast::program
