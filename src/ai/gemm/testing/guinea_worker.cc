// A worker for tests. Without arguments it serves the real tasks; with one, it behaves as the word says on every
// request, in the protocol of worker.h:
//
//   good FILE    correct, 1 ms per call; appends its process id to FILE at each run
//   wrong        its check fails
//   unavailable  can't prepare on this machine, and says why
//   fails        can't prepare, with the same code and message but of no kind
//   dies         is killed at its first run, after a word on standard error
//   silent       never answers a run
//   babble       answers with what is no JSON
//   slow         guesses an hour

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "ai/gemm/run/worker.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

int behave(const std::string& how, const char* file) {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto request = parse_json(line, "request");
    if (!request) return 1;
    const std::string verb = request->value("do", "");
    Json answer = {{"ok", true}};
    if (verb == "prepare") {
      answer["work"] = 1e6;
      answer["kernel"] = how;
      if (how == "unavailable" || how == "fails") {
        answer = {{"ok", false}, {"code", "unavailable"}, {"message", "not on this one"}};
        if (how == "unavailable") answer["kind"] = "environment";
      }
    } else if (verb == "estimate") {
      answer["seconds"] = how == "slow" ? 3600.0 : 0.0;
    } else if (verb == "run") {
      if (how == "silent") pause();
      if (how == "dies") {
        std::fputs("first line\nthe last word\n", stderr);
        std::raise(SIGKILL);
      }
      if (how == "babble") {
        std::cout << "hello" << std::endl;
        continue;
      }
      if (file != nullptr) {
        std::FILE* log = std::fopen(file, "a");
        std::fprintf(log, "%d\n", static_cast<int>(getpid()));
        std::fclose(log);
      }
      answer["seconds"] = 1e-3 * static_cast<double>(request->value("calls", int64_t{1}));
      answer["cpu_seconds"] = answer["seconds"].get<double>() / 2;
    } else if (verb == "check") {
      answer["correct"] = how != "wrong";
      answer["relative_error"] = 1e-7;
      answer["worst"] = how == "wrong" ? 7.0 : 0.5;
      answer["detail"] = how == "wrong" ? "row 3 is wrong" : "";
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace perfcast::ai

// What is thrown here ends the worker, as a test may want it to.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  if (argc < 2) return perfcast::ai::gemm::worker_main(STDIN_FILENO, STDOUT_FILENO);
  return perfcast::ai::behave(argv[1], argc > 2 ? argv[2] : nullptr);
}
