#pragma once
// Which programs of a suite to keep. The choice sees profiles, and where programs were timed; no times.

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "program/map/program_space.h"

namespace perfcast::program {

enum class SubsetRule {
  // What a Gaussian process with the kernel model's similarity and noise would least know of all programs, each family
  // weighing the same, is made as small as can be, one program at a time (A-optimal design, greedily: Krause, Singh and
  // Guestrin 2008, JMLR 9, section 2, for the setting).
  kVariance,
  // Similarity of all programs to the nearest kept one, each family weighing the same (facility location, greedily, at
  // least 1 - 1/e of the best: Nemhauser, Wolsey and Fisher 1978): about what k-medoids keep.
  kRepresentative,
  kFamilies,  // one program of each family, drawn, then a second of each, ...
  kRandom,
};
std::string to_string(SubsetRule rule);

struct SubsetRanking {
  std::vector<int64_t> order;    // [P] rows, the first n being the choice of n: what to drop first is last
  std::vector<double> coverage;  // [P] of the first n, at n - 1: see coverage_of()
};

// `seed`: of the rules that draw. `timed`: [P x J], 1 where the program has a time on the platform, 0 where not:
// kVariance then counts, for each platform, what the programs that were timed there say. No values of times. Empty: all
// are.
SubsetRanking rank_programs(const ProgramSpace& space, SubsetRule rule, uint64_t seed,
                            const Eigen::MatrixXd& timed = {});

// What the Gaussian process of kVariance knows of programs from the kept ones: 1 - posterior / prior variance,
// [points]. Nothing is kept: 0. A program that is kept itself has about 0.83, for its times have noise.
Eigen::VectorXd known_shares(const ProgramSpace& space, const std::vector<int64_t>& kept,
                             const Eigen::MatrixXd& points);

// Coverage of the whole space: the mean of known_shares() over its programs, each family weighing the same.
double coverage_of(const ProgramSpace& space, const std::vector<int64_t>& kept);

// [candidates] by how much the coverage of the space and the candidates together would grow if a candidate were run:
// the candidates are families of their own.
Eigen::VectorXd coverage_gains(const ProgramSpace& space, const std::vector<int64_t>& kept,
                               const Eigen::MatrixXd& candidates);

}  // namespace perfcast::program
