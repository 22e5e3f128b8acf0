#include "program/corpus/store/store.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/random.h"
#include "program/corpus/testing/postgres_server.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;

class FileStoreTest : public testing::Test {
 protected:
  FileStoreTest() {
    std::string pattern = testing::TempDir() + "perfcast-store-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~FileStoreTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name = "corpus.db") const { return folder_ + "/" + name; }

  std::string folder_;
};

// What a corpus in a file and one in a database have in common.
enum class Kind { kFile, kDatabase };

class StoreTest : public FileStoreTest, public testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::kFile) return;
    std::string why;
    address_ = new_postgres_database(why);
    if (address_.empty()) GTEST_SKIP() << why;
    timed_ = new_postgres_database(why);
  }
  std::string path() const { return GetParam() == Kind::kFile ? folder_ + "/new/corpus.db" : address_; }
  std::string timed_path() const { return GetParam() == Kind::kFile ? folder_ + "/timed.db" : timed_; }

  std::string address_, timed_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreTest, testing::Values(Kind::kFile, Kind::kDatabase),
                         [](const auto& kind) { return kind.param == Kind::kFile ? "File" : "Database"; });

Corpus small_corpus() {
  Corpus corpus;
  corpus.sources = {{"s", "https://example.org", "CC0", "2026-01-02", "a note"}};
  Platform platform;
  platform.id = "p";
  platform.name = "CPU \"P\"";
  platform.segment = "server";
  platform.arch = "x86_64";
  platform.vendor = "AMD";
  platform.cpu_family = 25;
  platform.facts = {{"l2_bytes", 1048576}, {"max_hz", 3.525e9}};
  platform.flags = {"aes", "avx2"};
  platform.source = "s";
  corpus.platforms = {platform};
  Server server;
  server.vendor = "v";
  server.name = "small";
  server.platform = "p";
  server.vcpus = 2;
  server.facts = {{"l3_bytes", 33554432}};
  server.source = "s";
  corpus.servers = {server};
  Program program;
  program.id = "a.1";
  program.family = "a";
  program.group = "user";
  program.excluded = "rule: why";
  program.source = "s";
  corpus.programs = {program};
  corpus.runs = {{"a.1", "p", "v/small", 1, 0.1234567890123456, 2.5, "s"},
                 {"a.1", "p", "", 0, 7, std::nullopt, "s", 5, 0.02}};
  corpus.machine_runs = {{"a.1", "p", "v/small", 2, 0.25, "s"}};
  StoredProfile stored;
  stored.program = "a.1";
  stored.source = "s";
  stored.profile.program = "a";
  stored.profile.command = {"a", "--x"};
  stored.profile.host.name = "Host CPU";
  stored.profile.metrics["instructions_count"] = 1e9;
  stored.profile.exit_code = 0;
  corpus.profiles = {stored};
  corpus.exclusions = {{"s", "server", "shared", 3}};
  return corpus;
}

std::unique_ptr<CorpusStore> open(const std::string& path) {
  auto store = CorpusStore::open(path);
  EXPECT_TRUE(store.ok()) << to_text(store.error());
  return store.ok() ? std::move(*store) : nullptr;
}

Corpus load(const std::string& path) {
  auto store = CorpusStore::open_read_only(path);
  EXPECT_TRUE(store.ok()) << to_text(store.error());
  auto corpus = (*store)->load();
  EXPECT_TRUE(corpus.ok()) << to_text(corpus.error());
  return *corpus;
}

// Runs SQL on a file that is not under test.
void sqlite(const std::string& path, const char* sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
  sqlite3_close(handle);
}

