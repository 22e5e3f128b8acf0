#include "program/map/corpus_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/unknown.h"
#include "program/corpus/splits.h"
#include "program/evaluate/noise_floor.h"
#include "program/explain/attribution.h"
#include "program/map/clusters.h"
#include "program/map/embedding.h"
#include "program/map/program_space.h"
#include "program/map/subset_choice.h"
#include "program/map/subset_evaluation.h"
#include "program/map/subset_forecasts.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"
#include "program/model/predictor.h"

namespace perfcast::program {
namespace {

constexpr size_t kMarks = 3, kNearest = 3, kLonely = 5, kUnprofiledListed = 5;
constexpr double kLeastMark = 0.7;  // standard deviations: less marks nothing
constexpr int64_t kMostFittedSteps = 60;

std::vector<const Profile*> profiles_in(const std::vector<NamedProfile>& named) {
  std::vector<const Profile*> profiles;
  profiles.reserve(named.size());
  for (const NamedProfile& one : named) profiles.push_back(&one.profile);
  return profiles;
}

// What is farthest from the mean of all programs in rows about that mean.
std::vector<FeatureMark> marks_of(const Eigen::RowVectorXd& deviations, const std::vector<std::string>& names) {
  std::vector<FeatureMark> marks;
  for (Eigen::Index c = 0; c < deviations.size(); ++c) {
    if (!(std::abs(deviations(c)) >= kLeastMark)) continue;
    const std::string& name = names[static_cast<size_t>(c)];
    marks.push_back({name, describe_feature(name), deviations(c)});
  }
  std::stable_sort(marks.begin(), marks.end(), [](const FeatureMark& a, const FeatureMark& b) {
    return std::abs(a.deviations) > std::abs(b.deviations);
  });
  if (marks.size() > kMarks) marks.resize(kMarks);
  return marks;
}

// [F] mean over rows where known; NaN where none is.
Eigen::RowVectorXd mean_of_known(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights) {
  Eigen::RowVectorXd result(rows.cols());
  for (Eigen::Index c = 0; c < rows.cols(); ++c) {
    double sum = 0, total = 0;
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      if (std::isnan(rows(r, c))) continue;
      sum += weights(r) * rows(r, c);
      total += weights(r);
    }
    result(c) = total > 0 ? sum / total : kUnknown;
  }
  return result;
}

// Mean over programs, each family weighing the same, of the mean absolute difference on platforms where both are
// known, rows relative to their mean there.
std::optional<double> mean_difference(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                      const Eigen::VectorXd& weights) {
  double sum = 0, total = 0;
  for (Eigen::Index p = 0; p < a.rows(); ++p) {
    std::vector<double> differences;
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      const double difference = a(p, j) - b(p, j);
      if (!std::isnan(difference)) differences.push_back(difference);
    }
    if (differences.empty()) continue;
    const double count = static_cast<double>(differences.size());
    const double middle = std::accumulate(differences.begin(), differences.end(), 0.0) / count;
    double distance = 0;
    for (const double difference : differences) distance += std::abs(difference - middle) / count;
    sum += weights(p) * distance;
    total += weights(p);
  }
  if (!(total > 0)) return std::nullopt;
  return sum / total;
}

class MapMaker {
 public:
  explicit MapMaker(const MapRequest& request)
      : request_(request),
        table_(request.table),
        programs_(static_cast<int64_t>(table_.programs.size())),
        timed_(!table_.platforms.empty()) {}

  Result<CorpusMap> make() {
    if (Status status = check(); !status) return status.error();
    say("comparing profiles");
    space_ = make_program_space(table_.programs, profiles_of(table_), table_.inputs);
    distances_ = profile_distances(space_.rows, space_.rows);
    if (timed_) {
      // Rows of which platforms lack: relative to what they would have been over all of them.
      const auto targets = make_targets(table_);
      if (!targets) return targets.error();
      log_rpv_ = (targets->present.array() > 0).select(targets->log_rpv.array(), kUnknown);
      time_distances_ = time_distances(log_times(table_));
    }
    describe();
    list_programs();
    make_clusters();
    find_redundant();
    rank();
    if (Status status = measure_drops(); !status) return status.error();
    find_lonely();
    map_.profiles = placed(request_.profiles);
    map_.candidates = placed(request_.candidates);
    find_gains();
    draw();
    return std::move(map_);
  }

 private:
  void say(const std::string& text) const {
    if (request_.progress) request_.progress(text);
  }
  const Program& program(int64_t row) const { return table_.programs[static_cast<size_t>(row)]; }

