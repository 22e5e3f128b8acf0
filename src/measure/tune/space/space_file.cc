#include "measure/tune/space/space_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <regex>
#include <set>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostKnobs = 100;
constexpr size_t kMostConstraints = 200;
constexpr size_t kLevelsWithoutStep = 64;
constexpr size_t kMostSpaceMistakes = 40;

bool is_knob_name(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || name.size() > 100 || !is_letter(name[0])) return false;
  for (const char* reserved : {"and", "or", "not", "true", "false", "flags", "point", "output"}) {
    if (name == reserved) return false;
  }
  return std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// The shortest text that reads back as the number.
KnobValue number_value(double number) { return {fmt::format("{}", number), number}; }

std::optional<KnobValue> value_of_json(const Json& json) {
  if (json.is_boolean()) return KnobValue{json.get<bool>() ? "true" : "false", json.get<bool>() ? 1.0 : 0.0};
  if (json.is_number_integer() && !json.is_number_unsigned())
    return KnobValue{std::to_string(json.get<int64_t>()), json.get<double>()};
  if (json.is_number_integer()) return KnobValue{std::to_string(json.get<uint64_t>()), json.get<double>()};
  if (json.is_number() && std::isfinite(json.get<double>())) return number_value(json.get<double>());
  if (json.is_string()) {
    const auto text = json.get<std::string>();
    if (text.find('\0') != std::string::npos || text.size() > 4000) return std::nullopt;
    return KnobValue{text, parse_number(text)};
  }
  return std::nullopt;
}

class SpaceReader {
 public:
  SpaceReader(const Json& json, std::string source) : json_(json), source_(std::move(source)) {}

  Result<TuneFile> run() {
    JsonReader in(json_, source_);
    const std::string schema = in.string("schema");
    if (!schema.empty() && schema != kTuneSchema) in.complain("schema", "'" + printable(schema) + "'", kTuneSchema);
    if (const Json* knobs = in.require_array("knobs"); knobs != nullptr) read_knobs(*knobs);
    file_.prepare = in.string_or("prepare", "");
    file_.check = in.string_or("check", "");
    file_.same_output = in.boolean_or("same_output", false);
    file_.command = in.strings("command");
    in.string_or("note", "");
    if (const Json* objective = in.object("objective"); objective != nullptr) read_objective(*objective);
    if (const Json* limits = in.object("limits"); limits != nullptr) read_limits(*limits);
    std::vector<Expression> constraints = read_constraints(in);
    in.refuse_others();
    take_complaints(in);
    if (mistakes_.empty()) check_conditions();
    if (!mistakes_.empty()) {
      return Error{"bad-tune-file", join(mistakes_, "\n"), source_,
                   std::string("a space as docs/tune.md has it, schema ") + kTuneSchema};
    }
    file_.space = TuneSpace(std::move(knobs_), std::move(constraints));
    if (Status points = file_.space.check_has_points(); !points) return located(points.error());
    if (const Expression* broken = file_.space.broken_constraint(file_.space.default_setting()); broken != nullptr) {
      return Error{
          "default-not-allowed",
          fmt::format("the default setting, {}, breaks the constraint '{}'",
                      printable(file_.space.text_of(file_.space.default_setting())), printable(broken->text())),
          source_, "a `default` of each knob, such that all constraints hold"};
    }
    return std::move(file_);
  }

 private:
  Error located(Error error) const {
    error.where = source_ + ": " + error.where;
    return error;
  }
  void complain(const std::string& where, const std::string& what) {
    if (mistakes_.size() < kMostSpaceMistakes) mistakes_.push_back(where + ": " + what);
  }
  void take_complaints(const JsonReader& in) {
    for (const std::string& complaint : in.complaints()) {
      if (mistakes_.size() < kMostSpaceMistakes) mistakes_.push_back(complaint);
    }
  }

  void read_knobs(const Json& array) {
    if (array.empty()) complain(source_ + ".knobs", "no knob: nothing to tune");
    if (array.size() > kMostKnobs) {
      complain(source_ + ".knobs", fmt::format("{} knobs; at most {}", array.size(), kMostKnobs));
      return;
    }
    std::set<std::string> names;
    for (size_t i = 0; i < array.size(); ++i) {
      const std::string path = fmt::format("{}.knobs[{}]", source_, i);
      Knob knob = read_knob(array[i], path);
      if (!knob.name.empty() && !names.insert(knob.name).second)
        complain(path, "a second knob '" + printable(knob.name) + "'");
      knobs_.push_back(std::move(knob));
      if (array[i].is_object() && array[i].contains("when")) whens_.emplace_back(i, &array[i]["when"]);
    }
    for (const auto& [knob, when] : whens_) read_when(knob, *when);
  }

