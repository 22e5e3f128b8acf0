#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>

#include "base/text.h"
#include "profile/suite/harness/codec.h"

namespace perfcast::harness {
namespace {

Error failed(const std::string& algorithm) {
  return {"crypto-failed", "OpenSSL could not run " + algorithm, "", "an OpenSSL with this algorithm enabled"};
}

struct Buffers {
  std::vector<uint8_t> input, output;
  explicit Buffers(size_t bytes) : input(bytes), output(bytes + EVP_MAX_BLOCK_LENGTH) {
    for (size_t i = 0; i < bytes; ++i) input[i] = static_cast<uint8_t>(i * 131 + (i >> 8));
  }
};

}  // namespace

bool crypto_built_in() { return true; }
std::string crypto_version() { return OpenSSL_version(OPENSSL_VERSION); }

Result<std::function<Result<uint8_t>()>> make_crypto(const std::string& algorithm, size_t block_bytes) {
  if (block_bytes == 0 || block_bytes % 16 != 0 || block_bytes > (size_t{1} << 28)) {
    return Error{"bad-block", "no buffer of " + std::to_string(block_bytes) + " bytes", "--block-bytes",
                 "a multiple of 16, at most 268435456"};
  }
  auto buffers = std::make_shared<Buffers>(block_bytes);
  const std::shared_ptr<EVP_CIPHER> cipher(EVP_CIPHER_fetch(nullptr, algorithm.c_str(), nullptr), EVP_CIPHER_free);
  if (cipher != nullptr) {
    const std::shared_ptr<EVP_CIPHER_CTX> context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
    const std::array<uint8_t, EVP_MAX_KEY_LENGTH> key{1, 2, 3};
    const std::array<uint8_t, EVP_MAX_IV_LENGTH> vector{4, 5, 6};
    if (EVP_EncryptInit_ex2(context.get(), cipher.get(), key.data(), vector.data(), nullptr) != 1) {
      return failed(algorithm);
    }
    EVP_CIPHER_CTX_set_padding(context.get(), 0);
    return std::function<Result<uint8_t>()>([buffers, cipher, context, algorithm]() -> Result<uint8_t> {
      int written = 0;
      if (EVP_EncryptUpdate(context.get(), buffers->output.data(), &written, buffers->input.data(),
                            static_cast<int>(buffers->input.size())) != 1 ||
          written <= 0) {
        return failed(algorithm);
      }
      return buffers->output[static_cast<size_t>(written) - 1];
    });
  }
  const std::shared_ptr<EVP_MD> digest(EVP_MD_fetch(nullptr, algorithm.c_str(), nullptr), EVP_MD_free);
  if (digest != nullptr) {
    const std::shared_ptr<EVP_MD_CTX> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    return std::function<Result<uint8_t>()>([buffers, digest, context, algorithm]() -> Result<uint8_t> {
      std::array<uint8_t, EVP_MAX_MD_SIZE> result{};
      unsigned written = 0;
      if (EVP_DigestInit_ex2(context.get(), digest.get(), nullptr) != 1 ||
          EVP_DigestUpdate(context.get(), buffers->input.data(), buffers->input.size()) != 1 ||
          EVP_DigestFinal_ex(context.get(), result.data(), &written) != 1) {
        return failed(algorithm);
      }
      return result[0];
    });
  }
  return Error{"unknown-algorithm", "OpenSSL has no cipher or digest \"" + printable(algorithm) + "\"", "--algorithm",
               "for example AES-256-CBC, CAMELLIA-256-CBC, sha256, sha3-256, blake2b512, shake128"};
}

}  // namespace perfcast::harness
