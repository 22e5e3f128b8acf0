#include "ai/llm/analysis.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ai/llm/model_catalogue.h"
#include "base/csv.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

LlmAnalysis analysed(const char* name, LlmWorkload workload = {}) {
  const auto config = built_in_model(name);
  if (workload.phase != LlmPhase::kDecode) workload.sequence = std::min<int64_t>(usual_sequence(*config), 2048);
  auto analysis = analyze_llm(*config, workload);
  EXPECT_TRUE(analysis) << name;
  return *std::move(analysis);
}

bool mentions(const std::vector<std::string>& notes, const std::string& text) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

TEST(Analysis, JsonHasTheFieldsOfItsSchema) {
  const Json json = analysis_json(analysed("gpt3"));
  EXPECT_EQ(json["schema"], "perfcast.llm.analysis/1");
  EXPECT_EQ(json["model"], "gpt3");
  EXPECT_EQ(json["parameters"], 174'606'385'152);
  EXPECT_EQ(json["total_macs"], 367'425'862'238'208);
  EXPECT_TRUE(json["total_macs"].is_number_integer());
  EXPECT_EQ(json["weight_bytes"], 2 * 174'606'385'152);
  EXPECT_EQ(json["kv_bytes"], int64_t{2048} * 96 * 2 * 12288 * 2);
  double macs = 0;
  double shares = 0;
  for (const Json& op : json["operators"]) {
    for (const char* field : {"name", "m", "n", "count", "macs", "bytes"}) EXPECT_TRUE(op.contains(field)) << field;
    macs += op["macs"].get<double>();
    shares += op["flop_share"].get<double>();
  }
  EXPECT_EQ(macs, json["total_macs"].get<double>());
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_TRUE(json["notes"].is_array());
}

TEST(Analysis, CsvReadsBackAndAddsUp) {
  for (const char* name : {"gpt2", "mixtral-8x7b", "deepseek-v3", "vit-base"}) {
    const LlmAnalysis analysis = analysed(name);
    const auto table = CsvTable::parse(analysis_csv(analysis), "analysis.csv");
    ASSERT_TRUE(table) << to_text(table.error());
    ASSERT_EQ(table->rows(), analysis.graph.size());
    double macs = 0;
    for (size_t row = 0; row < table->rows(); ++row) macs += **table->number(row, *table->column("macs"));
    EXPECT_EQ(macs, analysis.totals.macs) << name;
  }
}

TEST(Analysis, TheSlidesFaultsAreNamed) {
  const auto notes = analysed("gpt3").notes;
  EXPECT_TRUE(mentions(notes, "K = 12288"));
  EXPECT_TRUE(mentions(notes, "536,870,912"));
  EXPECT_TRUE(mentions(notes, "implicit"));
  EXPECT_TRUE(mentions(notes, "look-up"));
  EXPECT_FALSE(mentions(analysed("gpt3-175b").notes, "K = 12288"));
}

TEST(Analysis, NotesSayWhatIsAssumed) {
  LlmWorkload decode;
  decode.phase = LlmPhase::kDecode;
  decode.context = 200'000;
  EXPECT_TRUE(mentions(analysed("deepseek-v3", decode).notes, "absorbed"));
  EXPECT_TRUE(mentions(analysed("deepseek-v3").notes, "expanded"));
  EXPECT_TRUE(mentions(analysed("deepseek-v3", decode).notes, "8 of 256 experts"));
  EXPECT_TRUE(mentions(analysed("llama3-8b", decode).notes, "more than the 8192"));
  EXPECT_TRUE(mentions(analysed("gemma2-9b").notes, "21 of 42 layers"));
  LlmWorkload parallel;
  parallel.tensor_parallel = 16;
  EXPECT_TRUE(mentions(analysed("llama3-70b", parallel).notes, "each is held 2 times"));
  parallel.tensor_parallel = 5;
  EXPECT_TRUE(mentions(analysed("gpt2-xl", parallel).notes, "padded to 50260"));
}

TEST(Analysis, TextNamesEveryOperatorOnce) {
  const LlmAnalysis analysis = analysed("llama3-8b");
  const std::string text = analysis_text(analysis);
  for (const LlmOperator& op : analysis.graph) {
    EXPECT_NE(text.find("\n" + std::string(name_of(op.name)) + " "), std::string::npos) << name_of(op.name);
  }
  EXPECT_NE(text.find("8,030,261,248"), std::string::npos);
}

TEST(Analysis, RefusesAConfigThatIsNone) { EXPECT_EQ(analyze_llm(LlmConfig(), {}).error().code, "bad-model-config"); }

TEST(Analysis, ListsEveryModel) {
  const Json json = model_list_json();
  EXPECT_EQ(json["models"].size(), built_in_models().size());
  EXPECT_EQ(json["models"][0]["model"], "gpt3");
}

}  // namespace
}  // namespace perfcast::ai
