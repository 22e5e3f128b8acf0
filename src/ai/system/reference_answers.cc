#include "ai/system/reference_answers.h"

#include "ai/system/answer_line.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kLargestReferencesBytes = size_t{256} << 20;
constexpr size_t kMostNamed = 5;

Error bad_reference(const std::string& what, const std::string& where) {
  return {"bad-reference", what, where, "a line such as {\"index\": 3, \"data\": \"text\"}"};
}

}  // namespace

Result<ReferenceAnswers> parse_references(std::string_view text, const std::string& source) {
  ReferenceAnswers references;
  const Status read = for_each_json_line(text, source, [&](const Json& json, const std::string& where) -> Status {
    const bool has_index = json.is_object() && json.contains("index") && json["index"].is_number_unsigned() &&
                           json["index"].get<uint64_t>() <= UINT32_MAX;
    if (!has_index) return bad_reference("no \"index\" that is a count", where);
    const auto index = json["index"].get<uint32_t>();
    // Read as an answer's data is.
    Json as_answer{{"id", 0}};
    for (const char* const key : {"data", "data_hex"}) {
      if (json.contains(key)) as_answer[key] = json[key];
    }
    const auto answer = parse_answer_line(as_answer.dump(-1, ' ', true));
    if (!answer) return bad_reference(answer.error().message, where);
    if (as_answer.size() < 2) return bad_reference("no \"data\"", where);
    if (!references.emplace(index, answer->data).second) {
      return bad_reference("index " + std::to_string(index) + " is there twice", where);
    }
    return {};
  });
  if (!read) return read.error();
  if (references.empty()) return bad_reference("no reference in the file", source);
  return references;
}

Result<ReferenceAnswers> read_references(const std::string& path) {
  const auto text = read_file(path, kLargestReferencesBytes);
  if (!text) return text.error();
  return parse_references(*text, path);
}

Status check_every_sample(const ReferenceAnswers& references, int64_t samples, const std::string& source) {
  int64_t missing = 0;
  std::vector<std::string> named;
  named.reserve(kMostNamed + 1);
  for (int64_t index = 0; index < samples; ++index) {
    if (references.contains(static_cast<uint32_t>(index))) continue;
    if (named.size() < kMostNamed) named.push_back(std::to_string(index));
    ++missing;
  }
  if (missing == 0) return {};
  if (static_cast<size_t>(missing) > named.size()) named.emplace_back("...");
  return usage_error("bad-reference",
                     std::to_string(missing) + " of " + std::to_string(samples) +
                         " samples have no right answer in the file: " + join(named, ", "),
                     source, "a line for each sample of the data set (--total-samples, --samples)");
}

std::optional<bool> is_right_answer(const ReferenceAnswers& references, uint32_t index, std::string_view data) {
  const auto found = references.find(index);
  if (found == references.end()) return std::nullopt;
  return trim(found->second) == trim(data);
}

}  // namespace perfcast::ai
