#include "measure/diagnose/prove/source_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <fstream>

#include "base/file.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 500'000;
// Of which no build is supposed to change anything.
constexpr std::array<const char*, 7> kSystemFolders = {"/usr", "/lib", "/lib64", "/etc", "/opt", "/dev", "/proc"};
constexpr size_t kMostBuildFileBytes = size_t{16} << 20;

Error tree_problem(const fs::path& where, const std::error_code& problem) {
  return {"file-error", "the source tree can't be read or copied: " + problem.message(), where.string(),
          "a source tree that you may read"};
}

bool is_history(const std::string& name) { return name == ".git" || name == ".hg" || name == ".svn"; }

template <size_t N>
bool ends_with_any(const std::string& name, const std::array<std::string_view, N>& endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

// Files that tell a build where things are, and may do so by the tree's whole path.
bool is_build_file(const std::string& name) {
  const std::array<std::string_view, 8> endings = {".mk", ".mak", ".make", ".ninja", ".cmake", ".d", ".pc", ".Po"};
  return lower_case(name).starts_with("makefile") || name.starts_with("GNUmakefile") || name == "CMakeCache.txt" ||
         name == "config.status" || name == "libtool" || ends_with_any(name, endings);
}

// Where `from` stands in the text as a whole path, `to` instead.
std::string with_path_replaced(const std::string& text, const std::string& from, const std::string& to) {
  std::string result;
  size_t at = 0;
  for (size_t found = text.find(from); found != std::string::npos; found = text.find(from, at)) {
    const size_t end = found + from.size();
    const auto next = static_cast<unsigned char>(end < text.size() ? text[end] : '\n');
    const bool is_longer_name =
        std::isalnum(next) != 0 || std::string_view("_-.+").find(static_cast<char>(next)) != std::string_view::npos;
    result.append(text, at, found - at).append(is_longer_name ? from : to);
    at = end;
  }
  return result.append(text, at);
}

// All of a tree but its history, folders before what is in them. visit(entry) says what is wrong.
template <typename Visit>
Status walk(const fs::path& tree, const Visit& visit) {
  std::error_code problem;
  fs::recursive_directory_iterator entry(tree, problem);
  if (problem) return tree_problem(tree, problem);
  for (; entry != fs::recursive_directory_iterator(); entry.increment(problem)) {
    if (is_history(entry->path().filename().string())) {
      entry.disable_recursion_pending();
    } else if (Status visited = visit(*entry); !visited) {
      return visited;
    }
  }
  return problem ? Status(tree_problem(tree, problem)) : Status();
}

class TreeCopy {
 public:
  TreeCopy(const fs::path& tree, const fs::path& target) : tree_(tree), target_(target) {}
  Status copy(const fs::directory_entry& entry) const;

 private:
  Status copy_file(const fs::directory_entry& entry, const fs::path& to) const;
  Status copy_link(const fs::path& link, const fs::path& to) const;

  const fs::path& tree_;
  const fs::path& target_;
};

// What leads into the tree stays within the copy, whatever it calls the tree. What leads out of it is left as it is
// where it names what the system has, or nothing; else a build would write to what the user has elsewhere.
Status TreeCopy::copy_link(const fs::path& link, const fs::path& to) const {
  std::error_code problem;
  const fs::path points_at = fs::read_symlink(link, problem);
  if (problem) return tree_problem(link, problem);
  const fs::path named = (link.parent_path() / points_at).lexically_normal();
  const fs::path whole = fs::weakly_canonical(named, problem);
  if (problem) return tree_problem(link, problem);
  fs::path target = points_at;
  if (is_path_within(tree_, whole)) {
    const bool stays = points_at.is_relative() && is_path_within(tree_, named);
    if (!stays) target = target_ / whole.lexically_relative(tree_);
  } else {
    const bool is_system = std::any_of(kSystemFolders.begin(), kSystemFolders.end(),
                                       [&](const char* folder) { return is_path_within(folder, whole); });
    if (!is_system && fs::exists(whole, problem)) {
      return usage_error("tree-leads-out",
                         "the source tree has a link to " + printable(whole.string()) +
                             ", where a build of a copy would write to what is yours",
                         link.string(), "--source of a folder that holds it, or a copy in the place of the link");
    }
    target = named;
  }
  fs::create_symlink(target, to, problem);
  return problem ? Status(tree_problem(link, problem)) : Status();
}

Status TreeCopy::copy_file(const fs::directory_entry& entry, const fs::path& to) const {
  std::error_code problem;
  const fs::path& from = entry.path();
  fs::copy_file(from, to, problem);
  if (problem) return tree_problem(from, problem);
  const bool product = is_build_product(from);
  if (!product && is_build_file(from.filename().string())) {
    const auto text = read_bytes(from.string(), kMostBuildFileBytes);
    if (text && text->find(tree_.string()) != std::string::npos) {
      Status written = write_file_atomically(to.string(), with_path_replaced(*text, tree_.string(), target_.string()));
      if (!written) return written;
      fs::permissions(to, entry.status(problem).permissions(), problem);
    }
  }
  fs::last_write_time(to, product ? product_time() : entry.last_write_time(problem), problem);
  return problem ? Status(tree_problem(from, problem)) : Status();
}

Status TreeCopy::copy(const fs::directory_entry& entry) const {
  std::error_code problem;
  const fs::path& from = entry.path();
  const fs::path to = target_ / from.lexically_relative(tree_);
  if (entry.is_symlink(problem)) {
    return copy_link(from, to);
  } else if (entry.is_directory(problem)) {
    fs::create_directory(to, from, problem);
  } else if (entry.is_regular_file(problem)) {
    return copy_file(entry, to);
  }
  return problem ? Status(tree_problem(from, problem)) : Status();
}

}  // namespace

