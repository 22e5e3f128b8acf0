// Programs that run other programs: what an interpreter's own functions say of the query or script that it runs.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

constexpr double kLeastStepShare = 0.03, kLeastEngineShare = 0.3, kLeastInterpreterShare = 0.4;
constexpr double kLeastScript_s = 0.1, kLeastSearchShare = 0.2;
constexpr double kLeastAgain = 0.05;
constexpr double kRunsToo = 0.1, kOneCpu = 1.3;
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

// CPU time of a script's lines, and what of it goes to one kind of work.
struct LineCosts {
  double all_s = 0, of_kind_s = 0;
  const ScriptLine* most = nullptr;  // with the most of the kind

  double share() const { return of_kind_s / all_s; }
  bool are_enough() const {
    return most != nullptr && all_s >= kLeastScript_s && of_kind_s >= kLeastSearchShare * all_s;
  }
};

// `of_kind_s`: seconds of the kind in a line.
template <typename OfKind>
LineCosts costs_of(const Observation& seen, const OfKind& of_kind_s) {
  LineCosts costs;
  double most_s = 0;
  for (const ScriptLine& line : seen.script) {
    const double line_s = of_kind_s(line);
    costs.all_s += line.cpu_s;
    costs.of_kind_s += line_s;
    if (line_s <= most_s) continue;
    most_s = line_s;
    costs.most = &line;
  }
  return costs;
}

// Mending takes nearly all of it away.
Finding finding_of(const char* cause, const LineCosts& costs, const Evidence& evidence) {
  Finding finding;
  finding.cause = cause;
  finding.gain_ratio = 0.95 * costs.share() * evidence.busy_ratio();
  finding.evidence.push_back("most in " + costs.most->in_words());
  return finding;
}

// Methods of lists that compare or move what is in them, one after the other.
bool walks_a_list(const std::string& text) {
  static constexpr std::array<std::string_view, 6> kCalls = {".index(", ".count(",   ".remove(",
                                                             ".pop(0)", ".insert(0", ".rindex("};
  return std::any_of(kCalls.begin(), kCalls.end(),
                     [&](std::string_view call) { return text.find(call) != std::string::npos; });
}

// One `in`, or one call of a list's method, is over in some 50 ns where a set, a dictionary or a deque answers it.
// Where the interpreter is seen in that one instruction time and again, it goes through all that is there.
void add_script_search(const Evidence& evidence, std::vector<Finding>& findings) {
  const LineCosts costs = costs_of(
      evidence.seen, [](const ScriptLine& line) { return line.in_s + (walks_a_list(line.text) ? line.call_s : 0); });
  if (!costs.are_enough()) return;
  Finding finding = finding_of("linear-search", costs, evidence);
  finding.basis = FindingBasis::kMeasured;
  finding.title = fmt::format("{} of the script's CPU time goes into searches through a whole list or text",
                              in_percent(costs.share()));
  finding.advice = "look up in a set or a dict; a collections.deque for what is taken from the front";
  finding.if_wrong = "memory for the index; what is searched must be hashable";
  finding.proof = "the time with a list twice as long";
  std::erase_if(findings, [](const Finding& other) { return other.cause == "linear-search"; });
  findings.push_back(std::move(finding));
}

// "x = x + [y]", "self.text += piece": what is on the left is copied, or its end is appended to.
bool adds_to_itself(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  if (text[equals - 1] == '+') return true;
  const std::string_view left = trim(std::string_view(text).substr(0, equals));
  const std::string_view right = trim(std::string_view(text).substr(equals + 1));
  return !left.empty() && right.starts_with(left) && trim(right.substr(left.size())).starts_with('+');
}

// Where the interpreter is seen in additions to what is there, and in its functions that join lists and texts, all that
// is there is copied each time.
void add_script_copies(const Evidence& evidence, std::vector<Finding>& findings) {
  const LineCosts costs =
      costs_of(evidence.seen, [](const ScriptLine& line) { return adds_to_itself(line.text) ? line.add_s : 0; });
  if (!costs.are_enough()) return;
  double joining = evidence.seen.share_of(CodeRole::kCopy);
  for (const HotFunction& function : evidence.seen.functions)
    joining += function.function.find("concat") != std::string::npos ? function.cpu_share : 0;
  if (joining < kLeastSearchShare) return;
  Finding finding = finding_of("copying", costs, evidence);
  finding.title = fmt::format("{} of the script's CPU time goes into additions that copy a whole list or text",
                              in_percent(costs.share()));
  finding.advice = "append() or extend() to a list, and ''.join() it to a text at the end";
  finding.if_wrong = "others that hold the same list see it grow";
  finding.proof = "the time with twice as many items: four times as much is a copy at each step";
  std::erase_if(findings, [](const Finding& other) { return other.cause == "copying"; });
  findings.push_back(std::move(finding));
}

