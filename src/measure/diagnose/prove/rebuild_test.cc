#include "measure/diagnose/prove/rebuild.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process/program_inspector.h"
#include "base/process/tool.h"
#include "measure/diagnose/prove/prove.h"
#include "measure/diagnose/prove/source_tree.h"

namespace perfcast::measure {
namespace {

namespace fs = std::filesystem;

TEST(BuildLine, QuotesFlagsForAShellOnce) {
  EXPECT_EQ(build_line("make CXXFLAGS={flags} LDFLAGS={flags}", "-O3 -g"), "make CXXFLAGS='-O3 -g' LDFLAGS='-O3 -g'");
  EXPECT_EQ(build_line("make CXXFLAGS=\"-Wall {flags}\"", "-O3 -g"), "make CXXFLAGS=\"-Wall -O3 -g\"");
  EXPECT_EQ(build_line("make CXXFLAGS='-Wall {flags}' F={flags}", "-O2"), "make CXXFLAGS='-Wall -O2' F='-O2'");
  EXPECT_EQ(build_line("cc {flags} -o prog && cc {flags}", "-O3 -g"), "cc -O3 -g -o prog && cc -O3 -g");
  EXPECT_EQ(build_line("echo \\\"{flags}", "-O2"), "echo \\\"'-O2'");
  EXPECT_EQ(build_line("echo it\\'s {flag} {flags", "-O2"), "echo it\\'s {flag} {flags");
}

// A tree whose program prints how it was optimised, and sums up.
class Tree : public testing::Test {
 protected:
  void SetUp() override {
    if (find_in_path("cc").empty() || find_in_path("make").empty()) GTEST_SKIP() << "no compiler, or no make";
    auto folder = TempFolder::create();
    ASSERT_TRUE(folder) << to_text(folder.error());
    folder_.emplace(std::move(*folder));
    tree_ = fs::path(folder_->path()) / "a tree";
    fs::create_directories(tree_ / "src");
    fs::create_directories(tree_ / ".git");
    write(".git/HEAD", "x");
    write("src/Makefile",
          "# " + tree_.string() +
              "/src\nCFLAGS = -O0\n../prog: sum.o\n\tcc $(CFLAGS) -o $@ $<\nsum.o: sum.c\n\tcc $(CFLAGS) -c $<\n");
    write("src/sum.c",
          "#include <stdio.h>\nint main(int n, char** words) {\n  double sum = 0;\n"
          "  for (long i = 0; i < 16000000; i++) sum += (double)(i % 7);\n"
          "#ifdef OTHER\n  puts(\"other\");\n#endif\n"
          "  printf(\"%d %.0f\\n\", n > 1, sum);\n  return words[0] == NULL;\n}\n");
    ASSERT_TRUE(answer_of({"make", "-s", "-C", (tree_ / "src").string()}, 60));
  }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomically((tree_ / name).string(), text));
  }
  RebuildRequest request(const std::string& build = "make -C src CFLAGS={flags}") const {
    RebuildRequest request;
    request.build = build;
    request.source = tree_.string();
    request.command = {(tree_ / "prog").string()};
    return request;
  }
  static std::string error_of(const RebuildRequest& request) {
    const auto rebuilder = Rebuilder::create(request);
    return rebuilder ? "" : rebuilder.error().code + " " + rebuilder.error().where;
  }
  std::optional<TempFolder> folder_;
  fs::path tree_;
};

TEST_F(Tree, IsBuiltAnewInACopyAlone) {
  const auto before = list_source_files(tree_, 1 << 20);
  ASSERT_TRUE(before);
  EXPECT_FALSE(before->contains(".git/HEAD"));
  auto rebuilder = Rebuilder::create(request());
  ASSERT_TRUE(rebuilder) << to_text(rebuilder.error());
  EXPECT_EQ((*rebuilder)->program(), (tree_ / "prog").string());
  EXPECT_FALSE((*rebuilder)->is_older_than_sources());
  const auto plain = (*rebuilder)->rebuild("-O0");
  const auto other = (*rebuilder)->rebuild("-O2 -DOTHER");
  ASSERT_TRUE(plain) << to_text(plain.error());
  ASSERT_TRUE(other) << to_text(other.error());
  EXPECT_NE(plain->path, other->path);
  EXPECT_GT(plain->build_s, 0);
  EXPECT_EQ(*answer_of(plain->command, 60), "0 47999995\n");
  EXPECT_EQ(*answer_of(other->command, 60), "other\n0 47999995\n");
  // The same flags are built once.
  EXPECT_EQ((*rebuilder)->rebuild("-O0")->path, plain->path);
  // A makefile that names the tree names the copy.
  const auto makefile = read_file(fs::path(other->path).parent_path().string() + "/src/Makefile");
  ASSERT_TRUE(makefile);
  EXPECT_EQ(makefile->find(tree_.string()), std::string::npos);
  EXPECT_FALSE(fs::exists(fs::path(other->path).parent_path() / ".git"));
  const auto after = list_source_files(tree_, 1 << 20);
  ASSERT_TRUE(after);
  EXPECT_TRUE(*before == *after);
  const std::string copy = plain->path;
  rebuilder->reset();
  EXPECT_FALSE(fs::exists(copy));
}

