// perfcast audit: claims about AI systems, held against data sheets, arithmetic and themselves.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ai/audit/audit_report.h"
#include "ai/audit/auditor.h"
#include "ai/audit/claims_reader.h"
#include "ai/audit/mlperf_results.h"
#include "ai/latency/model/device_catalogue.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"

namespace perfcast::cli {
namespace {

constexpr size_t kLargestResultsBytes = size_t{256} << 20;

struct AuditArguments {
  std::string claims, results, division = "closed", device_file, fail_on;
  std::vector<std::string> in_words;
  double inflated = 1;
  bool details = false;
};

ai::AuditVerdict verdict_named(const std::string& name) {
  for (const auto verdict : {ai::AuditVerdict::kIncomplete, ai::AuditVerdict::kDoubtful}) {
    if (name == name_of(verdict)) return verdict;
  }
  return ai::AuditVerdict::kImpossible;
}

// The user's devices before the shipped ones: the first of a name is taken.
Result<std::vector<DeviceFacts>> audit_devices(const std::string& device_file) {
  auto shipped = ai::read_device_catalogue(shipped_file("devices/devices.json"));
  if (!shipped) return shipped.error();
  if (device_file.empty()) return std::move(shipped->devices);
  auto own = ai::read_device_catalogue(device_file);
  if (!own) return as_named_file(own.error(), true);
  std::vector<DeviceFacts> devices = std::move(own->devices);
  devices.insert(devices.end(), shipped->devices.begin(), shipped->devices.end());
  return devices;
}

// 3 where a claim's verdict is the one that the user asked to fail on, or worse.
int exit_status_of(const std::vector<ai::ClaimAudit>& audits, const std::string& fail_on) {
  if (fail_on.empty()) return kExitDone;
  const bool fails = std::any_of(audits.begin(), audits.end(),
                                 [&](const ai::ClaimAudit& audit) { return audit.verdict >= verdict_named(fail_on); });
  return fails ? kExitRegression : kExitDone;
}

int run_results(const AuditArguments& arguments, const std::vector<DeviceFacts>& devices, const ai::KnownModels& models,
                const CommonOptions& options) {
  const auto text = read_file(arguments.results, kLargestResultsBytes);
  if (!text) return report_error(as_named_file(text.error(), true), options);
  auto results = ai::parse_published_results(*text, arguments.results, arguments.division);
  if (!results) return report_error(results.error(), options);
  if (arguments.inflated != 1) ai::inflate(*results, arguments.inflated);
  const auto audits = ai::audit_claims(results->claims, devices, models);
  const int written = write_result(options.json ? to_text(ai::results_json(*results, audits, arguments.results))
                                                : ai::results_text(*results, audits),
                                   options);
  return written == kExitDone ? exit_status_of(audits, arguments.fail_on) : written;
}

int write_audits(const std::vector<ai::ClaimAudit>& audits, const std::string& source, const AuditArguments& arguments,
                 const CommonOptions& options) {
  const int written = write_result(
      options.json ? to_text(ai::audit_json(audits, source)) : ai::audit_text(audits, arguments.details), options);
  return written == kExitDone ? exit_status_of(audits, arguments.fail_on) : written;
}

// A claim that can't be read keeps none of the others from being judged.
int run_words(const AuditArguments& arguments, const std::vector<DeviceFacts>& devices, const ai::KnownModels& models,
              const CommonOptions& options) {
  const ai::ClaimsInWords found = ai::claims_in_words(arguments.in_words, devices, models);
  int status = kExitDone;
  CommonOptions errors = options;
  errors.json = options.json && found.file.claims.empty();  // one document on stdout
  if (!found.file.claims.empty()) {
    status = write_audits(ai::audit_claims(found.file, devices, models), found.file.source, arguments, options);
  }
  for (const Error& unreadable : found.unreadable) {
    status = report_error(unreadable, errors);
    if (errors.json) break;
  }
  return status;
}

// The user's file, else the shipped example of that name. "slides" is the example's earlier name.
std::string claims_file(const std::string& given) {
  const std::string name = given == "slides" ? "keynote-claims.json" : given;
  std::error_code ignored;
  if (name.find('/') != std::string::npos || std::filesystem::exists(name, ignored)) return name;
  const std::string example = shipped_file("audit/" + name);
  return std::filesystem::exists(example, ignored) ? example : name;
}

int run_audit(const AuditArguments& arguments, const CLI::App& verb, const CommonOptions& options) {
  const int things = !arguments.claims.empty() + !arguments.results.empty() + !arguments.in_words.empty();
  if (things != 1) {
    return report_error(usage_error("bad-usage", things == 0 ? "nothing to audit" : "two things to audit", "CLAIMS",
                                    "one of: a file of claims (keynote-claims.json is a shipped example), --claim "
                                    "TEXT, --mlperf FILE"),
                        options);
  }
  if (arguments.results.empty()) {
    const Status used = check_unused(verb, arguments.claims.empty() ? "--claim" : "a file of claims",
                                     {"--division", "--inflate"}, "--mlperf FILE with it");
    if (!used) return report_error(used.error(), options);
  }
  if (Status fits = check_output_file("-o", options.output); !fits) return report_error(fits.error(), options);
  if (Status apart = check_not_read("-o", options.output, {arguments.claims, arguments.results, arguments.device_file});
      !apart) {
    return report_error(apart.error(), options);
  }
  const auto devices = audit_devices(arguments.device_file);
  if (!devices) return report_error(devices.error(), options);
  const auto models = ai::read_known_models(shipped_file("audit/models.json"));
  if (!models) return report_error(models.error(), options);
  if (!arguments.results.empty()) return run_results(arguments, *devices, *models, options);
  if (!arguments.in_words.empty()) return run_words(arguments, *devices, *models, options);
  const auto file = ai::read_claims(claims_file(arguments.claims));
  if (!file) return report_error(as_named_file(file.error(), true), options);
  return write_audits(ai::audit_claims(*file, *devices, *models), file->source, arguments, options);
}

}  // namespace

void add_audit_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<AuditArguments>();
  CLI::App* verb = add_verb(app, {"audit",
                                  "Checks whether claims about AI systems can be true, and what they leave out.",
                                  "",
                                  {"perfcast audit --claim 'llama3-70b fp16 h100 batch 1: 120 tok/s'",
                                   "perfcast audit keynote-claims.json --fail-on impossible"},
                                  "audit"});
  add_basic(*verb, "CLAIMS", arguments->claims, "CLAIMS",
            "A file of claims (JSON, perfcast.claims/1). keynote-claims.json is a shipped example: claims of a keynote "
            "(John, ICPE 2025).");
  add_basic(
      *verb, "--claim", arguments->in_words, "TEXT",
      "Audits a claim in words: model, number format, device, batch and a number with its unit. Give it again for "
      "further claims.")
      ->allow_extra_args(false);
  add_basic(*verb, "--fail-on", arguments->fail_on, "VERDICT",
            "Ends with exit status 3 if a claim gets this verdict or a worse one. Use it in scripts.")
      ->check(CLI::IsMember({"incomplete", "doubtful", "impossible"}));
  add_basic(*verb, "--mlperf", arguments->results, "FILE",
            "Audits a table of published MLPerf results (CSV, may be gzip) instead.");
  add_basic(*verb, "--division", arguments->division, "NAME", "With --mlperf: results of this division.")
      ->capture_default_str();
  add_advanced(*verb, "--inflate", arguments->inflated, "FACTOR",
               "With --mlperf: multiplies every result by this factor, to test what the audit notices.")
      ->check(CLI::Range(1.0, 1e6));
  add_basic(*verb, "--device-file", arguments->device_file, "FILE",
            "Adds the facts of more devices from this file (JSON).");
  add_basic(*verb, "--details", arguments->details,
            "Also shows the checks that hold, and those that could not be made.");
  verb->footer(
      "Verdicts: possible; incomplete (the claim lacks something that it needs); doubtful (the claim misleads, or "
      "assumes something that it does not say); impossible (the claim contradicts arithmetic, the data sheet or "
      "itself).\nExit status: 3 if a claim gets the verdict of --fail-on or a worse one.");
  add_common_options(*verb, context, kNoFurtherOption);
  verb->callback([arguments, verb, &context] {
    context.run = [arguments, verb, &context] { return run_audit(*arguments, *verb, context.options); };
  });
}

}  // namespace perfcast::cli