// What is made of a text again though it is there already.
void add_repeated_work(const Evidence& evidence, std::vector<Finding>& findings) {
  const LineCosts costs = costs_of(evidence.seen, [](const ScriptLine& line) { return line.making_s; });
  double again_s = 0;
  for (const ScriptLine& line : evidence.seen.script) again_s += line.again_s;
  if (!costs.are_enough() || again_s < kLeastAgain * costs.of_kind_s) return;
  Finding finding = finding_of("repeated-work", costs, evidence);
  finding.title = fmt::format("{} of the script's CPU time is {}, also of texts that come again",
                              in_percent(costs.share()), costs.most->making);
  finding.evidence.push_back(fmt::format("in {} of that time it was a text that had been seen there before",
                                         in_percent(again_s / costs.of_kind_s)));
  finding.advice = "make it once, before the loop, and keep it (functools.lru_cache, re.compile)";
  finding.if_wrong = "memory for what is kept; what changes one kept object changes all its uses";
  finding.proof = "count the different texts: python3 -m cProfile counts the calls";
  findings.push_back(std::move(finding));
}

// A line that a thread both runs and waits at, in futex(2), waits for the interpreter's lock: only who holds it runs
// Python. A line that waits for something else (a join, a queue) takes no CPU time.
void add_interpreters_lock(const Evidence& evidence, std::vector<Finding>& findings) {
  double waiting_s = 0, most_s = 0, all_s = 0;
  const ScriptLine* most = nullptr;
  for (const ScriptLine& line : evidence.seen.script) {
    const double signal_s = line.waits.of(ThreadState::kSignal);
    all_s += line.cpu_s;
    if (line.cpu_s < kRunsToo * signal_s) continue;
    waiting_s += signal_s;
    all_s += signal_s;
    if (signal_s <= most_s) continue;
    most_s = signal_s;
    most = &line;
  }
  const double used = evidence.seen.run.cpu_s() / std::max(1e-9, evidence.wall_s());
  if (most == nullptr || evidence.cpus_count < 2 || waiting_s < kLeastSearchShare * all_s || used > kOneCpu) return;
  const double could = std::min(evidence.cpus_count, static_cast<double>(evidence.seen.run.threads.value_or(1)));
  Finding finding;
  finding.cause = "lock-contention";
  finding.gain_ratio = std::max(0.0, 0.9 * (1 - 1 / could)) * evidence.busy_ratio();
  finding.title = fmt::format("threads of the script wait {} of their time for the interpreter's lock",
                              in_percent(waiting_s / all_s));
  finding.evidence.push_back("most at " + most->in_words());
  finding.advice =
      "processes instead of threads (multiprocessing, concurrent.futures.ProcessPoolExecutor), or a library "
      "that gives the lock up while it computes";
  finding.if_wrong = "data that has to be sent between processes";
  finding.proof = "the time with one thread: it is the same";
  std::erase_if(findings, [](const Finding& other) {
    return other.cause == "lock-contention" || other.cause == "hand-overs" || other.cause == "uneven-threads";
  });
  findings.push_back(std::move(finding));
}

}  // namespace

void find_in_interpreters(const Evidence& evidence, std::vector<Finding>& findings) {
  add_script_search(evidence, findings);
  add_script_copies(evidence, findings);
  add_repeated_work(evidence, findings);
  add_interpreters_lock(evidence, findings);
  if (evidence.seen.samples_count < kFewestSamples) return;
  add_table_scan(evidence, findings);
}

void name_script_lines(const Evidence& evidence, std::vector<Finding>& findings) {
  const LineCosts costs = costs_of(evidence.seen, [](const ScriptLine& line) { return line.cpu_s; });
  if (!costs.are_enough()) return;
  const double most_share = costs.most->cpu_s / costs.all_s;
  for (Finding& finding : findings) {
    const bool is_of_functions = std::any_of(finding.evidence.begin(), finding.evidence.end(),
                                             [](const std::string& of) { return of.starts_with("samples: "); });
    if (!is_of_functions && finding.cause != "small-io" && finding.cause != "page-faults") continue;
    finding.evidence.push_back(
        fmt::format("{} of the script's CPU time is in {}", in_percent(most_share), costs.most->in_words()));
  }
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
  // Lines of the script tell more than the advice to look for them.
  if (!seen.script.empty()) return notes;
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
