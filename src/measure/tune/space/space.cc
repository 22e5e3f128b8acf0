#include "measure/tune/space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostSteps = 5'000'000;  // of a search that must end
constexpr size_t kStepsOfADraw = 20'000;
constexpr int kPlainDraws = 200;

}  // namespace

std::string name_of(KnobKind kind) {
  switch (kind) {
    case KnobKind::kParameter:
      return "parameter";
    case KnobKind::kEnvironment:
      return "environment";
    case KnobKind::kThreads:
      return "threads";
    case KnobKind::kFlag:
      break;
  }
  return "flag";
}

bool Knob::is_numeric() const {
  return std::all_of(values.begin(), values.end(), [](const KnobValue& value) { return value.number.has_value(); });
}

std::optional<int16_t> Knob::level_of(const std::string& text) const {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].text == text) return static_cast<int16_t>(i);
  }
  return std::nullopt;
}

// Goes through the settings depth first, in a given order of levels, and turns back where a constraint breaks.
class TuneSpace::Walk {
 public:
  Walk(const TuneSpace& space, const std::vector<bool>& skip, size_t most_steps, Random* random)
      : space_(space),
        skip_(skip),
        steps_left_(most_steps),
        random_(random),
        setting_(space.knobs_.size(), kNotInPlay) {}

  // Whether it came to its end. `take` says whether to go on.
  bool run(const std::function<bool(const Setting&)>& take) {
    take_ = &take;
    return descend(0);
  }

 private:
  bool descend(size_t place) {
    if (place == space_.order_.size()) return (*take_)(setting_);
    const size_t knob = space_.order_[place];
    if (!space_.is_in_play(setting_, knob)) return visit(place, knob, kNotInPlay);
    std::vector<int16_t> levels(space_.knobs_[knob].values.size());
    std::iota(levels.begin(), levels.end(), int16_t{0});
    if (random_ != nullptr) random_->shuffle(levels);
    for (const int16_t level : levels) {
      if (!visit(place, knob, level)) return false;
    }
    setting_[knob] = kNotInPlay;
    return true;
  }
  bool visit(size_t place, size_t knob, int16_t level) {
    if (steps_left_ == 0) return false;
    --steps_left_;
    setting_[knob] = level;
    for (const size_t constraint : space_.constraints_after_[place]) {
      if (constraint < skip_.size() && skip_[constraint]) continue;
      if (!space_.holds(space_.constraints_[constraint], space_.constraint_names_[constraint], setting_, true))
        return true;
    }
    return descend(place + 1);
  }

  const TuneSpace& space_;
  const std::vector<bool>& skip_;
  size_t steps_left_;
  Random* random_;
  Setting setting_;
  const std::function<bool(const Setting&)>* take_ = nullptr;
};

TuneSpace::TuneSpace(std::vector<Knob> knobs, std::vector<Expression> constraints)
    : knobs_(std::move(knobs)), constraints_(std::move(constraints)) {
  for (const Knob& knob : knobs_) when_names_.push_back(knob.when ? places_of(*knob.when) : std::vector<size_t>{});
  for (const Expression& constraint : constraints_) constraint_names_.push_back(places_of(constraint));
  order_knobs();
  std::vector<size_t> place_of(knobs_.size());
  for (size_t place = 0; place < order_.size(); ++place) place_of[order_[place]] = place;
  constraints_after_.resize(std::max<size_t>(order_.size(), 1));
  for (size_t i = 0; i < constraints_.size(); ++i) {
    size_t last = 0;
    for (const size_t knob : constraint_names_[i]) last = std::max(last, place_of[knob]);
    constraints_after_[last].push_back(i);
  }
}

std::vector<size_t> TuneSpace::places_of(const Expression& expression) const {
  std::vector<size_t> places;
  for (const std::string& name : expression.names()) {
    const auto found =
        std::find_if(knobs_.begin(), knobs_.end(), [&name](const Knob& knob) { return knob.name == name; });
    places.push_back(static_cast<size_t>(found - knobs_.begin()));
  }
  return places;
}

void TuneSpace::order_knobs() {
  std::vector<bool> placed(knobs_.size(), false);
  while (order_.size() < knobs_.size()) {
    const size_t before = order_.size();
    for (size_t knob = 0; knob < knobs_.size(); ++knob) {
      if (placed[knob]) continue;
      const auto& names = when_names_[knob];
      if (!std::all_of(names.begin(), names.end(), [&placed](size_t name) { return placed[name]; })) continue;
      placed[knob] = true;
      order_.push_back(knob);
    }
    if (order_.size() == before) return;  // hangs on itself: excluded by the contract
  }
}

double TuneSpace::grid_points() const {
  double points = 1;
  for (const Knob& knob : knobs_) points *= static_cast<double>(knob.values.size());
  return points;
}