  Status check() {
    if (programs_ < 3) {
      return Error{"empty-corpus", fmt::format("{} programs with profiles: too few for a map", programs_), "",
                   "three or more: perfcast collect, or perfcast import profiles"};
    }
    if (request_.by_times && !timed_) {
      return usage_error("bad-usage", "the corpus has no times of these programs", "--by",
                         "profiles, or a corpus with times");
    }
    if (request_.keep && (*request_.keep < 1 || *request_.keep > programs_)) {
      return usage_error("bad-usage", fmt::format("{} of {} programs can't be kept", *request_.keep, programs_),
                         "--keep", fmt::format("1 to {}, or a share such as 50%", programs_));
    }
    if (request_.clusters < 0 || request_.clusters > programs_) {
      return usage_error("bad-usage", fmt::format("{} programs can't be in {} clusters", programs_, request_.clusters),
                         "--clusters", fmt::format("1 to {}; 0: chosen", programs_));
    }
    if (auto known = make_predictor(request_.model); !known) {
      return usage_error("bad-usage", known.error().message, "--model", known.error().expected);
    }
    return {};
  }

  void describe() {
    map_.families = *std::max_element(space_.family.begin(), space_.family.end()) + 1;
    map_.platforms = static_cast<int64_t>(table_.platforms.size());
    map_.inputs = space_.rows.cols();
    map_.usual_distance = space_.usual_distance;
    map_.redundant_distance = request_.redundant_distance;
    map_.by_times = request_.by_times;
    map_.model = request_.model;
  }

  void list_programs() {
    for (int64_t p = 0; p < programs_; ++p) {
      MappedProgram mapped{program(p).id, program(p).family, program(p).group, 0, true, {}, {}, {}};
      for (int64_t q = 0; q < programs_; ++q) {
        if (q == p || std::isnan(distances_(p, q))) continue;
        const auto take = [&](std::optional<NearProgram>& nearest) {
          if (!nearest || distances_(p, q) < nearest->distance) nearest = NearProgram{program(q).id, distances_(p, q)};
        };
        take(mapped.nearest);
        if (program(q).family != program(p).family) take(mapped.nearest_other_family);
      }
      map_.programs.push_back(std::move(mapped));
    }
  }

  void make_clusters() {
    say("looking for clusters");
    const Eigen::MatrixXd& distances = request_.by_times ? time_distances_ : distances_;
    clustering_ = request_.clusters > 0 ? cluster_programs(distances, space_.weights, request_.clusters)
                                        : cluster_programs(distances, space_.weights);
    map_.silhouette = clustering_.silhouette;
    const Eigen::RowVectorXd middle = mean_of_known(space_.rows, space_.weights);
    const Eigen::RowVectorXd usual = timed_ ? mean_of_known(log_rpv_, space_.weights) : Eigen::RowVectorXd();
    for (size_t c = 0; c < clustering_.medoids.size(); ++c) {
      const int64_t medoid = clustering_.medoids[c];
      std::vector<int64_t> rows;
      for (int64_t p = 0; p < programs_; ++p) {
        if (clustering_.cluster[static_cast<size_t>(p)] != static_cast<int64_t>(c)) continue;
        rows.push_back(p);
        map_.programs[static_cast<size_t>(p)].cluster = static_cast<int64_t>(c);
      }
      std::stable_sort(rows.begin(), rows.end(), [&](int64_t a, int64_t b) {
        if (a == medoid || b == medoid) return a == medoid && b != medoid;
        return distances(medoid, a) < distances(medoid, b);
      });
      MapCluster cluster;
      cluster.medoid = program(medoid).id;
      for (const int64_t p : rows) cluster.members.push_back(program(p).id);
      const Eigen::VectorXd weights = space_.weights(rows);
      cluster.marks = marks_of(mean_of_known(space_.rows(rows, Eigen::all), weights) - middle, space_.inputs.names());
      if (timed_) mark_platforms(rows, usual, cluster);
      map_.clusters.push_back(std::move(cluster));
    }
  }

