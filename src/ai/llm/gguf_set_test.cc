#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "ai/llm/gguf_reader.h"
#include "ai/llm/testing/gguf_writer.h"
#include "base/random.h"

namespace perfcast::ai {
namespace {

using testing::GgufWriter;
using ::testing::HasSubstr;
using testing::tiny_llama;

class GgufSet : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/perfcast_gguf_set";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path_of(size_t piece, size_t count) const {
    char name[40];
    std::snprintf(name, sizeof name, "/m-%05zu-of-%05zu.gguf", piece, count);
    return folder_ + name;
  }
  static void write(const std::string& path, const GgufWriter& file) {
    std::ofstream(path, std::ios::binary) << file.bytes();  // hundreds of files: none has to reach the disk
  }

  // Tensors up to each of `cuts`, in a piece each; the metadata in the first.
  void write_set(std::vector<size_t> cuts, const std::vector<testing::TinyTensor>& tensors = testing::tiny_tensors(),
                 uint32_t version = 3) {
    cuts.push_back(tensors.size());
    size_t from = 0;
    for (size_t i = 0; i < cuts.size(); ++i) {
      GgufWriter file(version);
      if (i == 0) testing::tiny_metadata(file);
      file.split(static_cast<uint16_t>(i), static_cast<uint16_t>(cuts.size()), static_cast<int32_t>(tensors.size()));
      for (; from < cuts[i]; ++from) file.tensor(tensors[from].name, tensors[from].shape, tensors[from].type);
      write(path_of(i + 1, cuts.size()), file);
    }
  }
  // Of a set of `tensors`: also metadata alone, and pieces without tensors.
  static std::vector<size_t> any_cuts(size_t tensors, size_t most, Random& random) {
    std::vector<size_t> cuts(1 + random.below(most));
    for (size_t& cut : cuts) cut = random.below(tensors + 1);
    std::sort(cuts.begin(), cuts.end());
    return cuts;
  }

  std::string folder_;
};

TEST_F(GgufSet, IsTheWholeModelHoweverItIsCut) {
  Random random(11);
  for (int round = 0; round < 100; ++round) {
    auto tensors = testing::tiny_tensors();
    const bool is_tied = random.below(3) == 0;
    if (is_tied) tensors.pop_back();
    if (random.below(2) == 0) random.shuffle(tensors);
    const uint32_t version = 2 + static_cast<uint32_t>(random.below(2));
    GgufWriter whole_file(version);
    testing::tiny_metadata(whole_file);
    for (const auto& each : tensors) whole_file.tensor(each.name, each.shape, each.type);
    write(folder_ + "/whole.gguf", whole_file);
    const auto whole = read_gguf(folder_ + "/whole.gguf");
    ASSERT_TRUE(whole) << to_text(whole.error());
    const auto cuts = any_cuts(tensors.size(), 5, random);
    write_set(cuts, tensors, version);
    const size_t count = cuts.size() + 1;
    const auto read = read_gguf(path_of(1 + random.below(count), count));
    ASSERT_TRUE(read) << to_text(read.error());
    EXPECT_EQ(count_parameters(*read)->total, is_tied ? 80'448 : 86'848);
    EXPECT_EQ(count_parameters(*read)->total, count_parameters(*whole)->total);
    EXPECT_EQ(read->stored_weight_bytes, whole->stored_weight_bytes);
    EXPECT_EQ(read->tied_embeddings, is_tied);
    EXPECT_EQ(read->source, path_of(1, count));
  }
}

TEST_F(GgufSet, NamesWhateverIsMissing) {
  Random random(12);
  for (int round = 0; round < 60; ++round) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    const auto cuts = any_cuts(21, 9, random);
    write_set(cuts);
    const size_t count = cuts.size() + 1, kept = 1 + random.below(count);
    std::vector<std::string> missing;
    for (size_t piece = 1; piece <= count; ++piece) {
      if (piece == kept || random.below(2) == 0) continue;
      std::filesystem::remove(path_of(piece, count));
      missing.push_back(std::to_string(piece));
    }
    const auto read = read_gguf(path_of(kept, count));
    if (missing.empty()) {
      EXPECT_TRUE(read) << to_text(read.error());
      continue;
    }
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, "missing-pieces");
    EXPECT_EQ(read.error().where, path_of(std::stoul(missing[0]), count));
    std::string which;
    for (size_t i = 0; i < missing.size() && i < 8; ++i) which += (i == 0 ? "" : ", ") + missing[i];
    if (missing.size() > 8) which += " and " + std::to_string(missing.size() - 8) + " more";
    EXPECT_EQ(read.error().message, "of the model's " + std::to_string(count) + " pieces, " + which +
                                        (missing.size() == 1 ? " is missing" : " are missing"));
  }
}

TEST_F(GgufSet, SaysWhichPiecesAreMissing) {
  write_set({3, 7, 12});
  std::filesystem::remove(path_of(2, 4));
  EXPECT_EQ(read_gguf(path_of(1, 4)).error().message, "of the model's 4 pieces, 2 is missing");
  EXPECT_EQ(read_gguf(path_of(1, 4)).error().where, path_of(2, 4));
  std::filesystem::remove(path_of(1, 4));
  EXPECT_EQ(read_gguf(path_of(4, 4)).error().message, "of the model's 4 pieces, 1, 2 are missing");
  EXPECT_EQ(read_gguf(path_of(4, 4)).error().code, "missing-pieces");
}

TEST_F(GgufSet, RefusesPiecesThatAreOthers) {
  write_set({3, 7});
  std::filesystem::copy(path_of(1, 3), folder_ + "/renamed.gguf");
  EXPECT_EQ(read_gguf(folder_ + "/renamed.gguf").error().message,
            "the file is piece 1 of 3, and its name doesn't say where the others are");
  std::filesystem::copy_file(path_of(2, 3), path_of(3, 3), std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(read_gguf(path_of(1, 3)).error().message, "the file says that it is piece 2 of 3");
  GgufWriter poor;
  poor.split(2, 3, 21);
  write(path_of(3, 3), poor);
  EXPECT_THAT(read_gguf(path_of(1, 3)).error().message, HasSubstr("the pieces hold 7 tensors, and should hold 21"));
}

// Names of a set without a word of it in the files.
TEST_F(GgufSet, GoesByItsNames) {
  write(path_of(1, 1), tiny_llama());
  EXPECT_TRUE(read_gguf(path_of(1, 1)));
  write(path_of(1, 2), tiny_llama());
  EXPECT_EQ(read_gguf(path_of(1, 2)).error().code, "missing-pieces");
  write(path_of(2, 2), GgufWriter());
  EXPECT_TRUE(read_gguf(path_of(1, 2)));
  EXPECT_TRUE(read_gguf(path_of(2, 2)));
}

}  // namespace
}  // namespace perfcast::ai
