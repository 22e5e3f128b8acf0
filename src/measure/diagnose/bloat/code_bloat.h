#pragma once
// How much of the code that a program loads runs, file by file and function by function, and what else is in the files.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/diagnose/bloat/code_sizes.h"
#include "measure/diagnose/bloat/elf_code.h"
#include "measure/diagnose/bloat/loader_start.h"
#include "measure/diagnose/find/finding.h"
#include "measure/diagnose/observe/observation.h"
#include "profile/collect/qemu/executed_code.h"

namespace perfcast::measure {

enum class CodeUse : uint8_t {
  kProgram,    // what was started
  kLoader,     // the dynamic linker
  kUsed,       // the program runs it
  kStartOnly,  // nothing ran but constructors, destructors, and what the dynamic linker calls
  kNeverRan,   // mapped, and nothing of it ran
  kUnseen,     // nobody saw whether it ran
};
std::string_view to_text(CodeUse use);  // "start and end only"

struct BloatFunction {
  std::string name;                                    // empty: it has none
  uint64_t offset = 0, bytes = 0, executed_bytes = 0;  // its place in the file
};

// Bytes from `from` on, up to before `to`, of a file.
struct CodeRange {
  uint64_t from = 0, to = 0;
};

struct BloatFile {
  std::string path;
  CodeUse use = CodeUse::kUnseen;
  uint64_t mapped_bytes = 0;               // executable, in whole pages
  std::optional<uint64_t> executed_bytes;  // distinct; absent: nobody saw what ran
  std::optional<uint64_t> used_bytes;      // of these, between the program's start and its end
  std::optional<ElfCode> code;             // absent: the file can't be read
  std::vector<BloatFunction> functions;    // by their place in the file; of code with functions known
  std::vector<CodeRange> executed;         // by their place in the file, apart from each other
  size_t never_ran_count = 0;              // of its functions
  uint64_t never_ran_bytes = 0;
  // Functions in several variants, of which a processor takes one; absent: the file doesn't name its functions.
  std::optional<uint64_t> variants_bytes, variants_executed_bytes;
  bool is_unneeded = false;  // the program asks for the library and for nothing in it: --as-needed would leave it out

  std::string name() const;  // of its file, without folders
};

// The program built otherwise, and how large it is then.
struct BuildSizes {
  BloatRebuild build;
  std::optional<CodeSizes> sizes;  // absent: `failed` says why
  std::string failed;
};

struct CodeBloat {
  std::vector<BloatFile> files;    // largest mapped first
  uint64_t generated_bytes = 0;    // of code that the program made, executed
  uint64_t elsewhere_bytes = 0;    // executed, of which nobody knows where it comes from
  bool is_executed_known = false;  // an instrumented run saw what ran
  bool is_cut = false;             // that run was ended before the program's end: later code isn't seen
  std::optional<LoaderStart> loader;
  double cpu_s = 0, wall_s = 0;            // of the native run
  std::optional<double> loader_cpu_ratio;  // of the samples of where it ran; absent: too few
  std::vector<BuildSizes> builds;          // with other flags, where there is a source tree; the first as usual
  std::vector<std::string> notes;

  uint64_t mapped_bytes() const;
  uint64_t code_bytes() const;
  uint64_t executed_bytes() const;
  ElfPurposes purposes() const;  // of all files
};

struct BloatEvidence {
  explicit BloatEvidence(const Observation& observation) : seen(observation) {}
  const Observation& seen;
  const std::vector<ExecutedCode>* executed = nullptr;  // null: no instrumented run
  bool is_cut = false;      // the instrumented run did not come to the end that the native one came to
  bool is_all_seen = true;  // no process ran without the instrumenter
  std::string program;      // path of what was started
  std::optional<LoaderStart> loader;
};

CodeBloat code_bloat(const BloatEvidence& evidence);

// "unused-libraries", "dynamic-linking"; the latter takes the place of "loading" among `findings`.
void find_in_bloat(const CodeBloat& bloat, std::vector<Finding>& findings);

}  // namespace perfcast::measure
