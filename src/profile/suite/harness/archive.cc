#include "profile/suite/harness/archive.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "base/file.h"

namespace perfcast::harness {
namespace {

constexpr char kMagic[8] = {'p', 'c', 'h', 'a', 'r', 'n', '1', '\n'};

struct Header {
  char magic[8];
  uint64_t original_bytes;
  uint64_t compressed_bytes;
  uint32_t original_checksum;
  uint32_t compressed_checksum;
};
static_assert(sizeof(Header) == 32);

Error bad_archive(const std::string& path, const std::string& what) {
  return {"bad-archive", what, path, "a file that `perfcast-harness prepare` wrote"};
}

}  // namespace

Result<Archive> make_archive(Codec& codec, View input) {
  auto compressed = codec.compress(input);
  if (!compressed) return compressed.error();
  const auto output = codec.decompress(compressed->view(), input.size());
  if (!output) return output.error();
  if (output->size() != input.size() || !std::equal(input.begin(), input.end(), output->data())) {
    return Error{"round-trip", "what was decompressed differs from what was compressed", "", ""};
  }
  Archive archive;
  archive.original_bytes = input.size();
  archive.original_checksum = checksum(input);
  archive.compressed_checksum = checksum(compressed->view());
  archive.compressed = std::move(*compressed);
  return archive;
}

Status write_archive(const Archive& archive, const std::string& path) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.original_bytes = archive.original_bytes;
  header.compressed_bytes = archive.compressed.size();
  header.original_checksum = archive.original_checksum;
  header.compressed_checksum = archive.compressed_checksum;
  std::string content(reinterpret_cast<const char*>(&header), sizeof header);
  content.append(reinterpret_cast<const char*>(archive.compressed.data()), archive.compressed.size());
  return write_file_atomically(path, content);
}

Result<Archive> read_archive(const std::string& path, bool with_data) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) return Error{"file-not-found", "can't open the archive", path, "a readable file"};
  Header header{};
  if (std::fread(&header, sizeof header, 1, file.get()) != 1 || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    return bad_archive(path, "not an archive of this program");
  }
  constexpr uint64_t kLimit = uint64_t{1} << 31;
  if (header.original_bytes > kLimit || header.compressed_bytes > kLimit) {
    return bad_archive(path, "the header names impossible sizes");
  }
  Archive archive;
  archive.original_bytes = header.original_bytes;
  archive.original_checksum = header.original_checksum;
  archive.compressed_checksum = header.compressed_checksum;
  if (!with_data) return archive;
  archive.compressed = Buffer(header.compressed_bytes);
  if (std::fread(archive.compressed.data(), 1, archive.compressed.size(), file.get()) != archive.compressed.size()) {
    return bad_archive(path, "the file ends early");
  }
  if (checksum(archive.compressed.view()) != header.compressed_checksum) {
    return bad_archive(path, "the checksum of the compressed bytes is wrong");
  }
  return archive;
}

}  // namespace perfcast::harness
