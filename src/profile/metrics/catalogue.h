#pragma once
// The catalogue: every counter and derived metric, once. profile/metrics/catalogue.json is the only place that names
// them; it is compiled into the binary, and `tools/docs` makes docs/metrics.md from it.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/expression.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast {

// Values by catalogue name. A metric that could not be read is absent, never 0.
using MetricValues = std::map<std::string, double, std::less<>>;

struct Metric {
  std::string name;         // ends in its unit: _count, _bytes, _s, _ratio, _joules, _per_s
  std::string unit;         // "1" for counts and ratios, "byte", "s", "J", "1/s", "byte/s"
  std::string kind;         // "counter" (measured) or "derived" (by `formula`)
  std::string group;        // "work", "mix", "memory", "branch", "latency", "system", "time", "gpu", ...
  std::string description;  // one line
  std::string formula;      // derived only; base/expression.h has the language
  std::string table1;       // its name in Table I of Nichols, Yeom, Bhatele; empty for others
  bool gpu_only = false;    // absent on CPU profiles
  bool imported = false;    // only importers of other tools' output give it, none of our collectors
  bool of_kernel = false;   // of a launch of an OpenCL kernel: in ProfileKernel, never in a program's metrics
  std::map<std::string, std::string> sources;  // collector -> event it is read from
};

class Catalogue {
 public:
  static const Catalogue& built_in();
  // Error "bad-catalogue" lists every mistake: names that don't end in their unit, formulas that don't parse, name
  // unknown metrics or read each other in a circle, two metrics for one event of a collector.
  static Result<Catalogue> parse(std::string_view json_text, const std::string& source);

  const std::vector<Metric>& metrics() const { return metrics_; }
  const Metric* find(std::string_view name) const;

  std::vector<std::string> names() const;

  // Counters in, counters and every derived metric that can be computed out. A formula with an absent operand or a
  // zero divisor gives no value; a derived metric that is given but can't be computed is kept.
  MetricValues derive(const MetricValues& counters) const;

  // What collector `collector` calls `event` -> metric name; for mapping raw tool output.
  const std::string* metric_of(std::string_view collector, std::string_view event) const;

 private:
  std::vector<Metric> metrics_;
  std::map<std::string, size_t, std::less<>> by_name_;
  std::map<std::string, std::string, std::less<>> by_event_;  // "collector:event" -> name
  std::vector<std::pair<size_t, Expression>> formulas_;       // index into metrics_; each after those it reads
};

// docs/metrics.md
std::string catalogue_as_markdown(const Catalogue& catalogue);

}  // namespace perfcast
