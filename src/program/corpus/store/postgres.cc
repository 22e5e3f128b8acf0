#include "program/corpus/store/postgres.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <regex>
#include <utility>
#include <vector>

#include "base/text.h"
#include "program/corpus/store/store.h"

namespace perfcast::program {
namespace {

// Answers wait in the connection's buffers: so few that a server never waits for us to read them.
constexpr size_t kMostUnanswered = 256;
constexpr size_t kRowsTogether = 128;
// Any number that no other program locks by.
constexpr const char* kLockWriters = "SELECT pg_advisory_xact_lock(1346782001)";

// "?" and "?1" as "$1", outside of quotes; the highest number of a parameter.
std::string numbered(std::string_view sql, size_t& parameters) {
  std::string result;
  result.reserve(sql.size() + 16);
  bool is_quoted = false;
  parameters = 0;
  for (size_t i = 0; i < sql.size(); ++i) {
    is_quoted ^= sql[i] == '\'';
    if (sql[i] != '?' || is_quoted) {
      result += sql[i];
      continue;
    }
    size_t number = 0;
    std::from_chars(sql.data() + i + 1, sql.data() + sql.size(), number);
    result += '$';
    if (number == 0) result += std::to_string(parameters + 1);  // else its digits follow
    parameters = number == 0 ? parameters + 1 : std::max(parameters, number);
  }
  return result;
}

// A password in it would stand in lists of processes, in logs and in messages.
Status check_address(const std::string& address) {
  char* problem = nullptr;
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> parts(PQconninfoParse(address.c_str(), &problem),
                                                                             PQconninfoFree);
  const std::unique_ptr<char, void (*)(void*)> freed(problem, PQfreemem);
  constexpr const char* kExpected = "postgresql://user@host/database";
  if (parts == nullptr) {
    return usage_error("bad-usage", problem == nullptr ? "no address" : std::string(trim(problem)), "corpus",
                       kExpected);
  }
  for (const PQconninfoOption* part = parts.get(); part->keyword != nullptr; ++part) {
    if (std::string_view(part->keyword) != "password" || part->val == nullptr) continue;
    return usage_error("bad-usage", "the address of the corpus has a password, which other users can see", "corpus",
                       std::string(kExpected) + ", and the password in ~/.pgpass or in PGPASSWORD");
  }
  return {};
}

std::string shown(const PGconn* connection) {
  const auto text = [](const char* value) { return value == nullptr ? std::string() : std::string(value); };
  std::string host = text(PQhost(connection));
  const std::string port = text(PQport(connection));
  std::string address = "postgresql://" + text(PQuser(connection)) + "@" + host;
  if (!port.empty()) address += ":" + port;
  return address + "/" + text(PQdb(connection));
}

}  // namespace

// Text in, text out: numbers to the last digit, as both sides print them so.
class PostgresStatement final : public StatementHandle {
 public:
  // `many`: the same for many rows at once; or `one` again.
  PostgresStatement(PostgresDatabase& database, PostgresDatabase::Prepared one, PostgresDatabase::Prepared many)
      : database_(database), one_(std::move(one)), many_(std::move(many)), values_(many_.parameters) {}

  void bind_text(int index, std::string_view text) override {
    has_zero_byte_ |= text.find('\0') != std::string_view::npos;
    value(index) = std::string(text);
  }
  void bind_integer(int index, int64_t number) override { value(index) = std::to_string(number); }
  void bind_number(int index, double number) override {
    char digits[32];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
    value(index) = std::string(std::begin(digits), end);
  }
  void bind_null(int index) override { value(index).reset(); }

  Result<bool> step() override {
    if (answer_ == nullptr) {
      if (has_zero_byte_) return zero_byte();
      auto answer = database_.ask(one_.name.c_str(), static_cast<int>(one_.parameters), pointers(0, one_.parameters));
      if (!answer) return answer.error();
      answer_ = *std::move(answer);
      row_ = -1;
    }
    if (++row_ < PQntuples(answer_.get())) return true;
    reset();
    return false;
  }

  Status run() override {
    if (answer_ != nullptr) {
      reset();
      return {};
    }
    if (has_zero_byte_) return zero_byte();
    filled_ += one_.parameters;
    if (filled_ < values_.size()) return {};
    filled_ = 0;
    return database_.send(many_.name.c_str(), static_cast<int>(many_.parameters), pointers(0, many_.parameters));
  }

  Status finish() override {
    for (size_t at = 0; at < filled_; at += one_.parameters) {
      Status sent = database_.send(one_.name.c_str(), static_cast<int>(one_.parameters), pointers(at, one_.parameters));
      if (!sent) return sent;
    }
    filled_ = 0;
    return {};
  }

  void reset() override { answer_.reset(); }

  std::string_view text(int column) const override {
    return {PQgetvalue(answer_.get(), row_, column), static_cast<size_t>(PQgetlength(answer_.get(), row_, column))};
  }
  int64_t integer(int column) const override { return number_of<int64_t>(column); }
  double number(int column) const override { return number_of<double>(column); }
  bool is_null(int column) const override { return PQgetisnull(answer_.get(), row_, column) == 1; }

