#pragma once
// What the importers of other profilers' output share: events become catalogue metrics where the catalogue knows them,
// and "TOOL_EVENT_UNIT" otherwise; what could not be counted is absent, with the reason.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/corpus/importers/import.h"

namespace perfcast::program {

// A tool's unit as the end of a metric name and the factor to it: "msec" -> {"_s", 1e-3}, "%" -> {"_ratio", 0.01}.
// Units that are not known, and none, are counts.
std::pair<std::string, double> unit_suffix(std::string_view unit);

// One profile in the making.
class ToolProfile {
 public:
  // `catalogue_name`: what catalogue.json calls the tool; `prefix`: of metrics that it lacks.
  ToolProfile(std::string tool, std::string catalogue_name, std::string prefix);

  // `value` in `unit`; values of one event add up (threads, CPUs, PMUs). A catalogue metric that another event has
  // given already stays, and this one is kept under the tool's prefix. Values that are not finite, and negative
  // amounts, are missing.
  void add(const std::string& event, double value, std::string_view unit, const std::string& variant = "");
  // The largest value of the event instead of the sum: elapsed time over threads.
  void add_largest(const std::string& event, double value, std::string_view unit);
  void set(const std::string& metric, double value);
  void miss(const std::string& event, std::string_view unit, const std::string& reason);
  void warn(const std::string& code, const std::string& message, const std::string& advice);
  void set_host(std::string_view model);
  bool empty() const { return profile_.metrics.empty(); }

  // With the derived metrics that the catalogue can compute.
  StoredProfile finish(const std::string& program) &&;

 private:
  std::string name_of(const std::string& event, std::string_view suffix, const std::string& variant);

  std::string tool_, catalogue_name_, prefix_;
  std::map<std::string, std::string> event_of_;  // metric -> event and variant that give it
  Profile profile_;
};

// Comment lines "# program: NAME" and "# host: CPU OR GPU MODEL" in the text name what the tool does not; the program
// is otherwise the file's name without its ending.
struct ToolFileNames {
  std::string program, host;
};
ToolFileNames names_of_tool_file(std::string_view text, const std::string& path);
// A program id with the characters that ids have: a-z, 0-9 and . _ = -
std::string program_id_of(std::string_view text);

using ToolReader = std::function<Result<std::vector<StoredProfile>>(std::string_view text, const std::string& path)>;
// Reads the file, or every file of the folder. A second profile of one program and host is left out and counted.
Result<Import> import_tool_files(const std::string& format, const std::string& path, const ProgramCatalogue& catalogue,
                                 const ToolReader& read);

}  // namespace perfcast::program
