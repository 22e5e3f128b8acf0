// The steps of a diagnosis that look at the code which is loaded.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/process/program_inspector.h"
#include "base/text.h"
#include "measure/diagnose/bloat/code_sizes.h"
#include "measure/diagnose/bloat/without_libraries.h"
#include "measure/diagnose/prove/output_check.h"
#include "measure/diagnose/session.h"
#include "profile/collect/qemu/qemu_collector.h"

namespace perfcast::measure {
namespace {

constexpr size_t kNamedLibraries = 3;
constexpr double kAllSeen = 0.999;  // of the CPU time
constexpr double kLongestCheck_s = 600;

}  // namespace

// Counts of a part are not worth much; which code ran until then is.
Status DiagnosisSession::trace_until_limit() {
  QemuCollector instrumenter;
  if (!request_.with_bloat || !instrumenter.available()) return {};
  say("looking which code runs, under an instrumenter");
  CollectRequest collect;
  collect.command = command_;
  collect.around = request_.around;
  collect.pass_output = false;
  collect.mix_only = true;
  collect.limit_s = request_.limit_s;
  collect.input_descriptor = -1;
  collect.executed_code = executed_ = std::make_shared<std::vector<ExecutedCode>>();
  const auto found = instrumenter.collect(collect);
  if (!found && found.error().kind == ErrorKind::kInterrupted) return found.error();
  return {};
}

void DiagnosisSession::look_at_code() {
  BloatEvidence evidence(result_.seen);
  const auto program = inspect_program(command_);
  std::error_code failed;
  if (program) evidence.program = std::filesystem::canonical(program->binary, failed).string();
  evidence.loader = loader_;
  evidence.executed = executed_.get();
  evidence.is_cut = true;
  if (result_.profile) {
    const Profile& profile = *result_.profile;
    const auto warns = [&](std::string_view code) {
      return std::any_of(profile.warnings.begin(), profile.warnings.end(),
                         [&](const ProfileWarning& of) { return of.code == code; });
    };
    const bool is_whole =
        std::any_of(profile.collectors.begin(), profile.collectors.end(),
                    [](const CollectorRecord& of) { return of.name == QemuCollector().name() && of.status == "ok"; });
    evidence.is_cut = !is_whole || profile.partly_seen || warns("runs-differ");
    evidence.is_all_seen = profile.accounted_cpu_ratio.value_or(1) >= kAllSeen && !warns("executed-code-of-a-part");
  }
  result_.bloat = code_bloat(evidence);
  if (!result_.bloat->is_executed_known)
    result_.bloat->notes.emplace_back("which code ran is not known: there was no instrumented run of it");
}

// How large the program is when it is built otherwise; only of builds that print what the user's prints.
Status DiagnosisSession::build_for_size() {
  if (!result_.bloat || !rebuilder_ || rebuilder_->program().empty() || result_.seen.run.limit_reached) return {};
  OutputCheck check(without_assignments(), request_.limit_s > 0 ? request_.limit_s : kLongestCheck_s);
  for (const BloatRebuild& build : bloat_rebuilds()) {
    BuildSizes& result = result_.bloat->builds.emplace_back();
    result.build = build;
    say("building with " + build.flags);
    const auto built = rebuilder_->rebuild(build.flags);
    if (!built) {
      if (built.error().kind == ErrorKind::kInterrupted) return built.error();
      result.failed = built.error().message;
      continue;
    }
    const auto same = check.compare(built->command);
    if (!same && same.error().kind == ErrorKind::kInterrupted) return same.error();
    if (same && *same == SameOutput::kVaries && result_.bloat->builds.size() == 1)
      result_.bloat->notes.emplace_back(
          "what the program prints differs from run to run: nothing shows whether what was built is right");
    if (!same || *same == SameOutput::kDiffers) {
      result.failed = same ? "it prints something else" : "it does not run: " + same.error().message;
      continue;
    }
    auto sizes = sizes_of(built->path);
    if (sizes) {
      result.sizes = std::move(*sizes);
    } else {
      result.failed = sizes.error().message;
    }
  }
  return {};
}

// What linking without libraries that nothing is asked of would gain can be tried: a copy of the program that doesn't
// ask for them.
void DiagnosisSession::offer_copy() {
  if (!(request_.proof_budget_s > 0)) return;
  const auto finding = std::find_if(result_.findings.begin(), result_.findings.end(),
                                    [](const Finding& of) { return of.cause == "unused-libraries"; });
  const auto program = inspect_program(without_assignments());
  if (finding == result_.findings.end() || !program || program->is_script || program->other_identity) return;
  std::error_code failed;
  const std::string path = std::filesystem::canonical(program->binary, failed).string();
  std::vector<std::string> libraries;
  for (const BloatFile& file : result_.bloat->files) {
    if (file.use == CodeUse::kProgram && file.path != path) return;  // it is started by another one
    if (file.is_unneeded) libraries.push_back(file.code->own_name.empty() ? file.name() : file.code->own_name);
  }
  if (libraries.empty()) return;
  if (!copies_) {
    auto folder = TempFolder::create();
    if (!folder) return;
    copies_.emplace(std::move(*folder));
  }
  const auto copy = copy_without_libraries(path, libraries, copies_->path());
  const std::string which = libraries.size() <= kNamedLibraries
                                ? join(libraries, ", ")
                                : fmt::format("{} libraries, {} among them", libraries.size(), libraries[0]);
  if (!copy) {
    result_.notes.push_back("not tried without " + which + ": " + copy.error().message);
    return;
  }
  Experiment experiment;
  experiment.name = "a copy of the program that does not ask for " + which;
  experiment.program = *copy;
  finding->experiments.push_back(std::move(experiment));
}

}  // namespace perfcast::measure
