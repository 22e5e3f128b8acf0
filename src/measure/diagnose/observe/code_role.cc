// Names of functions that say what they are for. Of the C and C++ libraries of GNU and LLVM, of common allocators and
// BLAS libraries; symbols of libraries that are stripped are those of their dynamic tables.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "measure/diagnose/observe/observation.h"

namespace perfcast::measure {
namespace {

using Names = std::vector<std::string_view>;

constexpr std::array<std::string_view, kCodeRoles> kRoleTexts = {"its own work",
                                                                 "allocating memory",
                                                                 "copying memory",
                                                                 "filling memory",
                                                                 "comparing memory",
                                                                 "locks and conditions",
                                                                 "throwing exceptions",
                                                                 "giving up the CPU",
                                                                 "asking for the time",
                                                                 "the dynamic linker",
                                                                 "linear algebra (BLAS)",
                                                                 "reading and writing",
                                                                 "text by a locale's rules",
                                                                 "opening and finding files",
                                                                 "looking for the end of a string",
                                                                 "one letter of a stream at a time"};

// Of whole libraries, by the beginning of the file's name.
const std::vector<std::pair<std::string_view, CodeRole>>& libraries() {
  static const std::vector<std::pair<std::string_view, CodeRole>> table = {
      {"ld-linux", CodeRole::kLoader},        {"libgcc_s", CodeRole::kException},
      {"libunwind", CodeRole::kException},    {"libopenblas", CodeRole::kBlas},
      {"libblas", CodeRole::kBlas},           {"libmkl", CodeRole::kBlas},
      {"libblis", CodeRole::kBlas},           {"libatlas", CodeRole::kBlas},
      {"libjemalloc", CodeRole::kAllocation}, {"libtcmalloc", CodeRole::kAllocation},
      {"libmimalloc", CodeRole::kAllocation}};
  return table;
}

// By the whole name, or the beginning where it ends in '*'.
const std::vector<std::pair<CodeRole, Names>>& functions() {
  static const std::vector<std::pair<CodeRole, Names>> table = {
      {CodeRole::kAllocation, {"malloc",         "free",
                               "cfree",          "calloc",
                               "realloc",        "_int_malloc",
                               "_int_free*",     "malloc_consolidate",
                               "unlink_chunk*",  "tcache_*",
                               "sysmalloc",      "systrim*",
                               "operator new*",  "operator delete*",
                               "posix_memalign", "aligned_alloc",
                               "__libc_malloc",  "__libc_free",
                               "_mid_memalign",  "malloc_trim"}},
      {CodeRole::kCopy,
       {"memcpy*", "memmove*", "__memcpy*", "__memmove*", "mempcpy", "__mempcpy*", "strcpy*", "__strcpy*", "stpcpy*",
        "strncpy*", "bcopy", "wmemcpy*", "strdup", "__strdup"}},
      {CodeRole::kFill, {"memset*", "__memset*", "bzero", "explicit_bzero"}},
      {CodeRole::kCompare,
       {"memcmp*", "__memcmp*", "bcmp", "strcmp*", "__strcmp*", "strncmp*", "__strncmp*", "strcasecmp*",
        "__strcasecmp*"}},
      {CodeRole::kLock,
       {"pthread_mutex_*", "__pthread_mutex_*", "__lll_lock_wait*", "__lll_lock_wake*", "pthread_cond_*",
        "__pthread_cond_*", "pthread_rwlock_*", "__pthread_rwlock_*", "pthread_barrier_wait", "sem_wait*", "sem_post*",
        "__new_sem_*", "pthread_spin_lock", "___pthread_mutex_*", "__GI___lll_*"}},
      {CodeRole::kException,
       {"__cxa_throw", "__cxa_begin_catch", "__cxa_end_catch", "__cxa_allocate_exception", "__cxa_free_exception",
        "__gxx_personality_v0", "_Unwind_*", "dl_iterate_phdr", "__dl_iterate_phdr", "_dl_find_object", "uw_*",
        "__cxa_rethrow", "__cxa_get_exception_ptr", "execute_cfa_program", "execute_stack_op", "read_encoded_value*"}},
      {CodeRole::kYield, {"sched_yield", "__sched_yield", "pthread_yield"}},
      {CodeRole::kClock, {"clock_gettime*", "__clock_gettime*", "gettimeofday*", "__vdso_*", "time", "clock"}},
      {CodeRole::kLoader, {"_dl_*", "do_lookup_x", "_dl_runtime_resolve*", "dl_open*"}},
      {CodeRole::kBlas, {"sgemm_*", "dgemm_*", "cgemm_*", "zgemm_*", "cblas_*"}},
      {CodeRole::kInputOutput,
       {"read", "write", "__read", "__write", "pread64", "pwrite64", "fsync", "fdatasync", "__GI___libc_read",
        "__GI___libc_write", "readv", "writev"}},
      {CodeRole::kFileNames,
       {"open",
        "open64",
        "openat*",
        "__open*",
        "__libc_open*",
        "__GI___open*",
        "__GI___libc_open*",
        "close",
        "__close*",
        "__libc_close*",
        "__GI___close*",
        "__GI___libc_close*",
        "stat",
        "stat64",
        "__stat*",
        "fstat*",
        "__fstat*",
        "__GI___fstat*",
        "lstat*",
        "__lstat*",
        "statx",
        "__statx*",
        "fstatat*",
        "__GI___fstatat*",
        "__xstat*",
        "__fxstat*",
        "__lxstat*",
        "access",
        "__access*",
        "faccessat",
        "opendir",
        "unlink",
        "rename"}},
      // strcat(3) walks to an end before it copies.
      {CodeRole::kLength,
       {"strlen*", "__strlen*", "wcslen*", "__wcslen*", "strcat*", "__strcat*", "strncat*", "__strncat*", "rawmemchr",
        "__rawmemchr*"}},
      {CodeRole::kLetters,
       {"getc", "fgetc", "getchar", "ungetc", "putc", "fputc", "putchar", "_IO_getc", "_IO_putc", "_IO_ungetc",
        "_IO_sputbackc", "_IO_default_pbackfail", "_IO_file_pbackfail", "__uflow", "__overflow",
        "__gnu_cxx::stdio_sync_filebuf*"}},
      {CodeRole::kText,
       {"strcoll*",  "__strcoll*",  "strxfrm*",  "__strxfrm*", "wcscoll*",   "__wcscoll*",   "wcsxfrm*",
        "mbrtowc",   "__mbrtowc",   "mbstowcs",  "mbsrtowcs*", "mbsnrtowcs", "__mbsrtowcs*", "__mbsnrtowcs*",
        "wcrtomb",   "__wcrtomb*",  "wcstombs",  "wcsrtombs",  "wcsnrtombs", "mbrlen",       "__mbrlen",
        "mbtowc",    "mblen",       "btowc",     "__btowc",    "towlower*",  "towupper*",    "__towlower_l",
        "iswctype*", "__iswctype*", "iswalnum*", "iswalpha*",  "iswspace*",  "iswprint*",    "iswpunct*",
        "wcwidth",   "wcswidth",    "regexec",   "regcomp",    "re_search*", "re_match*",    "re_compile*",
        "__gconv_*", "iconv"}},
  };
  return table;
}

bool fits(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

std::string_view code_role_text(CodeRole role) { return kRoleTexts.at(static_cast<size_t>(role)); }

CodeRole code_role_of(const std::string& function, const std::string& library) {
  const std::string file = library.substr(library.rfind('/') + 1);
  for (const auto& [beginning, role] : libraries()) {
    // Arithmetic of 128 bits, and threads' own variables.
    if (file.starts_with(beginning) && !function.starts_with("__")) return role;
  }
  if (library == "[vdso]") return CodeRole::kClock;
  const bool is_runtime = is_runtime_library(library);
  for (const auto& [role, names] : functions()) {
    for (const std::string_view pattern : names) {
      // Words that a program's own functions may be called by, too.
      const bool is_plain = pattern.find('_') == std::string_view::npos && role != CodeRole::kAllocation &&
                            role != CodeRole::kCopy && role != CodeRole::kFill && role != CodeRole::kCompare &&
                            role != CodeRole::kLength;
      if ((!is_plain || is_runtime) && fits(function, pattern)) return role;
    }
  }
  return CodeRole::kOwn;
}

// Time in them is the caller's choice.
bool is_runtime_library(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  const std::array<std::string_view, 13> beginnings = {
      "libc.so", "libc-",       "libstdc++",   "libgcc_s",    "libc++",    "ld-linux",  "libpthread",
      "libm.so", "libjemalloc", "libtcmalloc", "libmimalloc", "libunwind", "linux-vdso"};
  return path == "[vdso]" || std::any_of(beginnings.begin(), beginnings.end(),
                                         [&](std::string_view beginning) { return file.starts_with(beginning); });
}

std::string short_function_name(const std::string& name) {
  constexpr std::string_view kNameless = "(anonymous namespace)::", kOperator = "operator";
  std::string text = name;
  for (size_t at = text.find(kNameless); at != std::string::npos; at = text.find(kNameless))
    text.erase(at, kNameless.size());
  for (size_t at = text.find(" [clone "); at != std::string::npos; at = text.find(" [clone "))
    text.erase(at, text.find(']', at) == std::string::npos ? std::string::npos : text.find(']', at) + 1 - at);
  // "pthread_mutex_lock@@GLIBC_2.2.5".
  if (const size_t version = text.find('@'); version != std::string::npos && version > 0) text.resize(version);
  // Parameters go, arguments of templates become "..": what is between brackets, but for operators' own names.
  std::string result;
  int angles = 0, rounds = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (angles + rounds == 0 && text.compare(at, kOperator.size(), kOperator) == 0) {
      size_t end = at + kOperator.size();
      if (text.compare(end, 2, "()") == 0) end += 2;
      while (end < text.size() && std::string_view("<>=-").find(text[end]) != std::string_view::npos) ++end;
      result += text.substr(at, end - at);
      at = end - 1;
      continue;
    }
    const char c = text[at];
    if (c == '<' && rounds == 0 && angles++ == 0) result += "<..>";
    if (c == '(' && angles == 0) ++rounds;
    if (angles + rounds == 0) result += c;
    if (c == '>' && rounds == 0 && angles > 0) --angles;
    if (c == ')' && angles == 0 && rounds > 0) --rounds;
  }
  if (result.ends_with(" const")) result.resize(result.size() - 6);
  // Templates' names begin with what they return.
  if (result == text) return result;
  int depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at < result.size(); ++at) {
    depth += result[at] == '<' ? 1 : result[at] == '>' ? -1 : 0;
    if (result.compare(at, kOperator.size(), kOperator) == 0) break;
    if (result[at] == ' ' && depth <= 0) begin = at + 1;
  }
  result.erase(0, begin);
  return result.empty() ? name : result;
}

std::string HotFunction::name() const {
  if (!function.empty()) return function;
  const std::string file = library.substr(library.rfind('/') + 1);
  return file.empty() || library.starts_with("//") ? "generated code" : "in " + file;
}

std::string HotFunction::short_name() const { return function.empty() ? name() : short_function_name(function); }

std::string HotFunction::place() const {
  if (!source.empty()) return source.substr(source.rfind('/') + 1) + (line > 0 ? ":" + std::to_string(line) : "");
  return library.substr(library.rfind('/') + 1);
}

std::string HotFunction::in_words() const { return short_name() + (place().empty() ? "" : " (" + place() + ")"); }

bool HotFunction::works_for_caller() const {
  return role != CodeRole::kOwn || is_runtime_library(library) || is_system_source(source);
}

std::string HotFunction::own_words() const {
  if (!works_for_caller() || caller.empty()) return in_words();
  return short_function_name(caller) + (caller_place.empty() ? "" : " (" + caller_place + ")");
}

std::string WaitPlace::in_words() const {
  std::string text = function.empty() ? "code without a name" : short_function_name(function);
  if (!source.empty()) text += " (" + source + ")";
  const std::string through = entry.empty() ? call : short_function_name(entry);
  return through.empty() ? text : text + ", in " + through;
}

size_t HotLoop::count(CodeTrait trait) const {
  return static_cast<size_t>(std::count_if(instructions.begin(), instructions.end(),
                                           [&](const CodeInstruction& of) { return has_trait(of.traits, trait); }));
}

uint32_t HotLoop::vector_bits() const {
  uint32_t most = 0;
  for (const CodeInstruction& of : instructions) most = std::max(most, of.vector_bits);
  return most;
}

}  // namespace perfcast::measure
