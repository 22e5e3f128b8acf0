#include "program/corpus/suite_corpus.h"

#include <algorithm>
#include <set>

#include "machine/facts/caches.h"
#include "machine/facts/own_machine.h"
#include "machine/facts/processor.h"

namespace perfcast::program {
namespace {

constexpr const char* kServerVendor = "slurm";

// Whoever measures decides on the licence; the file can't know.
Source suite_source() { return {kOwnMachineSource, "", "not stated", "", "own measurements by perfcast collect"}; }

Program described(const SuiteProgram& entry, const std::string& source) {
  Program program = entry.program;
  if (!program.excluded.empty() && !entry.evidence.empty()) program.excluded += ": " + entry.evidence;
  program.source = source;
  return program;
}

Platform platform_of(const HostFacts& host, const std::string& source) {
  Platform platform;
  platform.name = host.name.empty() ? "unknown " + host.arch + " processor" : host.name;
  platform.id = slug(platform.name);
  platform.arch = host.arch;
  platform.vendor = vendor_name(host.vendor);
  platform.cpu_family = host.cpu_family;
  platform.model = host.model;
  platform.stepping = host.stepping;
  for (const CacheField& field : kCacheFields) {
    if (const auto& bytes = host.*field.bytes) platform.facts[field.name] = *bytes;
  }
  std::set<std::string> flags;
  for (const std::string& raw : host.cpu_flags) flags.insert(platform_flag(raw));
  flags.erase("");
  platform.flags.assign(flags.begin(), flags.end());
  platform.source = source;
  return platform;
}

}  // namespace

Platform host_platform(const HostFacts& host) { return platform_of(host, suite_source().id); }

Corpus profile_rows(const SuiteProgram& entry, const Profile& profile) {
  Corpus rows;
  rows.sources.push_back(suite_source());
  rows.programs.push_back(described(entry, rows.sources[0].id));
  rows.profiles.push_back({entry.program.id, profile, rows.sources[0].id});
  return rows;
}

bool settle_platform(Platform& platform, const Corpus& known) {
  const auto same = std::find_if(known.platforms.begin(), known.platforms.end(),
                                 [&](const Platform& other) { return other.name == platform.name; });
  if (same != known.platforms.end()) {
    platform = *same;
    return false;
  }
  const std::string id = platform.id + "-here";
  for (int i = 1; known.find_platform(platform.id) != nullptr; ++i) {
    platform.id = i == 1 ? id : id + "-" + std::to_string(i);
  }
  return true;
}

Corpus host_rows(const Suite& suite, const std::vector<SuiteOutcome>& outcomes, const HostFacts& host,
                 const Corpus& known) {
  Corpus rows;
  rows.sources.push_back(suite_source());
  const std::string& source = rows.sources[0].id;
  Platform platform = platform_of(host, source);
  const bool is_new = settle_platform(platform, known);
  for (const SuiteOutcome& outcome : outcomes) {
    const SuiteProgram* entry = suite.find(outcome.program);
    if (outcome.status != "timed" || entry == nullptr || !outcome.time_per_unit_s) continue;
    if (known.find_program(outcome.program) == nullptr) rows.programs.push_back(described(*entry, source));
    Run run;
    run.program = outcome.program;
    run.platform = platform.id;
    run.time_s = *outcome.time_per_unit_s;
    run.source = source;
    rows.runs.push_back(std::move(run));
  }
  if (is_new) rows.platforms.push_back(std::move(platform));
  return rows;
}

Corpus partition_rows(Corpus rows, const std::string& partition, const Corpus& known) {
  std::map<std::string, std::string> ids;  // of the task -> of `known`
  std::vector<Platform> added;
  for (Platform& platform : rows.platforms) {
    const std::string id = platform.id;
    if (settle_platform(platform, known)) added.push_back(platform);
    ids[id] = platform.id;
    rows.servers.push_back({kServerVendor, partition, platform.id, {}, {}, {}, {}, platform.source});
  }
  rows.platforms = std::move(added);
  for (Run& run : rows.runs) {
    if (const auto found = ids.find(run.platform); found != ids.end()) run.platform = found->second;
    run.server = std::string(kServerVendor) + "/" + partition;
  }
  if (rows.profiles.empty()) {  // as for times of this host: what is known about a program stays
    std::erase_if(rows.programs, [&](const Program& program) { return known.find_program(program.id) != nullptr; });
  }
  return rows;
}

}  // namespace perfcast::program
