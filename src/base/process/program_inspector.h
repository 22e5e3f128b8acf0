#pragma once
// What a command really runs: by PATH, through #! lines, and for which processor it was built.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

struct ElfFacts {
  std::string instruction_set;  // "x86_64", "aarch64"; "machine-N" for others
  bool is_64_bit = false;
  bool is_static = false;  // asks for no dynamic loader
  std::string loader;      // PT_INTERP
};

// Reads the headers of an ELF file from its first bytes (a few KiB suffice). The bytes may be hostile.
Result<ElfFacts> parse_elf(std::string_view head, const std::string& source);

// The sanitizer that a program was built with, by the symbols and libraries it names: "AddressSanitizer",
// "ThreadSanitizer", "MemorySanitizer", "HWAddressSanitizer"; empty: none is seen. `file`: all of an ELF file; hostile
// bytes give an empty answer.
std::string sanitizer_of(std::string_view file);

// Whether a file names OpenCL's library, as a program does that is linked to it or opens it.
bool names_opencl(std::string_view file);

struct ProgramFacts {
  std::string path;                    // what execve gets: a program or a script
  bool is_script = false;              // begins with #!
  std::string binary;                  // the ELF file that the kernel ends up running
  std::vector<std::string> arguments;  // argv of that binary, its argv[0] first
  ElfFacts elf;
  std::string sanitizer;        // as sanitizer_of()
  bool names_opencl = false;    // as names_opencl()
  bool runs_here = true;        // built for this machine's processor
  bool other_identity = false;  // setuid or setgid, and not ours: no emulator can give it its rights
};

// Resolves `command[0]` as a shell would. Errors: "bad-usage" (empty command), "program-not-found", "not-executable".
Result<ProgramFacts> inspect_program(const std::vector<std::string>& command);

// An executable file of that name in PATH; empty where there is none.
std::string find_in_path(const std::string& name);

// Of the machine that this was built for: "x86_64", "aarch64".
std::string host_instruction_set();

}  // namespace perfcast
