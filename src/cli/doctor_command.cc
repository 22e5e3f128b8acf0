// perfcast doctor: what can be measured on this machine, what is missing, and how to get it.

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "profile/collect/native/host_facts.h"
#include "profile/collect/session/doctor.h"
#include "program/corpus/store/store.h"
#include "program/explain/host_match.h"
#include "program/model/bundle/bundle.h"

namespace perfcast::cli {
namespace {

// Which platform forecasts take this host for: all seconds hang on it.
DoctorFinding examine_match(const HostFacts& host, const std::string& path) {
  const auto bundle = program::read_bundle(path);
  if (!bundle) return {"platform", "missing", "the bundle of models can't be read: " + bundle.error().message, ""};
  const auto match = program::match_host(host, bundle->platforms);
  if (!match) {
    return {"platform", "missing", "this CPU is like no platform in the bundle, so forecasts have no seconds",
            "predict --measured PLATFORM=SECONDS gives forecasts in seconds"};
  }
  std::string detail =
      bundle->platforms[match->platform].name + " (" + to_string(match->certainty) + ": " + match->how + ")";
  std::vector<std::string> near;
  for (const size_t platform : match->runners_up) near.push_back(bundle->platforms[platform].name);
  if (!near.empty()) detail += "; also similar: " + join(near, ", ");
  const bool sure = match->certainty == program::HostMatch::Certainty::kName;
  return {"platform", sure ? "ok" : "limited", detail,
          sure ? "" : "if another platform is right, name it: predict --host PLATFORM"};
}

// A file of that name may hold something else, and a corpus may be in a database.
void look_inside(const CommonOptions& options, DoctorFinding& finding) {
  const bool is_address = finding.name == "corpus" && program::is_database_address(options.corpus);
  if (finding.status != "ok" && !is_address) return;
  const auto opened = [&]() -> Status {
    if (finding.name == "bundle") {
      const auto bundle = program::read_bundle(options.bundle);
      return bundle ? Status() : Status(bundle.error());
    }
    const auto store = program::CorpusStore::open_read_only(options.corpus);
    return store ? Status() : Status(store.error());
  }();
  if (opened.ok() && is_address) finding = {"corpus", "ok", options.corpus, ""};
  if (opened.ok()) return;
  const std::string& path = finding.name == "bundle" ? options.bundle : options.corpus;
  finding = {finding.name, "missing", path + ": " + opened.error().message, opened.error().expected};
}

int run(const CommonOptions& options) {
  const HostFacts host = read_host_facts();
  std::vector<DoctorFinding> findings = examine_machine(host);
  findings.push_back(examine_match(host, options.bundle));
  for (DoctorFinding& finding : examine_files(options.corpus, options.bundle)) {
    look_inside(options, finding);
    findings.push_back(std::move(finding));
  }
  return write_result(options.json ? to_text(findings_as_json(host, findings)) : findings_as_text(host, findings),
                      options);
}

}  // namespace

void add_doctor_command(CLI::App& app, CommandContext& context) {
  CLI::App* verb = add_verb(app, {"doctor",
                                  "Says what perfcast can measure on this machine, and how to enable the rest.",
                                  "",
                                  {"perfcast doctor", "perfcast doctor --json"},
                                  "doctor"});
  add_common_options(*verb, context, kCorpusOption | kBundleOption);
  verb->callback([&context] { context.run = [&context] { return run(context.options); }; });
}

}  // namespace perfcast::cli
