// Time in libraries that work on a program's behalf: whose calls, and how many, are the program's choice.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.h"
#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

constexpr double kLeastRuntimeShare = 0.05;
constexpr double kAvoidable = 0.8;  // of time in a runtime: some of the work stays
constexpr double kAlmostAll = 0.95;
constexpr double kLeastLengthShare = 0.1, kLeastCallsShare = 0.15;
constexpr double kLeastInStepShare = 0.1, kLeastLettersShare = 0.25;

// Who calls the functions of a role most: "build (text.cc:12)".
std::string main_caller(const Observation& seen, CodeRole role) {
  std::map<std::string, double> callers;
  for (const HotFunction& function : seen.functions) {
    if (function.role != role || function.caller.empty()) continue;
    callers[calls_in_words(function)] += function.cpu_share * function.caller_share;
  }
  const auto most = std::max_element(callers.begin(), callers.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == callers.end() ? "" : most->first;
}

std::string main_functions(const Observation& seen, CodeRole role) {
  std::string text;
  size_t count = 0;
  for (const HotFunction& function : seen.functions) {
    if (function.role != role || count == 3) continue;
    text += fmt::format("{}{} {:.1f}%", count++ == 0 ? "" : ", ", function.name(), 100 * function.cpu_share);
  }
  return text;
}

Finding of_role(const Evidence& evidence, CodeRole role, const char* cause, const std::string& title) {
  Finding finding;
  finding.cause = cause;
  const double share = evidence.seen.share_of(role);
  finding.gain_ratio = kAvoidable * share * evidence.busy_ratio();
  finding.title = fmt::format("{:.0f}% of the CPU time is {}", 100 * share, title);
  finding.evidence.push_back("samples: " + main_functions(evidence.seen, role));
  // What an interpreter's functions are called by is the interpreter's.
  const std::string caller = evidence.seen.script.empty() ? main_caller(evidence.seen, role) : "";
  if (!caller.empty()) finding.evidence.push_back("called most by " + caller);
  return finding;
}

// Who computes hashes compares what has the same one, once for each look-up: that is an index, no search.
bool looks_up_by_hash(const Observation& seen) {
  double hashing = 0;
  for (const HotFunction& function : seen.functions) {
    if (function.role == CodeRole::kOwn && lower_case(function.function).find("hash") != std::string::npos)
      hashing += function.cpu_share;
  }
  return hashing > 0.25 * seen.share_of(CodeRole::kCompare);
}

// Allocators that a distribution puts beside the C library's.
std::vector<Experiment> allocators(const Evidence& evidence) {
  std::vector<Experiment> experiments;
  for (const auto& [name, file] : {std::pair{"jemalloc", "libjemalloc.so.2"},
                                   {"tcmalloc", "libtcmalloc_minimal.so.4"},
                                   {"mimalloc", "libmimalloc.so.2"}}) {
    for (const char* folder : {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib64/"}) {
      const std::string path = std::string(folder) + file;
      std::error_code failed;
      if (!std::filesystem::is_regular_file(path, failed)) continue;
      experiments.push_back({std::string("the allocator ") + name, {{"LD_PRELOAD", evidence.preloaded(path)}}, {}, {}});
      break;
    }
  }
  return experiments;
}

// What the user's own code asks for. Other functions of the library, such as printf(3), look at each string once.
double length_share(const Observation& seen) {
  double share = 0;
  for (const HotFunction& function : seen.functions) {
    if (function.role != CodeRole::kLength) continue;
    const std::string& entry = function.entry;
    const bool is_asked = entry.empty() || code_role_of(entry, function.library) == CodeRole::kLength ||
                          entry.find("scanf") != std::string::npos;
    share += is_asked ? function.cpu_share : 0;
  }
  return share;
}

// A file that is opened again is read again, into a buffer that is made again: what the same function takes for that.
double share_of_reading_again(const Observation& seen) {
  const auto opens = std::find_if(seen.functions.begin(), seen.functions.end(),
                                  [](const HotFunction& of) { return of.role == CodeRole::kFileNames; });
  if (opens == seen.functions.end() || opens->caller.empty()) return 0;
  double share = 0;
  for (const HotFunction& function : seen.functions) {
    if (function.role == CodeRole::kFileNames || !function.works_for_caller() || function.caller != opens->caller)
      continue;
    const bool reads = function.role == CodeRole::kInputOutput && function.function.find("read") != std::string::npos;
    static constexpr std::array<std::string_view, 6> kStreams = {"filebuf", "fstream",   "fopen",
                                                                 "fclose",  "_IO_file_", "istream"};
    const bool is_stream = std::any_of(kStreams.begin(), kStreams.end(), [&](std::string_view of) {
      return function.entry.find(of) != std::string::npos || function.function.find(of) != std::string::npos;
    });
    if (reads || is_stream) share += function.cpu_share;
  }
  return share;
}

// Kernels of OpenBLAS that suit this processor, best first.
std::vector<std::string> openblas_cores(const Evidence& evidence) {
  if (evidence.has_avx512) return {"SAPPHIRERAPIDS", "COOPERLAKE", "SKYLAKEX", "ZEN", "HASWELL"};
  if (evidence.has_avx2) return {"HASWELL", "ZEN"};
  return {};
}

// "PRESCOTT" of "dgemm_kernel_PRESCOTT": OpenBLAS names its functions by the processor that they are for.
std::string openblas_core(const Observation& seen) {
  for (const HotFunction& function : seen.functions) {
    const size_t bar = function.function.rfind('_');
    if (function.role != CodeRole::kBlas || bar == std::string::npos) continue;
    std::string name = function.function.substr(bar + 1);
    if (name.size() > 2 && std::all_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
      return name;
  }
  return "";
}

void add_blas(const Evidence& evidence, std::vector<Finding>& findings) {
  const double share = evidence.seen.share_of(CodeRole::kBlas);
  const auto library = std::find_if(evidence.seen.functions.begin(), evidence.seen.functions.end(),
                                    [](const HotFunction& of) { return of.role == CodeRole::kBlas; });
  if (share < 0.2 || library == evidence.seen.functions.end()) return;
  const std::vector<std::string> cores = openblas_cores(evidence);
  const std::string core = openblas_core(evidence.seen);
  const bool is_old = !core.empty() && !cores.empty() && std::find(cores.begin(), cores.end(), core) == cores.end();
  // Plain loops in Fortran, for every processor alike.
  const bool is_reference = library->library.find("/blas/libblas.so") != std::string::npos;
  Finding finding;
  finding.cause = "blas-kernel";
  finding.title = fmt::format("{:.0f}% of the CPU time is linear algebra, in {}", 100 * share, library->place());
  if (!core.empty()) finding.title += ", with its kernels for " + core;
  finding.evidence.push_back("samples: " + main_functions(evidence.seen, CodeRole::kBlas));
  if (is_old)
    finding.evidence.push_back(std::string("this processor can run those for ") +
                               (evidence.has_avx512 ? "SKYLAKEX" : "HASWELL"));
  if (is_reference) finding.evidence.emplace_back("it is the reference BLAS, which knows no vectors and no caches");
  // Whose kernels are the right ones may still have too many threads, or too few: a trial tells.
  const bool is_slow = is_old || is_reference;
  finding.basis = FindingBasis::kRule;
  finding.gain_ratio = is_slow ? 0.5 * share * evidence.busy_ratio() : 0;
  finding.is_shown_by_trial = !is_slow;
  const std::vector<Experiment> others = other_blas_libraries(evidence, library->library);
  if (is_reference) finding.experiments = others;
  const auto set = evidence.environment.find("OPENBLAS_CORETYPE");
  if (set != evidence.environment.end() && !set->second.empty()) {
    finding.evidence.push_back("OPENBLAS_CORETYPE=" + set->second + " chooses them");
    finding.experiments.push_back({"OpenBLAS' own choice of kernels", {}, {"OPENBLAS_CORETYPE"}, {}});
  } else if (is_old) {
    finding.experiments.push_back({"OpenBLAS' kernels for SKYLAKEX", {{"OPENBLAS_CORETYPE", "SKYLAKEX"}}, {}, {}});
    finding.experiments.push_back({"OpenBLAS' kernels for HASWELL", {{"OPENBLAS_CORETYPE", "HASWELL"}}, {}, {}});
  }
  if (evidence.cpus_count > 1) {
    const std::string cpus = fmt::format("{:.0f}", evidence.cpus_count);
    const auto all = evidence.thread_settings(cpus);
    if (!all.empty()) {
      finding.experiments.push_back({"as many BLAS threads as CPUs", all, {}, {}});
      finding.experiments.push_back({"one BLAS thread", evidence.thread_settings("1"), {}, {}});
    }
  }
  if (!is_reference) finding.experiments.insert(finding.experiments.end(), others.begin(), others.end());
  finding.advice = is_reference
                       ? "install an optimised BLAS (libopenblas0, libblis4): the program needn't be built anew"
                       : "let the library choose its kernels for this processor, and give it as many threads as CPUs";
  finding.if_wrong = "nothing: both are settings of the environment";
  finding.proof = "perfcast gemm measures what this machine's BLAS libraries reach";
  findings.push_back(std::move(finding));
}

// The locale that a program which asks for the user's gets; empty: the C locale, whose text is bytes.
std::string locale_of(const Evidence& evidence) {
  for (const char* name : {"LC_ALL", "LC_COLLATE", "LC_CTYPE", "LANG"}) {
    const auto found = evidence.environment.find(name);
    if (found == evidence.environment.end() || found->second.empty()) continue;
    return found->second == "C" || found->second == "POSIX" ? "" : found->second;
  }
  return "";
}

void add_text(const Evidence& evidence, std::vector<Finding>& findings) {
  const std::string locale = locale_of(evidence);
  if (evidence.seen.share_of(CodeRole::kText) < kLeastRuntimeShare || locale.empty()) return;
  Finding finding = of_role(evidence, CodeRole::kText, "locale", "handling text by the rules of a locale");
  finding.evidence.push_back("the locale is " + locale);
  finding.advice = "LC_ALL=C where bytes will do: for sorting, searching and cutting of data";
  finding.if_wrong = "other results: another order, and letters beyond ASCII are bytes";
  finding.proof = "run it under LC_ALL=C and compare what it writes";
  finding.experiments.push_back({"the C locale, which may change results", {{"LC_ALL", "C"}}, {}, {}});
  findings.push_back(std::move(finding));
}

// syscall(2) is what the C++ library's barriers, semaphores and atomics wait and wake by.
bool waits_for_threads(const Observation& seen, const HotFunction& function) {
  return function.short_name() == "syscall" && seen.run.threads.value_or(1) > 1 &&
         std::any_of(seen.waits.begin(), seen.waits.end(),
                     [](const WaitPlace& of) { return of.call == "futex" && of.entry == "syscall"; });
}

// The library's functions that do nothing but ask the kernel, and have no cause of their own here: lseek, getrandom,
// fcntl.
void add_calls(const Evidence& evidence, std::vector<Finding>& findings) {
  constexpr double kMostlyKernel = 0.6;
  double share = 0;
  const HotFunction* most = nullptr;
  for (const HotFunction& function : evidence.seen.functions) {
    if (function.role != CodeRole::kOwn || !is_runtime_library(function.library) ||
        function.kernel_share < kMostlyKernel * function.cpu_share || function.function.empty() ||
        waits_for_threads(evidence.seen, function))
      continue;
    share += function.cpu_share;
    if (most == nullptr) most = &function;
  }
  if (most == nullptr || share < kLeastCallsShare) return;
  Finding finding;
  finding.cause = "system-calls";
  finding.gain_ratio = kAvoidable * share * evidence.busy_ratio();
  finding.title =
      fmt::format("{} of the CPU time is asking the kernel, most by {}", in_percent(share), most->short_name());
  finding.evidence.push_back(fmt::format("samples: {} {:.1f}%, {:.1f}% in the kernel", most->short_name(),
                                         100 * most->cpu_share, 100 * most->kernel_share));
  if (!most->caller.empty() && evidence.seen.script.empty())
    finding.evidence.push_back("called most by " + calls_in_words(*most));
  finding.advice = "ask once and remember the answer, or ask for many things at a time";
  finding.if_wrong = "answers that may change meanwhile";
  finding.proof = "strace -f -c";
  findings.push_back(std::move(finding));
}

// Streams of the C library take their lock for each letter. Those of C++ go through them where both are kept in step:
// they hold no letters of their own then.
void add_letters(const Evidence& evidence, std::vector<Finding>& findings) {
  const double share = evidence.seen.share_of(CodeRole::kLetters);
  const bool is_in_step =
      std::any_of(evidence.seen.functions.begin(), evidence.seen.functions.end(),
                  [](const HotFunction& of) { return of.function.find("stdio_sync_filebuf") != std::string::npos; });
  if (share < (is_in_step ? kLeastInStepShare : kLeastLettersShare) || !evidence.seen.script.empty()) return;
  Finding finding = of_role(evidence, CodeRole::kLetters, "letter-io", "reading or writing letter by letter");
  finding.evidence.emplace_back(is_in_step
                                    ? "std::cin and std::cout go through the C library's streams, to keep in step with "
                                      "printf and scanf"
                                    : "the stream is locked for each letter");
  finding.advice = is_in_step
                       ? "std::ios::sync_with_stdio(false), first of all in main()"
                       : "read and write in blocks (fread, fwrite, fgets), or getc_unlocked() and putc_unlocked()";
  finding.if_wrong = is_in_step ? "what printf and std::cout write comes in another order"
                                : "streams that several threads use have to be locked otherwise";
  finding.proof = is_in_step ? "the time with that line" : "the time with the unlocked functions in their place";
  findings.push_back(std::move(finding));
}

}  // namespace

void find_in_runtime(const Evidence& evidence, std::vector<Finding>& findings) {
  const Observation& seen = evidence.seen;
  if (seen.samples_count < kFewestSamples) return;
  if (seen.share_of(CodeRole::kAllocation) >= kLeastRuntimeShare) {
    Finding finding = of_role(evidence, CodeRole::kAllocation, "allocation", "allocating and freeing memory");
    finding.advice = "allocate once and reuse, in blocks (an arena, reserve()), or take another allocator";
    finding.if_wrong = "more memory in use at once";
    finding.proof = "count calls: ltrace -c -e malloc+free";
    finding.experiments = allocators(evidence);
    findings.push_back(std::move(finding));
  }
  if (seen.share_of(CodeRole::kCopy) >= kLeastRuntimeShare) {
    Finding finding = of_role(evidence, CodeRole::kCopy, "copying", "copying memory");
    // What is not copied is not there at all: no less is left than a pointer that moves.
    finding.gain_ratio *= kAlmostAll / kAvoidable;
    finding.advice = "append in place with room reserved, move or refer to what is copied";
    finding.if_wrong = "references that outlive what they refer to";
    finding.proof = "count the bytes: a copy that grows with the square of the input is one of a loop";
    findings.push_back(std::move(finding));
  }
  if (seen.share_of(CodeRole::kException) >= kLeastRuntimeShare) {
    Finding finding = of_role(evidence, CodeRole::kException, "exceptions", "throwing and catching exceptions");
    finding.gain_ratio *= kAlmostAll / kAvoidable;
    finding.advice = "return what is expected to happen often as a value (an optional, an error code)";
    finding.if_wrong = "a check at each call";
    finding.proof = "count them: ltrace -c -e __cxa_throw, or a breakpoint's hits";
    // Memory for exceptions is theirs.
    findings.push_back(std::move(finding));
  }
  // Where text is compared by its order, too, it is sorted or merged, not searched.
  const bool is_ordered = seen.share_of(CodeRole::kText) >= 0.01;
  if (seen.share_of(CodeRole::kCompare) >= 0.12 && !looks_up_by_hash(seen) && !is_ordered) {
    Finding finding = of_role(evidence, CodeRole::kCompare, "linear-search", "comparing strings or memory");
    finding.basis = FindingBasis::kRule;
    finding.gain_ratio *= kAlmostAll / kAvoidable;  // an index compares once
    finding.advice = "look up by a hash or in a sorted table, compare lengths or hashes first";
    finding.if_wrong = "memory for the index, and the time to build it";
    finding.proof = "count the comparisons for one look-up";
    findings.push_back(std::move(finding));
  }
  if (seen.share_of(CodeRole::kLoader) >= 0.1 && seen.programs_started_count < 20) {
    Finding finding = of_role(evidence, CodeRole::kLoader, "loading", "the dynamic linker's");
    finding.advice = "link fewer libraries (--as-needed), prelink or link statically, load what is rarely needed late";
    finding.if_wrong = "larger files, libraries that are updated one by one";
    finding.proof = "LD_DEBUG=statistics";
    if (evidence.environment.count("LD_BIND_NOW") > 0)
      finding.experiments.push_back({"symbols bound when first called", {}, {"LD_BIND_NOW"}, {}});
    findings.push_back(std::move(finding));
  }
  if (seen.share_of(CodeRole::kClock) >= 0.1) {
    Finding finding = of_role(evidence, CodeRole::kClock, "clock", "asking for the time");
    finding.advice = "ask once for many pieces of work";
    finding.if_wrong = "times that are a little older";
    finding.proof = "ltrace -c -e clock_gettime";
    findings.push_back(std::move(finding));
  }
  // A string whose length is kept needs no walk to its end: whoever walks often walks over the same letters again.
  // Short strings, one after the other, take little of the time of what makes them.
  if (const double asked = length_share(seen); asked >= kLeastLengthShare) {
    Finding finding = of_role(evidence, CodeRole::kLength, "string-length", "looking for the end of strings");
    finding.gain_ratio = kAlmostAll * asked * evidence.busy_ratio();
    finding.advice =
        "keep the length, or a pointer to the end, beside the string (std::string, std::string_view); no "
        "strlen(), strcat() or sscanf() in a loop over one text";
    finding.if_wrong = "a length that has to be kept right";
    finding.proof = "the time of a text twice as long: four times as much is a walk at each step";
    findings.push_back(std::move(finding));
  }
  // The kernel walks the path, makes a descriptor, and takes it down again, each time for the same answer.
  if (seen.share_of(CodeRole::kFileNames) >= kLeastRuntimeShare) {
    Finding finding = of_role(evidence, CodeRole::kFileNames, "file-opens", "opening, closing and finding files");
    finding.gain_ratio =
        kAlmostAll * (seen.share_of(CodeRole::kFileNames) + share_of_reading_again(seen)) * evidence.busy_ratio();
    finding.advice = "keep files open, read once what does not change, remember what was found";
    finding.if_wrong = "changes that others make to these files are seen later; descriptors that stay in use";
    finding.proof = "strace -f -c -e trace=%file,close, and which paths come again: strace -f -e trace=%file";
    findings.push_back(std::move(finding));
  }
  add_letters(evidence, findings);
  add_calls(evidence, findings);
  add_blas(evidence, findings);
  add_text(evidence, findings);
}

}  // namespace perfcast::measure
