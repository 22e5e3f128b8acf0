#pragma once
// SQLite's C interface with owned handles. Private to the store.

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast::program {

class Statement;

class Database {
 public:
  static Result<Database> open(const std::string& path, bool read_only);

  Status execute(const char* sql);
  Result<Statement> prepare(std::string_view sql);
  Result<int64_t> query_integer(std::string_view sql);
  Error error(const std::string& doing) const;  // of the last call
  int64_t last_row_id() const { return sqlite3_last_insert_rowid(handle_.get()); }
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

// A prepared statement; parameters and columns count from 0. Text is bound by reference: it must live until step().
class Statement {
 public:
  Statement(sqlite3_stmt* handle, const Database* database) : handle_(handle), database_(database) {}

  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, int64_t value);
  Statement& bind(int index, double value);
  template <typename T>
  Statement& bind(int index, const std::optional<T>& value) {
    if (value) return bind(index, *value);
    sqlite3_bind_null(handle_.get(), index + 1);
    return *this;
  }

  // True: a row is ready. False: done; the statement is reset for the next bind.
  Result<bool> step();
  Status run();  // step to the end
  void reset() { sqlite3_reset(handle_.get()); }

  std::string_view text(int column) const;
  int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double number(int column) const { return sqlite3_column_double(handle_.get(), column); }
  bool is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
  std::optional<int64_t> optional_integer(int column) const;
  std::optional<double> optional_number(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  const Database* database_;
};

}  // namespace perfcast::program
