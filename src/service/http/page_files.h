#pragma once
// The page that a browser shows at "/": the folder page/, built by Vite and held in the binary.

#include <span>
#include <string_view>

namespace perfcast::service {

struct PageFile {
  std::string_view path;   // "/page.js"
  std::string_view type;   // "text/javascript; charset=utf-8"
  std::string_view bytes;  // they last as long as the program
};

// All files; "/" is the first. Where the page was not built, "/" is the only one and says how to build it.
std::span<const PageFile> page_files();
// Null where there is none of this path.
const PageFile* find_page_file(std::string_view path);

}  // namespace perfcast::service
