#pragma once
// A program built anew from its source tree with other flags, in a copy: nothing is built in, or written to, the user's
// own folder.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process/temp_folder.h"
#include "base/result.h"

namespace perfcast::measure {

struct RebuildRequest {
  std::string build;                 // a line for a shell that runs in the tree: "make -C src CXXFLAGS={flags}"
  std::string source;                // folder of the tree
  std::vector<std::string> command;  // that runs what stands in the tree; words that name files there are looked up
  // Variables that the command has and a build has not: their values for builds; absent: not set.
  std::map<std::string, std::optional<std::string>> environment;
  double limit_s = 600;                     // of one build
  uint64_t most_bytes = uint64_t{2} << 30;  // of the tree
};

// What is executed in a file, without names and debugging information, by its length and a hash: where two builds have
// the same, their flags changed nothing, or did not reach the compiler.
struct MachineCode {
  size_t bytes = 0, hash = 0;
  bool operator==(const MachineCode&) const = default;
  bool operator<(const MachineCode& other) const { return std::pair(bytes, hash) < std::pair(other.bytes, other.hash); }
};

struct RebuiltProgram {
  std::string flags;
  std::vector<std::string> command;  // the request's, run in the copy: argv, by env(1)
  std::string path;                  // of the program's file that was built; empty where the command runs a script
  double build_s = 0;
  std::optional<MachineCode> code = std::nullopt;  // of the program's file, where that is one
};

class Rebuilder {
 public:
  // Looks at the tree, builds nothing. Errors, all of what was asked: "bad-usage" where the line has no {flags}, the
  // source is no folder, or no word of the command names a file in it; "tree-too-large".
  static Result<std::unique_ptr<Rebuilder>> create(RebuildRequest request);

  // Copies the tree, builds it there and gives the program that came of it; the same flags are tried once, also where
  // they fail. All copies stay until this ends, as experiments run what is in them. Errors: "build-failed" with the
  // last lines that it printed, "limit-reached", "not-rebuilt" where the program's file is the old one, "tree-changed"
  // where the build wrote to the user's own folder (nothing more is built then), "no-room", "tree-too-large",
  // "file-error", run_process()'s.
  Result<RebuiltProgram> rebuild(const std::string& flags);

  // The command's program in the user's own tree: absolute; empty where the command runs a script.
  const std::string& program() const { return program_; }
  std::string source_tree() const { return tree_.string(); }  // absolute, without links
  // Where the program's file is older than the newest source: what differs need not be the flags.
  bool is_older_than_sources() const { return older_; }

 private:
  explicit Rebuilder(RebuildRequest request, TempFolder folder)
      : request_(std::move(request)), folder_(std::move(folder)) {}
  Status look();
  Status find_program();
  Result<RebuiltProgram> build_in(const std::filesystem::path& copy, const std::string& flags) const;
  std::vector<std::string> command_in(const std::filesystem::path& copy) const;

  RebuildRequest request_;
  TempFolder folder_;
  std::filesystem::path tree_, here_;  // both absolute, without links
  std::string program_;
  bool older_ = false;
  std::string spoilt_;  // a file of the user's that changed while something was built
  std::map<std::string, Result<RebuiltProgram>> built_;
};

// Absent where the file is no program.
std::optional<MachineCode> machine_code(const std::string& path);

// The line with {flags} filled in: as so many words where it is a word of its own, else quoted for a shell, but where
// it stands within quotes already.
std::string build_line(std::string_view line, const std::string& flags);

}  // namespace perfcast::measure
