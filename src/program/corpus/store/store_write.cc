#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/json.h"
#include "base/text.h"
#include "program/corpus/program_catalogue.h"
#include "program/corpus/source_note.h"
#include "program/corpus/store/sql_store.h"

namespace perfcast::program {
namespace {

Error bad_corpus(const std::string& message, const std::string& expected) {
  return {"bad-corpus", message, "", expected};
}

Error unknown_row(const char* what, const std::string& id, const std::string& referrer) {
  return bad_corpus(referrer + " names the " + what + " '" + printable(id) + "', which does not exist",
                    std::string("a ") + what + " that the corpus holds or the same additions bring");
}

// In the order of the key pages fill one after the other; of rows with one key the last one given stays.
template <typename Row, typename Key>
void keep_last_of_each(std::vector<Row>& rows, const Key& key) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key(a) < key(b); });
  const auto kept =
      std::unique(rows.rbegin(), rows.rend(), [&](const Row& a, const Row& b) { return key(a) == key(b); });
  rows.erase(rows.begin(), kept.base());
}

std::string facts_to_text(const std::map<std::string, double>& stated) {
  Json facts = Json::object();
  for (const auto& [name, value] : stated) {
    if (std::isfinite(value)) facts[name] = value;
  }
  return facts.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Result<SqlStore::Ids> SqlStore::read_ids(const char* sql) {
  auto rows = database_->prepare(sql);
  if (!rows) return rows.error();
  Ids ids;
  while (true) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return ids;
    ids.emplace(rows->text(1), rows->integer(0));
  }
}

Status SqlStore::read_all_ids() {
  const std::pair<Ids*, const char*> tables[] = {{&sources_, "SELECT id, name FROM source"},
                                                 {&platforms_, "SELECT id, slug FROM platform"},
                                                 {&programs_, "SELECT id, slug FROM program"},
                                                 {&run_servers_, "SELECT id, name FROM run_server"}};
  for (const auto& [ids, sql] : tables) {
    auto found = read_ids(sql);
    if (!found) return found.error();
    *ids = std::move(*found);
  }
  return {};
}

Result<int64_t> SqlStore::upsert(Statement& statement) {
  const auto row = statement.step();
  if (!row) return row.error();
  const int64_t id = statement.integer(0);
  if (const Status status = statement.run(); !status) return status.error();
  return id;
}

Result<int64_t> SqlStore::source_id(const std::string& source, const std::string& referrer) const {
  const auto found = sources_.find(source);
  if (found == sources_.end()) return unknown_row("source", source, referrer);
  return found->second;
}

Status SqlStore::write(const Corpus& additions, bool replace) {
  Transaction transaction(*database_);
  if (Status status = transaction.begin(); !status) return status;
  if (replace) {
    if (Status status = remove_sources(additions); !status) return status;
  }
  if (Status status = read_all_ids(); !status) return status;
  if (Status status = write_sources(additions.sources); !status) return status;
  if (Status status = write_platforms(additions.platforms); !status) return status;
  if (Status status = write_servers(additions.servers); !status) return status;
  if (Status status = write_programs(additions.programs); !status) return status;
  if (Status status = write_runs(additions.runs); !status) return status;
  if (Status status = write_machine_runs(additions.machine_runs); !status) return status;
  if (Status status = write_profiles(additions.profiles); !status) return status;
  if (Status status = write_exclusions(additions.exclusions); !status) return status;
  return transaction.commit();
}

Status SqlStore::remove_sources(const Corpus& additions) {
  constexpr const char* kVersions =
      "(SELECT id FROM source WHERE name = ?1 OR substr(name, 1, length(?1) + 1) = ?1 || '@')";
  // Whatever still refers to a row keeps it: profiles, runs and servers of other sources.
  const std::pair<const char*, const char*> removals[] = {
      {"run WHERE source_id IN ", ""},
      {"machine_run WHERE source_id IN ", ""},
      {"server WHERE source_id IN ", ""},
      {"profile WHERE source_id IN ", ""},
      {"exclusion WHERE source_id IN ", ""},
      {"platform WHERE source_id IN ",
       " AND id NOT IN (SELECT platform_id FROM run UNION SELECT platform_id FROM server UNION "
       "SELECT platform_id FROM machine_run)"},
      {"program WHERE source_id IN ",
       " AND id NOT IN (SELECT program_id FROM run UNION SELECT program_id FROM profile UNION "
       "SELECT program_id FROM machine_run)"},
      {"source WHERE id IN ",
       " AND id NOT IN (SELECT source_id FROM run UNION SELECT source_id FROM machine_run UNION "
       "SELECT source_id FROM platform UNION "
       "SELECT source_id FROM program UNION SELECT source_id FROM profile)"}};
  for (const auto& [rows, but_not] : removals) {
    auto statement = database_->prepare("DELETE FROM " + std::string(rows) + kVersions + but_not);
    if (!statement) return statement.error();
    for (const Source& source : additions.sources) {
      const std::string kind = source_kind(source.id);
      if (Status status = statement->bind(0, kind).run(); !status) return status;
    }
  }
  return {};
}