TEST_P(StoreTest, KeepsEveryField) {
  ASSERT_TRUE(open(path())->merge(small_corpus()).ok());
  const Corpus corpus = load(path());
  ASSERT_EQ(corpus.sources.size(), 1u);
  EXPECT_EQ(corpus.sources[0].licence, "CC0");
  EXPECT_EQ(corpus.sources[0].note, "a note");
  ASSERT_EQ(corpus.platforms.size(), 1u);
  const Platform& platform = corpus.platforms[0];
  EXPECT_EQ(platform.name, "CPU \"P\"");
  EXPECT_EQ(platform.kind, "cpu");
  EXPECT_EQ(platform.segment, "server");
  EXPECT_EQ(platform.cpu_family, 25);
  EXPECT_EQ(platform.model, std::nullopt);
  EXPECT_EQ(platform.facts, small_corpus().platforms[0].facts);
  EXPECT_EQ(platform.flags, small_corpus().platforms[0].flags);
  ASSERT_EQ(corpus.servers.size(), 1u);
  EXPECT_EQ(corpus.servers[0].vcpus, 2);
  EXPECT_EQ(corpus.servers[0].memory_gib, std::nullopt);
  EXPECT_EQ(corpus.servers[0].facts, small_corpus().servers[0].facts);
  ASSERT_EQ(corpus.machine_runs.size(), 1u);
  EXPECT_EQ(corpus.machine_runs[0].program, "a.1");
  EXPECT_EQ(corpus.machine_runs[0].platform, "p");
  EXPECT_EQ(corpus.machine_runs[0].server, "v/small");
  EXPECT_EQ(corpus.machine_runs[0].copies, 2);
  EXPECT_EQ(corpus.machine_runs[0].time_s, 0.25);
  ASSERT_EQ(corpus.programs.size(), 1u);
  EXPECT_EQ(corpus.programs[0].excluded, "rule: why");
  ASSERT_EQ(corpus.runs.size(), 2u);
  const auto& run = corpus.runs[corpus.runs[0].threads == 1 ? 0 : 1];
  EXPECT_EQ(run.time_s, 0.1234567890123456);
  EXPECT_EQ(run.energy_joules, 2.5);
  EXPECT_EQ(run.server, "v/small");
  EXPECT_EQ(run.results_count, std::nullopt);
  EXPECT_EQ(run.spread_ratio, std::nullopt);
  const auto& mean = corpus.runs[corpus.runs[0].threads == 1 ? 1 : 0];
  EXPECT_EQ(mean.results_count, 5);
  EXPECT_EQ(mean.spread_ratio, 0.02);
  ASSERT_EQ(corpus.profiles.size(), 1u);
  EXPECT_EQ(corpus.profiles[0].profile.command, small_corpus().profiles[0].profile.command);
  EXPECT_EQ(corpus.profiles[0].profile.metrics.at("instructions_count"), 1e9);
  ASSERT_EQ(corpus.exclusions.size(), 1u);
  EXPECT_EQ(corpus.exclusions[0].count, 3);
}

TEST_P(StoreTest, MergingTwiceChangesNothingAndKeysReplace) {
  Corpus corpus = small_corpus();
  ASSERT_TRUE(open(path())->merge(corpus).ok());
  ASSERT_TRUE(open(path())->merge(corpus).ok());
  corpus.runs.resize(1);
  corpus.runs[0].time_s = 9;
  corpus.programs[0].group = "os";
  corpus.profiles[0].profile.metrics["instructions_count"] = 5;
  ASSERT_TRUE(open(path())->merge(corpus).ok());
  const Corpus merged = load(path());
  EXPECT_EQ(merged.platforms.size(), 1u);
  EXPECT_EQ(merged.servers.size(), 1u);
  EXPECT_EQ(merged.programs[0].group, "os");
  ASSERT_EQ(merged.profiles.size(), 1u);
  EXPECT_EQ(merged.profiles[0].profile.metrics.at("instructions_count"), 5);
  ASSERT_EQ(merged.runs.size(), 2u);
  EXPECT_EQ(merged.runs[0].time_s + merged.runs[1].time_s, 16);
}

TEST_P(StoreTest, ReplacingASourceRemovesWhatItNoLongerGives) {
  Corpus corpus = small_corpus();
  corpus.sources[0].id = "s@1";
  corpus.platforms[0].source = corpus.servers[0].source = corpus.programs[0].source = "s@1";
  for (auto& run : corpus.runs) run.source = "s@1";
  corpus.machine_runs[0].source = "s@1";
  corpus.profiles[0].source = corpus.exclusions[0].source = "s@1";
  corpus.sources.push_back({"mine", "", "", "", ""});
  corpus.runs.push_back({"a.1", "p", "my/own", 1, 3, std::nullopt, "mine"});
  corpus.profiles.push_back(corpus.profiles[0]);
  corpus.profiles[1].source = "mine";
  ASSERT_TRUE(open(path())->merge(corpus).ok());

  Corpus next;  // a later state of the same data: another platform and program
  next.sources = {{"s@2", "", "", "", ""}};
  next.platforms = corpus.platforms;
  next.platforms[0].id = "q";
  next.platforms[0].source = "s@2";
  next.programs = corpus.programs;
  next.programs[0].id = "b";
  next.programs[0].source = "s@2";
  next.runs = {{"b", "q", "", 1, 4, std::nullopt, "s@2"}};
  ASSERT_TRUE(open(path())->replace_sources(next).ok());
  const Corpus after = load(path());
  EXPECT_EQ(after.runs.size(), 2u);  // "mine" and the new one
  EXPECT_TRUE(after.machine_runs.empty());
  EXPECT_EQ(after.platforms.size(), 2u);  // "mine" still needs p
  EXPECT_EQ(after.programs.size(), 2u);
  ASSERT_EQ(after.profiles.size(), 1u);
  EXPECT_EQ(after.profiles[0].source, "mine");
  EXPECT_TRUE(after.servers.empty());
  EXPECT_TRUE(after.exclusions.empty());
}

