#include "program/corpus/store/sqlite.h"

#include <filesystem>

namespace perfcast::program {
namespace {

constexpr int kBusyTimeoutMs = 10'000;
constexpr int64_t kApplicationId = 0x50464331;  // "PFC1"

class SqliteStatement final : public StatementHandle {
 public:
  SqliteStatement(sqlite3_stmt* handle, const SqliteDatabase& database) : handle_(handle), database_(database) {}

  void bind_text(int index, std::string_view text) override {
    // A null pointer would bind NULL.
    sqlite3_bind_text(handle_.get(), index + 1, text.data() == nullptr ? "" : text.data(),
                      static_cast<int>(text.size()), SQLITE_STATIC);
  }
  void bind_integer(int index, int64_t value) override { sqlite3_bind_int64(handle_.get(), index + 1, value); }
  void bind_number(int index, double value) override { sqlite3_bind_double(handle_.get(), index + 1, value); }
  void bind_null(int index) override { sqlite3_bind_null(handle_.get(), index + 1); }

  Result<bool> step() override {
    const int code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) return true;
    Result<bool> result = code == SQLITE_DONE ? Result<bool>(false) : Result<bool>(database_.error("use the corpus"));
    sqlite3_reset(handle_.get());
    return result;
  }
  Status run() override {
    while (true) {
      const auto row = step();
      if (!row) return row.error();
      if (!*row) return {};
    }
  }
  void reset() override { sqlite3_reset(handle_.get()); }

  std::string_view text(int column) const override {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
    if (bytes == nullptr) return {};
    return {bytes, static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column))};
  }
  int64_t integer(int column) const override { return sqlite3_column_int64(handle_.get(), column); }
  double number(int column) const override { return sqlite3_column_double(handle_.get(), column); }
  bool is_null(int column) const override { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  const SqliteDatabase& database_;
};

}  // namespace

Result<std::unique_ptr<Database>> SqliteDatabase::open(const std::string& path, bool read_only) {
  auto opened = std::make_unique<SqliteDatabase>();
  SqliteDatabase& database = *opened;
  database.path_ = path;
  // Also a reader opens for writing where it may: only a writer can roll back what a killed process left behind.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (read_only ? 0 : SQLITE_OPEN_CREATE);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  database.handle_.reset(handle);
  if (code != SQLITE_OK) return database.error("open the corpus");
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (read_only) {
    if (const Status status = database.execute("PRAGMA query_only = ON"); !status) return status.error();
  }
  const Status status = database.execute("PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536");
  if (!status) return status.error();
  return std::unique_ptr<Database>(std::move(opened));
}

Error SqliteDatabase::error(const std::string& doing) const {
  if (handle_ == nullptr) return {"out-of-memory", "cannot " + doing, path_, ""};
  const int code = sqlite3_errcode(handle_.get()) & 0xff;
  Error result{"corpus-error", "cannot " + doing + ": " + sqlite3_errmsg(handle_.get()), path_, ""};
  if (code == SQLITE_NOTADB) {
    return {"not-a-corpus", "this file is no SQLite database", path_, "a corpus that perfcast wrote, or a new path"};
  }
  if (code == SQLITE_CORRUPT) {
    result.code = "bad-corpus";
    result.message = "the corpus file is damaged: " + std::string(sqlite3_errmsg(handle_.get()));
    result.expected = "an undamaged file; import and collect again into a new one";
  } else if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    result.message = "another process is writing to the corpus";
    result.expected = "try again when it has finished";
  } else if (code == SQLITE_FULL) {
    result.expected = "free space on that file system";
  } else if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM) {
    result.expected = "a file that you may write, in a folder that you may write";
  }
  return result;
}

Status SqliteDatabase::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error("use the corpus");
  return {};
}

Result<Statement> SqliteDatabase::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK) {
    return error("use the corpus");
  }
  return Statement(std::make_unique<SqliteStatement>(statement, *this));
}

Result<int64_t> SqliteDatabase::schema_version() {
  const auto application = query_integer("PRAGMA application_id");
  if (!application) return application.error();
  auto version = query_integer("PRAGMA user_version");
  if (!version) return version.error();
  const auto tables = query_integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tables.error();
  if (*application == 0 && *version == 0 && *tables == 0) return 0;
  if (*application != kApplicationId) {
    return Error{"not-a-corpus", "this SQLite database belongs to another application", path_,
                 "a corpus that perfcast wrote, or a new path"};
  }
  return version;
}

Status SqliteDatabase::set_schema_version(int64_t version) {
  return execute("PRAGMA application_id = " + std::to_string(kApplicationId) +
                 "; PRAGMA user_version = " + std::to_string(version));
}

}  // namespace perfcast::program
