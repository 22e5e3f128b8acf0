#pragma once
// A corpus in a file of SQLite. Private to the store.

#include <sqlite3.h>

#include <memory>
#include <string>

#include "program/corpus/store/database.h"

namespace perfcast::program {

class SqliteDatabase final : public Database {
 public:
  static Result<std::unique_ptr<Database>> open(const std::string& path, bool read_only);

  Status execute(const std::string& sql) override;
  Result<Statement> prepare(std::string_view sql) override;
  Status begin_read() override { return execute("BEGIN"); }
  Status begin_write() override { return execute("BEGIN IMMEDIATE"); }
  Result<int64_t> schema_version() override;
  Status set_schema_version(int64_t version) override;
  Status change_schema(const std::string& sql) override { return execute(sql); }
  const std::string& path() const override { return path_; }

  Error error(const std::string& doing) const;  // of the last call

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

}  // namespace perfcast::program
