#include "measure/diagnose/bloat/bloat_figure.h"

#include <gtest/gtest.h>

#include "base/figure/testing/markup.h"

namespace perfcast::measure {
namespace {

BloatFile file_with(const std::string& path, uint64_t code_bytes, std::vector<CodeRange> executed) {
  BloatFile file;
  file.path = path;
  file.mapped_bytes = (code_bytes + 4095) / 4096 * 4096;
  file.code = ElfCode{};
  file.code->sections = {{0x2000, 0x1000, code_bytes / 2, ".plt"},
                         {0x9000, 0x8000, code_bytes - code_bytes / 2, ".text"}};
  file.code->purposes.code_bytes = code_bytes;
  file.executed = std::move(executed);
  uint64_t ran = 0;
  for (const CodeRange& range : file.executed) ran += range.to - range.from;
  file.executed_bytes = ran;
  return file;
}

TEST(BloatFigure, MapsEachFile) {
  CodeBloat bloat;
  bloat.is_executed_known = true;
  // Cells of 32 bytes: two of the first section, two of the second, of which the first ran and half of the last.
  bloat.files = {file_with("/lib/lib\"a\".so", 128, {{0x8000, 0x8030}}), file_with("/bin/b", 32, {})};
  bloat.files[0].functions = {{"work<int>", 0x8000, 16, 16}};
  const Figure figure = code_bloat_figure(bloat);
  EXPECT_EQ(figure.id, "code");
  ASSERT_EQ(figure.images.size(), 1U);
  EXPECT_EQ(unbalanced(figure.images[0]), "");
  EXPECT_NE(figure.images[0].find("such as work&lt;int&gt;"), std::string::npos);
  EXPECT_NE(figure.images[0].find("48 B ran (37.5%)"), std::string::npos) << figure.images[0];
  EXPECT_EQ(figure.csv,
            "file,offset_bytes,bytes,executed_bytes\n"
            "\"/lib/lib\"\"a\"\".so\",4096,64,0\n"
            "\"/lib/lib\"\"a\"\".so\",32768,32,32\n"
            "\"/lib/lib\"\"a\"\".so\",32800,32,16\n"
            "/bin/b,4096,32,0\n");
}

// However large the program is, the drawing is not.
TEST(BloatFigure, StaysSmall) {
  CodeBloat bloat;
  bloat.is_executed_known = true;
  std::vector<CodeRange> every_other;
  for (uint64_t at = 0x8000; at < 0x8000 + (1U << 24U); at += 256) every_other.push_back({at, at + 128});
  for (int i = 0; i < 40; ++i) bloat.files.push_back(file_with("/lib/" + std::to_string(i), 1U << 25U, every_other));
  const Figure figure = code_bloat_figure(bloat);
  EXPECT_LT(figure.images[0].size(), 2U << 20U);
  EXPECT_NE(figure.caption.find(" 16 smaller files are left out."), std::string::npos) << figure.caption;
}

TEST(BloatFigure, SaysWhyThereIsNone) {
  const Figure figure = code_bloat_figure({});
  EXPECT_TRUE(figure.images.empty());
  EXPECT_EQ(figure.caption, "Which code ran is not known: there was no instrumented run.");
}

}  // namespace
}  // namespace perfcast::measure
