// golden_runner [--update] PERFCAST WRITE_SYNTHETIC FILE.test...
//
// Command lines and what they print, in one file that reads as a session:
//
//   # comment
//   $ perfcast predict --profile tiny.json     run by sh in a folder with the files of write_synthetic
//   program: example                           exactly what it prints, stdout and stderr together
//   ...                                        any number of lines, never the status
//   time: <*> s                                <*> any text within a line
//   [exit 1]                                   only where the status is not 0
//
// Commands of one file share a folder of their own; $FILES is the folder testdata/ beside the file. --update writes
// what was printed in the place of what was expected; look at the difference before you keep it.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace perfcast::cli {
namespace {

struct Step {
  std::vector<std::string> before;  // comments and blank lines
  std::string command;
  std::vector<std::string> expected;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::vector<Step> parse(const std::string& text) {
  std::vector<Step> steps;
  std::vector<std::string> before;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("$ ")) {
      steps.push_back({std::move(before), line.substr(2), {}});
      before.clear();
    } else if (line.starts_with("#") || steps.empty() || (!before.empty() && before.back().starts_with("#"))) {
      before.push_back(line);
    } else {
      steps.back().expected.push_back(line);
    }
  }
  for (Step& step : steps) {
    while (!step.expected.empty() && step.expected.back().empty()) step.expected.pop_back();
  }
  return steps;
}

bool line_matches(const std::string& expected, const std::string& found) {
  const size_t mask = expected.find("<*>");
  if (mask == std::string::npos) return expected == found;
  const std::string head = expected.substr(0, mask), tail = expected.substr(mask + 3);
  if (!found.starts_with(head)) return false;
  for (size_t skip = head.size(); skip <= found.size(); ++skip) {
    if (line_matches(tail, found.substr(skip))) return true;
  }
  return false;
}

bool matches(const std::vector<std::string>& expected, size_t at, const std::vector<std::string>& found, size_t from) {
  if (at == expected.size()) return from == found.size();
  if (expected[at] == "...") {
    for (size_t skip = from; skip <= found.size(); ++skip) {
      if (matches(expected, at + 1, found, skip)) return true;
    }
    return false;
  }
  return from < found.size() && line_matches(expected[at], found[from]) && matches(expected, at + 1, found, from + 1);
}

bool is_status(const std::string& line) { return line.starts_with("[exit ") || line.starts_with("[signal "); }

// The status stands last on both sides, or on none.
bool is_as_expected(std::vector<std::string> expected, std::vector<std::string> found) {
  const auto take_status = [](std::vector<std::string>& lines) {
    if (lines.empty() || !is_status(lines.back())) return std::string();
    std::string status = std::move(lines.back());
    lines.pop_back();
    return status;
  };
  return take_status(expected) == take_status(found) && matches(expected, 0, found, 0);
}

std::vector<std::string> run(const std::string& command, const std::string& folder) {
  const std::string script = "cd '" + folder + "' && { " + command + "\n} 2>&1";
  std::FILE* pipe = popen(script.c_str(), "r");
  if (pipe == nullptr) return {"[no shell]"};
  std::string output;
  char buffer[4096];
  for (size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
  const int status = pclose(pipe);
  std::vector<std::string> lines = lines_of(output);
  if (WIFSIGNALED(status)) lines.push_back("[signal " + std::to_string(WTERMSIG(status)) + "]");
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    lines.push_back("[exit " + std::to_string(WEXITSTATUS(status)) + "]");
  }
  return lines;
}

struct Tools {
  std::string perfcast, write_synthetic;
  bool update = false;
};

bool run_file(const std::string& path, const Tools& tools) {
  const auto text = read_file(path);
  if (!text) {
    std::fprintf(stderr, "%s\n", to_text(text.error()).c_str());
    return false;
  }
  char folder[] = "/tmp/perfcast-golden-XXXXXX";
  if (mkdtemp(folder) == nullptr) return false;
  setenv("XDG_DATA_HOME", folder, 1);
  setenv("XDG_CACHE_HOME", folder, 1);
  const std::string path_variable = std::filesystem::path(tools.perfcast).parent_path().string() + ":" +
                                    (std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  setenv("PATH", path_variable.c_str(), 1);
  setenv("SOURCE_DATE_EPOCH", "1767225600", 1);
  // Files that earlier versions wrote.
  setenv("FILES", std::filesystem::absolute(std::filesystem::path(path).parent_path() / "testdata").c_str(), 1);
  bool good = run("'" + tools.write_synthetic + "' .", folder).empty();
  if (!good) std::fprintf(stderr, "%s: the files could not be written\n", path.c_str());

  std::string updated;
  for (const Step& step : parse(*text)) {
    const std::vector<std::string> found = run(step.command, folder);
    if (!is_as_expected(step.expected, found)) {
      good = false;
      std::fprintf(stderr, "%s\n$ %s\n--- expected\n%s\n--- found\n%s\n\n", path.c_str(), step.command.c_str(),
                   join(step.expected, "\n").c_str(), join(found, "\n").c_str());
      if (tools.update)
        updated += join(step.before, "\n") + (step.before.empty() ? "" : "\n") + "$ " + step.command + "\n" +
                   join(found, "\n") + "\n\n";
    } else if (tools.update) {
      updated += join(step.before, "\n") + (step.before.empty() ? "" : "\n") + "$ " + step.command + "\n" +
                 join(step.expected, "\n") + "\n\n";
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!tools.update || good) return good;
  return write_file_atomically(path, join(lines_of(updated), "\n") + "\n").ok();
}

int main_of(std::vector<std::string> arguments) {
  Tools tools;
  if (!arguments.empty() && arguments.front() == "--update") {
    tools.update = true;
    arguments.erase(arguments.begin());
  }
  if (arguments.size() < 3) {
    std::fputs("usage: golden_runner [--update] PERFCAST WRITE_SYNTHETIC FILE.test...\n", stderr);
    return 2;
  }
  tools.perfcast = arguments[0];
  tools.write_synthetic = arguments[1];
  bool good = true;
  for (size_t i = 2; i < arguments.size(); ++i) good = run_file(arguments[i], tools) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace perfcast::cli

int main(int argc, char** argv) { return perfcast::cli::main_of({argv + 1, argv + argc}); }
