#pragma once
// What the programs of a corpus are like: clusters, what is redundant, what can be dropped and what that costs, what
// would add most, and where other profiles lie.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

struct NamedProfile {
  std::string name;
  Profile profile;
};

struct MapRequest {
  // Programs with profiles. Without platforms nothing is said of times. Companions are candidates for being profiled.
  TrainingTable table;
  std::vector<NamedProfile> untimed;     // profiled programs of the corpus that nobody timed: candidates
  std::vector<NamedProfile> candidates;  // further ones
  std::vector<NamedProfile> profiles;    // to be placed
  double keep_ratio = 0.5;               // of the programs, rounded up
  std::optional<int64_t> keep;           // instead: so many, 1 to P
  int64_t clusters = 0;                  // 0: by their silhouette
  bool by_times = false;                 // clusters by log relative times instead of profiles
  double redundant_distance = 0.25;      // pairs nearer are redundant
  std::string model = "kernel";          // what the cost of dropping is measured with
  int64_t folds = 10;                    // groups of families left out for that; 0: each alone
  bool with_tsne = false;
  uint64_t seed = 1;  // of the folds and the model
  int threads = 1;
  std::function<void(const std::string&)> progress = nullptr;  // from any thread, one call at a time
};

// Coordinates in the plane of the two principal components, and by t-SNE.
struct MapPoint {
  double pc1 = 0, pc2 = 0;
  std::optional<double> tsne1, tsne2;
};

struct NearProgram {
  std::string id;
  double distance = 0;
};

struct MappedProgram {
  std::string id, family, group;
  int64_t cluster = 0;
  bool kept = true;
  std::optional<NearProgram> nearest, nearest_other_family;
  MapPoint point;
};

struct FeatureMark {
  std::string feature, text;
  double deviations = 0;  // the cluster's mean over the mean of all, in standard deviations
};
struct PlatformMark {
  std::string platform;
  double ratio = 1;  // time relative to what the mean program takes there; below 1: fast
};
struct MapCluster {
  std::string medoid;
  std::vector<std::string> members;            // nearest to the medoid first, it included
  std::vector<FeatureMark> marks;              // at most 3, largest first
  std::vector<PlatformMark> fastest, slowest;  // at most 1 each; none without times
};

struct RedundantPair {
  std::string a, b;
  double distance = 0;
  std::optional<double> time_difference;  // root mean square of the differences of their log relative times
};

struct DropStep {
  std::string program, family;
  std::string stands_in;  // the nearest of the programs that are kept in the end
  double distance = 0;    // to it
  int64_t left = 0;       // programs
  double coverage = 0;    // of the programs left
  // Of forecasts of each program by a model without its family: mean |log| against those with all programs, and
  // against measured times. Absent without times, and where there are too many steps to fit each.
  std::optional<double> change_log, error_log;
};

struct ProgramGain {
  std::string name, basis;  // basis: "candidate", "not timed", "not profiled"
  double gain = 0;          // of coverage; of "not profiled": time difference to the nearest profiled program (log)
  NearProgram nearest;      // of "not profiled": by times
};

struct PlacedProfile {
  std::string name;
  std::vector<NearProgram> nearest;  // at most 3
  int64_t cluster = 0;
  double coverage = 0;             // what the suite knows of it: known_shares()
  bool covered = true;             // its nearest is within the usual distance
  std::vector<FeatureMark> marks;  // where it is not covered: what sets it apart
  MapPoint point;
};

struct CorpusMap {
  int64_t families = 0, platforms = 0, inputs = 0;
  double silhouette = 0, usual_distance = 0, redundant_distance = 0;
  bool by_times = false;
  std::string model;
  double pc_shares_ratio[2] = {0, 0};  // of the variance
  std::vector<MappedProgram> programs;
  std::vector<MapCluster> clusters;
  std::vector<RedundantPair> redundant;  // nearest first
  // Correlation (Pearson) of distances by profiles and by times over pairs of different families.
  std::optional<double> distance_correlation;
  double coverage = 0;              // of all programs
  std::optional<double> error_log;  // as DropStep, with all programs
  std::vector<DropStep> drops;      // first to drop first, down to what is kept
  std::vector<std::string> kept;    // most valuable first
  std::vector<NearProgram> lonely;  // programs farthest from any other family: at most 5; distance to it
  std::vector<ProgramGain> gains;   // most first: by coverage, then those not profiled
  std::vector<PlacedProfile> profiles, candidates;
};

// "empty-corpus" with fewer than three programs; "bad-usage" where so many can't be kept or clusters can't be; errors
// of models.
Result<CorpusMap> make_corpus_map(const MapRequest& request);

}  // namespace perfcast::program