  // Platforms on which at least half of the cluster was timed.
  void mark_platforms(const std::vector<int64_t>& rows, const Eigen::RowVectorXd& usual, MapCluster& cluster) const {
    const Eigen::RowVectorXd here = mean_of_known(log_rpv_(rows, Eigen::all), space_.weights(rows));
    Eigen::Index fast = -1, slow = -1;
    for (Eigen::Index j = 0; j < usual.size(); ++j) {
      const auto timed =
          std::count_if(rows.begin(), rows.end(), [&](int64_t p) { return std::isfinite(log_rpv_(p, j)); });
      const double difference = here(j) - usual(j);
      if (std::isnan(difference) || 2 * timed < static_cast<std::ptrdiff_t>(rows.size())) continue;
      if (fast < 0 || difference < here(fast) - usual(fast)) fast = j;
      if (slow < 0 || difference > here(slow) - usual(slow)) slow = j;
    }
    const auto add = [&](Eigen::Index j, std::vector<PlatformMark>& marks) {
      if (j >= 0) marks.push_back({table_.platforms[static_cast<size_t>(j)].name, std::exp(here(j) - usual(j))});
    };
    add(fast, cluster.fastest);
    add(slow, cluster.slowest);
  }

  void find_redundant() {
    double count = 0, sums[5] = {0, 0, 0, 0, 0};
    for (int64_t p = 0; p < programs_; ++p) {
      for (int64_t q = p + 1; q < programs_; ++q) {
        const double distance = distances_(p, q);
        const double times = timed_ ? time_distances_(p, q) : kUnknown;
        if (distance < request_.redundant_distance) {
          map_.redundant.push_back({program(p).id, program(q).id, distance, if_known(times)});
        }
        if (program(p).family == program(q).family || std::isnan(distance) || std::isnan(times)) continue;
        const double terms[5] = {distance, times, distance * distance, times * times, distance * times};
        for (int k = 0; k < 5; ++k) sums[k] += terms[k];
        ++count;
      }
    }
    std::stable_sort(map_.redundant.begin(), map_.redundant.end(),
                     [](const RedundantPair& a, const RedundantPair& b) { return a.distance < b.distance; });
    const double product = (count * sums[2] - sums[0] * sums[0]) * (count * sums[3] - sums[1] * sums[1]);
    if (count >= 3 && product > 0) {
      map_.distance_correlation = (count * sums[4] - sums[0] * sums[1]) / std::sqrt(product);
    }
  }

  void rank() {
    say("ranking programs");
    ranking_ = rank_programs(space_, SubsetRule::kVariance, request_.seed, timed_entries(table_));
    kept_ = request_.keep ? *request_.keep : kept_count(request_.keep_ratio, programs_);
    map_.coverage = ranking_.coverage.back();
    for (int64_t i = 0; i < kept_; ++i) map_.kept.push_back(program(ranking_.order[static_cast<size_t>(i)]).id);
    for (int64_t i = programs_; i-- > kept_;) {
      const int64_t row = ranking_.order[static_cast<size_t>(i)];
      map_.programs[static_cast<size_t>(row)].kept = false;
      DropStep step;
      step.program = program(row).id;
      step.family = program(row).family;
      step.left = i;
      step.coverage = i > 0 ? ranking_.coverage[static_cast<size_t>(i) - 1] : 0;
      step.distance = std::numeric_limits<double>::infinity();
      for (int64_t k = 0; k < kept_; ++k) {
        const int64_t other = ranking_.order[static_cast<size_t>(k)];
        if (!(distances_(row, other) < step.distance)) continue;
        step.distance = distances_(row, other);
        step.stands_in = program(other).id;
      }
      map_.drops.push_back(std::move(step));
    }
  }

  // Steps whose cost is measured: all, or as many in even distances, the last always.
  std::vector<size_t> fitted_steps() const {
    const auto steps = static_cast<int64_t>(map_.drops.size());
    const int64_t fitted = std::min(steps, kMostFittedSteps);
    std::vector<size_t> result;
    for (int64_t i = 1; i <= fitted; ++i) result.push_back(static_cast<size_t>(i * steps / fitted - 1));
    return result;
  }

  // Rows of the fold's that are among the first `left` of the ranking.
  std::vector<size_t> left_in(const Fold& fold, int64_t left) const {
    const std::set<int64_t> kept(ranking_.order.begin(), ranking_.order.begin() + left);
    std::vector<size_t> rows;
    std::copy_if(fold.train_programs.begin(), fold.train_programs.end(), std::back_inserter(rows),
                 [&](size_t row) { return kept.contains(static_cast<int64_t>(row)); });
    return rows;
  }