  Knob read_knob(const Json& object, const std::string& path) {
    JsonReader in(object, path);
    Knob knob;
    knob.name = in.string("name");
    if (!knob.name.empty() && !is_knob_name(knob.name))
      in.complain(
          "name", "'" + printable(knob.name) + "'",
          "letters, digits and _, and no word that has a meaning (and, or, not, true, false, flags, point, output)");
    const std::string kind = in.string_or("kind", "parameter");
    bool known = false;
    for (const KnobKind one : {KnobKind::kParameter, KnobKind::kEnvironment, KnobKind::kThreads, KnobKind::kFlag}) {
      if (name_of(one) != kind) continue;
      knob.kind = one;
      known = true;
    }
    if (!known) in.complain("kind", "'" + printable(kind) + "'", "parameter, environment, threads or flag");
    knob.flag = in.string_or("flag", "");
    in.string_or("note", "");
    if (!knob.flag.empty() && knob.kind != KnobKind::kFlag)
      in.complain("flag", "a flag of a knob of kind " + kind, "kind flag");
    const bool is_object = object.is_object();
    if (is_object && object.contains("values")) {
      read_values(in, object, knob);
    } else if (is_object && (object.contains("from") || object.contains("to"))) {
      read_range(in, object, knob);
    } else if (!knob.flag.empty()) {
      knob.values = {{"false", 0.0}, {"true", 1.0}};
    } else {
      in.complain("values", "nothing", "values, or from and to, or of a flag its word in `flag`");
    }
    if (!knob.flag.empty()) {
      for (const KnobValue& value : knob.values) {
        if (value.text != "true" && value.text != "false")
          in.complain("values", "'" + printable(value.text) + "'", "no values, or true and false, beside `flag`");
      }
    }
    if (knob.kind == KnobKind::kThreads) {
      for (const KnobValue& value : knob.values) {
        if (!value.number || *value.number < 1 || *value.number != std::floor(*value.number))
          in.complain("values", "'" + printable(value.text) + "' threads", "whole numbers from 1");
      }
    }
    if (is_object && object.contains("default")) {
      const auto value = value_of_json(object["default"]);
      int16_t level = value ? knob.level_of(value->text).value_or(kNotInPlay) : kNotInPlay;
      for (size_t i = 0; i < knob.values.size() && value && level == kNotInPlay; ++i) {  // 4 for 4.0
        if (value->number && knob.values[i].number == value->number) level = static_cast<int16_t>(i);
      }
      if (level != kNotInPlay) {
        knob.default_level = level;
      } else if (!knob.values.empty()) {
        in.complain("default", value ? "'" + printable(value->text) + "'" : "no value", "one of its values");
      }
    }
    in.refuse_others({"values", "from", "to", "step", "factor", "scale", "type", "default", "when"});
    take_complaints(in);
    return knob;
  }

  static void read_values(JsonReader& in, const Json& object, Knob& knob) {
    for (const char* key : {"from", "to", "step", "factor", "scale"}) {
      if (object.contains(key)) in.complain(key, "a range beside values", "one of both");
    }
    const Json* values = in.require_array("values");
    if (values == nullptr) return;
    if (values->empty() || values->size() > kMostKnobValues) {
      in.complain("values", fmt::format("{} values", values->size()), fmt::format("1 to {}", kMostKnobValues));
      return;
    }
    std::set<std::string> seen;
    for (const Json& json : *values) {
      const auto value = value_of_json(json);
      if (!value) {
        in.complain("values", json.type_name(), "numbers, texts, true and false");
      } else if (!seen.insert(value->text).second) {
        in.complain("values", "'" + printable(value->text) + "' twice", "each value once");
      } else {
        knob.values.push_back(*value);
      }
    }
  }

