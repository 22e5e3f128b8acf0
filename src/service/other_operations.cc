// audit, schedule/advise, corpus/quality.

#include <string>
#include <utility>

#include "ai/audit/audit_report.h"
#include "ai/audit/auditor.h"
#include "ai/audit/claims_reader.h"
#include "base/json.h"
#include "fleet/slurm/job_script.h"
#include "fleet/slurm/partitions.h"
#include "place/jobs/advise_job.h"
#include "program/corpus/quality/quality.h"
#include "program/corpus/quality/quality_report.h"
#include "program/corpus/store/store.h"
#include "program/forecast/forecast.h"
#include "service/operation.h"

namespace perfcast::service {
namespace {

Result<Answer> run_audit(const Context& context, const Request& request, const Watch&) {
  const auto devices = context.device_facts();
  if (!devices) return devices.error();
  const auto models = context.audit_models();
  if (!models) return models.error();
  const Json* claims = request.document("claims");
  const std::vector<std::string> texts = request.texts("text");
  if ((claims == nullptr) == texts.empty()) {
    return usage_error("bad-usage", texts.empty() ? "nothing to audit" : "claims in words and as a document", "claims",
                       "claims, or text for claims in words");
  }
  ai::ClaimsFile file;
  if (claims != nullptr) {
    auto parsed = ai::parse_claims(compact_text(*claims), "claims");
    if (!parsed) return parsed.error();
    file = *std::move(parsed);
  } else {
    ai::ClaimsInWords found = ai::claims_in_words(texts, **devices, **models);
    if (!found.unreadable.empty()) return found.unreadable.front();
    file = std::move(found.file);
  }
  return Answer{compact_text(ai::audit_json(ai::audit_claims(file, **devices, **models), file.source))};
}

Result<Answer> run_advise(const Context& context, const Request& request, const Watch&) {
  const auto forecaster = context.forecaster();
  if (!forecaster) return forecaster.error();
  auto job = fleet::parse_job_script(request.text("script"), "script");
  if (!job) return job.error();
  auto partitions = fleet::parse_partitions(compact_text(*request.document("partitions")), "partitions");
  if (!partitions) return partitions.error();
  auto profile = profile_from_json(*request.document("profile"), "profile");
  if (!profile) return profile.error();
  if (Status fine = program::check_success(*profile, request.yes("accept_failure")); !fine) return fine.error();
  using Goal = fleet::AdviceSettings::Goal;
  const place::AdviseJobRequest asked{
      std::move(*job),
      request.text("program"),
      std::move(*partitions),
      std::move(*profile),
      request.text("reference", "mean"),
      {request.text("goal") == "cost" ? Goal::kCost : Goal::kTime, request.number("tie_ratio").value_or(0.02)}};
  const auto advice = place::advise_job(**forecaster, asked);
  if (!advice) return advice.error();
  return Answer{compact_text(to_json(*advice)), 1, advice->in_distribution ? 0 : 1};
}

Result<Answer> run_quality(const Context& context, const Request&, const Watch& watch) {
  const std::string& path = context.files().corpus;
  if (path.empty()) {
    return infeasible_error("no-corpus", "this service has no corpus", "", "a service that was started with a corpus");
  }
  watch.show("the corpus is read");
  auto store = program::CorpusStore::open_read_only(path);
  if (!store) return store.error();
  const auto corpus = (*store)->load();
  if (!corpus) return corpus.error();
  if (watch.cancelled()) return interrupted_error("cancelled");
  watch.show("the corpus is checked");
  Answer answer{compact_text(to_json(program::check_quality(*corpus)))};
  answer.reads_files = true;
  return answer;
}

}  // namespace

std::vector<Operation> other_operations() {
  return {{.name = "audit",
           .summary = "Checks whether claims about AI systems can be true, and what they leave out.",
           .answer = "perfcast.audit/1",
           .fields = {{.name = "claims",
                       .kind = FieldKind::kDocument,
                       .meaning = "Claims, with devices of their own.",
                       .schema = "perfcast.claims/1"},
                      {.name = "text",
                       .kind = FieldKind::kTexts,
                       .meaning = "Claims in words: model, number format, device, batch and a number with its unit."}},
           .run = run_audit},
          {.name = "schedule/advise",
           .summary = "Chooses the Slurm partition for a batch job, by forecast.",
           .answer = fleet::kSlurmAdviceSchema,
           .fields = {{.name = "script",
                       .meaning = "The batch script, as text. It is read and never run.",
                       .is_required = true},
                      {.name = "partitions",
                       .kind = FieldKind::kDocument,
                       .meaning = "The partitions, and the platform that each consists of.",
                       .is_required = true,
                       .schema = "perfcast.partitions/1"},
                      {.name = "profile",
                       .kind = FieldKind::kDocument,
                       .meaning = "The profile of an earlier run of the program.",
                       .is_required = true,
                       .schema = kProfileSchema},
                      {.name = "goal", .meaning = "What decides. Default: time.", .choices = {"time", "cost"}},
                      {.name = "tie_ratio",
                       .kind = FieldKind::kNumber,
                       .meaning = "Partitions within this share of the best are as good as it. Default: 0.02.",
                       .least = 0,
                       .most = 1},
                      {.name = "program", .meaning = "The name of the program. Default: as the script says."},
                      {.name = "reference", .meaning = "What relative times refer to: mean, or a platform."},
                      {.name = "accept_failure",
                       .kind = FieldKind::kYes,
                       .meaning = "Also takes the profile of a run that failed."}},
           .run = run_advise},
          {.name = "corpus/quality",
           .summary = "Says what the corpus holds, what is missing, and how far its times can be trusted.",
           .answer = "perfcast.corpus.check/1",
           .is_long = true,
           .run = run_quality}};
}

}  // namespace perfcast::service