TEST_P(StoreTest, RefusesRowsThatNameNothing) {
  auto store = open(path());
  ASSERT_TRUE(store->merge(small_corpus()).ok());
  Corpus additions;
  additions.sources = {{"t", "", "", "", ""}};
  additions.runs = {{"a.1", "nowhere", "", 1, 1, std::nullopt, "t"}};
  const Status status = store->merge(additions);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "bad-corpus");
  EXPECT_THAT(status.error().message, HasSubstr("the platform 'nowhere'"));
  EXPECT_EQ(load(path()).sources.size(), 1u);  // "t" was rolled back

  additions.runs = {{"a.1", "p", "", 1, 0, std::nullopt, "t"}};
  EXPECT_EQ(store->merge(additions).error().code, "bad-corpus");  // a time of zero
}

TEST_P(StoreTest, PutsProfilesOneByOne) {
  auto store = open(path());
  StoredProfile stored = small_corpus().profiles[0];
  stored.program = "stressng.matrix";
  ASSERT_TRUE(store->put_profile(stored).ok());
  stored.profile.metrics["instructions_count"] = 2;
  ASSERT_TRUE(store->put_profile(stored).ok());
  stored.profile.host.name = "Other CPU";
  ASSERT_TRUE(store->put_profile(stored).ok());
  const Corpus corpus = load(path());
  ASSERT_EQ(corpus.profiles.size(), 2u);
  EXPECT_EQ(corpus.profiles[0].profile.metrics.at("instructions_count"), 2);
  ASSERT_EQ(corpus.programs.size(), 1u);
  EXPECT_EQ(corpus.programs[0].family, "matrix");
  ASSERT_EQ(corpus.sources.size(), 1u);
  EXPECT_EQ(corpus.sources[0].id, "s");
}

