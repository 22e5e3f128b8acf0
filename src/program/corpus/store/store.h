#pragma once
// Where a corpus is kept, behind a narrow interface: a file of SQLite, or a PostgreSQL database that a team shares.

#include <memory>
#include <string>
#include <string_view>

#include "program/corpus/corpus.h"

namespace perfcast::program {

// Whether it is the address of a PostgreSQL database, "postgresql://user@host:port/database" or "postgres://...", and
// no path. It has no password: that is in ~/.pgpass or PGPASSWORD
// (https://www.postgresql.org/docs/15/libpq-connect.html).
bool is_database_address(std::string_view corpus);

// Keys: source, platform and program by id; server by vendor, name and platform; run by program, platform, server and
// threads; profile by program, source and the host's CPU model; exclusion by source, subject and reason.
class CorpusStore {
 public:
  // `path`: or the address of a database. Creates the file, its folder and schema where absent; a file of another kind
  // or a future schema version is refused unchanged ("not-a-corpus", "future-version"; of a database "cannot-connect").
  static Result<std::unique_ptr<CorpusStore>> open(const std::string& path);
  // "file-not-found" where absent; of a database "not-a-corpus".
  static Result<std::unique_ptr<CorpusStore>> open_read_only(const std::string& path);
  virtual ~CorpusStore() = default;

  virtual Result<Corpus> load() = 0;
  // Adds or replaces rows by key in one transaction: killed at any point, the corpus is as before or complete. Rows
  // that name a source, platform or program in neither the file nor `additions` are refused ("bad-corpus"). Of a
  // platform that two sources describe, the description of the cloud's stays, else the later one; the other adds facts
  // that it lacks.
  virtual Status merge(const Corpus& additions) = 0;
  // As merge, after removing what the sources named in `additions`, in any version ("name@version"), gave before: runs,
  // servers, profiles and exclusions, and platforms and programs that nothing refers to any more. In the same
  // transaction.
  virtual Status replace_sources(const Corpus& additions) = 0;
  // One profile, written as it arrives. A program that the corpus lacks is added with what its id tells; likewise a
  // source.
  virtual Status put_profile(const StoredProfile& profile) = 0;
};

}  // namespace perfcast::program
