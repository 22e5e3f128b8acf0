#pragma once
// A folder of small files, as the kernel has them in /sys, for tests; gone when it goes.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace perfcast {

class FolderOfFiles {
 public:
  FolderOfFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "perfcast-energy-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for a test");
    path_ = pattern;
  }
  struct File {
    std::string name, text;
  };
  FolderOfFiles(std::initializer_list<File> files) : FolderOfFiles() {
    for (const File& file : files) write(file.name, file.text);
  }
  FolderOfFiles(const FolderOfFiles&) = delete;
  FolderOfFiles& operator=(const FolderOfFiles&) = delete;
  ~FolderOfFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string of(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(of(name)).parent_path());
    std::ofstream(of(name)) << text;
  }

 private:
  std::string path_;
};

}  // namespace perfcast