  static void read_range(JsonReader& in, const Json& object, Knob& knob) {
    const double from = in.number("from"), to = in.number("to");
    const std::string scale = in.string_or("scale", "linear");
    const bool integers = object.value("from", Json()).is_number_integer() &&
                          object.value("to", Json()).is_number_integer() &&
                          (!object.contains("step") || object["step"].is_number_integer());
    const std::string type = in.string_or("type", integers ? "integer" : "float");
    const bool whole = type == "integer";
    if (type != "integer" && type != "float") in.complain("type", "'" + printable(type) + "'", "integer or float");
    if (whole && (from != std::floor(from) || to != std::floor(to) || std::abs(from) > 1e15 || std::abs(to) > 1e15))
      in.complain("from", "an integer range between other numbers", "whole numbers up to 1e15");
    const auto step = in.optional_number("step"), factor = in.optional_number("factor");
    if (scale != "linear" && scale != "log") in.complain("scale", "'" + printable(scale) + "'", "linear or log");
    if (scale == "log" && step) in.complain("step", "a step on a log scale", "factor, by which it grows");
    if (scale == "linear" && factor) in.complain("factor", "a factor on a linear scale", "step, or scale log");
    if (!(from < to)) in.complain("from", fmt::format("{:g} to {:g}", from, to), "from below to");
    if (scale == "log" && !(from > 0)) in.complain("from", fmt::format("{:g} on a log scale", from), "above 0");
    if (step && !(*step > 0)) in.complain("step", fmt::format("{:g}", *step), "above 0");
    if (step && whole && *step != std::floor(*step))
      in.complain("step", fmt::format("{:g} between integers", *step), "a whole number");
    if (factor && !(*factor > 1)) in.complain("factor", fmt::format("{:g}", *factor), "above 1");
    if (!in.complaints().empty()) return;
    const bool is_log = scale == "log";
    const double range = is_log ? std::log(to / from) : to - from;
    // Without a step: every integer where they are few, else 64 values.
    double by = step.value_or(0);
    if (is_log) by = factor ? std::log(*factor) : range / (kLevelsWithoutStep - 1);
    if (!is_log && !step) by = whole && range < kMostKnobValues ? 1 : range / (kLevelsWithoutStep - 1);
    const double count = std::floor(range / by * (1 + 1e-12) + 1e-9) + 1;
    if (!(count <= kMostKnobValues)) {
      in.complain("step", fmt::format("{:.6g} values", count), fmt::format("at most {} values", kMostKnobValues));
      return;
    }
    std::set<std::string> seen;
    for (int place = 0; place < static_cast<int>(count); ++place) {
      const double i = place;
      double value = is_log ? from * std::exp(i * by) : from + i * by;
      value = std::min(value, to);
      // 0.1 + 2 * 0.1 is to read 0.3.
      KnobValue entry = whole ? KnobValue{fmt::format("{:.0f}", value), std::round(value)}
                              : number_value(*parse_number(fmt::format("{:.12g}", value)));
      if (seen.insert(entry.text).second) knob.values.push_back(std::move(entry));
    }
  }

  Result<Expression> parse_condition(const std::string& text) const {
    return Expression::parse(text, "", "knob", [this](std::string_view name) -> std::optional<ExpressionType> {
      for (const Knob& knob : knobs_) {
        if (knob.name == name) return knob.is_numeric() ? ExpressionType::kNumber : ExpressionType::kText;
      }
      return std::nullopt;
    });
  }
  static std::string problem_of(const std::string& text, const Error& error) {
    return "'" + printable(text) + "', " + error.message + ", expected " + error.expected;
  }

  void read_when(size_t knob, const Json& json) {
    const std::string path = fmt::format("{}.knobs[{}].when", source_, knob);
    std::string text;
    if (json.is_string()) {
      text = json.get<std::string>();
    } else {
      JsonReader in(json, path);
      const std::string name = in.string("knob");
      const Json* values = in.require_array("in");
      const auto other =
          std::find_if(knobs_.begin(), knobs_.end(), [&name](const Knob& one) { return one.name == name; });
      if (!name.empty() && other == knobs_.end())
        in.complain("knob", "'" + printable(name) + "'", "a knob of this file");
      std::vector<std::string> parts;
      for (size_t i = 0; values != nullptr && other != knobs_.end() && i < values->size(); ++i) {
        const auto value = value_of_json((*values)[i]);
        if (!value || !other->level_of(value->text)) {
          in.complain("in", value ? "'" + printable(value->text) + "'" : "no value",
                      "values of '" + printable(name) + "'");
        } else if (other->is_numeric()) {
          parts.push_back(fmt::format("{} == {}", name, *value->number));
        } else {
          const char quote = value->text.find('\'') == std::string::npos ? '\'' : '"';
          parts.push_back(fmt::format("{} == {}{}{}", name, quote, value->text, quote));
        }
      }
      if (values != nullptr && values->empty()) in.complain("in", "no value", "values of the knob");
      in.refuse_others();
      take_complaints(in);
      if (!in.complaints().empty()) return;
      text = join(parts, " or ");
    }
    auto condition = parse_condition(text);
    if (!condition) {
      complain(path, problem_of(text, condition.error()));
      return;
    }
    if (condition->names().empty()) complain(path, "'" + printable(text) + "' names no knob");
    knobs_[knob].when = std::move(*condition);
  }

