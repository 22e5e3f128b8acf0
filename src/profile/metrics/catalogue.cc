#include "profile/metrics/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast {

// The bytes of catalogue.json; the build makes the definition from that file.
std::string_view built_in_catalogue_json();

namespace {

constexpr const char* kSchema = "perfcast.metrics/1";
constexpr size_t kMaximumMetrics = 10'000;
constexpr size_t kMistakesShown = 10;

struct Unit {
  std::string_view suffix, unit;
};
// A longer suffix comes before one that it ends in.
constexpr std::array<Unit, 7> kUnits = {{{"_bytes_per_s", "byte/s"},
                                         {"_per_s", "1/s"},
                                         {"_count", "1"},
                                         {"_ratio", "1"},
                                         {"_bytes", "byte"},
                                         {"_joules", "J"},
                                         {"_s", "s"}}};

std::string_view unit_of(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (name.size() > unit.suffix.size() && name.substr(name.size() - unit.suffix.size()) == unit.suffix) {
      return unit.unit;
    }
  }
  return {};
}

bool is_identifier(std::string_view name) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' && name.size() <= 128 &&
         std::all_of(name.begin(), name.end(), allowed);
}

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", printable(text.substr(0, 64))); }

Metric read_metric(const Json& json, const std::string& path, std::vector<std::string>& mistakes) {
  JsonReader in(json, path);
  Metric metric;
  metric.name = in.string("name");
  metric.unit = in.string("unit");
  metric.kind = in.string("kind");
  metric.group = in.string("group");
  metric.description = in.string("description");
  metric.formula = in.string_or("formula", "");
  metric.table1 = in.string_or("table1", "");
  metric.gpu_only = in.boolean_or("gpu_only", false);
  metric.imported = in.boolean_or("imported", false);
  metric.of_kernel = in.boolean_or("of_kernel", false);
  if (const Json* sources = in.object("sources")) {
    for (const auto& [collector, event] : sources->items()) {
      if (event.is_string()) {
        metric.sources[collector] = event.get<std::string>();
      } else {
        in.complain("sources." + collector, event.type_name(), "the collector's name of the event, a string");
      }
    }
  }
  if (const Status status = in.finish(); !status) {
    mistakes.push_back(status.error().message);
    return metric;
  }
  if (!is_identifier(metric.name)) {
    in.complain("name", in_quotes(metric.name), "lower-case letters, digits and _");
  } else if (unit_of(metric.name).empty()) {
    in.complain("name", metric.name, "a name that ends in _count, _bytes, _s, _ratio, _joules, _per_s or _bytes_per_s");
  } else if (metric.unit != unit_of(metric.name)) {
    in.complain("unit", in_quotes(metric.unit), in_quotes(unit_of(metric.name)));
  }
  if (metric.kind != "counter" && metric.kind != "derived") {
    in.complain("kind", in_quotes(metric.kind), "'counter' or 'derived'");
  } else if (metric.kind == "derived" && (metric.formula.empty() || !metric.sources.empty())) {
    in.complain("formula", metric.formula.empty() ? "nothing" : "sources too", "a formula and no sources");
  } else if (metric.kind == "counter" && (!metric.formula.empty() || metric.sources.empty())) {
    in.complain("sources", metric.sources.empty() ? "nothing" : "a formula too", "sources and no formula");
  }
  if (const Status status = in.finish(); !status) mistakes.push_back(status.error().message);
  return metric;
}

// Orders formulas so that each stands after those it reads; a circle is a mistake that names its members.
class DependencyOrder {
 public:
  DependencyOrder(const std::map<std::string, size_t, std::less<>>& by_name,
                  const std::map<size_t, Expression>& formulas)
      : by_name_(by_name), formulas_(formulas) {}

  std::vector<size_t> order(std::vector<std::string>& mistakes) {
    for (const auto& [index, formula] : formulas_) visit(index, mistakes);
    return std::move(order_);
  }

 private:
  void visit(size_t index, std::vector<std::string>& mistakes) {
    const auto found = formulas_.find(index);
    if (found == formulas_.end() || done_.count(index) > 0) return;
    // A chain longer than this is no catalogue of ours; it would only use up the stack.
    if (path_.size() >= 256) {
      mistakes.push_back("formulas read each other through more than 256 levels");
      done_[index] = true;
      return;
    }
    path_.push_back(index);
    for (const std::string& name : found->second.names()) {
      const auto target = by_name_.find(name);
      if (target == by_name_.end()) continue;
      const auto start = std::find(path_.begin(), path_.end(), target->second);
      if (start == path_.end()) {
        visit(target->second, mistakes);
      } else {
        std::string circle;
        for (auto at = start; at != path_.end(); ++at) circle.append(name_of(*at)).append(" -> ");
        mistakes.push_back(fmt::format("formulas read each other in a circle: {}{}", circle, name));
      }
    }
    path_.pop_back();
    done_[index] = true;
    order_.push_back(index);
  }

  std::string name_of(size_t index) const {
    for (const auto& [name, at] : by_name_) {
      if (at == index) return name;
    }
    return {};
  }

