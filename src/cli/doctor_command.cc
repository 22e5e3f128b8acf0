// perfcast doctor: what can be measured on this machine, what is missing, and how to get it.

#include "base/json.h"
#include "cli/command.h"
#include "collect/native/host_facts.h"
#include "collect/session/doctor.h"

namespace perfcast {
namespace {

int run(const CommonOptions& options) {
  const HostFacts host = read_host_facts();
  std::vector<Finding> findings = examine_machine(host);
  for (Finding& finding : examine_files(options.corpus, options.bundle)) findings.push_back(std::move(finding));
  return write_result(options.json ? to_text(findings_as_json(host, findings)) : findings_as_text(host, findings),
                      options);
}

}  // namespace

void add_doctor_command(CLI::App& app, CommandContext& context) {
  CLI::App* verb = app.add_subcommand("doctor", "Say what can be measured on this machine and how to get the rest");
  add_common_options(*verb, context, kCorpusOption | kBundleOption);
  verb->callback([&context] { context.run = [&context] { return run(context.options); }; });
}

}  // namespace perfcast