 private:
  std::optional<std::string>& value(int index) { return values_[filled_ + static_cast<size_t>(index)]; }

  const char* const* pointers(size_t begin, size_t count) {
    pointers_.clear();
    for (size_t i = begin; i < begin + count; ++i) pointers_.push_back(values_[i] ? values_[i]->c_str() : nullptr);
    return pointers_.data();
  }

  template <typename Number>
  Number number_of(int column) const {
    const std::string_view digits = text(column);
    Number number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
  }

  Error zero_byte() {
    has_zero_byte_ = false;
    return {"bad-corpus", "a text has a zero byte, which PostgreSQL can't store", database_.path(),
            "text without it, or a corpus in a file"};
  }

  PostgresDatabase& database_;
  PostgresDatabase::Prepared one_, many_;
  std::vector<std::optional<std::string>> values_;  // of all rows together
  size_t filled_ = 0;                               // of them
  std::vector<const char*> pointers_;
  bool has_zero_byte_ = false;
  PostgresDatabase::Answer answer_;
  int row_ = -1;
};

Result<std::unique_ptr<Database>> PostgresDatabase::open(const std::string& address, bool read_only) {
  if (Status fine = check_address(address); !fine) return fine.error();
  auto opened = std::make_unique<PostgresDatabase>();
  PostgresDatabase& database = *opened;
  // Later words win, so the address may have a limit of its own.
  const char* const keywords[] = {"connect_timeout", "application_name", "dbname", "client_encoding", nullptr};
  const char* const values[] = {"10", "perfcast", address.c_str(), "UTF8", nullptr};
  database.connection_.reset(PQconnectdbParams(keywords, values, 1));
  if (database.connection_ == nullptr) return Error{"out-of-memory", "cannot open the corpus", "", ""};
  database.path_ = shown(database.connection_.get());
  if (PQstatus(database.connection_.get()) != CONNECTION_OK) {
    return Error{"cannot-connect",
                 "the database does not answer: " + std::string(trim(PQerrorMessage(database.connection_.get()))),
                 database.path_, "the address of a PostgreSQL database, such as postgresql://user@host/database"};
  }
  PQsetNoticeProcessor(
      database.connection_.get(), [](void*, const char*) {}, nullptr);
  const std::string settings =
      "SET search_path = perfcast; SET default_transaction_read_only = " + std::string(read_only ? "on" : "off");
  if (Status status = database.execute(settings); !status) return status.error();
  return std::unique_ptr<Database>(std::move(opened));
}

Error PostgresDatabase::error(const PGresult* result) const {
  const char* const state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* const primary = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string code = state == nullptr ? "" : state;
  const std::string words = primary != nullptr ? primary : std::string(trim(PQerrorMessage(connection_.get())));
  Error problem{"corpus-error", "cannot use the corpus: " + words, path_, ""};
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    problem.expected = "a server that answers; what was not committed is not in the corpus";
  } else if (code == "42501" || code == "25006") {  // no right to, and read only
    problem.expected = "a user who may create a schema in this database, or who owns the schema perfcast";
  } else if (code.starts_with("22")) {  // what no column holds, such as text in another encoding
    problem.code = "bad-corpus";
    problem.expected = "text in UTF-8";
  } else if (code.starts_with("53")) {  // its resources
    problem.expected = "free space and memory on the server";
  }
  return problem;
}

Result<PostgresDatabase::Answer> PostgresDatabase::command(const std::string& sql) {
  if (Status status = collect(); !status) return status.error();
  Answer answer(PQexec(connection_.get(), sql.c_str()));
  const ExecStatusType status = PQresultStatus(answer.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY)
    return error(answer.get());
  return answer;
}

Status PostgresDatabase::execute(const std::string& sql) {
  auto done = command(sql);
  // What was sent before failed: the transaction is over, but the connection must be told.
  if (!done && sql == "ROLLBACK") done = command(sql);
  return done ? Status() : Status(done.error());
}

Status PostgresDatabase::begin_write() {
  if (Status status = execute("BEGIN"); !status) return status;
  Status status = execute(kLockWriters);
  if (!status) roll_back();
  return status;
}

Result<PostgresDatabase::Prepared> PostgresDatabase::prepared(const std::string& sql) {
  if (const auto known = prepared_.find(sql); known != prepared_.end()) return known->second;
  if (Status status = collect(); !status) return status.error();
  Prepared made{"s" + std::to_string(prepared_.size())};
  const std::string text = numbered(sql, made.parameters);
  const Answer answer(PQprepare(connection_.get(), made.name.c_str(), text.c_str(), 0, nullptr));
  if (PQresultStatus(answer.get()) != PGRES_COMMAND_OK) return error(answer.get());
  return prepared_.emplace(sql, std::move(made)).first->second;
}

