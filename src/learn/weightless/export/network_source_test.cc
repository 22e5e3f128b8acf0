#include "learn/weightless/export/network_source.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "learn/weightless/test_networks.h"

namespace perfcast {
namespace {

ExportedNetwork exported(LutNetwork network, bool least_wins = false) {
  ExportedNetwork made{"best_cpu", std::move(network), {}, {}, {}, least_wins, {"What */ it \"is\"\\"}};
  for (size_t i = 0; i < made.network.inputs(); ++i) {
    made.inputs.push_back("input " + std::to_string(i));
    made.fill.push_back(0.25f);
  }
  for (size_t o = 0; o < made.network.outputs(); ++o) made.outputs.push_back("CPU \"" + std::to_string(o) + "\" */");
  return made;
}

class NetworkSource : public testing::TestWithParam<SourceFormat> {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "perfcast_export_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::vector<SourceFile>& files) const {
    for (const SourceFile& file : files) std::ofstream(folder_ / file.name) << file.text;
  }
  int shell(const std::string& command) const {
    return std::system(("cd '" + folder_.string() + "' && (" + command + ") > log 2>&1").c_str());
  }
  std::string log() const {
    std::ifstream in(folder_ / "log");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool is_there(const std::string& tool) const { return shell("command -v " + tool) == 0; }
  // Builds and runs the self-test.
  int build() const {
    switch (GetParam()) {
      case SourceFormat::kC:
        return shell("cc -std=c99 -O1 -Wall -Werror -pedantic -o test best_cpu.c best_cpu_selftest.c -lm");
      case SourceFormat::kCpp:
        return shell("c++ -std=c++17 -O1 -Wall -Werror -pedantic -o test best_cpu_selftest.cpp");
      case SourceFormat::kVerilog:
        break;
    }
    return shell("iverilog -g2001 -Wall -o test best_cpu.v best_cpu_test.v");
  }
  int run() const {
    return shell(GetParam() == SourceFormat::kVerilog ? "vvp -n test | tee said && grep -q '^ok' said" : "./test");
  }
  const char* tool() const {
    return GetParam() == SourceFormat::kC ? "cc" : GetParam() == SourceFormat::kCpp ? "c++" : "iverilog";
  }

  std::filesystem::path folder_;
};

TEST_P(NetworkSource, AnswersAsTheNetwork) {
  if (!is_there(tool())) GTEST_SKIP() << "there is no " << tool() << " here";
  using enum TestHead;
  Random random(3);
  struct Case {
    std::vector<size_t> luts;
    size_t arity, outputs;
    TestHead counts;
  };
  for (const Case& of : std::vector<Case>{{{48}, 6, 8, kVotes},
                                          {{40, 12}, 4, 3, kVotes},
                                          {{30}, 5, 2, kBits},
                                          {{25, 10}, 2, 3, kAddresses},
                                          {{40}, 4, 5, kAddresses},
                                          {{5}, 1, 1, kBits}}) {
    const auto network =
        exported(random_network(6, of.luts, of.arity, of.outputs, of.counts, random).pruned(), of.counts != kVotes);
    const auto files = network_source(network, GetParam(), drawn_rows(network, 40, 1));
    ASSERT_TRUE(files) << files.error().message;
    write(*files);
    ASSERT_EQ(build(), 0) << log();
    EXPECT_EQ(run(), 0) << log();
    EXPECT_NE(log().find("ok: 40 rows"), std::string::npos) << log();
  }
}

// What it is held against can fail.
TEST_P(NetworkSource, NoticesAnotherNetwork) {
  if (!is_there(tool())) GTEST_SKIP() << "there is no " << tool() << " here";
  Random random(4);
  const auto network = exported(random_network(6, {48}, 4, 4, TestHead::kVotes, random));
  auto rows = drawn_rows(network, 5, 1);
  rows[3].sums[1] += 1;
  const auto files = network_source(network, GetParam(), rows);
  ASSERT_TRUE(files) << files.error().message;
  write(*files);
  ASSERT_EQ(build(), 0) << log();
  EXPECT_NE(run(), 0);
  EXPECT_NE(log().find("row 3 differs"), std::string::npos) << log();
  EXPECT_EQ(log().find("ok"), std::string::npos) << log();
}

INSTANTIATE_TEST_SUITE_P(Formats, NetworkSource,
                         testing::Values(SourceFormat::kC, SourceFormat::kCpp, SourceFormat::kVerilog),
                         [](const auto& of) { return std::string(to_text(of.param)); });

TEST(NetworkSourceNames, MustBeIdentifiers) {
  Random random(5);
  auto network = exported(random_network(3, {8}, 2, 2, TestHead::kVotes, random));
  const auto rows = drawn_rows(network, 1, 1);
  for (const char* name : {"", "1a", "a-b", "a b", "a__b", "_a", "stdint", "a_", "ä", "a\nb"}) {
    network.name = name;
    const auto files = network_source(network, SourceFormat::kC, rows);
    ASSERT_FALSE(files) << name;
    EXPECT_EQ(files.error().code, "bad-name");
  }
  network.name = std::string(64, 'a');
  EXPECT_FALSE(network_source(network, SourceFormat::kC, rows));
  network.name = "int";  // a prefix and nothing else
  EXPECT_TRUE(network_source(network, SourceFormat::kCpp, rows));
}

TEST(NetworkSourceNames, MustFitTheNetwork) {
  Random random(5);
  const auto network = exported(random_network(3, {8}, 2, 2, TestHead::kVotes, random));
  const auto rows = drawn_rows(network, 2, 1);
  const auto code = [&](const auto& change) {
    auto changed = network;
    auto changed_rows = rows;
    change(changed, changed_rows);
    const auto files = network_source(changed, SourceFormat::kVerilog, changed_rows);
    return files ? std::string() : files.error().code;
  };
  EXPECT_EQ(code([](auto&, auto&) {}), "");
  EXPECT_EQ(code([](auto& of, auto&) { of.inputs.pop_back(); }), "bad-network");
  EXPECT_EQ(code([](auto& of, auto&) { of.outputs.clear(); }), "bad-network");
  EXPECT_EQ(code([](auto& of, auto&) { of.fill[0] = NAN; }), "bad-network");
  EXPECT_EQ(code([](auto&, auto& of) { of[1].inputs.pop_back(); }), "bad-network");
  EXPECT_EQ(code([](auto&, auto& of) { of.clear(); }), "bad-network");
}

TEST(NetworkSize, CountsWhatIsThere) {
  // Two tables of two bits of one input; a vote each.
  const auto network = LutNetwork::create(*Thermometer::from_thresholds({{1, 2}}), {{2, 2, {0, 1, 1, 0}, {6, 9}}},
                                          {2, {1, 0, 0, 1}, {0, 0}, 1});
  ASSERT_TRUE(network);
  const NetworkSize size = size_of(*network);
  EXPECT_EQ(size.thresholds, 2U);
  EXPECT_EQ(size.tables, 2U);
  EXPECT_EQ(size.data_bytes, 2U * 6 + 4 + 4 * 2 + 2 + 2 * 2);
  EXPECT_EQ(size.encoder_luts, 14U);
  EXPECT_EQ(size.table_luts, 2U);
  EXPECT_EQ(size.sum_luts, 2U);
  EXPECT_EQ(size.best_luts, 2U);
  EXPECT_EQ(size.luts(), 20U);
}

}  // namespace
}  // namespace perfcast
