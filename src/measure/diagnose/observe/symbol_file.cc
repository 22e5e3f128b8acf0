#include "measure/diagnose/observe/symbol_file.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace perfcast::measure {
namespace {

constexpr const char* kServersVariable = "DEBUGINFOD_URLS";

const Dwfl_Callbacks kSymbolCallbacks = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                         dwfl_offline_section_address, nullptr};

}  // namespace

SymbolFile::SymbolFile(const std::string& path) {
  const WithoutSymbolServers without_servers;
  dwfl_ = dwfl_begin(&kSymbolCallbacks);
  if (dwfl_ == nullptr) return;
  module_ = dwfl_report_offline(dwfl_, path.c_str(), path.c_str(), -1);
  dwfl_report_end(dwfl_, nullptr, nullptr);
  if (module_ != nullptr) elf_ = dwfl_module_getelf(module_, &bias_);
}

SymbolFile::~SymbolFile() {
  if (dwfl_ != nullptr) dwfl_end(dwfl_);
}

WithoutSymbolServers::WithoutSymbolServers() {
  const char* const urls = std::getenv(kServersVariable);
  if (urls == nullptr) return;
  urls_ = urls;
  is_set_ = true;
  unsetenv(kServersVariable);
}

WithoutSymbolServers::~WithoutSymbolServers() {
  if (is_set_) setenv(kServersVariable, urls_.c_str(), 1);
}

std::string demangled_name(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : std::string(name);
}

}  // namespace perfcast::measure
