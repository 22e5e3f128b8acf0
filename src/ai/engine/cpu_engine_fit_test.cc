#include "ai/engine/cpu_engine_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/engine/testing/test_engine.h"

namespace perfcast::ai {
namespace {

using engine_test::cpu;
using engine_test::cpu_work;

// A row whose times are those of `constants`.
CpuEngineRow row_of(const CpuEngineConstants& constants, const std::string& name, const CpuFacts& facts,
                    double weight_ratio, int64_t prompt_tokens) {
  TokenServer server;
  server.vendor = "cloud";
  server.name = name;
  server.cpu = cpu_model_key(facts);
  server.facts = facts;
  LlmWork work = cpu_work();
  work.name += std::to_string(weight_ratio);
  work.weight_bytes *= weight_ratio;
  work.prefill_macs_per_token *= weight_ratio;
  VllmPoint point;
  point.prompt_tokens = prompt_tokens;
  point.output_tokens = 100;
  CpuEngineRow row = cpu_engine_row(point, server, work, usual_cpu_precision(facts), weight_ratio > 1);
  const CpuEngineTimes times =
      cpu_engine_times(constants, row.machine, row.work, row.sorts, static_cast<double>(prompt_tokens));
  row.further_s = times.further_s();
  row.first_s = times.first_s();
  return row;
}

std::vector<CpuEngineRow> world(const CpuEngineConstants& constants) {
  std::vector<CpuEngineRow> rows;
  for (int size = 0; size < 8; ++size) {
    for (const double ratio : {0.5, 1.0, 4.0, 40.0}) {
      for (const int64_t prompt : {256, 1024}) {
        CpuFacts facts = cpu();
        facts.numa_nodes = 1;
        facts.cores = std::pow(2, size);
        facts.vcpus = 2 * facts.cores;
        facts.read_bytes_per_s.front() = (100 + 10 * size) * 1e9 * facts.cores;
        facts.read_bytes_per_s.back() = 20e9 * std::sqrt(facts.cores);
        if (size % 2 == 1) {
          facts.name = "Neoverse-V2";
          facts.arch = "aarch64";
        }
        rows.push_back(row_of(constants, std::to_string(size), facts, ratio, prompt));
      }
    }
  }
  return rows;
}

TEST(CpuEngineFit, FindsTheConstantsOfAWorldThatObeysThem) {
  CpuEngineConstants truth = cpu_engine_starts();
  truth.plain_product_share = 0.2;
  truth.memory_bandwidth_share = 0.9;
  truth.host_ms = 9;
  truth.sort_ns = 57;
  truth.half_core_gb_per_s = 20;
  truth.one_core_ratio = 1.5;
  const std::vector<CpuEngineRow> rows = world(truth);
  const std::vector<CpuEngineCell> cells = cpu_engine_cells(rows);
  ASSERT_EQ(cells.size(), 64U);
  const auto fit = fit_cpu_engine(cells);
  ASSERT_TRUE(fit) << to_text(fit.error());
  for (const CpuEngineRow& row : rows) {
    const CpuEngineTimes times =
        cpu_engine_times(*fit, row.machine, row.work, row.sorts, static_cast<double>(row.prompt_tokens));
    EXPECT_NEAR(times.further_s() / row.further_s, 1, 0.01);
    EXPECT_NEAR(times.first_s() / row.first_s, 1, 0.01);
  }
  EXPECT_NEAR(fit->plain_product_share / 0.2, 1, 0.02);
  EXPECT_NEAR(fit->memory_bandwidth_share / 0.9, 1, 0.02);
  EXPECT_NEAR(fit->sort_ns / 57, 1, 0.05);
  std::vector<bool> few(cells.size());
  EXPECT_EQ(fit_cpu_engine(cells, few).error().code, "too-few-rows");
}

TEST(CpuEngineRows, StartsAreMarkedAndLeftOut) {
  std::vector<CpuEngineRow> rows = world(cpu_engine_starts());
  for (CpuEngineRow& row : rows) {
    if (row.server == "cloud/3" && row.prompt_tokens == 256 && row.work.weight_bytes < 3e8) row.further_s *= 1.3;
  }
  mark_starts(rows);
  int64_t marked = 0;
  for (const CpuEngineRow& row : rows) {
    marked += row.starts_up ? 1 : 0;
    EXPECT_EQ(row.starts_up, row.server == "cloud/3" && row.work.weight_bytes < 3e8);
  }
  EXPECT_EQ(marked, 2);  // both prompts of the server and model
  EXPECT_EQ(cpu_engine_cells(rows).size(), rows.size() - 2);
}

TEST(CpuEngineRows, EqualServersAreOneCell) {
  std::vector<CpuEngineRow> rows;
  for (const double factor : {1.0, 2.0, 4.0}) {
    rows.push_back(row_of(cpu_engine_starts(), std::to_string(factor), cpu(), 1, 256));
    rows.back().further_s = factor * 0.01;
    rows.back().machine.memory_bytes_per_s = factor * 1e9;
  }
  const std::vector<CpuEngineCell> cells = cpu_engine_cells(rows);
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].rows, 3);
  EXPECT_NEAR(cells[0].further_s, 0.02, 1e-12);
  EXPECT_NEAR(cells[0].machine.memory_bytes_per_s, 2e9, 1);
}

TEST(CpuEngineRows, AnotherMachineThanItsNameSays) {
  CpuEngineRow row = row_of(cpu_engine_starts(), "a", cpu(), 1, 1000);
  VllmPoint point;
  EXPECT_EQ(why_another_machine(point, row), "");
  point.avx512 = true;
  EXPECT_NE(why_another_machine(point, row), "");
  point.avx512 = false;
  EXPECT_EQ(why_another_machine(point, row), "");
  // 150 G products by 4 threads of 16 at 3.4 GHz: 0.69 s at least.
  row.first_s = 0.69;
  EXPECT_EQ(why_another_machine(point, row), "");
  row.first_s = 0.68;
  EXPECT_EQ(why_another_machine(point, row), "the first token came faster than such cores can multiply");
}

TEST(CpuEngineIntervals, GroupsWeighByTheRootOfTheirErrors) {
  std::vector<GroupedError> errors(100, {"often", 0.1});
  errors.push_back({"once", -0.5});
  EXPECT_EQ(log_half_width(errors, 0.9), 0.1);  // 10 to 1
  EXPECT_EQ(log_half_width(errors, 0.95), 0.5);
  EXPECT_TRUE(std::isnan(log_half_width({}, 0.9)));
}

}  // namespace
}  // namespace perfcast::ai
