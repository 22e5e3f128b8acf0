#pragma once
// Splits as DESIGN defines them, by what never stands on both sides.

#include <cstdint>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"

namespace perfcast::program {

enum class Split { kRandom, kWorkload, kProgram, kProgramFamily, kGroup, kPlatform, kCoreDesign };

// random|workload|program|program-family|group|platform|core-design
Result<Split> parse_split(const std::string& name);
std::string to_string(Split split);

// What the split "program" keeps together: the id without its levels, block sizes and other numeric inputs.
// "compress.lz4.6.b65536.d" -> "compress.lz4.d", "aiwc.lud.lud_diagonal.=large" -> "aiwc.lud.lud_diagonal"
std::string program_key(const std::string& program_id);

// Of kPlatform and kCoreDesign: columns of a table are parted, not rows.
bool parts_platforms(Split split);

// Rows of a table with the same key stand on the same side of the split; where columns are parted they have none.
std::string kept_together(Split split, const Program& program, size_t row);
// Likewise columns: kPlatform by name, kCoreDesign by the core design (core_design()); a core that can't be told is one
// of its own.
std::string kept_together(Split split, const Platform& platform);

struct Fold {
  // Rows (programs) trained on and tested; where columns are parted the rows are the same and the columns differ.
  std::vector<size_t> train_programs, test_programs;
  std::vector<size_t> train_platforms, test_platforms;
  std::string left_out;  // name for people: the family, program, platform or core design
};

// kProgram, kProgramFamily, kGroup, kPlatform, kCoreDesign: leave one out, `folds` = 0; or `folds` groups of them,
// shuffled by `seed`. kRandom and kWorkload: `folds` (0: 5) random folds. kRandom deals rows, so that a program with
// several profiles stands on both sides; with one profile each it equals kWorkload. Never more folds than there are
// things to leave out; none at all where fewer than two exist.
std::vector<Fold> make_folds(const TrainingTable& table, Split split, int64_t folds, uint64_t seed);

}  // namespace perfcast::program
