#include "service/http/page_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace perfcast::service {
namespace {

using testing::HasSubstr;
using testing::Not;

// What the text names in quotes behind the attribute: of `src="/page.js"` the path.
std::set<std::string> named(std::string_view text, const std::string& attribute) {
  std::set<std::string> paths;
  const std::string begin = attribute + "=\"";
  for (size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at + 1)) {
    const size_t from = at + begin.size();
    paths.emplace(text.substr(from, text.find('"', from) - from));
  }
  return paths;
}

TEST(PageFiles, TheFirstIsThePage) {
  ASSERT_FALSE(page_files().empty());
  const PageFile* const page = find_page_file("/");
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page, &page_files().front());
  EXPECT_EQ(page->type, "text/html; charset=utf-8");
  EXPECT_THAT(page->bytes, HasSubstr("<title>perfcast</title>"));
  EXPECT_EQ(find_page_file("/index.html"), nullptr);
  EXPECT_EQ(find_page_file(""), nullptr);
  EXPECT_EQ(find_page_file("/../etc/passwd"), nullptr);
}

// The content security policy forbids what stands inside of the page, and what comes from elsewhere.
TEST(PageFiles, ThePageNamesOnlyFilesOfThisService) {
  const std::string_view page = page_files().front().bytes;
  std::set<std::string> paths = named(page, "src");
  paths.merge(named(page, "href"));
  EXPECT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    EXPECT_TRUE(path == "/openapi.json" || find_page_file(path) != nullptr) << path;
  }
  EXPECT_THAT(page, Not(HasSubstr("style=")));
  EXPECT_THAT(page, Not(HasSubstr("<style")));
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
}

TEST(PageFiles, EachPathIsThereOnceWithItsType) {
  const std::map<std::string_view, std::string_view> types = {
      {"html", "text/html; charset=utf-8"}, {"js", "text/javascript; charset=utf-8"},
      {"css", "text/css; charset=utf-8"},   {"svg", "image/svg+xml"},
      {"json", "application/json"},         {"csv", "text/csv; charset=utf-8"}};
  std::set<std::string_view> paths;
  for (const PageFile& file : page_files()) {
    EXPECT_TRUE(paths.insert(file.path).second) << file.path;
    EXPECT_TRUE(file.path.starts_with('/'));
    EXPECT_FALSE(file.bytes.empty()) << file.path;
    const std::string_view end = file.path.substr(file.path.rfind('.') + 1);
    const auto known = types.find(file.path == "/" ? "html" : end);
    ASSERT_NE(known, types.end()) << file.path;
    EXPECT_EQ(file.type, known->second) << file.path;
  }
}

}  // namespace
}  // namespace perfcast::service
