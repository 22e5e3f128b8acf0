// The file of a model of power: perfcast.power-model/1.

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "measure/power/model/power_model.h"

namespace perfcast::measure {
namespace {

constexpr const char* kSchema = "perfcast.power-model/1";
constexpr size_t kMostListed = 100000;

// What the errors of a card are by, as its JSON has it.
const char* by_key(const PowerModelCard& card) { return card.left_out == "machine" ? "machine" : "workload"; }

}  // namespace

Json PowerModel::to_json() const {
  Json by_workload = Json::array(), tried = Json::array(), forms = Json::array();
  for (const auto& [name, error] : card_.error_by_workload)
    by_workload.push_back({{by_key(card_), name}, {"error_ratio", error}});
  for (const auto& [name, error] : card_.tried) tried.push_back({{"model", name}, {"error_ratio", error}});
  for (const auto& form : forms_) forms.push_back(form->to_json());
  Json json = {{"schema", kSchema}};
  json["card"] = {{"rows", card_.rows},
                  {"chosen", card_.chosen},
                  {"left_out", card_.left_out},
                  {"error_ratio", card_.error},
                  {"mean_power_error_ratio", card_.mean_power_error},
                  {std::string("error_by_") + by_key(card_), by_workload},
                  {"tried", tried},
                  {"units", "watts; counters are events a second or shares"}};
  if (card_.new_machine) {
    json["card"]["new_machine"] = {{"machine", card_.new_machine->machine},
                                   {"samples_count", card_.new_machine->samples},
                                   {"known_machines_count", card_.new_machine->known_machines}};
  }
  json["features"] = features_.to_json();
  json["groups"] = groups_;
  if (!settings_.empty()) json["settings"] = settings_json(settings_);
  json["centre"] = std::vector<double>(scale_.centre.begin(), scale_.centre.end());
  json["scale"] = std::vector<double>(scale_.scale.begin(), scale_.scale.end());
  json["lowest_log"] = lowest_;
  json["highest_log"] = highest_;
  json["coverage_ratio"] = coverage_;
  json["half_width_log"] = half_width_;
  json["forms"] = forms;
  return json;
}

Result<PowerModel> PowerModel::from_json(const Json& json, const std::string& source) {
  JsonReader in(json, source);
  if (const std::string schema = in.string("schema"); in.complaints().empty() && schema != kSchema) {
    return Error{"bad-json-field", "'" + printable(schema) + "' is no model of power", source,
                 std::string(kSchema) + ", as `perfcast power fit` writes it"};
  }
  PowerModel model;
  const Json* card = in.require_object("card");
  const Json* features = in.require_object("features");
  const Json* forms = in.require_array("forms");
  const Json* centre = in.require_array("centre");
  const Json* scale = in.require_array("scale");
  const Json* settings = in.array("settings");
  model.groups_ = in.strings("groups");
  model.lowest_ = in.number("lowest_log");
  model.highest_ = in.number("highest_log");
  model.coverage_ = in.number("coverage_ratio");
  model.half_width_ = in.number("half_width_log");
  if (Status done = in.finish(); !done) return done.error();
  if (model.lowest_ > model.highest_ || model.half_width_ < 0 || !(model.coverage_ > 0 && model.coverage_ < 1)) {
    in.complain("lowest_log", "limits that exclude each other", "a range, a coverage in (0, 1), a width of at least 0");
  }
  if (centre->size() != scale->size() || centre->size() > kMostListed || forms->empty() || forms->size() > 8) {
    in.complain("scale", "another number of inputs", "as many as in centre, and one to eight forms");
  }
  if (Status done = in.finish(); !done) return done.error();
  const auto size = static_cast<Eigen::Index>(centre->size());
  model.scale_.centre.resize(size);
  model.scale_.scale.resize(size);
  for (Eigen::Index c = 0; c < size; ++c) {
    const Json& shift = (*centre)[static_cast<size_t>(c)];
    const Json& width = (*scale)[static_cast<size_t>(c)];
    if (!shift.is_number() || !width.is_number() || !(width.get<double>() > 0) || !std::isfinite(shift.get<double>())) {
      in.complain("scale", "an entry that is no number above 0", "numbers");
      if (Status done = in.finish(); !done) return done.error();
    }
    model.scale_.centre(c) = shift.get<double>();
    model.scale_.scale(c) = width.get<double>();
  }
  if (settings != nullptr) {
    auto known = settings_from_json(*settings, model.groups_.size(), source);
    if (!known) return known.error();
    model.settings_ = std::move(*known);
  }
  auto read = ActivityFeatures::from_json(*features, source + ".features");
  if (!read) return read.error();
  model.features_ = std::move(*read);
  for (size_t i = 0; i < forms->size(); ++i) {
    auto form =
        power_form_from_json((*forms)[i], source + ".forms[" + std::to_string(i) + "]", size, model.groups_.size());
    if (!form) return form.error();
    model.forms_.push_back(std::move(*form));
  }
  JsonReader facts(*card, source + ".card");
  model.card_.rows = static_cast<size_t>(std::max<int64_t>(0, facts.integer("rows")));
  model.card_.chosen = facts.string("chosen");
  model.card_.left_out = facts.string("left_out");
  model.card_.error = facts.number("error_ratio");
  model.card_.mean_power_error = facts.number("mean_power_error_ratio");
  const auto list = [&](const char* key, const char* name_key, std::vector<std::pair<std::string, double>>& into) {
    const Json* entries = facts.require_array(key);
    if (entries == nullptr) return;
    for (size_t i = 0; i < entries->size(); ++i) {
      JsonReader entry((*entries)[i], source + ".card." + key + "[" + std::to_string(i) + "]");
      into.emplace_back(entry.string(name_key), entry.number("error_ratio"));
      if (!entry.finish()) facts.complain(key, "an entry of another form", "a name and error_ratio");
    }
  };
  list((std::string("error_by_") + by_key(model.card_)).c_str(), by_key(model.card_), model.card_.error_by_workload);
  list("tried", "model", model.card_.tried);
  const Json* of_new = facts.object("new_machine");
  if (Status done = facts.finish(); !done) return done.error();
  if (of_new != nullptr) {
    JsonReader entry(*of_new, source + ".card.new_machine");
    NewMachineCard& into = model.card_.new_machine.emplace();
    into.machine = entry.string("machine");
    into.samples = static_cast<size_t>(std::max<int64_t>(0, entry.integer("samples_count")));
    into.known_machines = static_cast<size_t>(std::max<int64_t>(0, entry.integer("known_machines_count")));
    if (Status done = entry.finish(); !done) return done.error();
  }
  model.card_.groups = model.groups_;
  if (!model.card_.new_machine) {
    for (const auto& [name, error] : model.card_.error_by_workload) model.card_.workloads.push_back(name);
  }
  return model;
}

}  // namespace perfcast::measure
