#pragma once
// Revisions of a git repository, each checked out and built in a folder of its own; the user's working tree and its
// .git stay as they are.

#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast::measure {

struct Revision {
  std::string id;                               // 40 hexadecimal digits, or 64
  std::string short_id, subject, author, date;  // date: YYYY-MM-DD, of the author
};

class Repository {
 public:
  // The repository that `folder` lies in. Errors: "git-missing", "no-repository".
  static Result<Repository> open(const std::string& folder = ".");

  // Error "unknown-revision".
  Result<Revision> resolve(const std::string& revision) const;
  // Those after `good` up to `bad`, oldest first, by first parents: what was merged counts as its merge. Error
  // "not-an-ancestor".
  Result<std::vector<Revision>> between(const Revision& good, const Revision& bad) const;
  // `folder` is made, or holds another revision from before, whose build is used again then: what git doesn't track
  // stays. Errors: "git-failed".
  Status check_out(const Revision& revision, const std::string& folder) const;

  const std::string& root() const { return root_; }

 private:
  explicit Repository(std::string root) : root_(std::move(root)) {}
  std::string root_;  // the top of the working tree
};

// Runs `command` by /bin/sh in `folder`. What it prints goes to `folder`.log, whose last lines are in the error
// "build-failed"; "limit-reached" where it takes longer (0: no limit).
Status build_in(const std::string& folder, const std::string& command, double limit_s);

// `text` with each "{tree}" replaced.
std::string with_tree(const std::string& text, const std::string& folder);
inline constexpr const char* kTreeMark = "{tree}";

}  // namespace perfcast::measure
