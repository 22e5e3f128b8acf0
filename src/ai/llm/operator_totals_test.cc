// Operators that were traced in PyTorch, against those that a config gives.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <tuple>

#include "ai/llm/model_catalogue.h"
#include "ai/llm/operator_graph.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

// "Linear:4096x1280x3840", "BMM:80x1024x64x1024": the product of the sizes; of anything else 0.
double traced_macs(std::string_view operators) {
  double sum = 0;
  for (const std::string& op : split(operators, '|')) {
    if (!op.starts_with("Linear:") && !op.starts_with("BMM:")) continue;
    double macs = 1;
    for (const std::string& size : split(std::string_view(op).substr(op.find(':') + 1), 'x')) {
      macs *= parse_number(size).value_or(0);
    }
    sum += macs;
  }
  return sum;
}

// One traced run: where it ran, the model, tokens of a sequence, sequences.
using TracedRun = std::tuple<std::string, std::string, double, double>;

TEST(OperatorTotals, AreThoseOfTracedModels) {
  const std::string path = std::string(PERFCAST_SHARED_DATA) + "/neusight/e2e_per_op.csv.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto text = read_file(path);
  ASSERT_TRUE(text);
  const auto table = CsvTable::parse(*text, path);
  ASSERT_TRUE(table);
  const std::map<std::string, const char*> known = {{"bert_large", "bert-large"},
                                                    {"gpt2_large", "gpt2-large"},
                                                    {"gpt3_xl", "gpt3-xl"},
                                                    {"gpt3_27", "gpt3-2.7b"},
                                                    {"opt_13", "opt-1.3b"}};
  const auto cell = [&](size_t row, const char* name) { return std::string(table->cell(row, *table->column(name))); };
  std::map<TracedRun, double> traced;
  for (size_t row = 0; row < table->rows(); ++row) {
    if (cell(row, "mode") != "inf") continue;
    const auto model = known.find(cell(row, "model"));
    if (model == known.end()) continue;
    const TracedRun run{cell(row, "device"), model->second, **table->number(row, *table->column("seq")),
                        **table->number(row, *table->column("batch"))};
    const double launches =
        cell(row, "segment") == "layer" ? static_cast<double>(built_in_model(model->second)->layers) : 1;
    traced[run] += launches * traced_macs(cell(row, "fw_ops"));
  }
  ASSERT_GE(traced.size(), 20u);
  for (const auto& [run, macs] : traced) {
    const auto& [device, name, sequence, batch] = run;
    LlmWorkload workload;
    workload.sequence = static_cast<int64_t>(sequence);
    workload.batch = static_cast<int64_t>(batch);
    const auto config = built_in_model(name);
    OperatorGraph graph;
    ASSERT_TRUE(build_operators(*config, workload, graph)) << name;
    const auto totals = total_operators(*config, workload, graph);
    ASSERT_TRUE(totals);
    // Theirs of BERT ends in two classes.
    const double classes = name == "bert-large" ? batch * 1024 * 2 : 0;
    EXPECT_EQ(totals->macs + classes, macs) << name << " on " << device;
  }
}

}  // namespace
}  // namespace perfcast::ai