Status SqlStore::write_sources(const std::vector<Source>& sources) {
  auto statement = database_->prepare(
      "INSERT INTO source(name, url, licence, retrieved_utc, note) VALUES(?, ?, ?, ?, ?) ON CONFLICT(name) DO UPDATE "
      "SET url = excluded.url, licence = excluded.licence, retrieved_utc = excluded.retrieved_utc, "
      "note = excluded.note RETURNING id");
  if (!statement) return statement.error();
  for (const Source& source : sources) {
    if (source.id.empty()) return bad_corpus("a source has no id", "a name for each source");
    statement->bind(0, source.id).bind(1, source.url).bind(2, source.licence).bind(3, source.retrieved_utc);
    const auto id = upsert(statement->bind(4, source.note));
    if (!id) return id.error();
    sources_[source.id] = *id;
  }
  return {};
}

Result<Platform> SqlStore::joined_with_known(const Platform& platform, Statement& find) const {
  const auto found = find.bind(0, platform.id).step();
  if (!found) return found.error();
  if (!*found) return platform;
  auto known = read_platform(find);
  if (known) known->source = find.text(12);
  find.reset();
  if (!known) return known.error();
  if (source_kind(known->source) == source_kind(platform.source)) return platform;
  const bool known_leads = known->segment == "cloud" && platform.segment != "cloud";
  Platform joined = known_leads ? *known : platform;
  const Platform& other = known_leads ? platform : *known;
  joined.facts.insert(other.facts.begin(), other.facts.end());
  if (joined.flags.empty()) joined.flags = other.flags;
  if (joined.segment.empty()) joined.segment = other.segment;
  if (!joined.cpu_family) joined.cpu_family = other.cpu_family;
  if (!joined.model) joined.model = other.model;
  if (!joined.stepping) joined.stepping = other.stepping;
  return joined;
}

Status SqlStore::write_platforms(const std::vector<Platform>& platforms) {
  auto statement = database_->prepare(
      "INSERT INTO platform(slug, name, kind, arch, vendor, cpu_family, model, stepping, facts_json, flags, source_id, "
      "segment) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(slug) DO UPDATE SET name = excluded.name, "
      "kind = excluded.kind, arch = excluded.arch, vendor = excluded.vendor, cpu_family = excluded.cpu_family, "
      "model = excluded.model, stepping = excluded.stepping, facts_json = excluded.facts_json, "
      "flags = excluded.flags, source_id = excluded.source_id, segment = excluded.segment RETURNING id");
  if (!statement) return statement.error();
  auto find = database_->prepare(
      "SELECT platform.id, slug, platform.name, kind, arch, vendor, cpu_family, model, stepping, facts_json, flags, "
      "segment, source.name FROM platform JOIN source ON source.id = source_id WHERE slug = ?");
  if (!find) return find.error();
  for (const Platform& given : platforms) {
    if (given.id.empty()) return bad_corpus("the platform '" + given.name + "' has no id", "an id for each");
    const auto joined = joined_with_known(given, *find);
    if (!joined) return joined.error();
    const Platform& platform = *joined;
    const auto source = source_id(platform.source, "the platform '" + platform.id + "'");
    if (!source) return source.error();
    const std::string facts = facts_to_text(platform.facts);
    const std::string flags = join(platform.flags, " ");
    statement->bind(0, platform.id).bind(1, platform.name).bind(2, platform.kind).bind(3, platform.arch);
    statement->bind(4, platform.vendor).bind(5, platform.cpu_family).bind(6, platform.model);
    const auto id = upsert(statement->bind(7, platform.stepping)
                               .bind(8, facts)
                               .bind(9, flags)
                               .bind(10, *source)
                               .bind(11, platform.segment));
    if (!id) return id.error();
    platforms_[platform.id] = *id;
  }
  return {};
}

