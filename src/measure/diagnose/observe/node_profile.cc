#include "measure/diagnose/observe/node_profile.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostNodes = 1'000'000, kMostTicks = 10'000, kMostProfileBytes = size_t{1} << 28;

struct Node {
  std::string function, file;
  int line = 0;  // where the function begins
  double ticks = 0;
  std::vector<std::pair<int, double>> ticks_of_line;
  int64_t parent = 0;
  bool is_own() const {
    return !file.empty() && !file.starts_with("node:") && file.find("/node_modules/") == std::string::npos;
  }
};

}  // namespace

Result<std::vector<ScriptLine>> read_node_profile(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const double length_s = 1e-6 * (in.number("endTime") - in.number("startTime"));
  std::map<int64_t, Node> nodes;
  double all_ticks = 0;
  in.each("nodes", kMostNodes, [&](const Json& of, const std::string& where) {
    JsonReader node(of, where);
    const int64_t id = node.integer("id");
    Node& made = nodes[id];
    made.ticks = std::max(0.0, node.number_or("hitCount", 0));
    all_ticks += made.ticks;
    if (const Json* const frame = node.require_object("callFrame")) {
      JsonReader call(*frame, node.path("callFrame"));
      made.function = call.string("functionName");
      made.file = call.string("url");
      made.line = static_cast<int>(std::clamp<int64_t>(call.integer("lineNumber"), -1, 100'000'000)) + 1;
      if (made.file.starts_with("file://")) made.file.erase(0, 7);
      if (Status read = call.finish(); !read) node.complain("callFrame", read.error().message, "a place of the script");
    }
    node.each("positionTicks", kMostTicks, [&](const Json& tick, const std::string& place) {
      JsonReader ticks(tick, place);
      const int64_t line = std::clamp<int64_t>(ticks.integer("line"), 0, 100'000'000);
      made.ticks_of_line.emplace_back(static_cast<int>(line), std::max(0.0, ticks.number("ticks")));
      if (Status read = ticks.finish(); !read)
        node.complain("positionTicks", read.error().message, "a line and its ticks");
    });
    if (const Json* const children = node.array("children")) {
      for (const Json& child : *children) {
        if (child.is_number_integer()) nodes[child.get<int64_t>()].parent = id;
      }
    }
    if (Status read = node.finish(); !read) in.complain("nodes", read.error().message, "nodes of a profile");
  });
  if (Status read = in.finish(); !read) return read.error();
  std::map<std::pair<std::string, int>, ScriptLine> lines;
  const double tick_s = all_ticks > 0 ? std::max(0.0, length_s) / all_ticks : 0;
  const auto add = [&](const Node& node, int line, double ticks) {
    ScriptLine& of = lines[{node.file, line}];
    of.file = node.file;
    // Of code that stands in place of a call, the line is the function's, the name its caller's.
    if (of.function.empty() || line == node.line)
      of.function = node.function.empty() ? "(top of the file)" : node.function;
    of.line = line;
    of.cpu_s += ticks * tick_s;
  };
  for (const auto& [id, node] : nodes) {
    if (node.ticks <= 0 || node.function == "(idle)" || node.function == "(program)") continue;
    const Node* own = &node;
    // A chain is no longer than there are nodes, however damaged the file is.
    for (size_t step = 0; own != nullptr && !own->is_own() && step <= nodes.size(); ++step) {
      const auto parent = nodes.find(own->parent);
      own = own->parent == 0 || parent == nodes.end() ? nullptr : &parent->second;
    }
    if (own == nullptr || !own->is_own()) continue;
    double known = 0;
    for (const auto& [line, ticks] : own == &node ? node.ticks_of_line : std::vector<std::pair<int, double>>()) {
      add(*own, line, ticks);
      known += ticks;
    }
    if (node.ticks > known) add(*own, own->line, node.ticks - known);
  }
  std::vector<ScriptLine> result;
  result.reserve(lines.size());
  for (auto& [key, line] : lines) result.push_back(std::move(line));
  std::stable_sort(result.begin(), result.end(),
                   [](const ScriptLine& a, const ScriptLine& b) { return a.cpu_s > b.cpu_s; });
  add_texts(result);
  return result;
}

std::vector<std::string> with_node_profiler(const std::vector<std::string>& command, const std::string& folder) {
  if (command.empty()) return {};
  const std::string name = command[0].substr(command[0].rfind('/') + 1);
  if (name != "node" && name != "nodejs") return {};
  std::vector<std::string> result = command;
  result.insert(result.begin() + 1, {"--cpu-prof", "--cpu-prof-dir=" + folder});
  return result;
}

Result<std::vector<ScriptLine>> read_node_profiles(const std::string& folder) {
  std::string largest;
  std::uintmax_t bytes = 0;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const auto size = entry.file_size(failed);
    if (failed || entry.path().extension() != ".cpuprofile" || size < bytes) continue;
    bytes = size;
    largest = entry.path().string();
  }
  if (largest.empty()) return Error{"no-profile", "node wrote no profile", "", "a node with --cpu-prof (12 or newer)"};
  const auto text = read_file(largest, kMostProfileBytes);
  if (!text) return text.error();
  return read_node_profile(*text, largest.substr(largest.rfind('/') + 1));
}

}  // namespace perfcast::measure
