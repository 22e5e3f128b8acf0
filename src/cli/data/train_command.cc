// perfcast train: from a corpus to a bundle that predict reads.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/checkpoint_file.h"
#include "cli/shared/model_settings.h"
#include "cli/shared/named_file.h"
#include "cli/shared/table_options.h"
#include "program/evaluate/evaluate.h"
#include "program/evaluate/report/evaluation_report.h"
#include "program/model/bundle/bundle.h"
#include "program/model/bundle/train_bundle.h"
#include "program/model/scaling/scaling_model.h"

namespace perfcast::cli {
namespace {

constexpr const char* kBaseline = "mean";

struct TrainArguments {
  TableArguments table;
  std::string model = "auto";
  std::string name, licence, notes, evaluation, config, checkpoint;
  program::ModelSettings settings;  // what `config` says
  bool score = true, print_config = false;
};

// Now, or what SOURCE_DATE_EPOCH says: so that a bundle can be built again byte by byte.
std::string utc_now() {
  std::time_t now = std::time(nullptr);
  if (const char* fixed = std::getenv("SOURCE_DATE_EPOCH"); fixed != nullptr) {
    if (const auto seconds = parse_number(fixed)) now = static_cast<std::time_t>(*seconds);
  }
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// A share-alike source decides; otherwise all licences of the sources together.
std::string licence_of(const std::vector<program::Source>& sources) {
  std::vector<std::string> licences;
  for (const program::Source& source : sources) {
    if (source.licence.find("SA") != std::string::npos) return source.licence;
    const bool known = std::find(licences.begin(), licences.end(), source.licence) != licences.end();
    if (!source.licence.empty() && !known) licences.push_back(source.licence);
  }
  return join(licences, " and ");
}

// An evaluation that says something about `model`: of which split, and with its scores.
Result<Json> read_evaluation(const std::string& path, const std::string& model) {
  const auto text = read_file(path, size_t{64} << 20);
  if (!text) return text.error();
  auto json = parse_json(*text, path);
  if (!json) return json.error();
  JsonReader in(*json, path);
  if (in.string("schema") != program::kEvaluationSchema) {
    return Error{"bad-json-field", "the file is no evaluation", path, "what perfcast evaluate --json writes"};
  }
  const auto split = program::parse_split(in.string("split"));
  const Json* rows = in.require_array("models");
  if (const Status status = in.finish(); !status) return status.error();
  if (!split) return Error{"bad-json-field", split.error().message, path + ".split", split.error().expected};
  const bool scored = std::any_of(rows->begin(), rows->end(), [&](const Json& row) {
    return row.is_object() && row.contains("model") && row["model"] == model;
  });
  if (!scored) {
    return usage_error("bad-usage", "the evaluation has no scores of the model '" + model + "'", path,
                       "what perfcast evaluate --models " + model + " --json writes");
  }
  return std::move(*json);
}

Result<Json> scores_for_card(const TrainArguments& arguments, const LoadedTable& loaded, const CommonOptions& common,
                             program::FitCheckpoint* checkpoint) {
  if (!arguments.evaluation.empty()) return read_evaluation(arguments.evaluation, arguments.model);
  if (!arguments.score) return Json::object();
  ProgressLine progress(common);
  program::EvaluationOptions options;
  options.models = {arguments.model};
  if (arguments.model != kBaseline) options.models.emplace_back(kBaseline);
  options.seed = common.seed;
  options.threads = common.threads;
  options.intervals = false;
  options.settings = arguments.settings;
  options.checkpoint = checkpoint;
  options.progress = [&progress](const std::string& text) { progress.show(text); };
  const auto evaluation = program::evaluate(loaded.table, options);
  if (!evaluation && evaluation.error().code == "too-few-families") {
    return Error{"too-few-families",
                 "scores leave each family out, and the model " + arguments.model + " needs two families without it",
                 "", "programs of more families, or --no-scores"};
  }
  if (!evaluation) return evaluation.error();
  return to_json(*evaluation, std::filesystem::path(common.corpus).filename().string(), false);
}

// Rows of the evaluation by group, those of the model and of the mean: its errors on families it was trained without.
// A warning for each group that the mean forecasts as well.
std::string scores_as_text(const Json& scores, const std::string& model, std::vector<std::string>& warnings) {
  const auto number = [](const Json& row, const char* field) {
    const auto found = row.find(field);
    return found != row.end() && found->is_number() ? found->get<double>() : kUnknown;
  };
  std::map<std::string, std::map<std::string, const Json*>> by_group;
  if (!scores.is_object() || !scores.contains("models")) return "";
  for (const Json& row : scores["models"]) {
    if (!row.is_object() || !row.contains("model") || !row.contains("group") || !row["model"].is_string() ||
        !row["group"].is_string())
      continue;
    by_group[row["group"].get<std::string>()].emplace(row["model"].get<std::string>(), &row);
  }
  TextTable table;
  table.add_column("families left out", TextTable::Align::kLeft);
  for (const char* title : {"programs", "error", "mean's", "pair order", "mean's"})
    table.add_column(title, TextTable::Align::kRight);
  const auto cell = [](double value) { return std::isnan(value) ? "-" : fmt::format("{:.3f}", value); };
  for (const auto& of_group : by_group) {
    const std::string& group = of_group.first;
    const auto& rows = of_group.second;
    const auto own = rows.find(model), mean = rows.find(kBaseline);
    if (own == rows.end()) continue;
    const auto of_mean = [&](const char* field) {
      return mean == rows.end() || model == kBaseline ? kUnknown : number(*mean->second, field);
    };
    const double error = number(*own->second, "mape");
    table.add_row({printable(group), fmt::format("{:.0f}", number(*own->second, "programs")), cell(error),
                   cell(of_mean("mape")), cell(number(*own->second, "pair_order")), cell(of_mean("pair_order"))});
    if (error >= of_mean("mape")) {
      warnings.push_back(
          fmt::format("of {} it knows no more than the mean of the other programs (error {:.3f} against "
                      "{:.3f}): more programs of their kind, more counters, or another --model",
                      printable(group), error, of_mean("mape")));
    }
  }
  return table.rows() > 0 ? table.to_text() : "";
}

Result<program::Bundle> train(const TrainArguments& arguments, const CommonOptions& common,
                              std::vector<std::string>& notes) {
  const auto loaded = load_table(common, arguments.table);
  if (!loaded) return loaded.error();
  notes = loaded->notes;
  if (loaded->table.platforms.size() < 2) {
    return Error{"empty-corpus", "relative times take two platforms, there is 1", "",
                 "two platforms or more: more of them in the corpus, or in --platforms"};
  }
  std::set<std::string> families;
  for (const auto& program : loaded->table.programs) families.insert(program.family);
  if (families.size() == 1) {
    return Error{"too-few-families",
                 "all programs are of the family '" + printable(*families.begin()) +
                     "', and intervals come from forecasts of families left out",
                 "",
                 "programs of two families or more; \"family\" of a table's mapping names the column that has them"};
  }
  program::TrainOptions options;
  options.model = arguments.model;
  options.fit.seed = common.seed;
  options.fit.threads = common.threads;
  options.fit.settings = arguments.settings;
  std::unique_ptr<CheckpointFile> checkpoint;
  if (!arguments.checkpoint.empty()) {
    auto file = CheckpointFile::open(arguments.checkpoint,
                                     program::training_fingerprint(loaded->table, arguments.model, options.fit));
    if (!file) return file.error();
    checkpoint = std::move(*file);
    options.fit.checkpoint = checkpoint.get();
    if (checkpoint->resumed() && !common.quiet) {
      std::fprintf(stderr, "perfcast: goes on from %s\n", printable(arguments.checkpoint).c_str());
    }
  }
  auto scores = scores_for_card(arguments, *loaded, common, checkpoint.get());
  if (!scores) return scores.error();

  ProgressLine progress(common);
  progress.show("training " + arguments.model + " on " + std::to_string(loaded->table.programs.size()) +
                " programs, calibrating without each of their families ...");
  options.fit.progress = [&progress](const std::string& text) { progress.show(text); };
  auto bundle = program::train_bundle(loaded->table, options);
  if (!bundle) return bundle.error();
  bundle->servers = loaded->servers;
  if (loaded->scaling) {
    progress.show("learning how many copies share " + std::to_string(loaded->scaling->machines.size()) +
                  " servers ...");
    auto scaling = std::make_shared<program::ScalingModel>();
    if (Status status = scaling->fit(program::ScalingFit(*loaded->scaling), options.coverage); !status)
      return status.error();
    bundle->scaling = std::move(scaling);
  }
  program::ModelCard& card = bundle->card;
  card.name = arguments.name.empty() ? std::filesystem::path(common.output).stem().string() : arguments.name;
  card.created_utc = utc_now();
  card.perfcast_version = PERFCAST_VERSION;
  card.model = arguments.model;
  card.sources = loaded->sources;
  card.licence = arguments.licence.empty() ? licence_of(loaded->sources) : arguments.licence;
  card.scores = std::make_shared<const Json>(std::move(*scores));
  card.notes = arguments.notes;
  return bundle;
}

int run(TrainArguments& arguments, const CommandContext& context) {
  CommonOptions common = context.options;
  if (arguments.print_config) {
    const auto defaults = default_model_settings(arguments.model);
    return defaults ? write_result(to_text(*defaults), common) : report_error(defaults.error(), common);
  }
  if (common.output == "-") {
    return report_error(usage_error("bad-usage", "a bundle is a file, not text", "-o", "-o FILE"), common);
  }
  // The checkpoint is removed in the end.
  const bool kept = !arguments.checkpoint.empty();
  if (kept && (arguments.checkpoint == "-" || same_file(arguments.checkpoint, common.output))) {
    return report_error(
        usage_error("bad-usage", "the checkpoint takes a file of its own", "--checkpoint", "--checkpoint FILE"),
        common);
  }
  if (auto known = program::make_predictor(arguments.model); !known) {
    return report_error(usage_error("bad-usage", known.error().message, "--model", known.error().expected), common);
  }
  if (const Status there = check_named_file("--evaluation", arguments.evaluation); !there) {
    return report_error(there.error(), common);
  }
  auto settings = read_model_settings(arguments.config, {arguments.model}, common);
  if (!settings) return report_error(settings.error(), common);
  arguments.settings = std::move(*settings);
  std::vector<std::string> notes;
  const auto bundle = train(arguments, common, notes);
  if (!bundle) return report_error(bundle.error(), common);
  if (const Status status = program::write_bundle(*bundle, common.output); !status)
    return report_error(status.error(), common);
  if (std::error_code ignored; !arguments.checkpoint.empty()) std::filesystem::remove(arguments.checkpoint, ignored);
  if (common.json) {
    Json json;
    json["schema"] = "perfcast.training/1";
    json["bundle"] = common.output;
    json["model"] = bundle->card.model;
    json["programs"] = bundle->programs.size();
    json["platforms"] = bundle->platforms.size();
    json["servers"] = bundle->servers.size();
    json["licence"] = bundle->card.licence;
    json["scores"] = *bundle->card.scores;
    if (!notes.empty()) json["notes"] = notes;
    std::fputs(to_text(json).c_str(), stdout);
  } else if (!common.quiet) {
    std::printf("%s: %s, %zu programs, %zu platforms, %zu instance types\n", printable(common.output).c_str(),
                bundle->card.model.c_str(), bundle->programs.size(), bundle->platforms.size(), bundle->servers.size());
    if (const std::string chosen = bundle->predictor->chosen_family(); chosen != bundle->predictor->family())
      std::printf("chosen on families left out: %s\n", chosen.c_str());
    std::vector<std::string> warnings;
    std::fputs(scores_as_text(*bundle->card.scores, bundle->card.model, warnings).c_str(), stdout);
    for (const std::string& warning : warnings) std::fprintf(stderr, "perfcast: warning: %s\n", warning.c_str());
    for (const std::string& note : notes) std::fprintf(stderr, "perfcast: note: %s\n", printable(note).c_str());
  }
  return kExitDone;
}

}  // namespace

void add_train_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<TrainArguments>();
  CLI::App* verb =
      add_verb(app, {"train",
                     "Trains a bundle of forecasting models from a corpus.",
                     "",
                     {"perfcast train -o mine.pcb", "perfcast train --model dwn --corpus mine.db -o dwn.pcb"},
                     "train"});
  add_basic(
      *verb, "--model", arguments->model, "NAME",
      "The model family: " + join(program::predictor_families(), ", ") +
          "; the mean of several, such as forest+physics; kinds:NAME (a separate forecast for applications) or "
          "cores:NAME (with core models), such as kinds:cores:stack; kernels:NAME (kernels of GPU programs), such as "
          "kernels:forest.")
      ->capture_default_str();
  add_basic(*verb, "--config", arguments->config, "FILE",
            "Reads settings of the training (JSON) from this file. Absent settings keep their defaults. --print-config "
            "shows all.");
  add_basic(*verb, "--checkpoint", arguments->checkpoint, "FILE",
            "Saves the training in this file after each epoch. After a crash, the same command continues from it.");
  add_basic(*verb, "--print-config", arguments->print_config, "Prints the default settings of the model and stops.")
      ->excludes("--config");
  add_advanced(*verb, "--name", arguments->name, "NAME",
               "The name on the bundle's card. Default: the name of the file.");
  add_advanced(*verb, "--licence", arguments->licence, "TEXT",
               "The licence of the bundle. Default: the licence that its sources demand.");
  add_advanced(*verb, "--notes", arguments->notes, "TEXT", "Writes these notes on the bundle's card.");
  add_advanced(*verb, "--evaluation", arguments->evaluation, "FILE",
               "Puts the scores from this file on the bundle's card. perfcast evaluate --json writes it. Default: "
               "scores of a test that leaves out program families, without intervals.");
  add_basic(*verb, "!--no-scores", arguments->score,
            "Leaves the scores off the bundle's card. The training ends sooner.");
  add_table_options(*verb, arguments->table);
  add_common_options(*verb, context, kCorpusOption | kQuietOption | kSeedOption | kThreadsOption);
  verb->callback([arguments, &context] { context.run = [arguments, &context] { return run(*arguments, context); }; });
}

}  // namespace perfcast::cli
