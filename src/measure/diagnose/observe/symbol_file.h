#pragma once
// A file's symbols and debugging information, opened by elfutils: also those of a separate file, where the distribution
// puts it. Nothing is fetched from servers.

#include <elfutils/libdwfl.h>

#include <string>

namespace perfcast::measure {

class SymbolFile {
 public:
  explicit SymbolFile(const std::string& path);
  ~SymbolFile();
  SymbolFile(const SymbolFile&) = delete;
  SymbolFile& operator=(const SymbolFile&) = delete;

  Dwfl_Module* module() const { return module_; }  // null: no file that elfutils can read
  // What elfutils' addresses are above the file's own.
  GElf_Addr bias() const { return bias_; }
  Elf* elf() const { return elf_; }

 private:
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  Elf* elf_ = nullptr;
  GElf_Addr bias_ = 0;
};

// elfutils looks for separate debugging information when first asked, by servers too where the environment names some:
// it does not for as long as this lives.
class WithoutSymbolServers {
 public:
  WithoutSymbolServers();
  ~WithoutSymbolServers();
  WithoutSymbolServers(const WithoutSymbolServers&) = delete;
  WithoutSymbolServers& operator=(const WithoutSymbolServers&) = delete;

 private:
  std::string urls_;
  bool is_set_ = false;
};

// As its source has it, where it is a mangled name of C++.
std::string demangled_name(const char* name);

}  // namespace perfcast::measure
