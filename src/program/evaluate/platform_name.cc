#include "program/evaluate/platform_name.h"

#include "base/text.h"
#include "machine/facts/chip_names.h"

namespace perfcast::program {
namespace {

constexpr size_t kCandidatesShown = 5;

}  // namespace

Result<std::optional<size_t>> look_up_platform(const std::vector<Platform>& platforms, const std::string& text,
                                               const std::string& where, ErrorKind error_kind) {
  const std::string wanted = lower_case(trim(text));
  std::vector<size_t> same, kind, part;
  for (size_t i = 0; i < platforms.size(); ++i) {
    const Platform& platform = platforms[i];
    if (platform.id == text || platform.name == text) return std::optional(i);
    const std::string name = lower_case(platform.name);
    if (name == wanted || platform.id == wanted) same.push_back(i);
    if (may_be_one_cpu(platform.name, text)) kind.push_back(i);
    if (name.find(wanted) != std::string::npos || platform.id.find(wanted) != std::string::npos) part.push_back(i);
  }
  const bool is_kind = same.empty() && !kind.empty();
  const std::vector<size_t>& found = is_kind ? kind : same.empty() ? part : same;
  if (found.empty() || wanted.empty()) return std::optional<size_t>();
  if (found.size() == 1) return std::optional(found.front());
  std::vector<std::string> candidates;
  for (const size_t i : found) {
    if (candidates.size() < kCandidatesShown) candidates.push_back(platforms[i].name);
  }
  std::string listed = join(candidates, ", ");
  if (found.size() > kCandidatesShown) listed += " and " + std::to_string(found.size() - kCandidatesShown) + " more";
  const std::string count = std::to_string(found.size());
  return Error{"ambiguous-platform",
               "'" + printable(text) + "' " +
                   (is_kind ? "stands for " + count + " platforms that differ"
                            : "is part of the names of " + count + " platforms"),
               where, "one of " + listed, error_kind};
}

Result<size_t> find_platform(const std::vector<Platform>& platforms, const std::string& text, const std::string& where,
                             ErrorKind kind) {
  const auto found = look_up_platform(platforms, text, where, kind);
  if (!found) return found.error();
  if (*found) return **found;
  std::vector<std::string> names;
  names.reserve(platforms.size());
  for (const Platform& platform : platforms) names.push_back(platform.name);
  return Error{"unknown-platform", "no platform is called '" + printable(text) + "'", where,
               names.empty() ? "a corpus with platforms" : "for example " + nearest_names(text, names), kind};
}

}  // namespace perfcast::program