  Status measure_drops() {
    const std::vector<Fold> folds = make_folds(table_, Split::kProgramFamily, request_.folds, request_.seed);
    if (!timed_ || folds.empty()) return {};
    std::vector<size_t> steps;
    std::vector<RowChoice> choices = {[&](size_t f) { return left_in(folds[f], programs_); }};
    for (const size_t step : fitted_steps()) {
      const int64_t left = map_.drops[step].left;
      // Nothing left to fit on in some fold: no cost is known.
      if (std::any_of(folds.begin(), folds.end(), [&](const Fold& fold) { return left_in(fold, left).size() < 2; })) {
        continue;
      }
      steps.push_back(step);
      choices.emplace_back([this, &folds, left](size_t f) { return left_in(folds[f], left); });
    }
    const std::vector<SubsetFitOptions> fits(choices.size(), {request_.model, request_.seed, 10});
    const auto forecasts = forecast_left_out(table_, folds, choices, fits, request_.threads, request_.progress);
    if (!forecasts) return forecasts.error();
    map_.error_log = mean_difference(forecasts->front(), log_rpv_, space_.weights);
    for (size_t i = 0; i < steps.size(); ++i) {
      const Eigen::MatrixXd& forecast = (*forecasts)[i + 1];
      map_.drops[steps[i]].change_log = mean_difference(forecast, forecasts->front(), space_.weights);
      map_.drops[steps[i]].error_log = mean_difference(forecast, log_rpv_, space_.weights);
    }
    return {};
  }

  void find_lonely() {
    std::map<std::string, NearProgram> by_family;
    for (const MappedProgram& mapped : map_.programs) {
      if (!mapped.nearest_other_family) continue;
      const double distance = mapped.nearest_other_family->distance;
      const auto [entry, is_new] = by_family.try_emplace(mapped.family, NearProgram{mapped.id, distance});
      if (!is_new && distance > entry->second.distance) entry->second = {mapped.id, distance};
    }
    for (auto& [family, near] : by_family) map_.lonely.push_back(std::move(near));
    std::stable_sort(map_.lonely.begin(), map_.lonely.end(),
                     [](const NearProgram& a, const NearProgram& b) { return a.distance > b.distance; });
    if (map_.lonely.size() > kLonely) map_.lonely.resize(kLonely);
  }

