#include "measure/compare/revisions.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/process/tool.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr double kGitLimit_s = 600;  // a large tree on a slow disk
constexpr const char* kFormat = "--format=%H%x1f%h%x1f%an%x1f%ad%x1f%s";
constexpr size_t kLogShownBytes = 600;
constexpr size_t kLogLimitBytes = size_t{64} << 20;

Result<std::string> git(const std::string& folder, std::vector<std::string> words) {
  std::vector<std::string> command = {"git", "-C", folder};
  command.insert(command.end(), words.begin(), words.end());
  return answer_of(command, kGitLimit_s);
}

std::string first_line(const std::string& text) { return std::string(trim(text.substr(0, text.find('\n')))); }

std::vector<Revision> revisions_of(const std::string& log) {
  std::vector<Revision> revisions;
  for (const std::string& line : split(log, '\n')) {
    const std::vector<std::string> fields = split(line, '\x1f');
    if (fields.size() < 5) continue;
    std::vector<std::string> subject(fields.begin() + 4, fields.end());
    revisions.push_back({fields[0], fields[1], join(subject, " "), fields[2], fields[3]});
  }
  return revisions;
}

std::string end_of(const std::string& log) {
  const auto text = read_file(log, kLogLimitBytes);
  if (!text) return "";
  const std::string words(trim(*text));
  return printable(words.size() > kLogShownBytes ? "... " + words.substr(words.size() - kLogShownBytes) : words);
}

}  // namespace

Result<Repository> Repository::open(const std::string& folder) {
  if (find_in_path("git").empty()) {
    return environment_error("git-missing", "git is not installed", "", install_advice("git"));
  }
  const auto root = git(folder, {"rev-parse", "--show-toplevel"});
  if (!root) {
    if (root.error().kind == ErrorKind::kInterrupted) return root.error();
    return Error{"no-repository", "there is no git repository here: " + root.error().message, folder,
                 "a folder inside of one"};
  }
  return Repository(first_line(*root));
}

Result<Revision> Repository::resolve(const std::string& revision) const {
  // "--end-of-options": a name from the command line is no option of git's.
  const auto log = git(root_, {"log", "-1", "--date=short", kFormat, "--end-of-options", revision + "^{commit}", "--"});
  if (!log && log.error().kind == ErrorKind::kInterrupted) return log.error();
  const std::vector<Revision> found = log ? revisions_of(*log) : std::vector<Revision>();
  if (found.empty()) {
    return usage_error("unknown-revision", "the repository has no revision '" + printable(revision) + "'", root_,
                       "a commit, branch or tag: git log --oneline");
  }
  return found.front();
}

Result<std::vector<Revision>> Repository::between(const Revision& good, const Revision& bad) const {
  const auto log =
      git(root_, {"log", "--first-parent", "--reverse", "--date=short", kFormat, good.id + ".." + bad.id, "--"});
  if (!log) return log.error();
  std::vector<Revision> revisions = revisions_of(*log);
  // The one before the first must be the good one, or the first bad one may lie before it.
  bool is_line = !revisions.empty();
  if (is_line) {
    const auto parent = git(root_, {"rev-parse", "--verify", "--quiet", revisions.front().id + "^"});
    if (!parent && parent.error().kind == ErrorKind::kInterrupted) return parent.error();
    is_line = parent && first_line(*parent) == good.id;
  }
  if (!is_line) {
    return usage_error(
        "not-an-ancestor",
        printable(good.short_id) + " is not before " + printable(bad.short_id) + " on its line of first parents", root_,
        "an older revision first, and a newer one of the same line second");
  }
  return revisions;
}

Status Repository::check_out(const Revision& revision, const std::string& folder) const {
  std::error_code ignored;
  if (!std::filesystem::exists(folder + "/.git", ignored)) {
    const auto cloned = git(root_, {"clone", "--quiet", "--shared", "--no-checkout", "--", root_, folder});
    if (!cloned) return cloned.error();
  }
  const auto done = git(folder, {"checkout", "--quiet", "--force", "--detach", revision.id});
  if (!done) return done.error();
  return {};
}

Status build_in(const std::string& folder, const std::string& command, double limit_s) {
  const std::string log = folder + ".log";
  ProcessRequest request;
  request.executable = find_in_path("sh");
  request.arguments = {"sh", "-c", "cd -- \"$1\" && exec sh -c \"$2\" >\"$3\" 2>&1", "sh", folder, command, log};
  request.limit_s = limit_s;
  const auto outcome = run_process(request);
  if (!outcome) return outcome.error();
  if (outcome->limit_reached) {
    return Error{"limit-reached", "the build took longer than " + human_seconds(limit_s), "--build-limit",
                 "a longer limit"};
  }
  if (outcome->ok()) return {};
  return Error{"build-failed",
               "the build failed: " +
                   (outcome->exit_code ? "status " + std::to_string(*outcome->exit_code)
                                       : "signal " + signal_text(outcome->signal.value_or(0))) +
                   "\n  " + end_of(log),
               "--build", "a command that builds this revision"};
}

std::string with_tree(const std::string& text, const std::string& folder) {
  std::string result = text;
  const std::string mark = kTreeMark;
  for (size_t at = result.find(mark); at != std::string::npos; at = result.find(mark, at + folder.size()))
    result.replace(at, mark.size(), folder);
  return result;
}

}  // namespace perfcast::measure
