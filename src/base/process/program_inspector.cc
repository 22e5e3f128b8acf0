#include "base/process/program_inspector.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr size_t kHeadBytes = 65536;
constexpr int kScriptDepth = 5;                    // as the kernel
constexpr size_t kProgramBytes = size_t{1} << 28;  // of a larger one no sanitizer is looked for

struct Sanitizer {
  std::string_view symbol, library;
  const char* name;
};
constexpr Sanitizer kSanitizers[] = {{"__asan_init", "libasan.so", "AddressSanitizer"},
                                     {"__tsan_init", "libtsan.so", "ThreadSanitizer"},
                                     {"__msan_init", "libmsan.so", "MemorySanitizer"},
                                     {"__hwasan_init", "libhwasan.so", "HWAddressSanitizer"}};

bool is_executable_file(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && access(path.c_str(), X_OK) == 0;
}

bool has_other_identity(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return false;
  return ((facts.st_mode & S_ISUID) != 0 && facts.st_uid != geteuid()) ||
         ((facts.st_mode & S_ISGID) != 0 && (facts.st_mode & S_IXGRP) != 0 && facts.st_gid != getegid());
}

Error not_executable(const std::string& path, const std::string& message, const std::string& expected) {
  return {"not-executable", message, path, expected};
}

Result<std::string> read_head(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return not_executable(path, std::string("the program cannot be read: ") + std::strerror(errno),
                          "a program that you may read: collectors look into it");
  }
  std::string head(kHeadBytes, '\0');
  size_t total = 0;
  while (total < head.size()) {
    const ssize_t count = read(file, head.data() + total, head.size() - total);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    total += static_cast<size_t>(count);
  }
  close(file);
  head.resize(total);
  return head;
}

std::string machine_name(unsigned machine) {
  if (machine == EM_X86_64) return "x86_64";
  if (machine == EM_AARCH64) return "aarch64";
  if (machine == EM_386) return "i386";
  if (machine == EM_ARM) return "arm";
  if (machine == EM_RISCV) return "riscv";
  if (machine == EM_PPC64) return "ppc64";
  if (machine == EM_S390) return "s390x";
  return "machine-" + std::to_string(machine);
}

template <typename T>
bool read_at(std::string_view bytes, uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

// PT_INTERP tells dynamic from static.
Status read_segments(std::string_view head, const std::string& source, ElfFacts& facts) {
  Elf64_Ehdr header;
  if (!read_at(head, 0, header)) return not_executable(source, "the ELF header is cut off", "a complete program");
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return not_executable(source, "the ELF file is no program but an object or a core dump", "a linked program");
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0) {
    return not_executable(source, "the ELF file has no program headers", "a linked program");
  }
  facts.is_static = true;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const uint64_t step = uint64_t{i} * sizeof(Elf64_Phdr);
    if (header.e_phoff > head.size() || !read_at(head, header.e_phoff + step, segment)) {
      return not_executable(source, "the ELF program headers lie outside of the file's beginning",
                            "a program as a linker writes it");
    }
    if (segment.p_type != PT_INTERP) continue;
    facts.is_static = false;
    if (segment.p_offset < head.size() && segment.p_filesz <= head.size() - segment.p_offset && segment.p_filesz > 0) {
      const std::string_view text = head.substr(segment.p_offset, segment.p_filesz);
      facts.loader = printable(text.substr(0, text.find('\0')));
    }
  }
  return {};
}

struct ScriptLine {
  std::string interpreter, argument;
};

// "#!" is followed by one path and at most one argument, as the kernel splits it.
Result<ScriptLine> parse_script_line(const std::string& head, const std::string& path) {
  const size_t end = head.find('\n');
  const std::string_view line = trim(std::string_view(head).substr(2, end == std::string::npos ? end : end - 2));
  const size_t space = line.find_first_of(" \t");
  ScriptLine result;
  result.interpreter = std::string(line.substr(0, space));
  if (space != std::string_view::npos) result.argument = std::string(trim(line.substr(space)));
  if (result.interpreter.empty()) {
    return not_executable(path, "the script names no interpreter after #!", "#!/bin/sh or another interpreter's path");
  }
  return result;
}

// "#!/usr/bin/env python3": env only looks the name up and becomes it, which an instrumenter could not follow.
void look_through_env(ScriptLine& line, std::vector<std::string>& words) {
  words = {line.interpreter};
  if (!line.argument.empty()) words.push_back(line.argument);
  if (line.interpreter.substr(line.interpreter.rfind('/') + 1) != "env" || line.argument.empty()) return;
  std::vector<std::string> parts;
  for (std::string& part : split(line.argument, ' ')) {
    if (!part.empty()) parts.push_back(std::move(part));
  }
  if (parts.size() > 1 && parts[0] == "-S") {
    parts.erase(parts.begin());
  } else if (parts.size() > 1) {
    return;  // the kernel passes the rest as one word: there is no such program
  }
  if (parts[0].find('=') != std::string::npos || parts[0].front() == '-') return;
  const std::string path = find_in_path(parts[0]);
  if (path.empty()) return;
  line.interpreter = path;
  words = parts;
}

