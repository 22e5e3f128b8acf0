#pragma once
// What the store needs of a database that speaks SQL; sqlite.h and postgres.h have one each. Statements are written
// once, with "?" or "?1" for parameters, in the words that both know. Private to the store.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace perfcast::program {

// A prepared statement of one kind of database: see Statement.
class StatementHandle {
 public:
  virtual ~StatementHandle() = default;
  virtual void bind_text(int index, std::string_view text) = 0;
  virtual void bind_integer(int index, int64_t value) = 0;
  virtual void bind_number(int index, double value) = 0;
  virtual void bind_null(int index) = 0;
  virtual Result<bool> step() = 0;
  virtual Status run() = 0;
  virtual Status finish() { return {}; }
  virtual void reset() = 0;
  virtual std::string_view text(int column) const = 0;
  virtual int64_t integer(int column) const = 0;
  virtual double number(int column) const = 0;
  virtual bool is_null(int column) const = 0;
};

// A prepared statement; parameters and columns count from 0. Text is bound by reference: it must live until step().
class Statement {
 public:
  explicit Statement(std::unique_ptr<StatementHandle> handle) : handle_(std::move(handle)) {}

  Statement& bind(int index, std::string_view text) {
    handle_->bind_text(index, text);
    return *this;
  }
  Statement& bind(int index, int64_t value) {
    handle_->bind_integer(index, value);
    return *this;
  }
  Statement& bind(int index, double value) {
    handle_->bind_number(index, value);
    return *this;
  }
  template <typename T>
  Statement& bind(int index, const std::optional<T>& value) {
    if (value) return bind(index, *value);
    handle_->bind_null(index);
    return *this;
  }

  // True: a row is ready. False: done; the statement is reset for the next bind.
  Result<bool> step() { return handle_->step(); }
  // To the end. What goes wrong may be told by a later statement of the transaction, at the latest by its end.
  Status run() { return handle_->run(); }
  // After the last run() of prepare_rows().
  Status finish() { return handle_->finish(); }
  void reset() { handle_->reset(); }

  std::string_view text(int column) const { return handle_->text(column); }
  int64_t integer(int column) const { return handle_->integer(column); }
  double number(int column) const { return handle_->number(column); }
  bool is_null(int column) const { return handle_->is_null(column); }
  std::optional<int64_t> optional_integer(int column) const {
    return is_null(column) ? std::nullopt : std::optional(integer(column));
  }
  std::optional<double> optional_number(int column) const {
    return is_null(column) ? std::nullopt : std::optional(number(column));
  }

 private:
  std::unique_ptr<StatementHandle> handle_;
};

class Database {
 public:
  virtual ~Database() = default;

  // One statement or several, without parameters.
  virtual Status execute(const std::string& sql) = 0;
  virtual Result<Statement> prepare(std::string_view sql) = 0;
  // Of "INSERT ... VALUES(?, ...) ...", for many rows whose keys differ, each by run(): a database may take several at
  // once.
  virtual Result<Statement> prepare_rows(std::string_view sql) { return prepare(sql); }
  // Of one row; 0 where there is none.
  Result<int64_t> query_integer(std::string_view sql) {
    auto statement = prepare(sql);
    if (!statement) return statement.error();
    const auto row = statement->step();
    if (!row) return row.error();
    if (!*row) return 0;
    const int64_t value = statement->integer(0);
    statement->reset();
    return value;
  }

  // Transactions: one that sees nothing of what others write meanwhile, and one beside which nobody else writes.
  virtual Status begin_read() = 0;
  virtual Status begin_write() = 0;
  Status commit() { return execute("COMMIT"); }
  void roll_back() { static_cast<void>(execute("ROLLBACK")); }

  // The version of the corpus's tables, 0 where there are none. "not-a-corpus" where it holds something else.
  virtual Result<int64_t> schema_version() = 0;
  virtual Status set_schema_version(int64_t version) = 0;
  // Makes or changes tables. Types and words are SQLite's.
  virtual Status change_schema(const std::string& sql) = 0;

  // For messages: a path, or an address without a password.
  virtual const std::string& path() const = 0;
};

}  // namespace perfcast::program