Status SqlStore::write_servers(const std::vector<Server>& servers) {
  auto statement = database_->prepare(
      "INSERT INTO server(vendor, name, platform_id, vcpus, memory_gib, threads_per_core, cores, source_id, "
      "facts_json) "
      "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(vendor, name, platform_id) DO UPDATE SET vcpus = excluded.vcpus, "
      "memory_gib = excluded.memory_gib, threads_per_core = excluded.threads_per_core, cores = excluded.cores, "
      "source_id = excluded.source_id, facts_json = excluded.facts_json");
  if (!statement) return statement.error();
  for (const Server& server : servers) {
    const std::string referrer = "the server '" + server.vendor + "/" + server.name + "'";
    const auto source = source_id(server.source, referrer);
    if (!source) return source.error();
    const auto platform = platforms_.find(server.platform);
    if (platform == platforms_.end()) return unknown_row("platform", server.platform, referrer);
    statement->bind(0, server.vendor).bind(1, server.name).bind(2, platform->second).bind(3, server.vcpus);
    statement->bind(4, server.memory_gib).bind(5, server.threads_per_core).bind(6, server.cores).bind(7, *source);
    const std::string facts = facts_to_text(server.facts);
    statement->bind(8, facts);
    if (Status status = statement->run(); !status) return status;
  }
  return {};
}

Status SqlStore::write_programs(const std::vector<Program>& programs) {
  auto statement = database_->prepare(
      "INSERT INTO program(slug, family, program_group, suite, work_unit, excluded, source_id) "
      "VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(slug) DO UPDATE SET family = excluded.family, "
      "program_group = excluded.program_group, suite = excluded.suite, work_unit = excluded.work_unit, "
      "excluded = excluded.excluded, source_id = excluded.source_id RETURNING id");
  if (!statement) return statement.error();
  for (const Program& program : programs) {
    if (program.id.empty()) return bad_corpus("a program has no id", "an id for each program");
    const auto source = source_id(program.source, "the program '" + program.id + "'");
    if (!source) return source.error();
    statement->bind(0, program.id).bind(1, program.family).bind(2, program.group).bind(3, program.suite);
    const auto id = upsert(statement->bind(4, program.work_unit).bind(5, program.excluded).bind(6, *source));
    if (!id) return id.error();
    programs_[program.id] = *id;
  }
  return {};
}

Status SqlStore::write_runs(const std::vector<Run>& runs) {
  struct Row {
    int64_t program, platform, server, source;
    const Run* run;
  };
  std::vector<Row> rows;
  rows.reserve(runs.size());
  for (const Run& run : runs) {
    const auto program = programs_.find(run.program);
    const auto platform = platforms_.find(run.platform);
    const auto source = sources_.find(run.source);
    const std::string what = "a run";
    if (program == programs_.end()) return unknown_row("program", run.program, what);
    if (platform == platforms_.end()) return unknown_row("platform", run.platform, what);
    if (source == sources_.end()) return unknown_row("source", run.source, what);
    if (!(run.time_s > 0) || !std::isfinite(run.time_s)) {
      return bad_corpus("a run of '" + printable(run.program) + "' took " + std::to_string(run.time_s) + " s",
                        "a finite time above 0");
    }
    if (run.results_count.value_or(1) < 1 || !(run.spread_ratio.value_or(0) >= 0) ||
        !std::isfinite(run.spread_ratio.value_or(0))) {
      return bad_corpus("a run of '" + printable(run.program) + "' is the mean of " +
                            std::to_string(run.results_count.value_or(1)) + " results with the spread " +
                            std::to_string(run.spread_ratio.value_or(0)),
                        "one result or more, and a finite spread of 0 or more");
    }
    const auto server = run_server(run.server);
    if (!server) return server.error();
    rows.push_back({program->second, platform->second, *server, source->second, &run});
  }
  keep_last_of_each(rows,
                    [](const Row& row) { return std::tie(row.program, row.platform, row.server, row.run->threads); });
  auto statement = database_->prepare_rows(
      "INSERT INTO run(program_id, platform_id, run_server_id, threads, time_s, energy_joules, source_id, "
      "results_count, "
      "spread_ratio) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(program_id, platform_id, run_server_id, threads) "
      "DO UPDATE SET time_s = excluded.time_s, energy_joules = excluded.energy_joules, "
      "source_id = excluded.source_id, results_count = excluded.results_count, spread_ratio = excluded.spread_ratio");
  if (!statement) return statement.error();
  for (const Row& row : rows) {
    statement->bind(0, row.program).bind(1, row.platform).bind(2, row.server).bind(3, row.run->threads);
    statement->bind(4, row.run->time_s).bind(5, row.run->energy_joules).bind(6, row.source);
    statement->bind(7, row.run->results_count).bind(8, row.run->spread_ratio);
    if (Status status = statement->run(); !status) return status;
  }
  return statement->finish();
}