TEST_F(Tree, RunsWhereTheUserDoes) {
  const fs::path here = fs::current_path();
  fs::current_path(tree_ / "src");
  RebuildRequest relative = request();
  relative.source = "..";
  relative.command = {"../prog", "sum.c", (tree_ / "src" / "sum.c").string(), "/etc/passwd", "none"};
  auto rebuilder = Rebuilder::create(relative);
  ASSERT_TRUE(rebuilder) << to_text(rebuilder.error());
  const auto built = (*rebuilder)->rebuild("-O1");
  fs::current_path(here);
  ASSERT_TRUE(built) << to_text(built.error());
  const std::string copy = fs::path(built->path).parent_path().string();
  EXPECT_EQ(built->command, (std::vector<std::string>{"env", "-C", copy + "/src", "../prog", "sum.c",
                                                      copy + "/src/sum.c", "/etc/passwd", "none"}));
  EXPECT_EQ(*answer_of(built->command, 60), "1 47999995\n");
}

TEST_F(Tree, IsRefusedWhereItCanNotBeBuilt) {
  EXPECT_EQ(error_of(request("make CFLAGS=-O2")), "bad-usage --rebuild");
  RebuildRequest wrong = request();
  wrong.source = (tree_ / "prog").string();
  EXPECT_EQ(error_of(wrong), "bad-usage --source");
  wrong = request();
  wrong.command = {"sort", "/etc/passwd"};
  EXPECT_EQ(error_of(wrong), "bad-usage --source");
  wrong = request();
  wrong.most_bytes = 100;
  EXPECT_EQ(error_of(wrong), "tree-too-large " + tree_.string());
}

TEST_F(Tree, SaysWhatWentWrongInABuild) {
  const auto failed_by = [&](const std::string& build, const std::string& flags) {
    auto rebuilder = Rebuilder::create(request(build));
    EXPECT_TRUE(rebuilder);
    const auto built = (*rebuilder)->rebuild(flags);
    return built ? std::string() : built.error().code + ": " + built.error().message;
  };
  const std::string wrong = failed_by("make -C src CFLAGS={flags}", "--no-such-flag");
  EXPECT_TRUE(wrong.starts_with("build-failed: the build with --no-such-flag failed: ")) << wrong;
  EXPECT_NE(wrong.find("no-such-flag"), std::string::npos);
  EXPECT_TRUE(failed_by("true {flags}", "-O2").starts_with("not-rebuilt: "));
  const std::string spoilt =
      failed_by("make -C src CFLAGS={flags} && touch '" + (tree_ / "left").string() + "'", "-O2");
  EXPECT_TRUE(spoilt.starts_with("tree-changed: left of the source tree changed")) << spoilt;
  fs::remove(tree_ / "left");
}

TEST_F(Tree, TellsFlagsThatDoNotReachTheCompiler) {
  const auto tried = [&](const std::string& build, std::vector<Experiment> experiments) {
    auto rebuilder = Rebuilder::create(request(build));
    EXPECT_TRUE(rebuilder);
    std::vector<Finding> findings(1);
    findings[0].experiments = std::move(experiments);
    ProofRequest proofs;
    proofs.command = {(tree_ / "prog").string()};
    proofs.run_s = 0.05;
    proofs.budget_s = 60;
    proofs.rebuilder = rebuilder->get();
    EXPECT_TRUE(prove_findings(proofs, findings));
    return findings[0].results;
  };
  EXPECT_TRUE(tried("make -C src WRONG={flags}", {compiled_with("-O3")})
                  .at(0)
                  .failed.starts_with("its machine code is the same as before: "));
  const auto twice = tried("make -C src CFLAGS={flags}", {compiled_with("-O2"), compiled_with("-O2 -DUNUSED")});
  EXPECT_EQ(twice.at(0).failed, "");
  EXPECT_TRUE(twice.at(1).failed.starts_with("its machine code is the same as with -O2: ")) << twice.at(1).failed;
}

