#include "base/json.h"
#include "base/text.h"
#include "program/corpus/store/sql_store.h"

namespace perfcast::program {
namespace {

Result<std::map<std::string, double>> facts_from_text(std::string_view text, const std::string& where) {
  auto json = parse_json(text, where);
  if (!json) return json.error();
  std::map<std::string, double> facts;
  if (!json->is_object()) return Error{"bad-corpus", "the facts are no object", where, "an object of numbers"};
  for (const auto& [name, value] : json->items()) {
    if (!value.is_number()) return Error{"bad-corpus", "the fact '" + name + "' is no number", where, "a number"};
    facts[name] = value.get<double>();
  }
  return facts;
}

}  // namespace

Result<Corpus> SqlStore::load() {
  // One read transaction, so that a writer in between does not tear the picture.
  Transaction transaction(*database_);
  if (Status status = transaction.begin_read(); !status) return status.error();
  Corpus corpus;
  if (Status status = load_sources(corpus); !status) return status.error();
  if (Status status = load_platforms(corpus); !status) return status.error();
  if (Status status = load_servers(corpus); !status) return status.error();
  if (Status status = load_programs(corpus); !status) return status.error();
  if (Status status = load_run_servers(); !status) return status.error();
  if (Status status = load_runs(corpus); !status) return status.error();
  if (Status status = load_machine_runs(corpus); !status) return status.error();
  if (Status status = load_profiles(corpus); !status) return status.error();
  if (Status status = load_exclusions(corpus); !status) return status.error();
  make_platform_names_unique(corpus.platforms);
  return corpus;
}

Status SqlStore::for_each_row(const char* sql, const std::function<Status(Statement&)>& read) {
  auto rows = database_->prepare(sql);
  if (!rows) return rows.error();
  while (true) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return {};
    if (Status status = read(*rows); !status) return status;
  }
}

Result<const std::string*> SqlStore::name_of(const Names& names, int64_t id, const char* what) const {
  const auto found = names.find(id);
  if (found == names.end()) {
    return Error{"bad-corpus", std::string("a row names a ") + what + " that does not exist", database_->path(),
                 "a corpus that perfcast wrote"};
  }
  return &found->second;
}

Status SqlStore::load_sources(Corpus& corpus) {
  source_names_.clear();
  return for_each_row("SELECT id, name, url, licence, retrieved_utc, note FROM source ORDER BY name",
                      [&](Statement& row) -> Status {
                        Source source;
                        source.id = row.text(1);
                        source.url = row.text(2);
                        source.licence = row.text(3);
                        source.retrieved_utc = row.text(4);
                        source.note = row.text(5);
                        source_names_[row.integer(0)] = source.id;
                        corpus.sources.push_back(std::move(source));
                        return {};
                      });
}

Result<Platform> SqlStore::read_platform(const Statement& row) const {
  Platform platform;
  platform.id = row.text(1);
  platform.name = row.text(2);
  platform.kind = row.text(3);
  platform.arch = row.text(4);
  platform.vendor = row.text(5);
  platform.cpu_family = row.optional_integer(6);
  platform.model = row.optional_integer(7);
  platform.stepping = row.optional_integer(8);
  auto facts = facts_from_text(row.text(9), database_->path() + ": platform " + platform.id);
  if (!facts) return facts.error();
  platform.facts = std::move(*facts);
  for (std::string& flag : split(row.text(10), ' ')) {
    if (!flag.empty()) platform.flags.push_back(std::move(flag));
  }
  platform.segment = row.text(11);
  return platform;
}

Status SqlStore::load_platforms(Corpus& corpus) {
  platform_names_.clear();
  // What version 2 says of an older file: whoever has servers is rented out.
  const std::string segment =
      version_ < 2 ? "CASE WHEN id IN (SELECT platform_id FROM server) THEN 'cloud' ELSE '' END" : "segment";
  const std::string sql =
      "SELECT id, slug, name, kind, arch, vendor, cpu_family, model, stepping, facts_json, flags, " + segment +
      ", source_id FROM platform ORDER BY slug";
  return for_each_row(sql.c_str(), [&](Statement& row) -> Status {
    auto platform = read_platform(row);
    if (!platform) return platform.error();
    const auto source = name_of(source_names_, row.integer(12), "source");
    if (!source) return source.error();
    platform->source = **source;
    platform_names_[row.integer(0)] = platform->id;
    corpus.platforms.push_back(std::move(*platform));
    return {};
  });
}