  std::vector<Expression> read_constraints(JsonReader& in) {
    std::vector<Expression> constraints;
    const Json* array = in.array("constraints");
    if (array == nullptr) return constraints;
    if (array->size() > kMostConstraints) {
      in.complain("constraints", fmt::format("{} constraints", array->size()),
                  fmt::format("at most {}", kMostConstraints));
      return constraints;
    }
    for (size_t i = 0; i < array->size(); ++i) {
      const std::string path = fmt::format("{}.constraints[{}]", source_, i);
      if (!(*array)[i].is_string()) {
        complain(path, std::string((*array)[i].type_name()) + ", expected a condition in quotes");
        continue;
      }
      const auto text = (*array)[i].get<std::string>();
      auto constraint = parse_condition(text);
      if (!constraint) {
        complain(path, problem_of(text, constraint.error()));
      } else {
        constraints.push_back(std::move(*constraint));
      }
    }
    return constraints;
  }

  void read_objective(const Json& object) {
    JsonReader in(object, source_ + ".objective");
    const std::string measure = in.string_or("measure", "wall_s");
    Objective& objective = file_.objective;
    if (measure == "cpu_s") {
      objective.measure = ObjectiveMeasure::kCpu;
    } else if (measure == "printed") {
      objective.measure = ObjectiveMeasure::kPrinted;
    } else if (measure != "wall_s") {
      in.complain("measure", "'" + printable(measure) + "'", "wall_s, cpu_s or printed");
    }
    objective.pattern = in.string_or("pattern", "");
    const bool printed = objective.measure == ObjectiveMeasure::kPrinted;
    if (printed != !objective.pattern.empty())
      in.complain("pattern", printed ? "nothing" : "a pattern beside a time",
                  "a pattern with one group where measure is printed");
    if (printed && !objective.pattern.empty()) {
      if (const std::string problem = pattern_problem(objective.pattern); !problem.empty())
        in.complain("pattern", problem, "a regular expression (ECMAScript) with one group for the number");
    }
    const std::string direction = in.string_or("direction", "minimise");
    objective.maximise = direction == "maximise";
    if (direction != "minimise" && direction != "maximise")
      in.complain("direction", "'" + printable(direction) + "'", "minimise or maximise");
    if (objective.maximise && !printed) in.complain("direction", "the longest time", "minimise, or measure printed");
    in.refuse_others();
    take_complaints(in);
  }
  static std::string pattern_problem(const std::string& pattern) {
    if (pattern.size() > 300) return "more than 300 characters";
    try {
      const std::regex compiled(pattern);
      return compiled.mark_count() < 1 ? "no group" : "";
    } catch (const std::regex_error&) {
      return "'" + printable(pattern) + "', which is no regular expression";
    }
  }

  void read_limits(const Json& object) {
    JsonReader in(object, source_ + ".limits");
    file_.peak_memory_bytes = in.optional_number("peak_memory_bytes");
    if (file_.peak_memory_bytes && !(*file_.peak_memory_bytes > 0))
      in.complain("peak_memory_bytes", "0 or less", "above 0");
    if (object.is_object() && object.contains("energy_joules")) {
      in.complain("energy_joules", "a limit of energy, which perfcast has no meter for here",
                  "no such limit; a check command may read a meter of yours");
    }
    in.refuse_others({"energy_joules"});
    take_complaints(in);
  }

  // No condition may hang on itself, by whatever way.
  void check_conditions() {
    std::vector<int> state(knobs_.size(), 0);  // 1: on the way, 2: done
    std::function<bool(size_t)> visit = [&](size_t knob) {
      if (state[knob] != 0) return state[knob] == 2;
      state[knob] = 1;
      if (knobs_[knob].when) {
        for (const std::string& name : knobs_[knob].when->names()) {
          const auto other =
              std::find_if(knobs_.begin(), knobs_.end(), [&name](const Knob& one) { return one.name == name; });
          if (!visit(static_cast<size_t>(other - knobs_.begin()))) return false;
        }
      }
      state[knob] = 2;
      return true;
    };
    for (size_t knob = 0; knob < knobs_.size(); ++knob) {
      if (visit(knob)) continue;
      complain(fmt::format("{}.knobs[{}].when", source_, knob),
               "the condition of '" + printable(knobs_[knob].name) + "' depends on itself");
      return;
    }
  }

  const Json& json_;
  std::string source_;
  std::vector<std::string> mistakes_;
  std::vector<Knob> knobs_;
  std::vector<std::pair<size_t, const Json*>> whens_;
  TuneFile file_;
};

}  // namespace

Result<TuneFile> parse_tune_file(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  return SpaceReader(*json, source).run();
}

}  // namespace perfcast::measure