  std::vector<NearProgram> nearest_to(const Eigen::RowVectorXd& point) const {
    const Eigen::RowVectorXd distances = profile_distances(point, space_.rows);
    std::vector<NearProgram> near;
    for (int64_t p = 0; p < programs_; ++p) {
      if (!std::isnan(distances(p))) near.push_back({program(p).id, distances(p)});
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const NearProgram& a, const NearProgram& b) { return a.distance < b.distance; });
    if (near.size() > kNearest) near.resize(kNearest);
    return near;
  }

  std::vector<int64_t> all_programs() const {
    std::vector<int64_t> rows(static_cast<size_t>(programs_));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }

  std::vector<PlacedProfile> placed(const std::vector<NamedProfile>& named) const {
    std::vector<PlacedProfile> result;
    if (named.empty()) return result;
    const Eigen::MatrixXd points = space_.place(profiles_in(named));
    const Eigen::VectorXd known = known_shares(space_, all_programs(), points);
    const Eigen::RowVectorXd middle = mean_of_known(space_.rows, space_.weights);
    for (size_t i = 0; i < named.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      PlacedProfile one;
      one.name = named[i].name;
      one.nearest = nearest_to(points.row(row));
      one.coverage = known(row);
      one.covered = !one.nearest.empty() && one.nearest.front().distance <= space_.usual_distance;
      if (!one.covered) one.marks = marks_of(points.row(row) - middle, space_.inputs.names());
      one.cluster = cluster_near(points.row(row));
      result.push_back(std::move(one));
    }
    return result;
  }

  // By its nearest program where clusters are of times, else by the nearest medoid.
  int64_t cluster_near(const Eigen::RowVectorXd& point) const {
    const Eigen::RowVectorXd distances = profile_distances(point, space_.rows);
    int64_t cluster = 0;
    double least = std::numeric_limits<double>::infinity();
    for (int64_t p = 0; p < programs_; ++p) {
      const int64_t of = clustering_.cluster[static_cast<size_t>(p)];
      if (!request_.by_times && clustering_.medoids[static_cast<size_t>(of)] != p) continue;
      if (!(distances(p) < least)) continue;
      least = distances(p);
      cluster = of;
    }
    return cluster;
  }

  void find_gains() {
    std::vector<NamedProfile> named = request_.candidates;
    named.insert(named.end(), request_.untimed.begin(), request_.untimed.end());
    if (!named.empty()) {
      const Eigen::MatrixXd points = space_.place(profiles_in(named));
      const Eigen::VectorXd gains = coverage_gains(space_, all_programs(), points);
      for (size_t i = 0; i < named.size(); ++i) {
        const auto row = static_cast<Eigen::Index>(i);
        const std::vector<NearProgram> near = nearest_to(points.row(row));
        map_.gains.push_back({named[i].name, i < request_.candidates.size() ? "candidate" : "not timed", gains(row),
                              near.empty() ? NearProgram() : near.front()});
      }
      std::stable_sort(map_.gains.begin(), map_.gains.end(),
                       [](const ProgramGain& a, const ProgramGain& b) { return a.gain > b.gain; });
    }
    find_unprofiled();
  }

  // Programs that were timed and not profiled: those whose times are least like any profiled program's.
  void find_unprofiled() {
    const auto companions = static_cast<Eigen::Index>(table_.companions.size());
    const auto platforms = static_cast<Eigen::Index>(table_.platforms.size());
    if (companions == 0 || platforms == 0) return;
    Eigen::MatrixXd times(programs_ + companions, platforms);
    times.topRows(programs_) = log_rpv_;
    for (Eigen::Index c = 0; c < companions; ++c) {
      for (Eigen::Index j = 0; j < platforms; ++j) {
        const auto& time = table_.companion_times[static_cast<size_t>(c * platforms + j)];
        times(programs_ + c, j) = time ? time->log_time : kUnknown;
      }
    }
    const Eigen::MatrixXd distances = time_distances(times).bottomLeftCorner(companions, programs_);
    std::vector<ProgramGain> found;
    for (Eigen::Index c = 0; c < companions; ++c) {
      ProgramGain gain{
          table_.companions[static_cast<size_t>(c)].id, "not profiled", std::numeric_limits<double>::infinity(), {}};
      for (int64_t p = 0; p < programs_; ++p) {
        if (distances(c, p) < gain.gain) {
          gain.gain = distances(c, p);
          gain.nearest = {program(p).id, distances(c, p)};
        }
      }
      if (std::isfinite(gain.gain)) found.push_back(std::move(gain));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const ProgramGain& a, const ProgramGain& b) { return a.gain > b.gain; });
    if (found.size() > kUnprofiledListed) found.resize(kUnprofiledListed);
    map_.gains.insert(map_.gains.end(), found.begin(), found.end());
  }

  void draw() {
    std::vector<NamedProfile> others = request_.profiles;
    others.insert(others.end(), request_.candidates.begin(), request_.candidates.end());
    Eigen::MatrixXd all = space_.rows;
    if (!others.empty()) {
      const Eigen::MatrixXd points = space_.place(profiles_in(others));
      all.conservativeResize(programs_ + points.rows(), Eigen::NoChange);
      all.bottomRows(points.rows()) = points;
    }
    const PrincipalPlane plane = principal_plane(space_.rows, space_.weights);
    std::copy(std::begin(plane.shares_ratio), std::end(plane.shares_ratio), map_.pc_shares_ratio);
    const Eigen::MatrixXd projected = plane.project(all);
    Eigen::MatrixXd near;
    if (request_.with_tsne && all.rows() <= kMostTsnePoints) {
      say("embedding");
      Eigen::MatrixXd distances = profile_distances(all, all);
      const double largest = distances.array().isNaN().select(0, distances.array()).maxCoeff();
      distances = distances.array().isNaN().select(largest, distances.array());
      near = tsne(distances, projected);
    }
    const auto point_of = [&](size_t i) {
      const auto row = static_cast<Eigen::Index>(i);
      MapPoint point{projected(row, 0), projected(row, 1), {}, {}};
      if (near.rows() > 0) {
        point.tsne1 = near(row, 0);
        point.tsne2 = near(row, 1);
      }
      return point;
    };
    size_t row = 0;
    for (MappedProgram& mapped : map_.programs) mapped.point = point_of(row++);
    for (PlacedProfile& one : map_.profiles) one.point = point_of(row++);
    for (PlacedProfile& one : map_.candidates) one.point = point_of(row++);
  }

  const MapRequest& request_;
  const TrainingTable& table_;
  const int64_t programs_;
  const bool timed_;
  int64_t kept_ = 0;
  ProgramSpace space_;
  Eigen::MatrixXd distances_, time_distances_, log_rpv_;  // [P x P], [P x P], [P x J]
  Clustering clustering_;
  SubsetRanking ranking_;
  CorpusMap map_;
};

}  // namespace

Result<CorpusMap> make_corpus_map(const MapRequest& request) { return MapMaker(request).make(); }

}  // namespace perfcast::program