  const std::map<std::string, size_t, std::less<>>& by_name_;
  const std::map<size_t, Expression>& formulas_;
  std::map<size_t, bool> done_;
  std::vector<size_t> path_;
  std::vector<size_t> order_;
};

Error bad_catalogue(const std::vector<std::string>& mistakes, const std::string& source) {
  std::string message = join({mistakes.begin(), mistakes.begin() + std::min(kMistakesShown, mistakes.size())}, "; ");
  if (mistakes.size() > kMistakesShown)
    message += "; and " + std::to_string(mistakes.size() - kMistakesShown) + " more";
  return {"bad-catalogue", message, source, std::string("a catalogue with schema ") + kSchema};
}

}  // namespace

const Catalogue& Catalogue::built_in() {
  static const Catalogue catalogue = [] {
    auto parsed = parse(built_in_catalogue_json(), "catalogue.json");
    if (!parsed) {  // the unit tests parse this very text
      std::fprintf(stderr, "perfcast: built-in catalogue: %s\n", to_text(parsed.error()).c_str());
      std::abort();
    }
    return *std::move(parsed);
  }();
  return catalogue;
}

Result<Catalogue> Catalogue::parse(std::string_view json_text, const std::string& source) {
  const auto json = parse_json(json_text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  const Json* entries = in.require_array("metrics");
  if (const Status status = in.finish(); !status) return bad_catalogue({status.error().message}, source);
  if (schema != kSchema) {
    return Error{schema.starts_with("perfcast.metrics/") ? "future-version" : "bad-catalogue",
                 "found schema " + printable(schema.substr(0, 80)), source, std::string("schema ") + kSchema};
  }
  if (entries->size() > kMaximumMetrics) {
    return bad_catalogue({"found " + std::to_string(entries->size()) + " metrics"}, source);
  }

  Catalogue catalogue;
  std::vector<std::string> mistakes;
  std::map<size_t, Expression> formulas;
  for (const Json& entry : *entries) {
    const size_t index = catalogue.metrics_.size();
    const std::string path = fmt::format("{}.metrics[{}]", source, index);
    Metric metric = read_metric(entry, path, mistakes);
    if (!catalogue.by_name_.emplace(metric.name, index).second) {
      mistakes.push_back(fmt::format("{}.name: found {} again, expected each name once", path, metric.name));
    }
    for (const auto& [collector, event] : metric.sources) {
      const auto [other, is_new] = catalogue.by_event_.emplace(fmt::format("{}:{}", collector, event), metric.name);
      if (!is_new) {
        mistakes.push_back(
            fmt::format("{}.sources.{}: found {}, which is {} already", path, collector, event, other->second));
      }
    }
    if (!metric.formula.empty()) {
      auto formula = Expression::parse(metric.formula, path + ".formula", "metric",
                                       [](std::string_view) { return ExpressionType::kNumber; });
      if (formula) {
        formulas.emplace(index, *std::move(formula));
      } else {
        const Error& error = formula.error();
        mistakes.push_back(fmt::format("{}: {}, expected {}", error.where, error.message, error.expected));
      }
    }
    catalogue.metrics_.push_back(std::move(metric));
  }
  for (const auto& [index, formula] : formulas) {
    for (const std::string& name : formula.names()) {
      if (catalogue.by_name_.count(name) > 0) continue;
      // Near names are dear to find; those that are not shown get none.
      const std::string near = mistakes.size() < kMistakesShown ? nearest_names(name, catalogue.names()) : "";
      mistakes.push_back(
          fmt::format("{}.metrics[{}].formula: found {}, expected a metric, such as {}", source, index, name, near));
    }
  }
  for (const size_t index : DependencyOrder(catalogue.by_name_, formulas).order(mistakes)) {
    catalogue.formulas_.emplace_back(index, formulas.at(index));
  }
  if (!mistakes.empty()) return bad_catalogue(mistakes, source);
  return catalogue;
}

const Metric* Catalogue::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &metrics_[found->second];
}

std::vector<std::string> Catalogue::names() const {
  std::vector<std::string> names;
  names.reserve(metrics_.size());
  for (const Metric& metric : metrics_) names.push_back(metric.name);
  return names;
}

MetricValues Catalogue::derive(const MetricValues& counters) const {
  MetricValues values = counters;
  for (const auto& entry : formulas_) {  // clang 14 captures no structured binding
    const auto& formula = entry.second;
    const double value = formula.evaluate([&](size_t i) -> ExpressionValue {
      const auto found = values.find(formula.names()[i]);
      return {found == values.end() ? kUnknown : found->second, {}};
    });
    if (!std::isnan(value)) values[metrics_[entry.first].name] = value;
  }
  return values;
}

const std::string* Catalogue::metric_of(std::string_view collector, std::string_view event) const {
  const auto found = by_event_.find(std::string(collector) + ":" + std::string(event));
  return found == by_event_.end() ? nullptr : &found->second;
}

}  // namespace perfcast