Status SqlStore::load_servers(Corpus& corpus) {
  const std::string sql = "SELECT vendor, name, platform_id, vcpus, memory_gib, threads_per_core, cores, source_id, " +
                          std::string(version_ < 3 ? "'{}'" : "facts_json") +
                          " FROM server ORDER BY vendor, name, platform_id";
  return for_each_row(sql.c_str(), [&](Statement& row) -> Status {
    Server server;
    server.vendor = row.text(0);
    server.name = row.text(1);
    const auto platform = name_of(platform_names_, row.integer(2), "platform");
    if (!platform) return platform.error();
    server.platform = **platform;
    server.vcpus = row.optional_number(3);
    server.memory_gib = row.optional_number(4);
    server.threads_per_core = row.optional_number(5);
    server.cores = row.optional_number(6);
    const auto source = name_of(source_names_, row.integer(7), "source");
    if (!source) return source.error();
    server.source = **source;
    auto facts = facts_from_text(row.text(8), database_->path() + ": server " + server.vendor + "/" + server.name);
    if (!facts) return facts.error();
    server.facts = std::move(*facts);
    corpus.servers.push_back(std::move(server));
    return {};
  });
}

Status SqlStore::load_programs(Corpus& corpus) {
  program_names_.clear();
  return for_each_row(
      "SELECT id, slug, family, program_group, suite, work_unit, excluded, source_id FROM program ORDER BY slug",
      [&](Statement& row) -> Status {
        Program program;
        program.id = row.text(1);
        program.family = row.text(2);
        program.group = row.text(3);
        program.suite = row.text(4);
        program.work_unit = row.text(5);
        program.excluded = row.text(6);
        const auto source = name_of(source_names_, row.integer(7), "source");
        if (!source) return source.error();
        program.source = **source;
        program_names_[row.integer(0)] = program.id;
        corpus.programs.push_back(std::move(program));
        return {};
      });
}

Status SqlStore::load_run_servers() {
  run_server_names_.clear();
  return for_each_row("SELECT id, name FROM run_server", [&](Statement& row) -> Status {
    run_server_names_[row.integer(0)] = row.text(1);
    return {};
  });
}

Result<SqlStore::RunNames> SqlStore::names_of_run(const Statement& row, int source_column) const {
  const auto program = name_of(program_names_, row.integer(0), "program");
  if (!program) return program.error();
  const auto platform = name_of(platform_names_, row.integer(1), "platform");
  if (!platform) return platform.error();
  const auto server = name_of(run_server_names_, row.integer(2), "server");
  if (!server) return server.error();
  const auto source = name_of(source_names_, row.integer(source_column), "source");
  if (!source) return source.error();
  return RunNames{*program, *platform, *server, *source};
}

Status SqlStore::load_machine_runs(Corpus& corpus) {
  if (version_ < 3) return {};
  return for_each_row(
      "SELECT program_id, platform_id, run_server_id, copies, time_s, source_id FROM machine_run "
      "ORDER BY program_id, platform_id, run_server_id, copies",
      [&](Statement& row) -> Status {
        const auto names = names_of_run(row, 5);
        if (!names) return names.error();
        corpus.machine_runs.push_back(
            {*names->program, *names->platform, *names->server, row.number(3), row.number(4), *names->source});
        return {};
      });
}

Status SqlStore::load_runs(Corpus& corpus) {
  const auto count = database_->query_integer("SELECT count(*) FROM run");
  if (!count) return count.error();
  corpus.runs.reserve(static_cast<size_t>(*count));
  const std::string sql = "SELECT program_id, platform_id, run_server_id, threads, time_s, energy_joules, source_id, " +
                          std::string(version_ < 2 ? "NULL, NULL" : "results_count, spread_ratio") +
                          " FROM run ORDER BY program_id, platform_id, run_server_id, threads";
  return for_each_row(sql.c_str(), [&](Statement& row) -> Status {
    const auto names = names_of_run(row, 6);
    if (!names) return names.error();
    corpus.runs.push_back({*names->program, *names->platform, *names->server, row.integer(3), row.number(4),
                           row.optional_number(5), *names->source, row.optional_integer(7), row.optional_number(8)});
    return {};
  });
}

Status SqlStore::load_profiles(Corpus& corpus) {
  return for_each_row("SELECT program_id, source_id, profile_json FROM profile ORDER BY id",
                      [&](Statement& row) -> Status {
                        StoredProfile stored;
                        const auto program = name_of(program_names_, row.integer(0), "program");
                        if (!program) return program.error();
                        stored.program = **program;
                        const auto source = name_of(source_names_, row.integer(1), "source");
                        if (!source) return source.error();
                        stored.source = **source;
                        const std::string where = database_->path() + ": profile of " + stored.program;
                        const auto json = parse_json(row.text(2), where);
                        if (!json) return json.error();
                        auto profile = profile_from_json(*json, where);
                        if (!profile) return profile.error();
                        stored.profile = std::move(*profile);
                        corpus.profiles.push_back(std::move(stored));
                        return {};
                      });
}

Status SqlStore::load_exclusions(Corpus& corpus) {
  return for_each_row(
      "SELECT source_id, subject, reason, row_count FROM exclusion ORDER BY source_id, subject, reason",
      [&](Statement& row) -> Status {
        const auto source = name_of(source_names_, row.integer(0), "source");
        if (!source) return source.error();
        corpus.exclusions.push_back({**source, std::string(row.text(1)), std::string(row.text(2)), row.integer(3)});
        return {};
      });
}

}  // namespace perfcast::program
