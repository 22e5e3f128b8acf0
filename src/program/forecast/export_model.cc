#include "program/forecast/export_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "program/evaluate/platform_name.h"

namespace perfcast::program {
namespace {

constexpr size_t kMostTrainingRows = 64;

std::vector<std::string> about(const Bundle& bundle, const ExportRequest& request) {
  std::vector<std::string> lines = {
      fmt::format("{} as look-up tables and sums, {} (perfcast {}, model {}).",
                  bundle.card.name.empty() ? "A forecast" : bundle.card.name, kExportMark, bundle.card.perfcast_version,
                  bundle.card.model),
      request.task == IntegerTask::kBestPlatform
          ? "Says which platform runs a program fastest."
          : fmt::format("Says how long a program runs on each platform, relative to the geometric mean of the bundle's "
                        "{} platforms.",
                        bundle.platforms.size())};
  for (const Source& source : bundle.card.sources)
    lines.push_back(fmt::format("Learnt from {}: {}", source.id, source.licence));
  if (!bundle.card.licence.empty()) lines.push_back(fmt::format("Licence of the numbers: {}", bundle.card.licence));
  lines.emplace_back("Inputs are what perfcast makes of a profile: metrics of docs/metrics.md, log_ for natural");
  lines.emplace_back("logarithms; perfcast export --json --profile FILE prints those of a profile.");
  return lines;
}

}  // namespace

Result<IntegerTask> parse_integer_task(const std::string& text) {
  if (text == "best") return IntegerTask::kBestPlatform;
  if (text == "times") return IntegerTask::kTimes;
  return usage_error("bad-usage", "there is no task '" + printable(text) + "'", "--task", "best or times");
}

std::string to_text(IntegerTask task) { return task == IntegerTask::kBestPlatform ? "best" : "times"; }

Result<ExportedModel> export_model(const Bundle& bundle, const ExportRequest& request) {
  std::vector<int64_t> kept;
  for (const std::string& text : request.platforms) {
    const auto platform = find_platform(bundle.platforms, text, "--platforms");
    if (!platform) return platform.error();
    if (std::find(kept.begin(), kept.end(), static_cast<int64_t>(*platform)) != kept.end())
      return usage_error("bad-usage", "the platform '" + printable(text) + "' is named twice", "--platforms",
                         "each once");
    kept.push_back(static_cast<int64_t>(*platform));
  }
  auto forecast = bundle.predictor->as_integers(request.task, kept);
  if (!forecast) return forecast.error();
  ExportedModel made;
  made.network = {request.name,   std::move(forecast->network),        forecast->names(),     {},
                  forecast->fill, request.task == IntegerTask::kTimes, about(bundle, request)};
  for (const int64_t platform : forecast->platforms) {
    const Platform& of = bundle.platforms[static_cast<size_t>(platform)];
    made.platforms.push_back(of.id);
    made.network.outputs.push_back(of.name.empty() ? of.id : of.name);
  }
  std::vector<RecordedRow> rows;
  const auto add = [&](const std::string& name, std::vector<float> inputs) {
    rows.push_back(record(made.network, name, std::move(inputs)));
  };
  for (const Profile& profile : request.profiles) add(profile.program, forecast->row(profile));
  made.profiles = rows;
  // What the model was fitted on, where the bundle keeps it as the model reads it.
  if (bundle.model_inputs.names() == forecast->inputs.names()) {
    const Eigen::MatrixXd& features = bundle.training_features;
    for (Eigen::Index r = 0; r < features.rows() && rows.size() < kMostTrainingRows; ++r) {
      std::vector<float> inputs;
      for (const size_t column : forecast->columns)
        inputs.push_back(static_cast<float>(features(r, static_cast<Eigen::Index>(column))));
      add(bundle.programs[static_cast<size_t>(r)].id, std::move(inputs));
    }
  }
  for (RecordedRow& row : drawn_rows(made.network, request.drawn_rows, request.seed)) rows.push_back(std::move(row));
  auto files = network_source(made.network, request.format, rows);
  if (!files) return files.error();
  made.files = std::move(*files);
  made.size = size_of(made.network.network);
  made.recorded = rows.size();
  return made;
}

}  // namespace perfcast::program
