#include "profile/metrics/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/file.h"

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

std::string counter(const std::string& name, const std::string& unit = "1") {
  return R"({"name": ")" + name + R"(", "unit": ")" + unit +
         R"(", "kind": "counter", "group": "work", "description": "d", "sources": {"qemu": ")" + name + R"("}})";
}

std::string derived(const std::string& name, const std::string& formula, const std::string& unit = "1") {
  return R"({"name": ")" + name + R"(", "unit": ")" + unit +
         R"(", "kind": "derived", "group": "work", "description": "d", "formula": ")" + formula + R"("})";
}

Result<Catalogue> parse(const std::vector<std::string>& entries) {
  std::string text = R"({"schema": "perfcast.metrics/1", "metrics": [)";
  for (size_t i = 0; i < entries.size(); ++i) text += (i > 0 ? "," : "") + entries[i];
  return Catalogue::parse(text + "]}", "c.json");
}

std::string mistake_of(const std::vector<std::string>& entries) {
  const auto catalogue = parse(entries);
  EXPECT_FALSE(catalogue);
  if (catalogue) return {};
  EXPECT_EQ(catalogue.error().code, "bad-catalogue");
  return catalogue.error().message;
}

TEST(Catalogue, NamesEndInTheirUnit) {
  const auto ends_in = [](const std::string& name, const std::string& suffix) {
    return name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
  };
  for (const Metric& metric : Catalogue::built_in().metrics()) {
    if (metric.unit == "1") {
      EXPECT_TRUE(ends_in(metric.name, "_count") || ends_in(metric.name, "_ratio")) << metric.name;
    } else if (metric.unit == "byte") {
      EXPECT_TRUE(ends_in(metric.name, "_bytes")) << metric.name;
    } else if (metric.unit == "J") {
      EXPECT_TRUE(ends_in(metric.name, "_joules")) << metric.name;
    } else if (metric.unit == "byte/s") {
      EXPECT_TRUE(ends_in(metric.name, "_bytes_per_s")) << metric.name;
    } else if (metric.unit == "1/s") {
      EXPECT_TRUE(ends_in(metric.name, "_per_s") && !ends_in(metric.name, "_bytes_per_s")) << metric.name;
    } else {
      EXPECT_EQ(metric.unit, "s") << metric.name;
      EXPECT_TRUE(ends_in(metric.name, "_s") && metric.name.find("_per_") == std::string::npos) << metric.name;
    }
  }
}

TEST(Catalogue, EveryEntryIsComplete) {
  std::set<std::string> names;
  for (const Metric& metric : Catalogue::built_in().metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_GT(metric.description.size(), 5u) << metric.name;
    EXPECT_NE(metric.group, "") << metric.name;
    EXPECT_EQ(metric.kind, metric.formula.empty() ? "counter" : "derived") << metric.name;
    EXPECT_EQ(metric.sources.empty(), metric.kind == "derived") << metric.name;
  }
}

TEST(Catalogue, EveryFormulaReadsMetrics) {
  for (const Metric& metric : Catalogue::built_in().metrics()) {
    if (metric.formula.empty()) continue;
    const auto formula = Expression::parse(metric.formula, metric.name, "metric",
                                           [](std::string_view) { return ExpressionType::kNumber; });
    ASSERT_TRUE(formula) << to_text(formula.error());
    EXPECT_THAT(formula->names(), testing::Not(IsEmpty())) << metric.name;
    for (const std::string& name : formula->names()) EXPECT_NE(Catalogue::built_in().find(name), nullptr) << name;
  }
}

TEST(Catalogue, HoldsAllFifteenCountersOfTableOne) {
  std::map<std::string, std::vector<std::string>> by_row;
  std::vector<std::string> gpu_only;
  for (const Metric& metric : Catalogue::built_in().metrics()) {
    if (!metric.table1.empty()) by_row[metric.table1].push_back(metric.name);
    if (metric.gpu_only && !metric.imported) gpu_only.push_back(metric.name);
  }
  EXPECT_THAT(by_row, UnorderedElementsAre(
                          Pair("# Instructions", ElementsAre("instructions_count")),
                          Pair("Ratio Int Arith. to Total Instr.", ElementsAre("int_arith_per_instruction_ratio")),
                          Pair("Ratio Float Arith. to Total Instr.", ElementsAre("float_arith_per_instruction_ratio")),
                          Pair("Ratio Mem. to Total Instr.", ElementsAre("memory_per_instruction_ratio")),
                          Pair("Ratio Caches Misses to Hits", ElementsAre("cache_misses_per_hit_ratio")),
                          Pair("# Page Levels", ElementsAre("page_table_levels_count")),
                          Pair("# Page Faults", ElementsAre("page_faults_count")),
                          Pair("GPU2CPU & CPU2GPU Bandwidth",
                               UnorderedElementsAre("gpu_to_cpu_bytes_per_s", "cpu_to_gpu_bytes_per_s")),
                          Pair("Ratio Control to Total Instr.", ElementsAre("control_per_instruction_ratio")),
                          Pair("Ratio Indep. Instr. to Total Instr.", ElementsAre("indep_per_instruction_ratio")),
                          Pair("Ratio Branch Misses to Branch Instr.", ElementsAre("branch_misses_per_branch_ratio")),
                          Pair("# Threads / Streams", ElementsAre("program_threads_count")),
                          Pair("Warp Blocks", ElementsAre("warp_blocks_count")),
                          Pair("IO Bytes Read/Written", UnorderedElementsAre("io_read_bytes", "io_written_bytes")),
                          Pair("IO File Descriptors Opened", ElementsAre("files_opened_count"))));
  EXPECT_THAT(gpu_only, UnorderedElementsAre("gpu_to_cpu_bytes_per_s", "cpu_to_gpu_bytes_per_s", "warp_blocks_count"));
}

