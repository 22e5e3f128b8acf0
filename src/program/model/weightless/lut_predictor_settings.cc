#include "program/model/weightless/lut_predictor_settings.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr int64_t kMostCount = 1048576;

Json gradient_json(const LutTrainingOptions& options) {
  return {{"encoding", std::string(to_text(options.encoding))},
          {"levels", options.levels},
          {"short_thresholds", options.short_thresholds},
          {"arity", options.arity},
          {"learn_mapping", options.learn_mapping},
          {"epochs", options.epochs},
          {"batch", options.batch},
          {"learning_rate", options.learning_rate},
          {"decay_epochs", options.decay_epochs},
          {"table_decay", options.table_decay},
          {"order_decay", options.order_decay}};
}

// Reads one object of settings; what can't be becomes the reader's complaint.
class SettingsReader {
 public:
  SettingsReader(const Json& json, const std::string& path) : in_(json, path) {}
  JsonReader& in() { return in_; }

  void count(const std::string& key, size_t& value, int64_t least = 1) {
    const int64_t given = in_.integer_or(key, static_cast<int64_t>(value));
    if (given >= least && given <= kMostCount) {
      value = static_cast<size_t>(given);
    } else {
      in_.complain(key, std::to_string(given), std::to_string(least) + " to " + std::to_string(kMostCount));
    }
  }
  void count(const std::string& key, int64_t& value, int64_t least, int64_t most) {
    const int64_t given = in_.integer_or(key, value);
    if (given >= least && given <= most) {
      value = given;
    } else {
      in_.complain(key, std::to_string(given), std::to_string(least) + " to " + std::to_string(most));
    }
  }
  void number(const std::string& key, double& value) { value = in_.number_or(key, value); }
  void encoding(ThermometerKind& value) {
    const auto kind = parse_thermometer_kind(in_.string_or("encoding", std::string(to_text(value))));
    if (kind) {
      value = *kind;
    } else {
      in_.complain("encoding", kind.error().message, kind.error().expected);
    }
  }
  void gradient(LutTrainingOptions& options) {
    encoding(options.encoding);
    count("levels", options.levels);
    count("arity", options.arity);
    options.short_thresholds = in_.boolean_or("short_thresholds", options.short_thresholds);
    options.learn_mapping = in_.boolean_or("learn_mapping", options.learn_mapping);
    count("epochs", options.epochs);
    count("batch", options.batch);
    number("learning_rate", options.learning_rate);
    count("decay_epochs", options.decay_epochs, 0);
    number("table_decay", options.table_decay);
    number("order_decay", options.order_decay);
  }

 private:
  JsonReader in_;
};

Status as_bad_config(const Status& status, const std::string& source) {
  if (status) return status;
  return Error{"bad-config", status.error().message, source, status.error().expected};
}

}  // namespace

Json to_json(const LutPredictorSettings& settings) {
  Json gradient = gradient_json(settings.gradient), best = gradient_json(settings.classes);
  gradient["luts"] = settings.gradient.luts;
  best["most_platforms"] = settings.most_classes;
  best["tables_of_platform"] = settings.class_tables;
  const TableBoostOptions& boost = settings.boost;
  return {{"schema", kDwnSchema},
          {"training", settings.boosted ? "boosted" : "gradient"},
          {"networks", settings.networks},
          {"boosted",
           {{"encoding", std::string(to_text(boost.encoding))},
            {"levels", boost.levels},
            {"tables", boost.tables},
            {"arity", boost.arity},
            {"learning_rate", boost.learning_rate},
            {"row_share", boost.row_share},
            {"input_share", boost.input_share},
            {"ridge", boost.ridge}}},
          {"gradient", gradient},
          {"best", best}};
}

Status read_settings(const Json& json, const std::string& source, LutPredictorSettings& settings) {
  if (!json.is_object()) return Error{"bad-config", "the settings are no object", source, kDwnSchema};
  LutPredictorSettings taken = settings;
  SettingsReader all(json, source);
  const std::string training = all.in().string_or("training", taken.boosted ? "boosted" : "gradient");
  if (training != "boosted" && training != "gradient")
    all.in().complain("training", "'" + printable(training) + "'", "boosted or gradient");
  taken.boosted = training == "boosted";
  all.count("networks", taken.networks, 1, kMostDwnNetworks);
  const auto part = [&](const char* key, const auto& read) -> Status {
    const Json* const object = all.in().object(key);
    if (object == nullptr) return {};
    SettingsReader reader(*object, source + "." + key);
    read(reader);
    reader.in().refuse_others();
    return as_bad_config(reader.in().finish(), source);
  };
  Status boosted = part("boosted", [&](SettingsReader& in) {
    in.encoding(taken.boost.encoding);
    in.count("levels", taken.boost.levels);
    in.count("tables", taken.boost.tables);
    in.count("arity", taken.boost.arity);
    in.number("learning_rate", taken.boost.learning_rate);
    in.number("row_share", taken.boost.row_share);
    in.number("input_share", taken.boost.input_share);
    in.number("ridge", taken.boost.ridge);
  });
  if (!boosted) return boosted;
  Status gradient = part("gradient", [&](SettingsReader& in) {
    in.gradient(taken.gradient);
    const Json* const luts = in.in().array("luts");
    if (luts == nullptr) return;
    const bool counts =
        !luts->empty() && luts->size() <= 8 && std::all_of(luts->begin(), luts->end(), [](const Json& count) {
          return count.is_number_integer() && count.get<int64_t>() > 0 && count.get<int64_t>() <= kMostCount;
        });
    if (counts) {
      taken.gradient.luts = luts->get<std::vector<size_t>>();
    } else {
      in.in().complain("luts", "no such list",
                       "the tables of each layer, such as [128]: 1 to 8 counts, each 1 to 1048576");
    }
  });
  if (!gradient) return gradient;
  Status best = part("best", [&](SettingsReader& in) {
    in.gradient(taken.classes);
    in.count("most_platforms", taken.most_classes, 0, 256);
    in.count("tables_of_platform", taken.class_tables, 1, 4096);
  });
  if (!best) return best;
  all.in().refuse_others({"schema"});
  if (Status read = as_bad_config(all.in().finish(), source); !read) return read;
  for (const Status& valid :
       {check_table_boost(taken.boost), check_lut_options(taken.gradient), check_lut_options(taken.classes)}) {
    if (!valid) return as_bad_config(valid, source);
  }
  settings = std::move(taken);
  return {};
}

}  // namespace perfcast::program
