// Digests and checksums without a key over a buffer, with Crypto++: digests MEBIBYTES.
#define CRYPTOPP_ENABLE_NAMESPACE_WEAK 1
#include <cryptopp/adler32.h>
#include <cryptopp/blake2.h>
#include <cryptopp/crc.h>
#include <cryptopp/hex.h>
#include <cryptopp/keccak.h>
#include <cryptopp/md5.h>
#include <cryptopp/ripemd.h>
#include <cryptopp/sha.h>
#include <cryptopp/sha3.h>
#include <cryptopp/shake.h>
#include <cryptopp/sm3.h>
#include <cryptopp/tiger.h>
#include <cryptopp/whrlpool.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

std::string hex(const std::vector<CryptoPP::byte>& digest) {
  std::string text;
  CryptoPP::StringSource source(digest.data(), digest.size(), true,
                                new CryptoPP::HexEncoder(new CryptoPP::StringSink(text), false));
  return text;
}

// `megabytes` of 2 KiB blocks go through `hash`.
std::string digest_of(CryptoPP::HashTransformation& hash, long mebibytes) {
  std::vector<CryptoPP::byte> block(2048);
  for (size_t i = 0; i < block.size(); ++i) block[i] = static_cast<CryptoPP::byte>(i * 7);
  for (long i = 0; i < mebibytes * 512; ++i) hash.Update(block.data(), block.size());
  std::vector<CryptoPP::byte> digest(hash.DigestSize());
  hash.Final(digest.data());
  return hex(digest);
}

}  // namespace

int main(int argc, char** argv) {
  const long mebibytes = argc == 2 ? std::atol(argv[1]) : 0;
  if (mebibytes <= 0) {
    std::fprintf(stderr, "digests: expected a number of MiB\n");
    return 2;
  }
  CryptoPP::CRC32 crc32;
  CryptoPP::CRC32C crc32c;
  CryptoPP::Adler32 adler;
  CryptoPP::Weak::MD5 md5;
  CryptoPP::SHA1 sha1;
  CryptoPP::SHA256 sha256;
  CryptoPP::SHA512 sha512;
  CryptoPP::SHA3_256 sha3_256;
  CryptoPP::SHA3_512 sha3_512;
  CryptoPP::Keccak_256 keccak;
  CryptoPP::SHAKE128 shake;
  CryptoPP::Tiger tiger;
  CryptoPP::Whirlpool whirlpool;
  CryptoPP::RIPEMD160 ripemd160;
  CryptoPP::RIPEMD256 ripemd256;
  CryptoPP::SM3 sm3;
  CryptoPP::BLAKE2s blake2s;
  CryptoPP::BLAKE2b blake2b;
  struct {
    const char* name;
    CryptoPP::HashTransformation* hash;
    long share;  // faster ones get more to do
  } const kAll[] = {{"crc32", &crc32, 4},         {"crc32c", &crc32c, 8},
                    {"adler32", &adler, 6},       {"md5", &md5, 2},
                    {"sha1", &sha1, 2},           {"sha256", &sha256, 1},
                    {"sha512", &sha512, 2},       {"sha3-256", &sha3_256, 1},
                    {"sha3-512", &sha3_512, 1},   {"keccak-256", &keccak, 1},
                    {"shake128", &shake, 1},      {"tiger", &tiger, 2},
                    {"whirlpool", &whirlpool, 1}, {"ripemd160", &ripemd160, 1},
                    {"ripemd256", &ripemd256, 1}, {"sm3", &sm3, 1},
                    {"blake2s", &blake2s, 2},     {"blake2b", &blake2b, 3}};
  for (const auto& one : kAll) std::printf("%-12s%s\n", one.name, digest_of(*one.hash, mebibytes * one.share).c_str());
  // The digest of nothing is known.
  std::vector<CryptoPP::byte> empty(CryptoPP::SHA256::DIGESTSIZE);
  CryptoPP::SHA256().Final(empty.data());
  return hex(empty) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" ? 0 : 1;
}
