#include "program/adapt/adapt_platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/csv.h"
#include "base/json.h"
#include "base/significant.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "machine/facts/processor_json.h"
#include "program/adapt/adapt_report.h"

namespace perfcast::program {
namespace {

constexpr size_t kMostRuns = 100000;
constexpr double kSameRunLog = 0.2;     // two times of one program may be so far apart
constexpr double kBeyond = 100;         // a fact so far beyond those of all platforms is a mistake
constexpr double kUnitLog = 3.4;        // 30x: no platform is that far from what its facts say
constexpr double kOtherDeviations = 8;  // one run beside the others
constexpr size_t kNamed = 12;           // programs in an error
constexpr size_t kMostFacts = 1000;
constexpr double kLeast = 1e-15, kMost = 1e15;  // seconds, units of work, seconds of one: beyond them it is a mistake

struct TimeUnit {
  double seconds;
  const char* name;
};
constexpr TimeUnit kTimeUnits[] = {
    {1e-3, "milliseconds"}, {1e-6, "microseconds"}, {1e-9, "nanoseconds"}, {60, "minutes"}, {3600, "hours"}};

// "milliseconds" where times in them, taken for seconds, are off by about so much.
std::string unit_that_fits(double log_ratio) {
  constexpr double kFitsLog = 1.4;
  const TimeUnit* best = nullptr;
  double nearest = kFitsLog;
  for (const TimeUnit& unit : kTimeUnits) {
    const double apart = std::abs(log_ratio + std::log(unit.seconds));
    if (apart >= nearest) continue;
    nearest = apart;
    best = &unit;
  }
  return best == nullptr ? "" : best->name;
}

// "Hz: " of "max_hz": what the name ends in; empty where it ends in no unit.
std::string unit_of_fact(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kUnits[] = {
      {"_bytes_per_s", "bytes/s: "}, {"_hz", "Hz: "}, {"_bytes", "bytes: "}, {"_ns", "nanoseconds: "}};
  for (const auto& [suffix, unit] : kUnits) {
    if (name.ends_with(suffix)) return std::string(unit);
  }
  return "";
}

// "; 5e+09 would be among them" for 5e+12: a prefix more or less, and only one that fits.
std::string in_other_unit(double value, double least, double most) {
  for (const double factor : {1e-3, 1e3, 1e-6, 1e6, 1e-9, 1e9}) {
    if (value * factor >= least && value * factor <= most) {
      return fmt::format("; {} would be among them: was it in another unit?", significant(value * factor, 3));
    }
  }
  return "";
}

std::string off_by(double log_ratio) {
  const double ratio = std::exp(log_ratio);
  return ratio >= 1 ? fmt::format("{} times too long", significant(ratio, 3))
                    : fmt::format("{} times too short", significant(1 / ratio, 3));
}

// "'a', 'b' and 3 more".
std::string named_few(std::vector<std::string> names) {
  const size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
  if (more > 0) names.resize(kNamed);
  return "'" + join(names, "', '") + (more > 0 ? "' and " + std::to_string(more) + " more" : "'");
}

// Log seconds per unit of work at relative time 1; absent: nothing tells.
std::optional<double> level_of(const Bundle& bundle, const std::map<std::string, ProgramWork>& work,
                               Eigen::Index program) {
  const double per_instruction = bundle.training_log_seconds_per_instruction_mean(program);
  const auto found = work.find(bundle.programs[static_cast<size_t>(program)].id);
  if (std::isnan(per_instruction) || found == work.end() || !found->second.instructions_per_unit) return std::nullopt;
  return per_instruction + std::log(*found->second.instructions_per_unit);
}

// Runs of one program together: the first of them, and what they say on average.
struct FoldedRuns {
  std::vector<ProgramRun> read;
  std::vector<AdaptRun> first;
};

Result<FoldedRuns> fold_runs(const Bundle& bundle, const std::map<std::string, ProgramWork>& work,
                             const std::vector<AdaptRun>& runs) {
  std::map<std::string, Eigen::Index> index;
  for (size_t p = 0; p < bundle.programs.size(); ++p) {
    index.try_emplace(bundle.programs[p].id, static_cast<Eigen::Index>(p));
  }
  std::vector<std::string> unknown, without_work;
  std::map<Eigen::Index, std::vector<const AdaptRun*>> by_program;
  for (const AdaptRun& run : runs) {
    const auto found = index.find(run.program);
    if (found == index.end()) {
      unknown.push_back(run.program);
    } else if (!level_of(bundle, work, found->second)) {
      without_work.push_back(run.program);
    } else {
      by_program[found->second].push_back(&run);
    }
  }
  if (!unknown.empty()) {
    std::vector<std::string> known;
    known.reserve(index.size());
    for (const auto& [id, at] : index) known.push_back(id);
    return Error{"unknown-program", "the bundle was trained on no program " + named_few(unknown), runs.front().where,
                 "ids as `perfcast collect --list` has them, such as " + nearest_names(unknown.front(), known) +
                     "; own programs join by perfcast collect and train"};
  }
  if (!without_work.empty()) {
    return Error{"no-work", "no profile says how much work there is in " + named_few(without_work), runs.front().where,
                 "profiles of these programs, or runs of other ones"};
  }
  FoldedRuns folded;
  for (const auto& [program, same] : by_program) {
    double least = INFINITY, most = -INFINITY, sum = 0;
    for (const AdaptRun* run : same) {
      const double log_time = std::log(run->seconds / run->work_units);
      least = std::min(least, log_time);
      most = std::max(most, log_time);
      sum += log_time;
    }
    if (most - least > kSameRunLog) {
      return Error{
          "contradictory-runs",
          fmt::format("two times of '{}' are {}x apart", same.front()->program, significant(std::exp(most - least), 3)),
          same.front()->where + ", " + same.back()->where,
          "runs of the same work on an idle machine, within 20% of each other"};
    }
    folded.read.push_back({program, sum / static_cast<double>(same.size()) - *level_of(bundle, work, program)});
    folded.first.push_back(*same.front());
  }
  if (!folded.read.empty() && folded.read.size() < kFewestRuns) {
    return Error{"too-few-runs",
                 fmt::format("{} program{} measured, and {} are needed to notice a wrong one", folded.read.size(),
                             folded.read.size() == 1 ? " was" : "s were", kFewestRuns),
                 runs.front().where,
                 fmt::format("{} more; perfcast adapt --suggest {} says which", kFewestRuns - folded.read.size(),
                             kFewestRuns - folded.read.size())};
  }
  return folded;
}

}  // namespace

Result<std::vector<AdaptRun>> parse_adapt_runs(std::string_view text, const std::string& source, std::string* form) {
  const auto table = CsvTable::parse_any_form(text, source);
  if (!table) return table.error();
  if (form != nullptr) *form = table->form();
  const auto program = table->column("program"), seconds = table->column("seconds");
  if (!program || !seconds) {
    Error error = program ? seconds.error() : program.error();
    error.expected = "the columns program, seconds and, where it is not 1, work_units";
    return error;
  }
  const auto units = table->find_column("work_units");
  if (table->rows() > kMostRuns) {
    return Error{"bad-runs", "the file has " + std::to_string(table->rows()) + " rows", source,
                 "at most " + std::to_string(kMostRuns)};
  }
  if (table->rows() == 0) {
    return Error{
        "too-few-runs", "the file has no run, and " + std::to_string(kFewestRuns) + " are needed", source,
        "a row for each program; perfcast adapt --suggest 3 says which, and without --runs facts alone decide"};
  }
  std::vector<AdaptRun> runs;
  runs.reserve(table->rows());
  for (size_t row = 0; row < table->rows(); ++row) {
    AdaptRun run;
    run.program = std::string(trim(table->cell(row, *program)));
    run.where = table->where(row);
    for (const auto& [column, value] :
         {std::pair{std::optional<size_t>(*seconds), &run.seconds}, std::pair{units, &run.work_units}}) {
      if (!column) continue;
      const auto number = table->number(row, *column);
      if (!number) return number.error();
      const bool is_usable = *number && **number >= kLeast && **number <= kMost;
      if (is_usable) *value = **number;
      if (is_usable || (!*number && value == &run.work_units)) continue;
      const bool is_above = *number && **number > 0;
      return Error{
          "bad-runs", "'" + printable(table->cell(row, *column)) + "' in the column " + table->columns()[*column],
          run.where, is_above ? fmt::format("a number between {:g} and {:g}", kLeast, kMost) : "a number above 0"};
    }
    if (const double of_one = run.seconds / run.work_units; of_one < kLeast || of_one > kMost) {
      return Error{"bad-runs", fmt::format("{:g} s for {:g} units of work", run.seconds, run.work_units), run.where,
                   fmt::format("between {:g} and {:g} s for a unit", kLeast, kMost)};
    }
    if (run.program.empty()) return Error{"bad-runs", "a row names no program", run.where, "a program's id"};
    runs.push_back(std::move(run));
  }
  return runs;
}

Result<Platform> parse_platform_facts(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  const auto bad = [&](const std::string& what, const std::string& expected) {
    return Error{"bad-facts", what, source, expected};
  };
  if (!json->is_object()) return bad("the file holds no object", "{\"name\": ..., \"vendor\": ..., \"facts\": {...}}");
  JsonReader in(*json, source);
  Platform platform;
  platform.name = in.string("name");
  platform.vendor = vendor_name(in.string_or("vendor", ""));
  platform.arch = arch_key(in.string_or("arch", ""));
  platform.kind = in.string_or("kind", "cpu");
  platform.segment = in.string_or("segment", "");
  read_numbers(in, platform);
  platform.flags = in.strings("flags", kMostFlags);
  in.refuse_others({"facts", "id", "source"});
  if (Status status = in.finish(); !status) return bad(status.error().message, status.error().expected);
  if (platform.name.empty()) return bad("the platform has no name", "\"name\": what tables are to call it");
  platform.id = slug(platform.name);
  if (platform.id.empty()) return bad("the name has no letter or digit", "a name of letters and digits");
  platform.source = "adapt";
  const auto facts = json->find("facts");
  if (facts == json->end()) return platform;
  if (!facts->is_object() || facts->size() > kMostFacts)
    return bad("\"facts\" is no object of numbers", "{name: number}");
  for (const auto& [name, value] : facts->items()) {
    if (!value.is_number() || !(value.get<double>() >= 0)) {
      return bad("the fact '" + printable(name) + "' is no number of at least 0", "facts in the unit that they end in");
    }
    platform.facts[name] = value.get<double>();
  }
  return platform;
}

Result<std::vector<std::string>> check_known_facts(const Platform& platform, const std::vector<Platform>& known,
                                                   const std::string& source) {
  std::map<std::string, std::pair<double, double>> ranges;  // of numbers above 0
  for (const Platform& of : known) {
    for (const auto& [name, value] : of.facts) {
      const auto [at, is_new] = ranges.try_emplace(name, value, value);
      if (is_new || !(value > 0)) continue;
      at->second.first = at->second.first > 0 ? std::min(at->second.first, value) : value;
      at->second.second = std::max(at->second.second, value);
    }
  }
  std::vector<std::string> names, notes;
  // What a CPU or GPU is by is half of what it is known by.
  for (const auto& [what, value, key] :
       {std::tuple{"vendor", &Platform::vendor, &vendor_key}, {"instruction set (arch)", &Platform::arch, &arch_key}}) {
    std::vector<std::string> theirs;
    bool is_known = (platform.*value).empty() || known.empty();
    for (const Platform& of : known) {
      if ((of.*value).empty()) continue;  // not told is no name
      is_known = is_known || key(of.*value) == key(platform.*value);
      if (std::find(theirs.begin(), theirs.end(), of.*value) == theirs.end()) theirs.push_back(of.*value);
    }
    if (is_known || theirs.empty()) continue;
    notes.push_back(fmt::format("no platform of the bundle has the {} '{}'; they have {}", what,
                                printable(platform.*value), nearest_names(platform.*value, theirs)));
  }
  names.reserve(ranges.size());
  for (const auto& [name, range] : ranges) names.push_back(name);
  std::vector<std::string> stated_by_none;
  for (const auto& [name, value] : platform.facts) {
    const auto range = ranges.find(name);
    if (range == ranges.end()) {
      stated_by_none.push_back(printable(name));
      continue;
    }
    const auto& [least, most] = range->second;
    if (value > 0 && least > 0 && (value > kBeyond * most || value < least / kBeyond)) {
      return Error{"bad-facts", fmt::format("{} of {}", printable(name), significant(value, 3)), source,
                   fmt::format("{}platforms of the bundle have {} to {}{}", unit_of_fact(name), significant(least, 3),
                               significant(most, 3), in_other_unit(value, least, most))};
    }
  }
  if (!stated_by_none.empty()) {
    const bool is_one = stated_by_none.size() == 1;
    const std::string theirs = nearest_names(stated_by_none.front(), names);
    std::string text =
        fmt::format("no platform of the bundle states {} {}, so {}", is_one ? "a fact" : "the facts",
                    named_few(std::move(stated_by_none)), is_one ? "it tells nothing" : "they tell nothing");
    notes.push_back(text + (names.empty() ? "; they state none" : "; they state " + theirs));
  }
  return notes;
}

AdaptScenario::AdaptScenario(std::shared_ptr<const Bundle> bundle, std::map<std::string, ProgramWork> work,
                             PlatformAdaptation adaptation)
    : bundle_(std::move(bundle)), work_(std::move(work)), adaptation_(std::move(adaptation)) {
  for (size_t p = 0; p < bundle_->programs.size(); ++p) {
    index_.try_emplace(bundle_->programs[p].id, static_cast<Eigen::Index>(p));
  }
}

Result<AdaptScenario> AdaptScenario::start(std::shared_ptr<const Bundle> bundle, const Platform& platform,
                                           std::map<std::string, ProgramWork> work) {
  const TransferOptions options;
  auto adaptation = PlatformAdaptation::start(*bundle, platform, options);
  if (!adaptation) return adaptation.error();
  return AdaptScenario(std::move(bundle), std::move(work), std::move(*adaptation));
}

std::optional<double> AdaptScenario::level(Eigen::Index program) const { return level_of(*bundle_, work_, program); }

Status check_adapt_runs(const Bundle& bundle, const std::map<std::string, ProgramWork>& work,
                        const std::vector<AdaptRun>& runs) {
  const auto folded = fold_runs(bundle, work, runs);
  return folded ? Status() : folded.error();
}

Status AdaptScenario::measure(const std::vector<AdaptRun>& runs) {
  const auto folded = fold_runs(*bundle_, work_, runs);
  if (!folded) return folded.error();
  std::vector<std::string> where;
  where.reserve(folded->first.size());
  for (const AdaptRun& run : folded->first) where.push_back(run.where);
  if (Status status = check_units(folded->read, where); !status) return status;
  adaptation_.measure(folded->read);
  return {};
}

// Against what the facts say: all at once, and each beside what the others say.
Status AdaptScenario::check_units(const std::vector<ProgramRun>& runs, const std::vector<std::string>& where) const {
  const bool here = where.empty();
  const std::string expected = here ? "runs on a machine at rest, of the programs as the suite has them"
                                    : "seconds of CPU time per unit of work, or work_units beside them";
  // Nobody mistakes units where perfcast itself took the times.
  const auto unit_of = [here](double apart) { return here ? std::string() : unit_that_fits(apart); };
  const Gaussian& prior = adaptation_.prior();
  std::vector<double> surprises;
  surprises.reserve(runs.size());
  for (const ProgramRun& run : runs) surprises.push_back(run.log_relative_time - prior.mean(run.program));
  if (surprises.empty()) return {};
  const double usual = median(surprises);
  if (std::abs(usual) > kUnitLog) {
    const std::string unit = unit_of(usual);
    return Error{
        "bad-unit",
        "the times are " + off_by(usual) + " for the platform" + (unit.empty() ? "" : ": were they in " + unit + "?"),
        here ? "" : where.front(), expected};
  }
  for (size_t i = 0; i < surprises.size(); ++i) {
    std::vector<double> others = surprises;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const double apart = surprises[i] - median(others);
    const double deviation = std::sqrt(prior.covariance(runs[i].program, runs[i].program));
    if (std::abs(apart) < std::max(std::log(3.0), kOtherDeviations * deviation)) continue;
    const std::string unit = unit_of(apart);
    return Error{"bad-unit",
                 fmt::format("the time of '{}' is {} beside the others", program_id(runs[i].program), off_by(apart)) +
                     (unit.empty() ? ": of another amount of work?" : ": was it in " + unit + "?"),
                 here ? "" : where[i], expected};
  }
  return {};
}

Status AdaptScenario::add(const std::string& program, double seconds_per_unit) {
  const auto found = index_.find(program);
  const auto of_one = found == index_.end() ? std::nullopt : level(found->second);
  if (!of_one) return Error{"unknown-program", "the bundle knows no work of this program", program, ""};
  std::vector<ProgramRun> runs = adaptation_.runs();
  std::erase_if(runs, [&](const ProgramRun& run) { return run.program == found->second; });
  runs.push_back({found->second, std::log(seconds_per_unit) - *of_one});
  adaptation_.measure(runs);
  return {};
}

std::vector<ChosenProgram> AdaptScenario::suggest(size_t count,
                                                  const std::function<bool(const std::string&)>& may_run) const {
  Eigen::VectorXd seconds = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(bundle_->programs.size()), kUnknown);
  for (Eigen::Index p = 0; p < seconds.size(); ++p) {
    const auto of_one = level(p);
    const auto work = work_.find(program_id(p));
    if (!of_one || work == work_.end() || !work->second.run_units || !may_run(program_id(p))) continue;
    seconds(p) = std::exp(*of_one + adaptation_.posterior().mean(p)) * *work->second.run_units;
  }
  return adaptation_.suggest(seconds, count);
}