TEST(Catalogue, MapsWhatCollectorsCallThings) {
  const Catalogue& catalogue = Catalogue::built_in();
  ASSERT_NE(catalogue.metric_of("cachegrind", "D1mr"), nullptr);
  EXPECT_EQ(*catalogue.metric_of("cachegrind", "D1mr"), "cachegrind_read_l1_misses_count");
  EXPECT_EQ(*catalogue.metric_of("qemu", "op_int_div"), "op_int_div_count");
  EXPECT_EQ(*catalogue.metric_of("qemu", "bytes_loaded"), "loaded_bytes");
  EXPECT_EQ(*catalogue.metric_of("perf_event", "cache-misses"), "hw_cache_misses_count");
  EXPECT_EQ(*catalogue.metric_of("native", "wall_s"), "wall_s");
  EXPECT_EQ(catalogue.metric_of("qemu", "D1mr"), nullptr);
  EXPECT_EQ(catalogue.metric_of("qemu", ""), nullptr);
}

TEST(Catalogue, DerivesExactValues) {
  const MetricValues values = Catalogue::built_in().derive({{"instructions_count", 1000},
                                                            {"op_int_alu_count", 300},
                                                            {"op_int_mul_count", 20},
                                                            {"op_logic_count", 80},
                                                            {"op_cond_branch_count", 150},
                                                            {"op_ret_count", 10},
                                                            {"loads_count", 200},
                                                            {"stores_count", 50},
                                                            {"loaded_bytes", 1600},
                                                            {"stored_bytes", 400},
                                                            {"miss_48k_count", 50},
                                                            {"user_s", 0.375},
                                                            {"system_s", 0.125},
                                                            {"cpu_s", 0.5},
                                                            {"wall_s", 0.25},
                                                            {"page_faults_minor_count", 30},
                                                            {"page_faults_major_count", 2}});
  EXPECT_EQ(values.at("int_arith_per_instruction_ratio"), 0.4);
  EXPECT_EQ(values.at("control_per_instruction_ratio"), 0.16);
  EXPECT_EQ(values.at("memory_per_instruction_ratio"), 0.25);
  EXPECT_EQ(values.at("bytes_per_instruction_ratio"), 2);
  EXPECT_EQ(values.at("bytes_per_access_ratio"), 8);
  EXPECT_EQ(values.at("miss_48k_per_instruction_ratio"), 0.05);
  EXPECT_EQ(values.at("l1d_miss_per_access_ratio"), 0.2);
  EXPECT_DOUBLE_EQ(values.at("cache_misses_per_hit_ratio"), 0.25);
  EXPECT_EQ(values.at("kernel_cpu_ratio"), 0.25);
  EXPECT_EQ(values.at("cpu_use_ratio"), 2);
  EXPECT_EQ(values.at("page_faults_count"), 32);
  EXPECT_EQ(values.at("page_faults_per_s"), 64);
  EXPECT_EQ(values.at("instructions_per_s"), 2000);
}

TEST(Catalogue, CachegrindStandsInForThePlugin) {
  const MetricValues values = Catalogue::built_in().derive({{"cachegrind_instructions_count", 1000},
                                                            {"cachegrind_reads_count", 300},
                                                            {"cachegrind_writes_count", 100},
                                                            {"cachegrind_read_l1_misses_count", 30},
                                                            {"cachegrind_write_l1_misses_count", 10},
                                                            {"cachegrind_cond_branches_count", 200},
                                                            {"cachegrind_cond_mispredictions_count", 20}});
  EXPECT_EQ(values.at("program_instructions_count"), 1000);
  EXPECT_EQ(values.at("memory_per_instruction_ratio"), 0.4);
  EXPECT_EQ(values.at("l1d_miss_per_access_ratio"), 0.1);
  EXPECT_EQ(values.at("branch_misses_per_branch_ratio"), 0.1);
  EXPECT_EQ(values.count("llc_miss_per_access_ratio"), 0u);
  EXPECT_EQ(values.count("instructions_count"), 0u);
  EXPECT_EQ(values.count("int_arith_per_instruction_ratio"), 0u);
}

