#include "profile/collect/qemu/plugin_counts.h"

#include <gmock/gmock.h>

#include "profile/collect/qemu/qemu_collector.h"

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::Pair;

const std::string kHead = "perfcast-qemu 1\narch x86_64\nmode full\npid 7\nppid 6\n";

std::string error_of(const std::string& text) {
  const auto counts = parse_plugin_counts(text, "counts.7");
  return counts ? "accepted" : counts.error().where + ": " + counts.error().message;
}

TEST(PluginCounts, AreRead) {
  const auto counts = parse_plugin_counts(
      kHead + "exec 1\nexec_path /usr/bin/a b\ninstructions 18446744073709551615\nop_mov 4\nend 1\n", "f");
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->arch, "x86_64");
  EXPECT_EQ(counts->mode, "full");
  EXPECT_EQ(counts->process, 7);
  EXPECT_EQ(counts->end, PluginEnd::kUnseen);
  EXPECT_EQ(counts->exec_path, "/usr/bin/a b");
  EXPECT_THAT(counts->counts, ElementsAre(Pair("instructions", 18446744073709551615u), Pair("op_mov", 4u)));
}

TEST(PluginCounts, RefuseWhatIsWrong) {
  EXPECT_EQ(error_of(""), "counts.7:0: not a file of the QEMU plugin");
  EXPECT_EQ(error_of("instructions 4\n"), "counts.7:1: not a file of the QEMU plugin");
  EXPECT_EQ(error_of("perfcast-qemu x\n"), "counts.7:1: no version number");
  EXPECT_EQ(error_of(kHead + "instructions 4\n"), "counts.7:6: the file is cut off");
  EXPECT_EQ(error_of(kHead + "instructions 4\nend 1"), "counts.7:6: the file is cut off");
  EXPECT_EQ(error_of(kHead + "instructions 4\nend 1\nmore 1\n"), "counts.7:7: text after the end");
  EXPECT_EQ(error_of(kHead + "instructions -4\nend 1\n"), "counts.7:6: '-4' is no count");
  EXPECT_EQ(error_of(kHead + "instructions 18446744073709551616\nend 1\n"),
            "counts.7:6: '18446744073709551616' is no count");
  EXPECT_EQ(error_of(kHead + "instructions\nend 1\n"), "counts.7:6: '' is no count");
  EXPECT_EQ(error_of(kHead + "Op 1\nend 1\n"), "counts.7:6: 'Op' is no key");
  EXPECT_EQ(error_of(kHead + "a 1\na 1\nend 1\n"), "counts.7:7: the key 'a' stands twice");
  EXPECT_EQ(error_of(kHead + "end 1\n"), "counts.7:6: no instruction count");
  EXPECT_EQ(error_of("perfcast-qemu 1\narch mips\nend 1\n"), "counts.7:2: 'mips'");
  EXPECT_EQ(parse_plugin_counts("perfcast-qemu 2\n", "f").error().code, "future-version");
}

PluginCounts part(int64_t process, const std::string& program, std::map<std::string, uint64_t, std::less<>> counts) {
  PluginCounts result;
  result.arch = "x86_64";
  result.mode = "full";
  result.process = process;
  result.program = "/usr/bin/" + program;
  result.command = program + " of " + std::to_string(process);
  result.counts = std::move(counts);
  return result;
}

TEST(PluginCounts, SayWhichFilesRan) {
  const auto counts =
      parse_plugin_counts(kHead + "instructions 9\nfile 7 3 /usr/lib/a b.so\nfile 2 0 \nend 1\n", "counts.7");
  ASSERT_TRUE(counts) << counts.error().message;
  ASSERT_EQ(counts->files.size(), 2u);
  EXPECT_EQ(counts->files[0].path, "/usr/lib/a b.so");
  EXPECT_EQ(counts->files[0].instructions_count, 7);
  EXPECT_EQ(counts->files[0].vector_count, 3);
  EXPECT_EQ(counts->files[1].path, "");
  for (const char* wrong : {"file", "file 7", "file 7 3", "file 3 7 /a", "file -1 0 /a", "file x 0 /a"})
    EXPECT_THAT(error_of(kHead + wrong + "\nend 1\n"), testing::HasSubstr("is no file that ran")) << wrong;
  PluginCounts of_group = *counts;
  of_group.group = 0;
  const auto run = join_plugin_counts({*counts, of_group}, {2}, "run");
  ASSERT_TRUE(run);
  ASSERT_EQ(run->files.size(), 4u);
  EXPECT_EQ(run->files[2].vector_count, 6);
}

TEST(PluginCounts, OfARunAddUpByProgram) {
  PluginCounts shell = part(7, "sh", {{"instructions", 5}, {"only_here", 1}});
  PluginCounts sudo = part(8, "sh", {{"instructions", 1}});
  sudo.end = PluginEnd::kUnseen;
  sudo.exec_path = "/usr/bin/sudo";
  sudo.exec_why = "setuid";
  PluginCounts compiler = part(9, "cc1", {{"instructions", 100}, {"op_mov", 10}});
  compiler.group = 0;
  PluginCounts second = part(10, "cc1", {{"instructions", 300}, {"op_mov", 20}});
  second.group = 0;
  second.arch = "aarch64";
  const auto run = join_plugin_counts({shell, sudo, compiler, second}, {2.5}, "run");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(run->counts, ElementsAre(Pair("instructions", 1006), Pair("only_here", 1), Pair("op_mov", 75)));
  EXPECT_EQ(run->processes, 4u);
  ASSERT_EQ(run->programs.size(), 2u);
  EXPECT_EQ(run->programs[0].name, "cc1");
  EXPECT_EQ(run->programs[0].command, "cc1 of 10");
  EXPECT_EQ(run->programs[0].processes, 2u);
  EXPECT_EQ(run->programs[0].represented, 5);
  EXPECT_THAT(run->programs[1].counts, ElementsAre(Pair("instructions", 6), Pair("only_here", 1)));
  ASSERT_EQ(run->unseen.size(), 1u);
  EXPECT_EQ(run->unseen[0].path, "/usr/bin/sudo");
  EXPECT_EQ(run->unseen[0].why, "setuid");
  EXPECT_EQ(run->arch, "aarch64");
  EXPECT_THAT(run->other_arches, ElementsAre("x86_64"));
}

