#pragma once
// A file, a pipe, or a file that grows: bytes as they come. A followed file that is cut to less than was read, or
// replaced by another of its name, is read from its beginning.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace perfcast::measure {

class GrowingFile {
 public:
  enum class Read {
    kBytes,      // some, or none within 100 ms
    kRestarted,  // the bytes are of a file that began anew
    kEnd,
  };

  // "-": standard input. Where the followed file is the one of `inode` and no shorter than `offset_bytes`, from there
  // on.
  static Result<GrowingFile> open(const std::string& path, bool follow, uint64_t inode = 0, uint64_t offset_bytes = 0);
  ~GrowingFile();
  GrowingFile(GrowingFile&& other) noexcept;
  GrowingFile& operator=(GrowingFile&& other) = delete;

  // At most 1 MiB into `bytes`.
  Result<Read> read(std::string& bytes);
  uint64_t inode() const { return inode_; }
  uint64_t offset_bytes() const { return offset_bytes_; }  // behind what was read

 private:
  GrowingFile() = default;
  Result<bool> began_anew();

  std::string path_;
  int descriptor_ = -1;
  bool follow_ = false, owned_ = false;
  uint64_t inode_ = 0, offset_bytes_ = 0;
};

}  // namespace perfcast::measure
