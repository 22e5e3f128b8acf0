#pragma once
// What tests ask of a page.

#include <algorithm>
#include <string>
#include <vector>

namespace perfcast {

// Every tag that is opened is closed, in order; attributes are quoted. What is wrong, or nothing.
inline std::string unbalanced(const std::string& html) {
  std::vector<std::string> open;
  for (size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at)) {
    const size_t end = html.find('>', at);
    if (end == std::string::npos) return "a tag without an end";
    const std::string tag = html.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with("!")) continue;
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "a quote left open in <" + tag + ">";
    if (tag.find('<') != std::string::npos) return "a tag inside a tag: <" + tag + ">";
    if (tag.ends_with("/")) continue;
    if (!tag.starts_with("/")) {
      open.push_back(tag.substr(0, tag.find_first_of(" \n")));
      continue;
    }
    if (open.empty() || open.back() != tag.substr(1)) {
      return "</" + tag.substr(1) + "> closes " + (open.empty() ? "nothing" : "<" + open.back() + ">");
    }
    open.pop_back();
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

}  // namespace perfcast