Result<Statement> PostgresDatabase::prepare(std::string_view sql) {
  const auto one = prepared(std::string(sql));
  if (!one) return one.error();
  return Statement(std::make_unique<PostgresStatement>(*this, *one, *one));
}

Result<Statement> PostgresDatabase::prepare_rows(std::string_view sql) {
  const auto one = prepared(std::string(sql));
  if (!one) return one.error();
  const size_t begin = sql.find("VALUES(") + 6, end = sql.find(')', begin) + 1;
  std::string several(sql.substr(0, end));
  for (size_t row = 1; row < kRowsTogether; ++row) several.append(", ").append(sql.substr(begin, end - begin));
  const auto many = prepared(several.append(sql.substr(end)));
  if (!many) return many.error();
  return Statement(std::make_unique<PostgresStatement>(*this, *one, *many));
}

Status PostgresDatabase::send(const char* statement, int parameters, const char* const* values) {
  if (unanswered_ == 0 && PQenterPipelineMode(connection_.get()) != 1) return error(nullptr);
  ++unanswered_;
  if (PQsendQueryPrepared(connection_.get(), statement, parameters, values, nullptr, nullptr, 0) != 1) {
    return error(nullptr);
  }
  return unanswered_ < kMostUnanswered ? Status() : collect();
}

Status PostgresDatabase::collect() {
  if (unanswered_ == 0) return {};
  std::optional<Error> first;
  if (PQpipelineSync(connection_.get()) != 1) first = error(nullptr);
  // Each answer ends in a null, and the whole in one for the synchronisation.
  for (bool is_synchronised = first.has_value(); !is_synchronised;) {
    const Answer answer(PQgetResult(connection_.get()));
    if (answer == nullptr) {
      if (PQstatus(connection_.get()) == CONNECTION_OK) continue;
      if (!first) first = error(nullptr);
      break;
    }
    const ExecStatusType status = PQresultStatus(answer.get());
    is_synchronised = status == PGRES_PIPELINE_SYNC;
    if (status == PGRES_FATAL_ERROR && !first) first = error(answer.get());
  }
  unanswered_ = 0;
  PQexitPipelineMode(connection_.get());
  return first ? Status(*first) : Status();
}

Result<PostgresDatabase::Answer> PostgresDatabase::ask(const char* statement, int parameters,
                                                       const char* const* values) {
  if (Status status = collect(); !status) return status.error();
  Answer answer(PQexecPrepared(connection_.get(), statement, parameters, values, nullptr, nullptr, 0));
  const ExecStatusType status = PQresultStatus(answer.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return error(answer.get());
  return answer;
}

Result<int64_t> PostgresDatabase::schema_version() {
  const auto there = command(
      "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
      "WHERE n.nspname = 'perfcast' AND c.relname = 'store_version'");
  if (!there) return there.error();
  if (PQntuples(there->get()) == 0) return 0;
  const auto row = command("SELECT version FROM perfcast.store_version");
  if (!row) return row.error();
  int64_t version = 0;
  if (PQntuples(row->get()) == 1) {
    const std::string_view digits = PQgetvalue(row->get(), 0, 0);
    std::from_chars(digits.data(), digits.data() + digits.size(), version);
  }
  if (version < 1) {
    return Error{"not-a-corpus", "its schema perfcast belongs to another application", path_,
                 "a corpus that perfcast wrote, or another database"};
  }
  return version;
}

Status PostgresDatabase::set_schema_version(int64_t version) {
  return execute("DELETE FROM perfcast.store_version; INSERT INTO perfcast.store_version VALUES(" +
                 std::to_string(version) + ")");
}

Status PostgresDatabase::change_schema(const std::string& sql) {
  static const std::pair<std::regex, const char*> kWords[] = {
      {std::regex("INTEGER PRIMARY KEY"), "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"},
      {std::regex("\\bINTEGER\\b"), "BIGINT"},
      {std::regex("\\bREAL\\b"), "DOUBLE PRECISION"},
      {std::regex("\\bTEXT\\b"), "TEXT COLLATE \"C\""},  // sorts by bytes, as SQLite does
      {std::regex(" WITHOUT ROWID"), ""}};
  // Four look-ups for each run would make an import three times as slow. The store looks these rows up itself, and
  // nobody writes beside it.
  static const std::regex kRuns("CREATE TABLE (machine_)?run\\("), kLookUp(" REFERENCES [a-z_]+\\(id\\)");
  std::string own =
      "CREATE SCHEMA IF NOT EXISTS perfcast;"
      "CREATE TABLE IF NOT EXISTS perfcast.store_version(version BIGINT NOT NULL);";
  for (std::string statement : split(sql, ';')) {
    for (const auto& [theirs, ours] : kWords) statement = std::regex_replace(statement, theirs, ours);
    if (std::regex_search(statement, kRuns)) statement = std::regex_replace(statement, kLookUp, "");
    own += statement + ";";
  }
  return execute(own);
}

bool is_database_address(std::string_view corpus) {
  return corpus.starts_with("postgresql://") || corpus.starts_with("postgres://");
}

}  // namespace perfcast::program
