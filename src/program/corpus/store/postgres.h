#pragma once
// A corpus in a PostgreSQL database, in a schema of its own, "perfcast". Private to the store.

#include <libpq-fe.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "program/corpus/store/database.h"

namespace perfcast::program {

// Statements that give no rows are sent without waiting for the last one's answer (libpq's pipeline mode): a round trip
// for each row would make an import ten times as slow. Whatever waits for an answer collects those before.
class PostgresDatabase final : public Database {
 public:
  // `address`: see is_database_address(). "cannot-connect".
  static Result<std::unique_ptr<Database>> open(const std::string& address, bool read_only);

  Status execute(const std::string& sql) override;
  Result<Statement> prepare(std::string_view sql) override;
  Result<Statement> prepare_rows(std::string_view sql) override;
  Status begin_read() override { return execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); }
  Status begin_write() override;
  Result<int64_t> schema_version() override;
  Status set_schema_version(int64_t version) override;
  Status change_schema(const std::string& sql) override;
  const std::string& path() const override { return path_; }

 private:
  friend class PostgresStatement;
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Answer = std::unique_ptr<PGresult, Clear>;

  // Queues one; true where its answer must be collected before the next one.
  Status send(const char* statement, int parameters, const char* const* values);
  // Waits for the answers of all that was sent; the first error among them.
  Status collect();
  // As send(), and waits for the answer.
  Result<Answer> ask(const char* statement, int parameters, const char* const* values);
  // Of a command without parameters, outside of the pipeline.
  Result<Answer> command(const std::string& sql);
  Error error(const PGresult* result) const;

  std::unique_ptr<PGconn, Finish> connection_;
  std::string path_;
  struct Prepared {
    std::string name;
    size_t parameters = 0;
  };
  Result<Prepared> prepared(const std::string& sql);
  std::map<std::string, Prepared> prepared_;  // by their SQL
  size_t unanswered_ = 0;
};

}  // namespace perfcast::program