TEST_F(FileStoreTest, RefusesOtherFilesUnchanged) {
  const auto refused = [&](const std::string& file, const std::string& code) {
    const std::string before = *read_file(file);
    for (const bool writing : {true, false}) {
      const auto store = writing ? CorpusStore::open(file) : CorpusStore::open_read_only(file);
      ASSERT_FALSE(store.ok());
      EXPECT_EQ(store.error().code, code);
      EXPECT_EQ(store.error().where, file);
      EXPECT_FALSE(store.error().expected.empty());
    }
    EXPECT_EQ(*read_file(file), before);
  };
  ASSERT_TRUE(write_file_atomically(path("text"), "this is a shopping list, long enough to be no header").ok());
  refused(path("text"), "not-a-corpus");
  sqlite(path("foreign.db"), "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
  refused(path("foreign.db"), "not-a-corpus");
  sqlite(path("other.db"), "PRAGMA application_id = 42");
  refused(path("other.db"), "not-a-corpus");
  ASSERT_TRUE(open(path("future.db"))->merge(small_corpus()).ok());
  sqlite(path("future.db"), "PRAGMA user_version = 99");
  refused(path("future.db"), "future-version");
  ASSERT_TRUE(write_file_atomically(path("cut.db"), "SQLite format 3").ok());
  refused(path("cut.db"), "not-a-corpus");
}

// As versions before 0.3 wrote it.
void back_to_version_1(const std::string& path) {
  sqlite(path,
         "DROP TABLE machine_run; ALTER TABLE server DROP COLUMN facts_json; ALTER TABLE platform DROP COLUMN segment; "
         "ALTER TABLE run DROP COLUMN results_count; "
         "ALTER TABLE run DROP COLUMN spread_ratio; PRAGMA user_version = 1");
}

TEST_F(FileStoreTest, ReadsAndMigratesTheSchemaBefore) {
  ASSERT_TRUE(open(path())->merge(small_corpus()).ok());
  back_to_version_1(path());
  const std::string before = *read_file(path());
  const Corpus old = load(path());  // which may not write
  EXPECT_EQ(*read_file(path()), before);
  ASSERT_EQ(old.platforms.size(), 1u);
  EXPECT_EQ(old.platforms[0].segment, "cloud");  // it has a server
  ASSERT_EQ(old.runs.size(), 2u);
  for (const auto& run : old.runs) {
    EXPECT_EQ(run.results_count, std::nullopt);
    EXPECT_EQ(run.spread_ratio, std::nullopt);
  }
  EXPECT_TRUE(old.machine_runs.empty());
  EXPECT_TRUE(old.servers[0].facts.empty());
  ASSERT_NE(open(path()), nullptr);
  const Corpus migrated = load(path());
  EXPECT_EQ(migrated.platforms[0].segment, "cloud");
  EXPECT_EQ(migrated.runs.size(), 2u);
  EXPECT_EQ(migrated.profiles.size(), 1u);
  ASSERT_TRUE(open(path())->merge(small_corpus()).ok());
  const Corpus after = load(path());
  EXPECT_EQ(after.platforms[0].segment, "server");
  EXPECT_EQ(after.machine_runs.size(), 1u);
  ASSERT_EQ(after.runs.size(), 2u);
  EXPECT_EQ(after.runs[after.runs[0].threads == 1 ? 1 : 0].results_count, 5);
}

TEST_P(StoreTest, OneOfTwoSourcesDescribesAPlatform) {
  Corpus other = small_corpus();
  other.sources[0].id = "t";
  Platform& platform = other.platforms[0];
  platform.source = "t";
  platform.name = "As t has it";
  platform.stepping = 3;
  platform.facts = {{"l2_bytes", 2}, {"core_count", 8}};
  other.servers.clear();
  other.programs.clear();
  other.profiles.clear();
  other.exclusions.clear();
  other.runs = {{"a.1", "p", "t/host", 1, 3, std::nullopt, "t"}};
  auto store = open(path());
  ASSERT_TRUE(store->merge(small_corpus()).ok());
  ASSERT_TRUE(store->merge(other).ok());  // neither is the cloud: the later one
  const Platform later = load(path()).platforms[0];
  EXPECT_EQ(later.name, "As t has it");
  EXPECT_EQ(later.facts.at("l2_bytes"), 2);
  EXPECT_EQ(later.facts.at("max_hz"), 3.525e9);  // the other adds what it lacks
  EXPECT_EQ(later.cpu_family, 25);
  Corpus cloud = small_corpus();
  cloud.platforms[0].segment = "cloud";
  ASSERT_TRUE(store->merge(cloud).ok());
  ASSERT_TRUE(store->merge(other).ok());
  const Platform rented = load(path()).platforms[0];
  EXPECT_EQ(rented.name, "CPU \"P\"");
  EXPECT_EQ(rented.segment, "cloud");
  EXPECT_EQ(rented.facts.at("l2_bytes"), 1048576);
  EXPECT_EQ(rented.facts.at("core_count"), 8);
  EXPECT_EQ(rented.stepping, 3);
}

TEST_P(StoreTest, RefusesCountsAndSpreadsThatAreNone) {
  for (const auto& [count, spread] :
       std::vector<std::pair<int64_t, double>>{{0, 0.1}, {3, -0.1}, {3, NAN}, {3, INFINITY}}) {
    Corpus corpus = small_corpus();
    corpus.runs[0].results_count = count;
    corpus.runs[0].spread_ratio = spread;
    const Status status = open(path())->merge(corpus);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, "bad-corpus");
  }
}

TEST_F(FileStoreTest, AnAbsentFileIsNotReadAsEmpty) {
  const auto store = CorpusStore::open_read_only(path("absent.db"));
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, "file-not-found");
  EXPECT_FALSE(std::filesystem::exists(path("absent.db")));
}

