#include "cli/forecast/adapt_slurm.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/process/interrupt.h"
#include "base/text.h"
#include "profile/suite/slurm_client.h"

namespace perfcast::cli {
namespace {

// A folder that is shared shows what another machine wrote a little later.
constexpr int kLooks = 40;
constexpr auto kLooksApart = std::chrono::milliseconds(250);

using Stamp = std::optional<std::filesystem::file_time_type>;

Stamp stamp_of(const std::string& path) {
  std::error_code problem;
  const auto time = std::filesystem::last_write_time(path, problem);
  return problem ? Stamp() : Stamp(time);
}

bool is_written(const std::string& path, const Stamp& before) {
  for (int look = 0; look < kLooks && interrupting_signal() == 0; ++look) {
    const Stamp now = stamp_of(path);
    if (now && now != before) return true;
    std::this_thread::sleep_for(kLooksApart);
  }
  return false;
}

}  // namespace

Result<std::string> adapt_on_slurm(const AdaptSlurmOptions& slurm, const std::vector<std::string>& words,
                                   const CommonOptions& common) {
  if (!is_partition_name(slurm.partition)) {
    return usage_error("bad-usage", "'" + printable(slurm.partition) + "' is no partition", "--slurm",
                       "one partition by name: --slurm epyc");
  }
  std::error_code problem;
  const auto absolute = [&](const std::string& path) { return std::filesystem::absolute(path, problem).string(); };
  std::vector<std::string> command = {std::filesystem::read_symlink("/proc/self/exe", problem).string(), "adapt",
                                      "--here"};
  command.insert(command.end(), words.begin(), words.end());
  if (common.bundle_given) command.insert(command.end(), {"--bundle", absolute(common.bundle)});
  const bool saves = common.output != "-";
  if (saves) command.insert(command.end(), {"-o", absolute(common.output)});
  if (common.json) command.emplace_back("--json");
  if (common.quiet) command.emplace_back("--quiet");
  const InterruptGuard guard;
  NodeRequest request{slurm.partition, "perfcast-adapt", !slurm.shared, slurm.options};
  const Stamp before = stamp_of(common.output);
  auto answer = answer_of_node(request, command);
  if (!answer) return answer.error();
  if (saves && !is_written(common.output, before)) {
    std::fputs(answer->c_str(), stderr);  // what was measured there is not lost
    return environment_error("not-shared", "the node wrote a bundle that isn't seen here", common.output,
                             "-o with a file in a folder that the nodes share with this machine");
  }
  return answer;
}

}  // namespace perfcast::cli