TEST_F(Tree, BuildsWithoutTheCommandsVariables) {
  RebuildRequest wanted = request("make -C src CFLAGS=\"{flags} $PERFCAST_FIRST $PERFCAST_SECOND\"");
  wanted.environment = {{"PERFCAST_FIRST", std::nullopt}, {"PERFCAST_SECOND", "-DUNUSED"}};
  auto rebuilder = Rebuilder::create(wanted);
  ASSERT_TRUE(rebuilder) << to_text(rebuilder.error());
  setenv("PERFCAST_FIRST", "-DOTHER", 1);
  setenv("PERFCAST_SECOND", "-DOTHER", 1);
  const auto built = (*rebuilder)->rebuild("-O2");
  unsetenv("PERFCAST_FIRST");
  unsetenv("PERFCAST_SECOND");
  ASSERT_TRUE(built) << to_text(built.error());
  EXPECT_EQ(*answer_of(built->command, 60), "0 47999995\n");
}

TEST_F(Tree, TriesFlagsThatFailOnce) {
  const std::string count = (fs::path(folder_->path()) / "count").string();
  auto rebuilder = Rebuilder::create(request("echo >>'" + count + "'; false {flags}"));
  ASSERT_TRUE(rebuilder) << to_text(rebuilder.error());
  EXPECT_FALSE((*rebuilder)->rebuild("-O2"));
  EXPECT_FALSE((*rebuilder)->rebuild("-O2"));
  EXPECT_EQ(*read_file(count), "\n");
}

TEST_F(Tree, LinksStayInTheCopyOrLeadOut) {
  fs::create_symlink(tree_ / "src" / "sum.c", tree_ / "absolute");
  fs::create_symlink("src/sum.c", tree_ / "relative");
  fs::create_symlink("../outside", tree_ / "out");
  const fs::path copy = fs::path(folder_->path()) / "copy";
  ASSERT_TRUE(copy_source_tree(tree_, copy));
  EXPECT_EQ(fs::read_symlink(copy / "absolute"), copy / "src" / "sum.c");
  EXPECT_EQ(fs::read_symlink(copy / "relative"), "src/sum.c");
  EXPECT_EQ(fs::read_symlink(copy / "out"), fs::path(folder_->path()) / "outside");
  EXPECT_EQ(fs::last_write_time(copy / "prog"), product_time());
  EXPECT_EQ(fs::last_write_time(copy / "src" / "sum.c"), fs::last_write_time(tree_ / "src" / "sum.c"));
}

TEST_F(Tree, LeavesAloneWhatLinksLeadTo) {
  const fs::path elsewhere = fs::path(folder_->path()) / "elsewhere";
  fs::create_directory(elsewhere);
  fs::create_symlink(elsewhere, tree_ / "objects");
  const Status copied = copy_source_tree(tree_, fs::path(folder_->path()) / "copy");
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, "tree-leads-out");
  EXPECT_EQ(copied.error().where, (tree_ / "objects").string());
}

TEST_F(Tree, FlagsAreProvenWhereTheOutputStays) {
  auto rebuilder = Rebuilder::create(request());
  ASSERT_TRUE(rebuilder) << to_text(rebuilder.error());
  Finding finding;
  finding.cause = "compiler-flags";
  finding.is_shown_by_trial = true;
  finding.experiments = {compiled_with("-O2 -DOTHER"), compiled_with("--no-such-flag"), compiled_with("-O2"),
                         compiled_with("-O2 -ffast-math")};
  std::vector<Finding> findings = {finding};
  ProofRequest proofs;
  proofs.command = {(tree_ / "prog").string()};
  proofs.run_s = 0.05;
  proofs.budget_s = 8;
  proofs.rebuilder = rebuilder->get();
  ASSERT_TRUE(prove_findings(proofs, findings));
  ASSERT_EQ(findings.size(), 1U);
  const auto& results = findings[0].results;
  ASSERT_EQ(results.size(), 4U);
  EXPECT_TRUE(results[0].output_differs);
  EXPECT_FALSE(results[0].is_gain());
  EXPECT_TRUE(results[1].failed.starts_with("the build with --no-such-flag failed")) << results[1].failed;
  ASSERT_TRUE(results[2].failed.empty()) << results[2].failed;
  EXPECT_FALSE(results[2].output_differs);
  EXPECT_TRUE(results[2].is_gain());
  EXPECT_LT(results[2].ratio, 0.9);
  // However fast: it may compute something else.
  EXPECT_TRUE(results[3].failed.empty());
  EXPECT_FALSE(results[3].is_gain());
  EXPECT_EQ(findings[0].proven(), &results[2]);
  EXPECT_NEAR(findings[0].gain_ratio, 1 - results[2].ratio, 1e-12);
}

}  // namespace
}  // namespace perfcast::measure
