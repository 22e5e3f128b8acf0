#include "profile/collect/session/opencl_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/process/tool.h"
#include "base/text.h"
#include "profile/collect/session/run_agreement.h"

namespace perfcast {
namespace {

constexpr size_t kLargestProgramBytes = size_t{1} << 28;
constexpr const char* kAnyDevice =
    "a command that takes any device: Oclgrind's platform is Oclgrind, its device Oclgrind Simulator";

std::string ending(const std::optional<int>& exit_code, const std::optional<int>& signal) {
  return signal ? "by signal " + signal_text(*signal) : fmt::format("with exit code {}", exit_code.value_or(0));
}

bool failed(const Collection& run) { return run.exit_code.value_or(0) != 0 || run.signal; }

// Not by itself: nobody knows how it would have ended.
bool was_cut(const Collection& run) { return !run.exit_code && !run.signal; }

std::string last_words(const Collection& run) {
  return run.last_words.empty() ? "" : "; its last words: " + run.last_words;
}

void compare(const Profile& so_far, const Collection* native, OpenclRun& run) {
  const Collection& found = *run.found;
  if (native == nullptr) return;
  if (!so_far.ok() && !failed(found)) {
    const std::string natively = ending(so_far.exit_code, so_far.signal);
    run.native_failed = true;
    run.warnings.push_back(
        {"no-native-opencl",
         "natively the program ended " + natively +
             (was_cut(found) ? ", under Oclgrind it launched kernels until its time was over"
                             : ", under Oclgrind well") +
             ": there may be no OpenCL device here. Native times are left out",
         "nothing for the kernels; for times, an OpenCL device: on a CPU, " + install_advice("pocl-opencl-icd")});
  } else if (so_far.ok() && failed(found)) {
    run.warnings.push_back({"runs-differ",
                            "natively the program ended well, under Oclgrind " + ending(found.exit_code, found.signal) +
                                ": its kernels may be those of an error path" + last_words(found),
                            kAnyDevice});
  } else if (was_cut(found)) {
    return;  // what it wrote is a part
  } else if (auto note = differing_output(*native, found)) {
    run.warnings.push_back(*std::move(note));
  }
}

}  // namespace

bool ends_all(const Error& error) { return error.kind == ErrorKind::kInterrupted || is_of_around(error); }

bool uses_opencl(const CollectRequest& request, const ProgramFacts& program, const Collection* native) {
  if (request.mix_only || !program.runs_here) return false;
  if (request.opencl || program.names_opencl) return true;
  if (native == nullptr) return false;
  std::set<std::string> files;
  for (const CensusEntry& entry : native->census) files.insert(entry.program);
  return std::any_of(files.begin(), files.end(), [](const std::string& path) {
    const auto file = read_bytes(path, kLargestProgramBytes);
    return file && names_opencl(*file);
  });
}

Result<OpenclRun> collect_kernels(Collector& collector, CollectRequest request, bool is_asked_for,
                                  const Profile& so_far, const Collection* native) {
  OpenclRun run;
  const auto leave_out = [&](const char* status, const std::string& why, const std::string& advice, bool is_warned) {
    run.status = status;
    run.why = why + ": " + advice;
    if (is_warned) run.warnings.push_back({"no-kernels", "OpenCL kernels were not counted: " + why, advice});
    return run;
  };
  if (const Status status = collector.available(); !status)
    return leave_out("skipped", status.error().message, status.error().expected, is_asked_for);
  if (request.input != nullptr && !request.input->repeatable())
    return leave_out("skipped", "the piped input is too large to be kept", "an input from a file", is_asked_for);
  if (request.limit_s > 0 && request.limit_s < kLeastLeft_s)
    return leave_out("skipped", "the native run used up the time limit", "a longer time limit", true);
  request.wants_output = native != nullptr && repeated_output(*native).has_value();
  auto found = collector.collect(request);
  if (!found && ends_all(found.error())) return found.error();
  if (!found) return leave_out("failed", found.error().message, found.error().expected, true);
  if (!found->kernels.empty()) {
    run.found = std::move(*found);
    compare(so_far, native, run);
    return run;
  }
  if (!failed(*found))
    return leave_out("skipped", "the program launched no kernel", "a command that does", is_asked_for);
  return leave_out("failed",
                   "under Oclgrind the program ended " + ending(found->exit_code, found->signal) + last_words(*found),
                   kAnyDevice, is_asked_for || native == nullptr || so_far.ok());
}

ProfileWarning kernels_compiled_note() {
  return {
      "kernels-compiled",
      "the first native run was much slower than the next one: it compiled the OpenCL kernels. Native times are those "
      "of the first run",
      "the same command again: compiled kernels are kept"};
}

}  // namespace perfcast
