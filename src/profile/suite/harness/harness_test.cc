#include <gmock/gmock.h>

#include <algorithm>

#include "base/file.h"
#include "base/process/temp_folder.h"
#include "profile/suite/harness/archive.h"
#include "profile/suite/harness/codec.h"
#include "profile/suite/harness/text.h"

namespace perfcast::harness {
namespace {

using testing::AllOf;
using testing::HasSubstr;

View view_of(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

const std::string& sample() {
  static const std::string kText = generate_text(300000);
  return kText;
}

// Profiles of different machines compare only where they compress the same bytes.
TEST(Text, IsTheSameEverywhere) {
  EXPECT_EQ(sample().size(), 300000u);
  EXPECT_EQ(checksum(view_of(sample())), 0x66b7b100u);
  EXPECT_EQ(generate_text(1000), sample().substr(0, 1000));
  EXPECT_NE(generate_text(1000, 7), sample().substr(0, 1000));
  EXPECT_EQ(generate_text(0), "");
}

struct Ratio {
  const char* algorithm;
  int level;
  double low, high;
};

// The ratios that these programs reach on a novel of 10 MB are 2.6, 3.6 and 1.6.
TEST(Text, CompressesLikeProse) {
  const std::string text = generate_text(4000000);
  for (const Ratio& expected : {Ratio{"gzip", 9, 2.4, 2.8}, Ratio{"bzip2", 9, 3.3, 3.8}, Ratio{"lz4", 1, 1.5, 1.7}}) {
    const auto codec = make_codec({expected.algorithm, expected.level, std::nullopt});
    ASSERT_TRUE(codec.ok());
    const auto compressed = (*codec)->compress(view_of(text));
    ASSERT_TRUE(compressed.ok());
    const double ratio = static_cast<double>(text.size()) / static_cast<double>(compressed->size());
    EXPECT_GT(ratio, expected.low) << expected.algorithm;
    EXPECT_LT(ratio, expected.high) << expected.algorithm;
  }
}

TEST(Codecs, RoundTripAtEveryLevel) {
  std::vector<CodecRequest> requests;
  for (const int level : {1, 6, 9}) {
    requests.push_back({"gzip", level, std::nullopt});
    requests.push_back({"bzip2", level, std::nullopt});
  }
  for (const int level : {1, 7, 14, 22}) requests.push_back({"zstd", level, std::nullopt});
  for (const int level : {0, 1, 6, 12, 16}) {
    for (const int64_t block : {65536, 262144, 1048576, 4194304}) requests.push_back({"lz4", level, block});
  }
  if (std::ranges::count(codec_names(), "bzip3") > 0) {
    requests.push_back({"bzip3", std::nullopt, 66560});  // several blocks
    requests.push_back({"bzip3", std::nullopt, 1048576});
  }
  for (const CodecRequest& request : requests) {
    const auto codec = make_codec(request);
    ASSERT_TRUE(codec.ok()) << to_text(codec.error());
    for (const std::string& text : {sample(), std::string(100000, 'x'), std::string("a")}) {
      const auto archive = make_archive(**codec, view_of(text));
      ASSERT_TRUE(archive.ok()) << request.algorithm << " " << request.level.value_or(-1) << ": "
                                << to_text(archive.error());
      EXPECT_EQ(archive->original_checksum, checksum(view_of(text)));
    }
  }
}

TEST(Codecs, HigherLevelsCompressMore) {
  for (const char* algorithm : {"gzip", "zstd", "lz4"}) {
    const auto low = make_codec({algorithm, 1, std::nullopt});
    const auto high = make_codec({algorithm, 9, std::nullopt});
    ASSERT_TRUE(low.ok() && high.ok());
    EXPECT_LT((*high)->compress(view_of(sample()))->size(), (*low)->compress(view_of(sample()))->size()) << algorithm;
  }
}

TEST(Codecs, RefuseCorruptAndShortData) {
  for (const std::string& name : codec_names()) {
    const auto codec = make_codec({name, std::nullopt, std::nullopt});
    ASSERT_TRUE(codec.ok());
    auto compressed = (*codec)->compress(view_of(sample()));
    ASSERT_TRUE(compressed.ok());
    EXPECT_FALSE((*codec)->decompress(compressed->view(), sample().size() + 1).ok()) << name;
    EXPECT_FALSE((*codec)->decompress(compressed->view(), sample().size() - 1).ok()) << name;
    EXPECT_FALSE((*codec)->decompress(compressed->view().first(compressed->size() / 2), sample().size()).ok()) << name;
    EXPECT_FALSE((*codec)->decompress({}, sample().size()).ok()) << name;
  }
}

TEST(Codecs, SayWhatIsValid) {
  const auto message = [](const CodecRequest& request) { return to_text(make_codec(request).error()); };
  EXPECT_THAT(message({"rar", std::nullopt, std::nullopt}), AllOf(HasSubstr("\"rar\""), HasSubstr("gzip, lz4, zstd")));
  EXPECT_THAT(message({"gzip", 10, std::nullopt}), AllOf(HasSubstr("no level 10 of gzip"), HasSubstr("1 to 9")));
  EXPECT_THAT(message({"zstd", 99, std::nullopt}), HasSubstr("1 to 22"));
  EXPECT_THAT(message({"lz4", 1, 1000}), AllOf(HasSubstr("1000"), HasSubstr("4194304")));
  EXPECT_THAT(message({"gzip", 1, 65536}), HasSubstr("only lz4 and bzip3"));
}

TEST(Archive, ComesBackAndRefusesDamage) {
  const auto folder = TempFolder::create();
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/archive";
  const auto codec = make_codec({"gzip", 6, std::nullopt});
  const auto archive = make_archive(**codec, view_of(sample()));
  ASSERT_TRUE(archive.ok());
  ASSERT_TRUE(write_archive(*archive, path).ok());
  const auto read = read_archive(path, true);
  ASSERT_TRUE(read.ok()) << to_text(read.error());
  EXPECT_EQ(read->original_bytes, sample().size());
  const auto text = (*codec)->decompress(read->compressed.view(), read->original_bytes);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(checksum(text->view()), read->original_checksum);
  EXPECT_EQ(read_archive(path, false)->compressed.size(), 0u);

  const auto bytes = read_file(path);
  ASSERT_TRUE(bytes.ok());
  const auto refused = [&](const std::string& damaged) {
    EXPECT_TRUE(write_file_atomically(path, damaged).ok());
    return read_archive(path, true).error().code;
  };
  EXPECT_EQ(refused(bytes->substr(0, bytes->size() - 1)), "bad-archive");
  EXPECT_EQ(refused(bytes->substr(0, 20)), "bad-archive");
  EXPECT_EQ(refused("x" + bytes->substr(1)), "bad-archive");
  std::string flipped = *bytes;
  flipped[1000] = static_cast<char>(flipped[1000] ^ 1);
  EXPECT_EQ(refused(flipped), "bad-archive");
  std::string huge = *bytes;
  huge[23] = '\x7f';  // the top byte of the compressed size
  EXPECT_EQ(refused(huge), "bad-archive");
  EXPECT_EQ(read_archive(folder->path() + "/none", true).error().code, "file-not-found");
}

TEST(Crypto, RunsWhatTheLabelsName) {
  for (const char* name : {"AES-256-CBC", "ARIA-256-CBC", "CAMELLIA-256-CBC", "blake2b512", "sha256", "sha3-256",
                           "sha3-512", "shake128", "shake256"}) {
    const auto step = make_crypto(name, 16384);
    ASSERT_TRUE(step.ok()) << name << ": " << to_text(step.error());
    EXPECT_TRUE((*step)().ok()) << name;
  }
  EXPECT_EQ(make_crypto("rot13", 16384).error().code, "unknown-algorithm");
  EXPECT_EQ(make_crypto("sha256", 0).error().code, "bad-block");
  EXPECT_EQ(make_crypto("AES-256-CBC", 17).error().code, "bad-block");
}

// First bytes of SHA-256 over the harness' buffer of 16 bytes, by an independent program.
TEST(Crypto, DigestsRightly) {
  const auto step = make_crypto("sha256", 16);
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(*(*step)(), 0x7c);
}

}  // namespace
}  // namespace perfcast::harness
