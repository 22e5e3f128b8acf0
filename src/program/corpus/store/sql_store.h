#pragma once
// CorpusStore over a database that speaks SQL. Private to the store: store.cc opens, store_write.cc writes,
// store_load.cc reads.

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "program/corpus/store/database.h"
#include "program/corpus/store/store.h"

namespace perfcast::program {

// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) {}
  ~Transaction() {
    if (open_) database_.roll_back();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Status begin() { return started(database_.begin_write()); }
  Status begin_read() { return started(database_.begin_read()); }
  Status commit() {
    Status status = database_.commit();
    if (status.ok()) open_ = false;
    return status;
  }

 private:
  Status started(Status status) {
    open_ = status.ok();
    return status;
  }

  Database& database_;
  bool open_ = false;
};

class SqlStore final : public CorpusStore {
 public:
  explicit SqlStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  // Creates the tables in an empty database and brings older ones up to date, unless read_only. "future-version" for
  // newer ones.
  Status prepare(bool read_only);

  Result<Corpus> load() override;
  Status merge(const Corpus& additions) override { return write(additions, false); }
  Status replace_sources(const Corpus& additions) override { return write(additions, true); }
  Status put_profile(const StoredProfile& profile) override;

 private:
  Status write(const Corpus& additions, bool replace);
  Status migrate();  // from no tables, too
  // Text key -> row id of one table.
  using Ids = std::unordered_map<std::string, int64_t>;
  Result<Ids> read_ids(const char* sql);
  Status read_all_ids();
  Status remove_sources(const Corpus& additions);
  // Runs an upsert that ends in RETURNING id.
  Result<int64_t> upsert(Statement& statement);
  Result<int64_t> source_id(const std::string& source, const std::string& referrer) const;

  Status write_sources(const std::vector<Source>& sources);
  Status write_platforms(const std::vector<Platform>& platforms);
  // `platform`, and what the corpus holds of it from another source: see CorpusStore::merge().
  Result<Platform> joined_with_known(const Platform& platform, Statement& find) const;
  // Columns: id, slug, name, kind, arch, vendor, cpu_family, model, stepping, facts_json, flags, segment. Its source is
  // the caller's to fill in.
  Result<Platform> read_platform(const Statement& row) const;
  Status write_servers(const std::vector<Server>& servers);
  Status write_programs(const std::vector<Program>& programs);
  Status write_runs(const std::vector<Run>& runs);
  Status write_machine_runs(const std::vector<MachineRun>& runs);
  Result<int64_t> run_server(const std::string& name);  // its row, new where there is none
  Status write_profiles(const std::vector<StoredProfile>& profiles);
  Status write_exclusions(const std::vector<Exclusion>& exclusions);

  Status for_each_row(const char* sql, const std::function<Status(Statement&)>& read);
  // Each fills its rows; the first ones also the names that the later ones look up.
  Status load_sources(Corpus& corpus);
  Status load_platforms(Corpus& corpus);
  Status load_servers(Corpus& corpus);
  Status load_programs(Corpus& corpus);
  Status load_run_servers();
  Status load_runs(Corpus& corpus);
  Status load_machine_runs(Corpus& corpus);
  Status load_profiles(Corpus& corpus);
  Status load_exclusions(Corpus& corpus);

  std::unique_ptr<Database> database_;
  int64_t version_ = 0;  // of the tables
  // Of the tables as they are inside the transaction under way.
  Ids sources_, platforms_, programs_, run_servers_;
  // Row id -> text key, while loading.
  using Names = std::unordered_map<int64_t, std::string>;
  Result<const std::string*> name_of(const Names& names, int64_t id, const char* what) const;
  struct RunNames {
    const std::string *program, *platform, *server, *source;
  };
  // Of a row that begins with program, platform and server.
  Result<RunNames> names_of_run(const Statement& row, int source_column) const;
  Names source_names_, platform_names_, program_names_, run_server_names_;
};

}  // namespace perfcast::program