std::optional<double> AdaptScenario::typical_half_width(const std::function<bool(const std::string&)>& which) const {
  std::set<Eigen::Index> measured;
  for (const ProgramRun& run : adaptation_.runs()) measured.insert(run.program);
  std::vector<double> widths;
  for (Eigen::Index p = 0; p < adaptation_.half_widths().size(); ++p) {
    if (!measured.contains(p) && which(program_id(p))) widths.push_back(adaptation_.half_widths()(p));
  }
  if (widths.empty()) return std::nullopt;
  return median(std::move(widths));
}

AdaptReport AdaptScenario::report(size_t suggest_count) const {
  AdaptReport report;
  report.platform = adaptation_.platform();
  report.nearest = bundle_->platforms[adaptation_.nearest()].name;
  report.runs = adaptation_.runs().size();
  std::vector<RunBesideFacts> beside;
  beside.reserve(adaptation_.runs().size());
  for (const ProgramRun& run : adaptation_.runs()) {
    beside.push_back(
        {run.log_relative_time - adaptation_.prior().mean(run.program), adaptation_.prior_half_widths()(run.program)});
  }
  if (std::string beyond = all_beyond_facts(beside); !beyond.empty()) report.notes.push_back(std::move(beyond));
  report.check = adaptation_.check();
  const Gaussian& kept = adaptation_.kept();
  const Eigen::VectorXd& half_widths = adaptation_.kept_half_widths();
  std::map<Eigen::Index, double> measured;
  for (const ProgramRun& run : adaptation_.runs()) measured[run.program] = run.log_relative_time;
  std::map<std::string, AdaptedGroup> groups;
  std::map<std::string, std::array<std::vector<double>, 2>> widths;  // before, after
  for (size_t p = 0; p < bundle_->programs.size(); ++p) {
    const auto index = static_cast<Eigen::Index>(p);
    const std::string& name = bundle_->programs[p].group;
    AdaptedGroup& group = groups[name];
    group.group = name;
    ++group.programs;
    group.measured += measured.contains(index) ? 1 : 0;
    if (measured.contains(index)) continue;
    widths[name][0].push_back(adaptation_.prior_half_widths()(index));
    widths[name][1].push_back(half_widths(index));
  }
  for (auto& [name, group] : groups) {
    group.half_width_facts = median(widths[name][0]);
    group.half_width = median(widths[name][1]);
    report.groups.push_back(group);
  }
  const Gaussian& posterior = adaptation_.posterior();
  for (Eigen::Index p = 0; p < kept.mean.size(); ++p) {
    AdaptedProgram row;
    row.program = program_id(p);
    const auto run = measured.find(p);
    // What was run is known, whatever the runs say of others.
    const bool was_run = run != measured.end();
    const double mean = was_run ? posterior.mean(p) : kept.mean(p);
    const double half = was_run ? adaptation_.half_widths()(p) : half_widths(p);
    row.relative_time = std::exp(mean);
    row.lower = std::exp(mean - half);
    row.upper = std::exp(mean + half);
    if (const auto of_one = level(p)) {
      row.forecast_s = std::exp(mean + *of_one);
      row.facts_s = std::exp(adaptation_.prior().mean(p) + *of_one);
      if (was_run) row.measured_s = std::exp(run->second + *of_one);
    }
    report.programs.push_back(std::move(row));
  }
  for (const ChosenProgram& choice : suggest(suggest_count, [](const std::string&) { return true; })) {
    report.suggested.push_back({program_id(choice.program), choice.seconds,
                                choice.deviation_before > 0 ? choice.deviation_after / choice.deviation_before : 1});
  }
  if (std::string few = why_few_suggested(suggest_count, report.suggested.size()); !few.empty()) {
    report.notes.push_back(std::move(few));
  }
  return report;
}

