#include "program/corpus/store/store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "program/corpus/store/postgres.h"
#include "program/corpus/store/sql_store.h"
#include "program/corpus/store/sqlite.h"

namespace perfcast::program {
namespace {

constexpr int64_t kSchemaVersion = 3;

constexpr const char* kStoreSchema = R"sql(
CREATE TABLE source(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, url TEXT NOT NULL, licence TEXT NOT NULL,
  retrieved_utc TEXT NOT NULL, note TEXT NOT NULL);
CREATE TABLE platform(
  id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL, kind TEXT NOT NULL, arch TEXT NOT NULL,
  vendor TEXT NOT NULL, cpu_family INTEGER, model INTEGER, stepping INTEGER, facts_json TEXT NOT NULL,
  flags TEXT NOT NULL, source_id INTEGER NOT NULL REFERENCES source(id), segment TEXT NOT NULL DEFAULT '');
CREATE TABLE server(
  id INTEGER PRIMARY KEY, vendor TEXT NOT NULL, name TEXT NOT NULL,
  platform_id INTEGER NOT NULL REFERENCES platform(id), vcpus REAL, memory_gib REAL, threads_per_core REAL, cores REAL,
  source_id INTEGER NOT NULL REFERENCES source(id), facts_json TEXT NOT NULL DEFAULT '{}',
  UNIQUE(vendor, name, platform_id));
CREATE TABLE program(
  id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, family TEXT NOT NULL, program_group TEXT NOT NULL,
  suite TEXT NOT NULL, work_unit TEXT NOT NULL, excluded TEXT NOT NULL,
  source_id INTEGER NOT NULL REFERENCES source(id));
CREATE TABLE profile(
  id INTEGER PRIMARY KEY, program_id INTEGER NOT NULL REFERENCES program(id),
  source_id INTEGER NOT NULL REFERENCES source(id), host_cpu_model TEXT NOT NULL, profile_json TEXT NOT NULL,
  UNIQUE(program_id, source_id, host_cpu_model));
CREATE TABLE run_server(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE run(
  program_id INTEGER NOT NULL REFERENCES program(id), platform_id INTEGER NOT NULL REFERENCES platform(id),
  run_server_id INTEGER NOT NULL REFERENCES run_server(id), threads INTEGER NOT NULL, time_s REAL NOT NULL,
  energy_joules REAL, source_id INTEGER NOT NULL REFERENCES source(id), results_count INTEGER, spread_ratio REAL,
  PRIMARY KEY(program_id, platform_id, run_server_id, threads)) WITHOUT ROWID;
CREATE TABLE machine_run(
  program_id INTEGER NOT NULL REFERENCES program(id), platform_id INTEGER NOT NULL REFERENCES platform(id),
  run_server_id INTEGER NOT NULL REFERENCES run_server(id), copies REAL NOT NULL, time_s REAL NOT NULL,
  source_id INTEGER NOT NULL REFERENCES source(id),
  PRIMARY KEY(program_id, platform_id, run_server_id, copies)) WITHOUT ROWID;
CREATE TABLE exclusion(
  source_id INTEGER NOT NULL REFERENCES source(id), subject TEXT NOT NULL, reason TEXT NOT NULL,
  row_count INTEGER NOT NULL, PRIMARY KEY(source_id, subject, reason)) WITHOUT ROWID;
)sql";

// From the version before to the one named. A file that may only be read stays as it is; loading reads it as if it had
// been brought here.
struct Migration {
  int64_t version;
  const char* sql;
};
constexpr Migration kMigrations[] = {{2, R"sql(
ALTER TABLE platform ADD COLUMN segment TEXT NOT NULL DEFAULT '';
UPDATE platform SET segment = 'cloud' WHERE id IN (SELECT platform_id FROM server);
ALTER TABLE run ADD COLUMN results_count INTEGER;
ALTER TABLE run ADD COLUMN spread_ratio REAL;
)sql"},
                                     {3, R"sql(
ALTER TABLE server ADD COLUMN facts_json TEXT NOT NULL DEFAULT '{}';
CREATE TABLE machine_run(
  program_id INTEGER NOT NULL REFERENCES program(id), platform_id INTEGER NOT NULL REFERENCES platform(id),
  run_server_id INTEGER NOT NULL REFERENCES run_server(id), copies REAL NOT NULL, time_s REAL NOT NULL,
  source_id INTEGER NOT NULL REFERENCES source(id),
  PRIMARY KEY(program_id, platform_id, run_server_id, copies)) WITHOUT ROWID;
)sql"}};

// SQLite would take it for a database that is lost at the end.
Error no_path() {
  return usage_error("no-corpus", "the corpus has no path: neither XDG_DATA_HOME nor HOME is set", "corpus",
                     "a path, or HOME in the environment");
}

Result<std::unique_ptr<CorpusStore>> open_store(const std::string& path, bool read_only) {
  auto database =
      is_database_address(path) ? PostgresDatabase::open(path, read_only) : SqliteDatabase::open(path, read_only);
  if (!database) return database.error();
  auto store = std::make_unique<SqlStore>(*std::move(database));
  if (Status status = store->prepare(read_only); !status) return status.error();
  return std::unique_ptr<CorpusStore>(std::move(store));
}

}  // namespace

Result<std::unique_ptr<CorpusStore>> CorpusStore::open(const std::string& path) {
  if (path.empty()) return no_path();
  if (is_database_address(path)) return open_store(path, false);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) {
    if (Status made = create_private_folders(folder); !made) return made.error();
  }
  // A corpus has command lines and facts of machines: SQLite would make the file as the umask has it.
  const int made = ::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) ::close(made);
  return open_store(path, false);
}

Result<std::unique_ptr<CorpusStore>> CorpusStore::open_read_only(const std::string& path) {
  if (path.empty()) return no_path();
  if (is_database_address(path)) return open_store(path, true);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error{"file-not-found", "there is no corpus", path, "an existing corpus; make one with: perfcast import"};
  }
  return open_store(path, true);
}

Status SqlStore::prepare(bool read_only) {
  const auto version = database_->schema_version();
  if (!version) return version.error();
  if (*version > kSchemaVersion) {
    return Error{"future-version",
                 "the corpus has schema version " + std::to_string(*version) + ", written by a newer perfcast",
                 database_->path(), "schema version " + std::to_string(kSchemaVersion) + " or older"};
  }
  if (*version == 0 && read_only) {
    return Error{"not-a-corpus", "there is no corpus in it", database_->path(),
                 "a corpus; make one with: perfcast import"};
  }
  version_ = *version;
  return version_ == kSchemaVersion || read_only ? Status() : migrate();
}

Status SqlStore::migrate() {
  Transaction transaction(*database_);
  if (Status status = transaction.begin(); !status) return status;
  // Another process may have been first.
  const auto version = database_->schema_version();
  if (!version) return version.error();
  if (*version == 0) {
    if (Status status = database_->change_schema(kStoreSchema); !status) return status;
  }
  for (const Migration& migration : kMigrations) {
    if (*version == 0 || migration.version <= *version) continue;
    if (Status status = database_->change_schema(migration.sql); !status) return status;
  }
  if (*version < kSchemaVersion) {
    if (Status status = database_->set_schema_version(kSchemaVersion); !status) return status;
  }
  version_ = std::max(*version, kSchemaVersion);
  return transaction.commit();
}

}  // namespace perfcast::program