TEST(PluginCounts, ThreadsAreToldApart) {
  const std::string text = kHead + "program /bin/a\ninstructions 30\n";
  const auto counts =
      parse_plugin_counts(text + "thread0_instructions 10\nthread0_loads 3\nthread2_instructions 20\nend 1\n", "f");
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_THAT(counts->counts, ElementsAre(Pair("instructions", 30u)));
  const auto run = join_plugin_counts({*counts}, {}, "f");
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->threads.size(), 2u);  // most instructions first; none of number 1
  EXPECT_EQ(run->threads[0].program, "a");
  EXPECT_THAT(run->threads[0].counts, ElementsAre(Pair("instructions", 20)));
  EXPECT_THAT(run->threads[1].counts, ElementsAre(Pair("instructions", 10), Pair("loads", 3)));
  EXPECT_EQ(error_of(text + "thread0_loads 1\nthread0_loads 1\nend 1\n"),
            "counts.7:9: the key 'thread0_loads' stands twice");
  // Beyond those that the plugin tells apart: a key like any other.
  EXPECT_EQ(parse_plugin_counts(text + "thread1024_loads 1\nend 1\n", "f")->counts.count("thread1024_loads"), 1u);
}

TEST(PluginCounts, ReplicatesAddUpToo) {
  const auto sampled = parse_plugin_counts(kHead + "instructions 10\nloads 4\nr0_loads 3\nr7_loads 5\nend 1\n", "f");
  ASSERT_TRUE(sampled) << sampled.error().message;
  EXPECT_THAT(sampled->counts, ElementsAre(Pair("instructions", 10u), Pair("loads", 4u)));
  ASSERT_EQ(sampled->replicates.size(), kReplicates);
  EXPECT_EQ(error_of(kHead + "instructions 10\nr0_loads 3\nr0_loads 3\nend 1\n"),
            "counts.7:8: the key 'r0_loads' stands twice");
  const auto run = join_plugin_counts({*sampled, part(9, "whole", {{"instructions", 1}, {"loads", 1}})}, {}, "run");
  ASSERT_TRUE(run);
  ASSERT_EQ(run->replicates.size(), kReplicates);
  EXPECT_EQ(run->replicates[0].at("loads"), 4);
  EXPECT_EQ(run->replicates[1].at("loads"), 5);  // nothing said otherwise
  EXPECT_EQ(run->replicates[7].at("loads"), 6);
  EXPECT_EQ(run->replicates[7].at("instructions"), 11);
}

TEST(PluginCounts, MembersOfAGroupAreDealtToReplicates) {
  std::vector<PluginCounts> parts = {part(1, "make", {{"instructions", 7}})};
  for (int i = 0; i < 12; ++i) {
    parts.push_back(part(10 + i, "cc1", {{"instructions", 100 + static_cast<uint64_t>(i)}}));
    parts.back().group = 0;
    parts.back().unit = 20 + i;
  }
  const auto run = join_plugin_counts(parts, {5}, "run");
  ASSERT_TRUE(run);
  ASSERT_EQ(run->replicates.size(), kReplicates);
  // Members 0 and 8 in the first, 3 and 11 in the fourth, 4 alone in the fifth; each stands for all twelve.
  EXPECT_DOUBLE_EQ(run->replicates[0].at("instructions"), 7 + 5 * 6 * (100 + 108));
  EXPECT_DOUBLE_EQ(run->replicates[3].at("instructions"), 7 + 5 * 6 * (103 + 111));
  EXPECT_DOUBLE_EQ(run->replicates[4].at("instructions"), 7 + 5 * 12 * 104);
  parts.resize(8);  // seven members: too few
  EXPECT_TRUE(join_plugin_counts(parts, {5}, "run")->replicates.empty());
}

TEST(PluginCounts, OfARunRefuseWhatDoesNotBelongTogether) {
  EXPECT_EQ(join_plugin_counts({}, {}, "run").error().code, "no-counts");
  PluginCounts mix = part(9, "a", {{"instructions", 1}});
  mix.mode = "mix";
  EXPECT_EQ(join_plugin_counts({part(7, "a", {{"instructions", 1}}), mix}, {}, "run").error().code,
            "bad-plugin-counts");
  mix.group = 0;
  EXPECT_EQ(join_plugin_counts({mix}, {}, "run").error().code, "bad-plugin-counts");
}

TEST(PluginCounts, GetCatalogueNames) {
  const MetricValues metrics = metrics_of({{"instructions", 10}, {"op_int_alu", 4}, {"unheard_of", 3}});
  EXPECT_THAT(metrics, ElementsAre(Pair("instructions_count", 10), Pair("op_int_alu_count", 4)));
}

}  // namespace
}  // namespace perfcast
