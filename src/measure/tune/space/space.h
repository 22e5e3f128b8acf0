#pragma once
// What may be set: knobs with finitely many values each, and what must hold between them. A setting is a level of each
// knob; knobs whose condition doesn't hold are not in play.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/expression.h"
#include "base/random.h"
#include "base/result.h"

namespace perfcast::measure {

enum class KnobKind {
  kParameter,    // stands for {name} in commands
  kEnvironment,  // a variable of the program's environment
  kThreads,      // {name} in commands, and the variables that runtimes read their number of threads from
  kFlag,         // a word of the command, or none
};
std::string name_of(KnobKind kind);

struct KnobValue {
  std::string text;              // as commands and logs have it
  std::optional<double> number;  // where it is one; true and false are 1 and 0
};

struct Knob {
  std::string name;
  KnobKind kind = KnobKind::kParameter;
  std::vector<KnobValue> values;  // all different; ordered where all are numbers
  int16_t default_level = 0;
  std::optional<Expression> when;  // in play only where it holds
  std::string flag;                // kFlag: the word of the value true; empty: values are words themselves

  bool is_numeric() const;  // all values are numbers
  // nullopt: no such value.
  std::optional<int16_t> level_of(const std::string& text) const;
};

inline constexpr int16_t kNotInPlay = -1;
using Setting = std::vector<int16_t>;  // one level for each knob, or kNotInPlay

// Where listing all points would have to stop.
inline constexpr size_t kMostListedPoints = 50000;
inline constexpr size_t kMostListSteps = 3'000'000;  // of the search for them

class TuneSpace {
 public:
  TuneSpace() = default;
  // Conditions name knobs of the list, and none hangs on itself: of who made it (space_file.cc sees to that).
  TuneSpace(std::vector<Knob> knobs, std::vector<Expression> constraints);

  const std::vector<Knob>& knobs() const { return knobs_; }
  const std::vector<Expression>& constraints() const { return constraints_; }
  double grid_points() const;  // without constraints and conditions

  // Sets what is not in play to kNotInPlay, and what is in play and was not to the default.
  void settle(Setting& setting) const;
  Setting default_setting() const;
  // Of a settled setting: the first constraint that doesn't hold; null: all do. One that names a knob which is not in
  // play holds.
  const Expression* broken_constraint(const Setting& setting) const;

  struct Points {
    std::vector<Setting> settings;
    bool complete = false;  // these are all
  };
  // All allowed points in the order of the knobs, at most so many, in at most `most_steps` steps; with constraints left
  // out where `skip` says so.
  Points list(size_t most_points, size_t most_steps, const std::vector<bool>& skip = {}) const;
  // One at random; nullopt where none was found in reasonable time. Not uniform where constraints leave little.
  std::optional<Setting> draw(Random& random) const;
  // Allowed settings that differ in one knob that is in play (and in what depends on it).
  std::vector<Setting> neighbours(const Setting& setting) const;

  // Error "empty-space" (kInfeasible) where no point is allowed, with the constraints that contradict each other;
  // "constrained-space" where none was found and that can't be told.
  Status check_has_points() const;

  // {"bm": 64, ...} as text: "bm=64 bn=32"; what is not in play is left out.
  std::string text_of(const Setting& setting) const;
  const KnobValue* value_of(const Setting& setting, size_t knob) const;  // null: not in play

 private:
  class Walk;
  bool is_in_play(const Setting& setting, size_t knob) const;
  bool holds(const Expression& expression, const std::vector<size_t>& names, const Setting& setting,
             bool where_not_in_play) const;
  std::vector<size_t> places_of(const Expression& expression) const;
  void order_knobs();

  std::vector<Knob> knobs_;
  std::vector<Expression> constraints_;
  std::vector<std::vector<size_t>> when_names_;  // of each knob's condition: the knobs it names
  std::vector<std::vector<size_t>> constraint_names_;
  std::vector<size_t> order_;                           // each knob after those that its condition names
  std::vector<std::vector<size_t>> constraints_after_;  // by place in order_: those whose last knob stands there
};

}  // namespace perfcast::measure