TEST_F(FileStoreTest, DamageIsAnErrorNotACrash) {
  Corpus corpus = small_corpus();
  for (int i = 0; i < 2000; ++i) {
    corpus.runs.push_back({"a.1", "p", "v/" + std::to_string(i), 1, 1.0 + i, std::nullopt, "s"});
  }
  ASSERT_TRUE(open(path())->merge(corpus).ok());
  const std::string whole = *read_file(path());
  Random random(5);
  int failures = 0;
  for (int round = 0; round < 40; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 64; ++i) damaged[100 + random.below(damaged.size() - 100)] = static_cast<char>(random.next());
    if (round % 4 == 0) damaged.resize(damaged.size() / 2);
    ASSERT_TRUE(write_file_atomically(path("damaged.db"), damaged).ok());
    auto store = CorpusStore::open_read_only(path("damaged.db"));
    if (!store || !(*store)->load()) ++failures;
  }
  EXPECT_GT(failures, 10);
}

Corpus many_runs(double time_s) {
  Corpus corpus = small_corpus();
  corpus.runs.clear();
  for (int i = 0; i < 8000; ++i) {
    corpus.runs.push_back({"a.1", "p", "v/" + std::to_string(i), 1, time_s, std::nullopt, "s"});
  }
  return corpus;
}

TEST_P(StoreTest, AKilledMergeLeavesAllOrNothing) {
  ASSERT_TRUE(open(path())->merge(many_runs(1)).ok());
  const Corpus next = many_runs(2);
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(open(timed_path())->merge(next).ok());
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);

  Random random(11);
  int before = 0, complete = 0;
  for (int round = 0; round < 20; ++round) {
    // The last rounds wait long enough for a merge to get through.
    const double share = round < 17 ? random.uniform(0, 1.2) : 20;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto store = CorpusStore::open(path());
      _exit(store.ok() && (*store)->merge(next).ok() ? 0 : 1);
    }
    int state = 0;
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::microseconds>(whole * share);
    while (waitpid(child, &state, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() >= deadline) {
        kill(child, SIGKILL);
        waitpid(child, &state, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    const Corpus found = load(path());
    ASSERT_EQ(found.runs.size(), 8000u);
    double sum = 0;
    for (const auto& run : found.runs) sum += run.time_s;
    ASSERT_TRUE(sum == 8000 || sum == 16000) << "round " << round << ": " << sum;
    if (sum == 16000) {
      ++complete;
      ASSERT_TRUE(open(path())->merge(many_runs(1)).ok());
    } else {
      ++before;
    }
  }
  EXPECT_GT(before, 0);
  EXPECT_GT(complete, 0);
}

TEST_F(FileStoreTest, AKilledCreationLeavesAFileThatOpens) {
  const Corpus corpus = small_corpus();
  Random random(3);
  for (int round = 0; round < 15; ++round) {
    const std::string file = path(std::to_string(round) + ".db");
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto store = CorpusStore::open(file);
      _exit(store.ok() && (*store)->merge(corpus).ok() ? 0 : 1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(8000)));
    kill(child, SIGKILL);
    int state = 0;
    waitpid(child, &state, 0);
    auto store = CorpusStore::open(file);
    ASSERT_TRUE(store.ok()) << to_text(store.error());
    const auto found = (*store)->load();
    ASSERT_TRUE(found.ok()) << to_text(found.error());
    EXPECT_TRUE(found->runs.empty() || found->runs.size() == corpus.runs.size());
    EXPECT_EQ(found->runs.empty(), found->platforms.empty());
  }
}

TEST_P(StoreTest, TwoWriteAtATimeAndBothAreThere) {
  ASSERT_TRUE(open(path())->merge(small_corpus()).ok());
  std::vector<pid_t> children;
  for (int writer = 0; writer < 4; ++writer) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Corpus rows = small_corpus();
      rows.runs.clear();
      auto store = CorpusStore::open(path());
      bool fine = store.ok();
      for (int i = 0; i < 25 && fine; ++i) {
        rows.runs = {{"a.1", "p", "w" + std::to_string(writer) + "/" + std::to_string(i), 1, 1, std::nullopt, "s"}};
        fine = (*store)->merge(rows).ok();
      }
      _exit(fine ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int state = 0;
    waitpid(child, &state, 0);
    EXPECT_EQ(state, 0);
  }
  EXPECT_EQ(load(path()).runs.size(), 102u);
}

