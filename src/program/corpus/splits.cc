#include "program/corpus/splits.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/random.h"
#include "base/text.h"
#include "machine/facts/core_design.h"

namespace perfcast::program {
namespace {

constexpr int64_t kDefaultFolds = 5;

struct NamedSplit {
  Split split;
  const char* name;
};
constexpr NamedSplit kSplits[] = {{Split::kRandom, "random"},         {Split::kWorkload, "workload"},
                                  {Split::kProgram, "program"},       {Split::kProgramFamily, "program-family"},
                                  {Split::kGroup, "group"},           {Split::kPlatform, "platform"},
                                  {Split::kCoreDesign, "core-design"}};

std::vector<size_t> all_below(size_t count) {
  std::vector<size_t> indices(count);
  std::iota(indices.begin(), indices.end(), size_t{0});
  return indices;
}

// Items that share a key stay together. Keys in sorted order, so that folds depend on the table's content and the seed
// alone.
using RowsOfGroup = std::map<std::string, std::vector<size_t>>;

struct Bin {
  std::vector<size_t> items;
  std::vector<std::string> keys;
};

// `folds` bins of about equal size, or one bin per key where folds is 0.
std::vector<Bin> deal(const RowsOfGroup& groups, int64_t folds, uint64_t seed) {
  std::vector<Bin> bins;
  if (folds == 0) {
    for (const auto& [key, items] : groups) bins.push_back({items, {key}});
    return bins;
  }
  std::vector<const RowsOfGroup::value_type*> order;
  for (const auto& group : groups) order.push_back(&group);
  Random random(seed);
  random.shuffle(order);
  // The largest first into the emptiest bin: lz4's many variants must not make one fold much larger than the others.
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->second.size() > b->second.size(); });
  bins.resize(std::min(static_cast<size_t>(folds), order.size()));
  for (const auto* group : order) {
    auto emptiest = std::min_element(bins.begin(), bins.end(), [](const Bin& a, const Bin& b) {
      return std::pair(a.items.size(), a.keys.size()) < std::pair(b.items.size(), b.keys.size());
    });
    emptiest->items.insert(emptiest->items.end(), group->second.begin(), group->second.end());
    emptiest->keys.push_back(group->first);
  }
  for (Bin& bin : bins) {
    std::sort(bin.items.begin(), bin.items.end());
    std::sort(bin.keys.begin(), bin.keys.end());
  }
  return bins;
}

std::vector<size_t> complement(const std::vector<size_t>& sorted, size_t count) {
  std::vector<size_t> rest;
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    if (at < sorted.size() && sorted[at] == i) {
      ++at;
    } else {
      rest.push_back(i);
    }
  }
  return rest;
}

// Levels, block sizes and other numeric inputs are segments of the id: "compress.lz4.6.b65536.d" -> "compress.lz4.d".
// Inputs that are words begin with '=': "aiwc.lud.lud_diagonal.=large".
bool is_input_segment(const std::string& segment) {
  if (segment.starts_with('=')) return true;
  const size_t start = segment.size() > 1 && segment[0] == 'b' ? 1 : 0;
  return !segment.empty() && segment.find_first_not_of("0123456789", start) == std::string::npos;
}

}  // namespace

bool parts_platforms(Split split) { return split == Split::kPlatform || split == Split::kCoreDesign; }

Result<Split> parse_split(const std::string& name) {
  std::vector<std::string> names;
  for (const NamedSplit& known : kSplits) {
    if (name == known.name) return known.split;
    names.emplace_back(known.name);
  }
  return usage_error("bad-usage", "there is no split '" + name + "'", "--split", "one of: " + join(names, ", "));
}

std::string to_string(Split split) {
  for (const NamedSplit& known : kSplits) {
    if (split == known.split) return known.name;
  }
  return "";
}

std::string program_key(const std::string& program_id) {
  std::vector<std::string> kept;
  for (const std::string& segment : perfcast::split(program_id, '.')) {
    if (!is_input_segment(segment)) kept.push_back(segment);
  }
  return kept.empty() ? program_id : join(kept, ".");
}

std::string kept_together(Split split, const Program& program, size_t row) {
  switch (split) {
    case Split::kRandom:
      return std::to_string(row);
    case Split::kWorkload:
      return program.id;
    case Split::kProgram:
      return program_key(program.id);
    case Split::kProgramFamily:
      return program.family;
    case Split::kGroup:
      return program.group;
    case Split::kPlatform:
    case Split::kCoreDesign:
      break;
  }
  return "";
}

std::string kept_together(Split split, const Platform& platform) {
  if (split == Split::kPlatform) return platform.name;
  if (split != Split::kCoreDesign) return "";
  const std::string design = core_design(platform);
  return design == "unknown" ? platform.name : design;
}

std::vector<Fold> make_folds(const TrainingTable& table, Split split, int64_t folds, uint64_t seed) {
  folds = std::max<int64_t>(folds, 0);
  if ((split == Split::kRandom || split == Split::kWorkload) && folds == 0) folds = kDefaultFolds;

  const bool by_platform = parts_platforms(split);
  RowsOfGroup groups;
  if (by_platform) {
    for (size_t i = 0; i < table.platforms.size(); ++i) groups[kept_together(split, table.platforms[i])].push_back(i);
  } else {
    for (size_t i = 0; i < table.programs.size(); ++i) {
      groups[kept_together(split, table.programs[i], i)].push_back(i);
    }
  }
  std::vector<Bin> bins = deal(groups, folds, seed);
  if (bins.size() < 2) return {};

  std::vector<Fold> result;
  for (const Bin& bin : bins) {
    Fold fold;
    fold.train_programs = fold.test_programs = all_below(table.programs.size());
    fold.train_platforms = fold.test_platforms = all_below(table.platforms.size());
    (by_platform ? fold.test_platforms : fold.test_programs) = bin.items;
    (by_platform ? fold.train_platforms : fold.train_programs) =
        complement(bin.items, by_platform ? table.platforms.size() : table.programs.size());
    fold.left_out = split == Split::kRandom ? "fold " + std::to_string(result.size() + 1) : join(bin.keys, ", ");
    result.push_back(std::move(fold));
  }
  return result;
}

}  // namespace perfcast::program