TEST(Catalogue, MissingIsNeverZero) {
  EXPECT_THAT(Catalogue::built_in().derive({}), IsEmpty());
  const auto values = Catalogue::built_in().derive({{"system_s", 0.0}, {"cpu_s", 0.0}});
  EXPECT_THAT(values, UnorderedElementsAre(Pair("system_s", 0), Pair("cpu_s", 0)));
}

TEST(Catalogue, DerivedMetricsReadDerivedMetricsInAnyOrder) {
  const auto catalogue =
      parse({derived("c_count", "b_count * 2"), derived("b_count", "a_count + 1"), counter("a_count")});
  ASSERT_TRUE(catalogue) << to_text(catalogue.error());
  EXPECT_THAT(catalogue->derive({{"a_count", 4}}),
              UnorderedElementsAre(Pair("a_count", 4), Pair("b_count", 5), Pair("c_count", 10)));
  // What is given but can't be computed is kept; what can be is computed anew.
  EXPECT_THAT(catalogue->derive({{"b_count", 7}}), UnorderedElementsAre(Pair("b_count", 7), Pair("c_count", 14)));
  EXPECT_EQ(catalogue->derive({{"a_count", 4}, {"b_count", 7}}).at("b_count"), 5);
}

TEST(Catalogue, EveryMistakeIsNamed) {
  EXPECT_THAT(mistake_of({derived("a_count", "b_count"), derived("b_count", "c_count"), derived("c_count", "a_count")}),
              "formulas read each other in a circle: a_count -> b_count -> c_count -> a_count");
  EXPECT_THAT(mistake_of({derived("a_count", "a_count + 1")}), HasSubstr("in a circle: a_count -> a_count"));
  EXPECT_EQ(mistake_of({counter("loads_count"), derived("x_ratio", "load_count / 2")}),
            "c.json.metrics[1].formula: found load_count, expected a metric, such as loads_count, x_ratio");
  EXPECT_EQ(mistake_of({counter("a_count"), derived("b_ratio", "a_count /")}),
            "c.json.metrics[1].formula: column 10: the end where a value is missing, expected a "
            "metric, a number or quoted text");
  EXPECT_EQ(mistake_of({counter("a_count"), counter("a_count")}),
            "c.json.metrics[1].name: found a_count again, expected each name once; c.json.metrics[1].sources.qemu: "
            "found a_count, which is a_count already");
  EXPECT_THAT(mistake_of({counter("speed")}), HasSubstr("found speed, expected a name that ends in _count, _bytes"));
  EXPECT_EQ(mistake_of({counter("a_bytes", "1")}), "c.json.metrics[0].unit: found '1', expected 'byte'");
  EXPECT_THAT(mistake_of({R"({"name": "a_count", "unit": "1"})"}),
              HasSubstr("c.json.metrics[0].kind: found nothing, expected a string"));
  EXPECT_THAT(mistake_of({"7"}), HasSubstr("c.json.metrics[0]: found number, expected an object"));
  // Both mistakes at once.
  const std::string both = mistake_of({counter("Bad"), counter("worse")});
  EXPECT_THAT(both, HasSubstr("'Bad'"));
  EXPECT_THAT(both, HasSubstr("worse"));
}

TEST(Catalogue, OtherDocumentsAreRefused) {
  EXPECT_EQ(Catalogue::parse("{", "c.json").error().code, "bad-json");
  EXPECT_EQ(Catalogue::parse("[]", "c.json").error().code, "bad-catalogue");
  EXPECT_EQ(Catalogue::parse(R"({"schema": "x", "metrics": []})", "c.json").error().message, "found schema x");
  const auto future = Catalogue::parse(R"({"schema": "perfcast.metrics/2", "metrics": []})", "c.json");
  EXPECT_EQ(future.error().code, "future-version");
}

TEST(Catalogue, DocumentationIsUpToDate) {
  const auto page = read_file(PERFCAST_SOURCE_DIR "/docs/metrics.md");
  ASSERT_TRUE(page) << to_text(page.error());
  EXPECT_TRUE(*page == catalogue_as_markdown(Catalogue::built_in())) << "run tools/docs";
}

TEST(Catalogue, MarkdownEscapesBars) {
  const auto catalogue = parse({R"({"name": "a_count", "unit": "1", "kind": "counter", "group": "g",
      "description": "this | that", "gpu_only": true, "table1": "T", "sources": {"qemu": "a|b", "native": "c"}})"});
  ASSERT_TRUE(catalogue) << to_text(catalogue.error());
  EXPECT_THAT(catalogue_as_markdown(*catalogue),
              HasSubstr("## g\n\n| metric | unit | meaning | source or formula |\n|---|---|---|---|\n"
                        "| `a_count` | 1 | this \\| that; GPU profiles only (Table I: T) | "
                        "native: `c`, qemu: `a\\|b` |\n"));
}

}  // namespace
}  // namespace perfcast
