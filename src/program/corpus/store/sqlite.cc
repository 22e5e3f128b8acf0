#include "program/corpus/store/sqlite.h"

#include <filesystem>

namespace perfcast::program {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

}  // namespace

Result<Database> Database::open(const std::string& path, bool read_only) {
  Database database;
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
  return database;
}

Error Database::error(const std::string& doing) const {
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

Status Database::execute(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error("use the corpus");
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK) {
    return error("use the corpus");
  }
  return Statement(statement, this);
}

Result<int64_t> Database::query_integer(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  auto row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : 0;
}

Statement& Statement::bind(int index, std::string_view text) {
  // A null pointer would bind NULL.
  sqlite3_bind_text(handle_.get(), index + 1, text.data() == nullptr ? "" : text.data(), static_cast<int>(text.size()),
                    SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind(int index, int64_t value) {
  sqlite3_bind_int64(handle_.get(), index + 1, value);
  return *this;
}

Statement& Statement::bind(int index, double value) {
  sqlite3_bind_double(handle_.get(), index + 1, value);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  Result<bool> result = code == SQLITE_DONE ? Result<bool>(false) : Result<bool>(database_->error("use the corpus"));
  sqlite3_reset(handle_.get());
  return result;
}

Status Statement::run() {
  while (true) {
    const auto row = step();
    if (!row) return row.error();
    if (!*row) return {};
  }
}

std::string_view Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

std::optional<int64_t> Statement::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

std::optional<double> Statement::optional_number(int column) const {
  if (is_null(column)) return std::nullopt;
  return number(column);
}

}  // namespace perfcast::program