bool TuneSpace::holds(const Expression& expression, const std::vector<size_t>& names, const Setting& setting,
                      bool where_not_in_play) const {
  for (const size_t knob : names) {
    if (setting[knob] == kNotInPlay) return where_not_in_play;
  }
  return expression.holds([&](size_t i) {
    const KnobValue& value = knobs_[names[i]].values[static_cast<size_t>(setting[names[i]])];
    return ExpressionValue{value.number.value_or(0), value.text};
  });
}

bool TuneSpace::is_in_play(const Setting& setting, size_t knob) const {
  return !knobs_[knob].when || holds(*knobs_[knob].when, when_names_[knob], setting, false);
}

void TuneSpace::settle(Setting& setting) const {
  for (const size_t knob : order_) {
    if (!is_in_play(setting, knob)) {
      setting[knob] = kNotInPlay;
    } else if (setting[knob] == kNotInPlay) {
      setting[knob] = knobs_[knob].default_level;
    }
  }
}

Setting TuneSpace::default_setting() const {
  Setting setting(knobs_.size(), kNotInPlay);
  settle(setting);
  return setting;
}

const Expression* TuneSpace::broken_constraint(const Setting& setting) const {
  for (size_t i = 0; i < constraints_.size(); ++i) {
    if (!holds(constraints_[i], constraint_names_[i], setting, true)) return &constraints_[i];
  }
  return nullptr;
}

TuneSpace::Points TuneSpace::list(size_t most_points, size_t most_steps, const std::vector<bool>& skip) const {
  Points points;
  bool full = false;
  points.complete = Walk(*this, skip, most_steps, nullptr).run([&](const Setting& setting) {
    full = points.settings.size() >= most_points;
    if (!full) points.settings.push_back(setting);
    return !full;
  });
  return points;
}

std::optional<Setting> TuneSpace::draw(Random& random) const {
  // Uniform on the grid first, which most constraints leave enough of; else depth first in random order.
  for (int attempt = 0; attempt < kPlainDraws; ++attempt) {
    Setting setting(knobs_.size());
    for (size_t knob = 0; knob < knobs_.size(); ++knob)
      setting[knob] = static_cast<int16_t>(random.below(knobs_[knob].values.size()));
    settle(setting);
    if (broken_constraint(setting) == nullptr) return setting;
  }
  std::optional<Setting> found;
  for (int attempt = 0; attempt < 20 && !found; ++attempt) {
    Walk(*this, {}, kStepsOfADraw, &random).run([&found](const Setting& setting) {
      found = setting;
      return false;
    });
  }
  return found;
}

std::vector<Setting> TuneSpace::neighbours(const Setting& setting) const {
  std::vector<Setting> result;
  for (size_t knob = 0; knob < knobs_.size(); ++knob) {
    if (setting[knob] == kNotInPlay) continue;
    for (size_t level = 0; level < knobs_[knob].values.size(); ++level) {
      if (static_cast<int16_t>(level) == setting[knob]) continue;
      Setting near = setting;
      near[knob] = static_cast<int16_t>(level);
      settle(near);
      if (broken_constraint(near) == nullptr) result.push_back(std::move(near));
    }
  }
  return result;
}

Status TuneSpace::check_has_points() const {
  const Points first = list(1, kMostSteps);
  if (!first.settings.empty()) return {};
  if (!first.complete) {
    Random random(1);
    if (draw(random)) return {};
    return infeasible_error(
        "constrained-space",
        fmt::format("no setting of the {:.3g} of the grid was found that all constraints allow, and "
                    "trying them all would take too long",
                    grid_points()),
        "constraints", "constraints that leave more, or knobs with fewer values");
  }
  // Leave out what isn't needed for the contradiction; what is left contradicts each other.
  std::vector<bool> skip(constraints_.size(), false);
  for (size_t i = 0; i < constraints_.size(); ++i) {
    skip[i] = true;
    const Points without = list(1, kMostSteps, skip);
    skip[i] = without.settings.empty() && without.complete;
  }
  std::vector<std::string> guilty;
  for (size_t i = 0; i < constraints_.size(); ++i) {
    if (!skip[i]) guilty.push_back("'" + printable(constraints_[i].text()) + "'");
  }
  return infeasible_error("empty-space",
                          guilty.size() == 1
                              ? fmt::format("no setting meets the constraint {}", guilty[0])
                              : fmt::format("no setting meets these constraints together: {}", join(guilty, ", ")),
                          "constraints", "constraints that at least two settings meet");
}

const KnobValue* TuneSpace::value_of(const Setting& setting, size_t knob) const {
  return setting[knob] == kNotInPlay ? nullptr : &knobs_[knob].values[static_cast<size_t>(setting[knob])];
}

std::string TuneSpace::text_of(const Setting& setting) const {
  std::vector<std::string> parts;
  for (size_t knob = 0; knob < knobs_.size(); ++knob) {
    const KnobValue* value = value_of(setting, knob);
    if (value != nullptr) parts.push_back(knobs_[knob].name + "=" + (value->text.empty() ? "''" : value->text));
  }
  return join(parts, " ");
}

}  // namespace perfcast::measure