// Why fewer programs are suggested than were asked for; empty: as many are.
std::string AdaptScenario::why_few_suggested(size_t asked, size_t suggested) const {
  if (suggested >= asked) return "";
  std::set<Eigen::Index> measured;
  for (const ProgramRun& run : adaptation_.runs()) measured.insert(run.program);
  std::vector<std::string> without_work;
  for (Eigen::Index p = 0; p < static_cast<Eigen::Index>(bundle_->programs.size()); ++p) {
    const auto work = work_.find(program_id(p));
    const bool is_sized = level(p) && work != work_.end() && work->second.run_units;
    if (!is_sized && !measured.contains(p)) without_work.push_back(program_id(p));
  }
  std::vector<std::string> why;
  const size_t others = bundle_->programs.size() - measured.size() - without_work.size() - suggested;
  if (!measured.empty())
    why.push_back(fmt::format("{} {} run already", measured.size(), measured.size() == 1 ? "was" : "were"));
  if (!without_work.empty()) {
    why.push_back(
        fmt::format("of {} no profile says how much work a run is, such as '{}' (--profiles FOLDER with theirs)",
                    without_work.size(), printable(without_work.front())));
  }
  if (others > 0) why.push_back(fmt::format("{} would tell nothing more of the rest", others));
  return fmt::format("of the bundle's {} programs {} can be suggested: {}", bundle_->programs.size(),
                     suggested == 0 ? "none" : fmt::format("only {}", suggested), join(why, "; "));
}

}  // namespace perfcast::program
