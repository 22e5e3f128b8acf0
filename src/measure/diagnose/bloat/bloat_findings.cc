// Findings of what is loaded: libraries that nobody uses, and the dynamic linker's part of the time.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "measure/diagnose/bloat/code_bloat.h"

namespace perfcast::measure {
namespace {

constexpr double kLeastLinkerShare = 0.05;
// What of the dynamic linker's time a program without libraries saves: mapping one file stays.
constexpr double kLinkerAvoidable = 0.8;
constexpr size_t kNamed = 6;

// What shares are of: the wall time, or the CPU time where several CPUs worked. CPU time alone is counted in ticks, of
// which a short program has none.
double run_s(const CodeBloat& bloat) { return std::max(bloat.wall_s, bloat.cpu_s); }

// Both are measured, and neither sees all: the report ends where the program starts, samples are few in a short run.
double linker_share(const CodeBloat& bloat) {
  if (!(run_s(bloat) > 0)) return 0;
  const double start = bloat.loader ? bloat.loader->start_s / run_s(bloat) : 0;
  const double samples = bloat.loader_cpu_ratio.value_or(0) * bloat.cpu_s / run_s(bloat);
  return std::min(1.0, std::max(start, samples));
}

bool is_unused(const BloatFile& file) { return file.use == CodeUse::kStartOnly || file.use == CodeUse::kNeverRan; }

// Who asks for a library.
std::string asked_by(const CodeBloat& bloat, const BloatFile& library) {
  if (!library.code) return "";
  const std::string& own = library.code->own_name;
  std::vector<std::string> names;
  for (const BloatFile& file : bloat.files) {
    if (!file.code) continue;
    const auto& needed = file.code->needed;
    if (std::find(needed.begin(), needed.end(), own.empty() ? library.name() : own) != needed.end())
      names.push_back(file.name());
  }
  return names.empty() ? ", loaded while it ran" : ", for " + join(names, ", ");
}

void find_unused(const CodeBloat& bloat, std::vector<Finding>& findings) {
  std::vector<const BloatFile*> unused;
  uint64_t mapped = 0, relocations = 0, all_relocations = 0;
  size_t libraries = 0;
  for (const BloatFile& file : bloat.files) {
    if (file.code) all_relocations += file.code->relocations_count;
    libraries += file.use != CodeUse::kProgram && file.use != CodeUse::kLoader ? 1 : 0;
    if (!is_unused(file)) continue;
    unused.push_back(&file);
    mapped += file.mapped_bytes;
    if (file.code) relocations += file.code->relocations_count;
  }
  if (unused.empty()) return;
  Finding finding;
  finding.cause = "unused-libraries";
  finding.title = fmt::format("{} of {} libraries are loaded and never used, {} of code", unused.size(), libraries,
                              human_bytes(static_cast<double>(mapped)));
  finding.basis = FindingBasis::kModelled;
  if (bloat.loader && run_s(bloat) > 0 && libraries > 0) {
    // Finding and mapping a library is alike for each; relocations are what differs.
    const double part = static_cast<double>(unused.size()) / static_cast<double>(libraries);
    const double share_of_relocations =
        all_relocations > 0 ? static_cast<double>(relocations) / static_cast<double>(all_relocations) : 0;
    const double saved_s = part * bloat.loader->load_s + share_of_relocations * bloat.loader->relocation_s;
    finding.gain_ratio = std::min(1.0, saved_s / run_s(bloat));
  }
  for (size_t i = 0; i < std::min(kNamed, unused.size()); ++i) {
    const BloatFile& file = *unused[i];
    finding.evidence.push_back(fmt::format(
        "{}: {} mapped, {}{}{}", file.name(), human_bytes(static_cast<double>(file.mapped_bytes)), to_text(file.use),
        asked_by(bloat, file), file.is_unneeded ? "; the program uses none of its symbols" : ""));
  }
  if (unused.size() > kNamed) finding.evidence.push_back(fmt::format("and {} more", unused.size() - kNamed));
  finding.advice =
      "leave out libraries that are not needed (-Wl,--as-needed), load rarely needed ones only on demand (dlopen), "
      "build the libraries that ask for it without that part";
  finding.if_wrong = "what another input needs is missing then";
  finding.proof = "LD_DEBUG=statistics before and after";
  findings.push_back(std::move(finding));
}

void find_linking(const CodeBloat& bloat, std::vector<Finding>& findings) {
  const double share = linker_share(bloat);
  if (share < kLeastLinkerShare) return;
  Finding finding;
  finding.cause = "dynamic-linking";
  finding.title = fmt::format("{:.0f}% of the time is the dynamic linker's", 100 * share);
  finding.gain_ratio = kLinkerAvoidable * share;
  if (bloat.loader && bloat.loader->starts_count > 0) {
    const LoaderStart& start = *bloat.loader;
    finding.evidence.push_back(
        fmt::format("until the first instruction of {:.0f} program{}: {}, of which {} went into finding and mapping "
                    "libraries and {} "
                    "into relocations",
                    start.starts_count, start.starts_count == 1 ? "" : "s", human_seconds(start.start_s),
                    human_seconds(start.load_s), human_seconds(start.relocation_s)));
    finding.evidence.push_back(fmt::format("relocations: {:.0f} by name, {:.0f} relative, {:.0f} by name until the end",
                                           start.by_name_count, start.relative_count, start.at_end_count));
  }
  if (bloat.loader_cpu_ratio)
    finding.evidence.push_back(fmt::format("samples in it: {:.1f}% of the CPU time", 100 * *bloat.loader_cpu_ratio));
  finding.advice =
      "link statically what is started often; link fewer libraries, export fewer symbols (-fvisibility=hidden, "
      "-Wl,-O1,--hash-style=gnu), start fewer processes";
  finding.if_wrong = "larger files, libraries that are updated one by one";
  finding.proof = "a rebuild with -static, in turns";
  // One cause under two names would be two findings.
  const auto loading =
      std::find_if(findings.begin(), findings.end(), [](const Finding& of) { return of.cause == "loading"; });
  if (loading != findings.end()) {
    finding.experiments = std::move(loading->experiments);
    findings.erase(loading);
  }
  findings.push_back(std::move(finding));
}

}  // namespace

void find_in_bloat(const CodeBloat& bloat, std::vector<Finding>& findings) {
  find_unused(bloat, findings);
  find_linking(bloat, findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.gain_ratio > b.gain_ratio; });
}

}  // namespace perfcast::measure
