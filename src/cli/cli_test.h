#pragma once
// A folder of its own and the built binary in it: for tests of verbs as a user runs them.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "base/file.h"

namespace perfcast::cli {

struct Outcome {
  int exit_code = -1;
  std::string text;  // stdout and stderr
};

class CliTest : public testing::Test {
 protected:
  CliTest() {
    std::string pattern = testing::TempDir() + "perfcast-cli-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~CliTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    ASSERT_TRUE(write_file_atomically(path(name), text).ok());
  }
  std::string content(const std::string& name) const {
    const auto bytes = read_file(path(name));
    return bytes ? *bytes : "";
  }
  // What a shell runs; with a fixed date, so that bundles are the same bytes every time.
  std::string command(const std::string& arguments) const {
    return "cd '" + folder_ + "' && SOURCE_DATE_EPOCH=1000000000 exec '" PERFCAST_BINARY_DIR "/perfcast' " + arguments;
  }
  Outcome perfcast(const std::string& arguments) const {
    Outcome outcome;
    FILE* pipe = popen((command(arguments) + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return outcome;
    char chunk[4096];
    for (size_t count; (count = fread(chunk, 1, sizeof chunk, pipe)) > 0;) outcome.text.append(chunk, count);
    const int state = pclose(pipe);
    outcome.exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    return outcome;
  }

  std::string folder_;
};

}  // namespace perfcast::cli
