// Programs that run other programs: what an interpreter's own functions say of the query or script that it runs.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

constexpr double kLeastStepShare = 0.03, kLeastEngineShare = 0.3, kLeastInterpreterShare = 0.4;
constexpr double kAvoidableScan = 0.5;  // whether the rows are needed is not known

std::string_view file_of(const HotFunction& function) {
  const std::string_view path = function.library;
  return path.substr(path.rfind('/') + 1);
}

// A step to the next row of a table or index, and a search in one.
bool is_step(std::string_view name) { return name == "sqlite3BtreeNext" || name == "btreeNext"; }
bool is_search(std::string_view name) {
  return name.starts_with("sqlite3BtreeTableMoveto") || name.starts_with("sqlite3BtreeIndexMoveto") ||
         name.starts_with("sqlite3BtreeMoveto") || name.starts_with("sqlite3VdbeRecordCompare") ||
         name.starts_with("vdbeRecordCompare");
}

void add_table_scan(const Evidence& evidence, std::vector<Finding>& findings) {
  double steps = 0, searches = 0, engine = 0;
  for (const HotFunction& function : evidence.seen.functions) {
    if (function.function.starts_with("sqlite3") || file_of(function).starts_with("libsqlite3"))
      engine += function.cpu_share;
    if (is_step(function.function)) steps += function.cpu_share;
    if (is_search(function.function)) searches += function.cpu_share;
  }
  if (steps < kLeastStepShare || engine < kLeastEngineShare || searches > steps) return;
  Finding finding;
  finding.cause = "table-scan";
  finding.basis = FindingBasis::kRule;
  finding.gain_ratio = kAvoidableScan * engine * evidence.busy_ratio();
  finding.title =
      fmt::format("{} of the CPU time is SQLite going through rows one after the other", in_percent(engine));
  finding.evidence.push_back(fmt::format("samples: steps to the next row {:.1f}%, searches in a table or index {:.1f}%",
                                         100 * steps, 100 * searches));
  finding.advice = "an index on the columns that the query compares or joins by";
  finding.if_wrong = "room and time to keep the index, where each row is needed anyway";
  finding.proof =
      "EXPLAIN QUERY PLAN says SCAN where no index is used; sqlite3's .expert names indexes that would help";
  findings.push_back(std::move(finding));
}

}  // namespace

void find_in_interpreters(const Evidence& evidence, std::vector<Finding>& findings) {
  if (evidence.seen.samples_count < kFewestSamples) return;
  add_table_scan(evidence, findings);
}

std::vector<std::string> notes_on_interpreters(const Observation& seen) {
  struct Interpreter {
    std::string_view beginning, name, profiler;
  };
  static constexpr std::array<Interpreter, 8> kInterpreters = {{
      {"python3", "Python", "python3 -m cProfile -s tottime SCRIPT"},
      {"libpython3", "Python", "python3 -m cProfile -s tottime SCRIPT"},
      {"perl", "Perl", "perl -d:NYTProf SCRIPT, then nytprofhtml"},
      {"libperl", "Perl", "perl -d:NYTProf SCRIPT, then nytprofhtml"},
      {"ruby", "Ruby", "stackprof"},
      {"libruby", "Ruby", "stackprof"},
      {"lua", "Lua", "a debug.sethook() that counts lines"},
      {"php", "PHP", "Xdebug's profiler"},
  }};
  std::vector<std::string> notes;
  if (seen.samples_count < kFewestSamples) return notes;
  std::array<double, kInterpreters.size()> shares{};
  for (const HotFunction& function : seen.functions) {
    if (function.role != CodeRole::kOwn) continue;
    for (size_t i = 0; i < kInterpreters.size(); ++i) {
      if (file_of(function).starts_with(kInterpreters.at(i).beginning)) shares.at(i) += function.cpu_share;
    }
  }
  for (size_t i = 0; i < kInterpreters.size(); ++i) {
    if (shares.at(i) < kLeastInterpreterShare) continue;
    notes.push_back(
        fmt::format("{} of the CPU time is the {} interpreter's own: which lines of the script cause it says "
                    "its profiler ({}); what helps is fewer steps of the script, work that a library does in one call, "
                    "or a compiled loop",
                    in_percent(shares.at(i)), kInterpreters.at(i).name, kInterpreters.at(i).profiler));
  }
  return notes;
}

}  // namespace perfcast::measure