Result<int64_t> SqlStore::run_server(const std::string& name) {
  if (const auto known = run_servers_.find(name); known != run_servers_.end()) return known->second;
  auto insert = database_->prepare("INSERT INTO run_server(name) VALUES(?) RETURNING id");
  if (!insert) return insert.error();
  const auto id = upsert(insert->bind(0, name));
  if (!id) return id.error();
  return run_servers_.emplace(name, *id).first->second;
}

Status SqlStore::write_machine_runs(const std::vector<MachineRun>& runs) {
  struct Row {
    int64_t program, platform, server, source;
    double copies, time_s;
  };
  std::vector<Row> rows;
  rows.reserve(runs.size());
  for (const MachineRun& run : runs) {
    const std::string what = "a run of a whole machine";
    const auto program = programs_.find(run.program);
    const auto platform = platforms_.find(run.platform);
    if (program == programs_.end()) return unknown_row("program", run.program, what);
    if (platform == platforms_.end()) return unknown_row("platform", run.platform, what);
    const auto source = source_id(run.source, what);
    if (!source) return source.error();
    if (!(run.time_s > 0) || !std::isfinite(run.time_s) || !(run.copies >= 1) || !std::isfinite(run.copies)) {
      return bad_corpus("a run of " + std::to_string(run.copies) + " copies of '" + printable(run.program) + "' took " +
                            std::to_string(run.time_s) + " s",
                        "one copy or more, and a finite time above 0");
    }
    const auto server = run_server(run.server);
    if (!server) return server.error();
    rows.push_back({program->second, platform->second, *server, *source, run.copies, run.time_s});
  }
  keep_last_of_each(rows, [](const Row& row) { return std::tie(row.program, row.platform, row.server, row.copies); });
  auto statement = database_->prepare_rows(
      "INSERT INTO machine_run(program_id, platform_id, run_server_id, copies, time_s, source_id) "
      "VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(program_id, platform_id, run_server_id, copies) DO UPDATE SET "
      "time_s = excluded.time_s, source_id = excluded.source_id");
  if (!statement) return statement.error();
  for (const Row& row : rows) {
    statement->bind(0, row.program).bind(1, row.platform).bind(2, row.server).bind(3, row.copies);
    if (Status status = statement->bind(4, row.time_s).bind(5, row.source).run(); !status) return status;
  }
  return statement->finish();
}

Status SqlStore::write_profiles(const std::vector<StoredProfile>& profiles) {
  auto statement = database_->prepare(
      "INSERT INTO profile(program_id, source_id, host_cpu_model, profile_json) VALUES(?, ?, ?, ?) "
      "ON CONFLICT(program_id, source_id, host_cpu_model) DO UPDATE SET profile_json = excluded.profile_json");
  if (!statement) return statement.error();
  for (const StoredProfile& stored : profiles) {
    const std::string referrer = "a profile of '" + printable(stored.program) + "'";
    const auto program = programs_.find(stored.program);
    if (program == programs_.end()) return unknown_row("program", stored.program, referrer);
    const auto source = source_id(stored.source, referrer);
    if (!source) return source.error();
    const std::string text = to_json(stored.profile).dump(-1, ' ', false, Json::error_handler_t::replace);
    statement->bind(0, program->second).bind(1, *source).bind(2, stored.profile.host.name).bind(3, text);
    if (Status status = statement->run(); !status) return status;
  }
  return {};
}

Status SqlStore::write_exclusions(const std::vector<Exclusion>& exclusions) {
  auto statement = database_->prepare(
      "INSERT INTO exclusion(source_id, subject, reason, row_count) VALUES(?, ?, ?, ?) "
      "ON CONFLICT(source_id, subject, reason) DO UPDATE SET row_count = excluded.row_count");
  if (!statement) return statement.error();
  for (const Exclusion& exclusion : exclusions) {
    const auto source = source_id(exclusion.source, "an exclusion");
    if (!source) return source.error();
    statement->bind(0, *source).bind(1, exclusion.subject).bind(2, exclusion.reason).bind(3, exclusion.count);
    if (Status status = statement->run(); !status) return status;
  }
  return {};
}

Status SqlStore::put_profile(const StoredProfile& stored) {
  Transaction transaction(*database_);
  if (Status status = transaction.begin(); !status) return status;
  if (Status status = read_all_ids(); !status) return status;
  if (!sources_.contains(stored.source)) {
    Source source;
    source.id = stored.source;
    if (Status status = write_sources({source}); !status) return status;
  }
  if (!programs_.contains(stored.program)) {
    if (Status status = write_programs({ProgramCatalogue().describe(stored.program, stored.source)}); !status) {
      return status;
    }
  }
  if (Status status = write_profiles({stored}); !status) return status;
  return transaction.commit();
}

}  // namespace perfcast::program
