// A croissant.json and, behind a line of three dashes, the table that all of its files have: no crash, and the same
// findings again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/json.h"
#include "program/corpus/croissant/croissant_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::program;
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::string line = "\n---\n";
  const size_t at = input.find(line);
  const auto json = parse_json(input.substr(0, at), "croissant.json");
  if (!json) return 0;
  const std::string table = at == std::string::npos ? std::string() : input.substr(at + line.size());
  const CroissantFiles files = [&table](const std::string&) { return Result<std::string>(table); };
  const std::string first = to_text(check_croissant(*json, files), "folder");
  if (first != to_text(check_croissant(*json, files), "folder")) std::abort();
  to_text(to_json(check_croissant(*json, files), "folder"));
  return 0;
}
