#pragma once
// What a program's or library's file holds: code and the functions in it, and what is there for other purposes. By
// elfutils; files may be stripped, damaged or hostile: what they don't say is empty.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast::measure {

// A piece of a file that holds code.
struct ElfPiece {
  uint64_t address = 0, offset = 0, bytes = 0;  // as the file numbers it; in the file
  std::string name;                             // of a section
  uint64_t end() const { return offset + bytes; }
};

struct ElfFunction {
  std::string name;  // demangled; empty: known by its unwinding information alone
  uint64_t address = 0, bytes = 0;
  bool is_resolver = false;  // chooses between variants by the processor (IFUNC)
};

// Bytes of the file by what they are for.
struct ElfPurposes {
  uint64_t code_bytes = 0;       // instructions, with the stubs that call other libraries
  uint64_t constant_bytes = 0;   // data that nobody writes
  uint64_t variable_bytes = 0;   // data that is written; as it lies in the file
  uint64_t unwinding_bytes = 0;  // for exceptions, debuggers and profilers
  uint64_t linking_bytes = 0;    // for the dynamic linker: symbols, their names, relocations
  uint64_t symbols_bytes = 0;    // names for debuggers and profilers; strip takes them away
  uint64_t debugging_bytes = 0;
  uint64_t comments_bytes = 0;  // who built it, and how
  uint64_t other_bytes = 0;
};

struct ElfCode {
  std::string path;
  uint64_t file_bytes = 0;
  uint64_t mapped_bytes = 0;       // of the executable segments, in whole pages of 4 KiB, as /proc/PID/maps has them
  std::vector<ElfPiece> segments;  // those that may be executed, by their place in the file
  std::vector<ElfPiece> sections;  // of code, likewise
  std::vector<ElfFunction> functions;           // by address; none overlaps another
  std::vector<uint64_t> start_functions;        // addresses of what the dynamic linker calls: constructors, destructors
  std::vector<std::string> needed;              // names of libraries that it asks for itself
  std::vector<std::string> versions_from;       // of those, that its symbols' versions come from
  std::vector<std::string> undefined, defined;  // names of dynamic symbols; sorted
  std::string own_name;                         // that other files ask for (DT_SONAME)
  std::string loader;                           // path of the dynamic linker that it asks for; empty: none
  ElfPurposes purposes;
  uint64_t relocations_count = 0;
  bool is_program = false;   // has a loader or fixed addresses: made to be started
  bool has_symbols = false;  // names of functions beyond those that other files may call

  // Null where no piece holds it.
  const ElfPiece* piece_at(uint64_t address) const;
  // The function that covers an address; null: none is known.
  const ElfFunction* function_at(uint64_t address) const;
};

// With `names`, functions too: their names also from separate debugging information, where the distribution puts it.
// Errors: "file-not-found", "not-elf".
Result<ElfCode> read_elf_code(const std::string& path, bool names = true);

// Functions by the unwinding information of a file (.eh_frame): bytes of the section, which lies at `address`. Those
// that are written in a way that isn't known are left out.
std::vector<ElfFunction> functions_of_unwinding(const std::string& section, uint64_t address);

// What a function is a variant of, by a processor's name at the end of its own: "__memmove_avx_unaligned_erms" is one
// of "__memmove". Empty: its name says nothing of a processor.
std::string variant_of(const std::string& function);

}  // namespace perfcast::measure