Result<std::string> resolve(const std::string& name) {
  if (name.find('/') == std::string::npos) {
    const std::string path = find_in_path(name);
    if (!path.empty()) return path;
    const bool is_here = access(name.c_str(), F_OK) == 0;
    return Error{"program-not-found", "no program '" + printable(name) + "' in PATH", name,
                 is_here ? "./" + name + " for the file in this folder" : "a program in PATH or the path of one"};
  }
  struct stat facts {};
  if (stat(name.c_str(), &facts) != 0) {
    return Error{"program-not-found", std::string("the program cannot be found: ") + std::strerror(errno), name,
                 "a program in PATH or the path of one"};
  }
  if (S_ISDIR(facts.st_mode)) return not_executable(name, "this is a folder", "the path of a program");
  if (!is_executable_file(name)) {
    return not_executable(name, "the program may not be executed",
                          "a file with the x permission: chmod +x, or start it by its interpreter");
  }
  return name;
}

}  // namespace

Result<ElfFacts> parse_elf(std::string_view head, const std::string& source) {
  if (head.size() < EI_NIDENT || std::memcmp(head.data(), ELFMAG, SELFMAG) != 0) {
    return not_executable(source, "the file is neither an ELF program nor a script that begins with #!",
                          "a program for this machine, or its interpreter before it: sh FILE");
  }
  ElfFacts facts;
  facts.is_64_bit = head[EI_CLASS] == ELFCLASS64;
  if (head[EI_DATA] != ELFDATA2LSB) {
    return not_executable(source, "the program is for a big-endian processor", "a program for x86-64 or AArch64");
  }
  uint16_t machine = 0;
  if (!read_at(head, offsetof(Elf64_Ehdr, e_machine), machine)) {
    return not_executable(source, "the ELF header is cut off", "a complete program");
  }
  facts.instruction_set = machine_name(machine);
  if (!facts.is_64_bit) {
    return not_executable(source, "the program is a 32-bit one (" + facts.instruction_set + ")",
                          "a 64-bit program for x86-64 or AArch64");
  }
  if (const Status status = read_segments(head, source, facts); !status) return status.error();
  return facts;
}

std::string sanitizer_of(std::string_view file) {
  Elf64_Ehdr header;
  if (!file.starts_with(ELFMAG) || !read_at(file, 0, header) || header.e_shentsize != sizeof(Elf64_Shdr)) return "";
  const auto section = [&](uint64_t index, Elf64_Shdr& found) {
    return header.e_shoff <= file.size() && read_at(file, header.e_shoff + index * sizeof(Elf64_Shdr), found);
  };
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr symbols, names;
    if (!section(i, symbols) || (symbols.sh_type != SHT_DYNSYM && symbols.sh_type != SHT_SYMTAB) ||
        !section(symbols.sh_link, names))
      continue;
    if (names.sh_offset > file.size() || names.sh_size > file.size() - names.sh_offset) return "";
    std::string_view rest = file.substr(names.sh_offset, names.sh_size);
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find('\0'));
      for (const auto& [symbol, library, sanitizer] : kSanitizers) {
        if (name == symbol || name.starts_with(library)) return sanitizer;
      }
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    }
  }
  return "";
}

// The name is put together here, or this program would name it, too.
bool names_opencl(std::string_view file) {
  const std::string library = std::string("libOpenCL") + ".so";
  return file.find(library) != std::string_view::npos;
}

Result<ProgramFacts> inspect_program(const std::vector<std::string>& command) {
  if (command.empty() || command[0].empty()) {
    return usage_error("bad-usage", "no command to measure", "", "perfcast profile -- CMD ARGS...");
  }
  const auto path = resolve(command[0]);
  if (!path) return path.error();
  ProgramFacts facts;
  facts.path = *path;
  facts.binary = *path;
  facts.arguments = command;
  for (int depth = 0; depth <= kScriptDepth; ++depth) {
    const auto head = read_head(facts.binary);
    if (!head) return head.error();
    if (!(*head).starts_with("#!")) {
      const auto elf = parse_elf(*head, facts.binary);
      if (!elf) return elf.error();
      facts.elf = *elf;
      if (const auto file = read_bytes(facts.binary, kProgramBytes)) {
        facts.sanitizer = sanitizer_of(*file);
        facts.names_opencl = names_opencl(*file);
      }
      facts.other_identity = has_other_identity(facts.binary);
      facts.runs_here = facts.elf.instruction_set == host_instruction_set();
      return facts;
    }
    facts.is_script = true;
    auto line = parse_script_line(*head, facts.binary);
    if (!line) return line.error();
    // The script's own name takes the place of argv[0].
    std::vector<std::string> arguments;
    look_through_env(*line, arguments);
    arguments.push_back(facts.binary);
    arguments.insert(arguments.end(), facts.arguments.begin() + 1, facts.arguments.end());
    facts.arguments = std::move(arguments);
    if (!is_executable_file(line->interpreter)) {
      return not_executable(facts.binary, "the script's interpreter '" + printable(line->interpreter) + "' is missing",
                            "an installed interpreter after #!");
    }
    facts.binary = line->interpreter;
  }
  return not_executable(*path, "scripts name each other as interpreters too deeply",
                        "an interpreter that is a program");
}

std::string find_in_path(const std::string& name) {
  const char* variable = std::getenv("PATH");
  const std::string folders = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& folder : split(folders, ':')) {
    std::string path = (folder.empty() ? "." : folder) + "/" + name;
    if (is_executable_file(path)) return path;
  }
  return "";
}

std::string host_instruction_set() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "other";
#endif
}

}  // namespace perfcast