// A database orders and rounds as a file does.
TEST_P(StoreTest, LoadsWhatAFileLoads) {
  Corpus rows = small_corpus();
  for (const std::string name : {"b", "B", "a-b", "a.10", "\u00e4", "Z z"}) {
    rows.programs.push_back(rows.programs[0]);
    rows.programs.back().id = name;
    rows.runs.push_back({name, "p", "", 1, 1.0 / 3 * static_cast<double>(rows.runs.size()), 1e-300, "s", 3, 0.1});
  }
  ASSERT_TRUE(open(path())->merge(rows).ok());
  ASSERT_TRUE(open(FileStoreTest::path("file.db"))->merge(rows).ok());
  const Corpus here = load(path()), there = load(FileStoreTest::path("file.db"));
  ASSERT_EQ(here.programs.size(), there.programs.size());
  for (size_t i = 0; i < here.programs.size(); ++i) EXPECT_EQ(here.programs[i].id, there.programs[i].id);
  ASSERT_EQ(here.runs.size(), there.runs.size());
  for (size_t i = 0; i < here.runs.size(); ++i) {
    EXPECT_EQ(here.runs[i].program, there.runs[i].program);
    EXPECT_EQ(here.runs[i].time_s, there.runs[i].time_s);
    EXPECT_EQ(here.runs[i].energy_joules, there.runs[i].energy_joules);
  }
}

class DatabaseStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    address_ = new_postgres_database(why);
    if (address_.empty()) GTEST_SKIP() << why;
  }
  std::string address_;
};

TEST_F(DatabaseStoreTest, RefusesWhatIsNoCorpus) {
  EXPECT_EQ(CorpusStore::open_read_only(address_).error().code, "not-a-corpus");
  run_sql(address_, "CREATE SCHEMA perfcast; CREATE TABLE perfcast.store_version(version BIGINT)");
  EXPECT_EQ(CorpusStore::open(address_).error().code, "not-a-corpus");
  run_sql(address_, "INSERT INTO perfcast.store_version VALUES(99)");
  EXPECT_EQ(CorpusStore::open(address_).error().code, "future-version");
}

TEST_F(DatabaseStoreTest, AnErrorOfALateAnswerUndoesTheWhole) {
  Corpus rows = small_corpus();
  ASSERT_TRUE(open(address_)->merge(rows).ok());
  run_sql(address_, "ALTER TABLE perfcast.run ADD CHECK (time_s < 1000)");
  for (int i = 0; i < 1000; ++i) {
    rows.runs.push_back({"a.1", "p", "v/" + std::to_string(i), 1, i == 500 ? 2000.0 : 1.0, std::nullopt, "s"});
  }
  auto store = open(address_);
  const Status status = store->merge(rows);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "corpus-error");
  EXPECT_EQ(load(address_).runs.size(), 2u);
  EXPECT_TRUE(store->merge(small_corpus()).ok());  // the connection goes on
  rows = small_corpus();
  rows.programs[0].excluded = std::string("a\0b", 3);
  EXPECT_EQ(store->merge(rows).error().code, "bad-corpus");
  rows.programs[0].excluded = "\xff";
  EXPECT_EQ(store->merge(rows).error().code, "bad-corpus");
  EXPECT_TRUE(store->merge(small_corpus()).ok());
}

TEST_F(DatabaseStoreTest, ReadersMayNotWrite) {
  ASSERT_TRUE(open(address_)->merge(small_corpus()).ok());
  EXPECT_FALSE((*CorpusStore::open_read_only(address_))->merge(small_corpus()).ok());
}

TEST(CorpusAddress, IsToldFromAPathAndHasNoPassword) {
  EXPECT_TRUE(is_database_address("postgresql://team@db/lab"));
  EXPECT_TRUE(is_database_address("postgres://db/lab"));
  EXPECT_FALSE(is_database_address("lab.db"));
  const auto silent = CorpusStore::open("postgresql://me@127.0.0.1:1/lab?connect_timeout=2");
  ASSERT_FALSE(silent.ok());
  EXPECT_EQ(silent.error().code, "cannot-connect");
  EXPECT_EQ(silent.error().where, "postgresql://me@127.0.0.1:1/lab");
  const auto open = CorpusStore::open("postgresql://me:secret@127.0.0.1:1/lab");
  ASSERT_FALSE(open.ok());
  EXPECT_EQ(open.error().code, "bad-usage");
  EXPECT_THAT(to_text(open.error()), testing::Not(HasSubstr("secret")));
  EXPECT_EQ(CorpusStore::open("postgresql://me@[::1/lab").error().code, "bad-usage");
}

}  // namespace
}  // namespace perfcast::program
