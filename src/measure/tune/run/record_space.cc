#include <fmt/format.h>

#include <chrono>
#include <numeric>

#include "base/csv.h"
#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "measure/tune/run/tuner.h"

namespace perfcast::measure {
namespace {

struct Rounds {
  std::vector<double> costs;
  bool failed = false;
};

std::string csv_of(const TuneSpace& space, const std::vector<Setting>& settings, const std::vector<Rounds>& rounds) {
  std::vector<std::string> cells;
  for (const Knob& knob : space.knobs()) cells.push_back(knob.name);
  cells.insert(cells.end(), {"time_s", "valid"});
  std::string text = csv_line(cells);
  for (size_t i = 0; i < settings.size(); ++i) {
    if (rounds[i].costs.empty() && !rounds[i].failed) continue;  // not measured yet
    cells.clear();
    for (size_t knob = 0; knob < space.knobs().size(); ++knob) {
      const KnobValue* value = space.value_of(settings[i], knob);
      cells.push_back(value == nullptr ? "" : value->text);
    }
    const bool valid = !rounds[i].failed && !rounds[i].costs.empty();
    cells.push_back(valid ? fmt::format("{:.4g}", median(rounds[i].costs)) : "");
    cells.emplace_back(valid ? "1" : "0");
    text += csv_line(cells);
  }
  return text;
}

}  // namespace

Result<RecordedRounds> record_space(const TuneRequest& request) {
  const TuneSpace& space = request.file->space;
  if (request.file->objective.maximise)
    return usage_error("bad-usage", "what is maximised is no time", "--record", "an objective that is minimised");
  auto points = space.list(kMostListedPoints, kMostListSteps);
  if (!points.complete) {
    return usage_error("large-space", fmt::format("the space has more than {} settings", kMostListedPoints), "--record",
                       "knobs with fewer values, or more constraints");
  }
  auto runner = TrialRunner::create(*request.file, request.command);
  if (!runner) return runner.error();
  runner->set_around(request.around);
  std::vector<Setting>& settings = points.settings;
  const auto standard = std::find(settings.begin(), settings.end(), space.default_setting());
  std::rotate(settings.begin(), standard, standard + 1);
  const auto began = std::chrono::steady_clock::now();
  const auto spent_s = [&began] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  Random random(request.seed);
  std::vector<Rounds> rounds(settings.size());
  RecordedRounds result;
  result.points = settings.size();
  runner->set_limit(request.limit_s);
  for (int round = 0; round < request.repeats && !result.interrupted; ++round) {
    std::vector<size_t> order(settings.size());
    std::iota(order.begin(), order.end(), size_t{0});
    random.shuffle(order);
    if (round == 0)
      std::swap(*std::find(order.begin(), order.end(), 0), order.front());  // the default says what is usual
    for (size_t done = 0; done < order.size(); ++done) {
      const size_t i = order[done];
      if (rounds[i].failed) continue;
      if (request.progress)
        request.progress(
            fmt::format("round {} of {}: {} of {} settings", round + 1, request.repeats, done, order.size()));
      const auto run = runner->run(settings[i]);
      if (!run) {
        if (run.error().kind != ErrorKind::kInterrupted) return run.error();
        result.interrupted = true;
        break;
      }
      if (request.record) {
        if (Status written = request.record({round == 0 ? RunPurpose::kSearch : RunPurpose::kAgain, settings[i], *run});
            !written)
          return written.error();
      }
      if (run->state == TrialState::kDone) {
        rounds[i].costs.push_back(run->value);
        if (i == 0 && round == 0 && request.limit_s <= 0) runner->set_limit(usual_limit_s(run->wall_s));
      } else if (i == 0) {
        return Error{"default-failed",
                     fmt::format("with the default setting, {}: {}", printable(space.text_of(settings[0])), run->why),
                     request.source, "a command that runs with the default of each knob"};
      } else {
        rounds[i].failed = true;
      }
    }
    if (!result.interrupted) ++result.rounds;
    // Hours of runs are not to hang on what comes later.
    if (request.save) {
      if (Status saved = request.save(csv_of(space, settings, rounds)); !saved) return saved.error();
    }
  }
  for (const Rounds& of : rounds) result.invalid += of.failed ? 1 : 0;
  result.csv = csv_of(space, settings, rounds);
  result.spent_s = spent_s();
  return result;
}

}  // namespace perfcast::measure
