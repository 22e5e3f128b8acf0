// An archive is compressed and decompressed with LZ4 and Zstandard, and its SHA-1 is checked each time:
// archive_codecs FILE.tar [LZ4 LEVEL ZSTANDARD LEVEL]. Each file of the archive is a frame of its own.
#include <lz4frame.h>
#include <openssl/evp.h>
#include <zstd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

class Sha1 {
 public:
  Sha1() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_, EVP_sha1(), nullptr); }
  ~Sha1() { EVP_MD_CTX_free(context_); }
  Sha1(const Sha1&) = delete;
  Sha1& operator=(const Sha1&) = delete;
  void add(std::string_view text) { EVP_DigestUpdate(context_, text.data(), text.size()); }
  Digest result() {
    Digest digest{};
    EVP_DigestFinal_ex(context_, digest.data(), nullptr);
    return digest;
  }

 private:
  EVP_MD_CTX* context_;
};

// The bytes of each file of a tar archive, header included; what is left over is the last part.
std::vector<std::string_view> files_of(std::string_view archive) {
  std::vector<std::string_view> files;
  std::size_t at = 0;
  while (at + 512 <= archive.size() && archive[at] != '\0') {
    const std::size_t bytes = std::strtoull(std::string(archive.substr(at + 124, 12)).c_str(), nullptr, 8);
    const std::size_t whole = std::min(512 + (bytes + 511) / 512 * 512, archive.size() - at);
    files.push_back(archive.substr(at, whole));
    at += whole;
  }
  if (at < archive.size()) files.push_back(archive.substr(at));
  return files;
}

struct Codec {
  const char* name;
  std::function<std::size_t(std::size_t)> bound;
  std::function<std::size_t(std::string_view, char*, std::size_t)> compress;
  std::function<std::size_t(std::string_view, char*, std::size_t)> decompress;
};

}  // namespace

int main(int argc, char** argv) {
  std::string archive;
  if (argc == 2 || argc == 4) {
    std::ifstream in(argv[1], std::ios::binary);
    archive.assign(std::istreambuf_iterator<char>(in), {});
  }
  if (archive.empty()) {
    std::fprintf(stderr, "archive_codecs: expected an archive and, if any, two levels\n");
    return 2;
  }
  LZ4F_preferences_t preferences{};
  preferences.compressionLevel = argc == 4 ? std::atoi(argv[2]) : 0;
  preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  const int zstd_level = argc == 4 ? std::atoi(argv[3]) : 3;
  LZ4F_dctx* lz4 = nullptr;
  LZ4F_createDecompressionContext(&lz4, LZ4F_VERSION);
  ZSTD_CCtx* packer = ZSTD_createCCtx();
  ZSTD_DCtx* unpacker = ZSTD_createDCtx();
  ZSTD_CCtx_setParameter(packer, ZSTD_c_compressionLevel, zstd_level);
  ZSTD_CCtx_setParameter(packer, ZSTD_c_checksumFlag, 1);
  const std::vector<Codec> codecs = {
      {"LZ4", [&](std::size_t bytes) { return LZ4F_compressFrameBound(bytes, &preferences); },
       [&](std::string_view from, char* to, std::size_t room) {
         return LZ4F_compressFrame(to, room, from.data(), from.size(), &preferences);
       },
       [&](std::string_view from, char* to, std::size_t room) {
         std::size_t read = from.size();
         return LZ4F_decompress(lz4, to, &room, from.data(), &read, nullptr) == 0 ? room : 0;
       }},
      {"Zstandard", [](std::size_t bytes) { return ZSTD_compressBound(bytes); },
       [&](std::string_view from, char* to, std::size_t room) {
         return ZSTD_compress2(packer, to, room, from.data(), from.size());
       },
       [&](std::string_view from, char* to, std::size_t room) {
         return ZSTD_decompressDCtx(unpacker, to, room, from.data(), from.size());
       }}};

  Sha1 original;
  original.add(archive);
  const Digest expected = original.result();
  const std::vector<std::string_view> files = files_of(archive);
  bool same = true;
  for (const Codec& codec : codecs) {
    std::vector<std::string> packed(files.size());
    std::size_t packed_bytes = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
      packed[i].resize(codec.bound(files[i].size()));
      packed[i].resize(codec.compress(files[i], packed[i].data(), packed[i].size()));
      packed_bytes += packed[i].size();
    }
    Sha1 unpacked;
    std::string text;
    for (std::size_t i = 0; i < files.size(); ++i) {
      text.resize(files[i].size());
      text.resize(codec.decompress(packed[i], text.data(), text.size()));
      unpacked.add(text);
    }
    same = same && unpacked.result() == expected;
    std::printf("%s: %zu files, %zu bytes to %zu\n", codec.name, files.size(), archive.size(), packed_bytes);
  }
  LZ4F_freeDecompressionContext(lz4);
  ZSTD_freeCCtx(packer);
  ZSTD_freeDCtx(unpacker);
  return same ? 0 : 1;
}