bool is_path_within(const fs::path& folder, const fs::path& path) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

bool is_build_product(const fs::path& file) {
  const std::array<std::string_view, 4> endings = {".lo", ".la", ".gch", ".pch"};
  if (ends_with_any(file.filename().string(), endings)) return true;
  std::array<char, 8> head{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), head.size());
  const std::string_view bytes(head.data(), static_cast<size_t>(stream.gcount()));
  return bytes.starts_with("\177ELF") || bytes == "!<arch>\n";
}

bool is_source_name(const std::string& name) {
  const std::array<std::string_view, 16> endings = {".c",   ".cc", ".cpp", ".cxx", ".h",  ".hh", ".hpp", ".hxx",
                                                    ".inl", ".f",  ".f90", ".F90", ".rs", ".go", ".s",   ".S"};
  return ends_with_any(name, endings);
}

fs::file_time_type product_time() {
  using std::chrono::sys_days, std::chrono::sys_seconds, std::chrono::year, std::chrono::January;
  return fs::file_time_type::clock::from_sys(sys_seconds(sys_days(year(1990) / January / 1)));
}

Result<SourceFiles> list_source_files(const fs::path& tree, uint64_t most_bytes) {
  SourceFiles files;
  uint64_t bytes = 0;
  const Status listed = walk(tree, [&](const fs::directory_entry& entry) -> Status {
    std::error_code problem;
    if (entry.is_symlink(problem) || !entry.is_regular_file(problem)) return {};
    const SourceFile file{entry.last_write_time(problem), entry.file_size(problem)};
    if (problem) return tree_problem(entry.path(), problem);
    files.emplace(entry.path().lexically_relative(tree).string(), file);
    bytes += file.bytes;
    if (bytes <= most_bytes && files.size() <= kMostFiles) return {};
    return usage_error("tree-too-large",
                       fmt::format("the source tree has more than {} or {} files",
                                   human_bytes(static_cast<double>(most_bytes)), kMostFiles),
                       tree.string(), "--source FOLDER with the sources alone");
  });
  if (!listed) return listed.error();
  return files;
}

Status copy_source_tree(const fs::path& tree, const fs::path& target) {
  std::error_code problem;
  fs::create_directories(target, problem);
  if (problem) return tree_problem(target, problem);
  const TreeCopy copy(tree, target);
  return walk(tree, [&](const fs::directory_entry& entry) { return copy.copy(entry); });
}

}  // namespace perfcast::measure
