#include "ai/latency/kernels/kernel_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "ai/latency/kernels/kernel_table.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "base/version_number.h"

namespace perfcast::ai {
namespace {

constexpr size_t kMostTableBytes = size_t{512} << 20;
constexpr size_t kMostTables = 1000;
constexpr double kFarLog = 4.605170185988092;      // log of 100: from rows next to it
constexpr double kNearSizes = 2.0794415416798357;  // log of 8: sizes further apart are no neighbours
constexpr size_t kNeighbourAxes = 3;               // the first ones of each kind: what databases step through
constexpr uint8_t kMostNeighbours = 2 * kNeighbourAxes;

struct Row {
  MeasuredKernel kernel;
  uint32_t engine = 0, version = 0;  // indexes
  uint32_t table = 0, line = 0;      // for examples
  uint8_t neighbours = 0, far = 0;
};

auto place_of(const Row& row) {
  return std::tuple(row.kernel.system, row.kernel.shape.kind, row.kernel.shape.format, row.kernel.shape.size);
}

class Builder {
 public:
  Status add(const CsvTable& csv, const std::string& source);
  void note(std::string text) { result_.notes.push_back(std::move(text)); }
  Result<KernelDatabase> finish(const std::string& source);

 private:
  struct Names {
    std::vector<std::string> names;
    std::map<std::string, uint32_t> at;
    uint32_t operator()(const std::string& name) {
      const auto [found, is_new] = at.emplace(name, names.size());
      if (is_new) names.push_back(name);
      return found->second;
    }
  };

  std::string where(const Row& row) const { return tables_[row.table] + ":" + std::to_string(row.line); }
  template <typename Gone>
  void drop(Gone gone, const std::string& reason);
  void keep_one_engine();
  void keep_one_of_each_shape();
  void drop_far_ones();

  std::vector<Row> rows_;
  std::vector<std::string> tables_;
  Names systems_, libraries_, engines_, versions_;
  KernelDatabase result_;
};

Status Builder::add(const CsvTable& csv, const std::string& source) {
  const auto table = KernelTable::open(csv, source);
  if (!table) return table.error();
  if (!table->unit_note().empty()) note(source + ": " + table->unit_note());
  const auto number = static_cast<uint32_t>(tables_.size());
  tables_.push_back(source);
  KernelRow read;
  for (size_t i = 0; i < table->rows(); ++i) {
    if (const auto problem = table->read(i, read)) {
      result_.leave_out(*problem, 1, table->where(i));
      continue;
    }
    Row row;
    row.kernel = {systems_(read.system), libraries_(read.library), read.shape, read.seconds};
    row.engine = engines_(read.engine);
    row.version = versions_(read.version);
    row.table = number;
    row.line = static_cast<uint32_t>(csv.line(i));
    rows_.push_back(row);
  }
  return {};
}

template <typename Gone>
void Builder::drop(Gone gone, const std::string& reason) {
  std::vector<Row> kept;
  kept.reserve(rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (gone(i)) {
      result_.leave_out(reason, 1, where(rows_[i]));
    } else {
      kept.push_back(rows_[i]);
    }
  }
  rows_ = std::move(kept);
}

// Of each system and operator the engine with the most rows.
void Builder::keep_one_engine() {
  if (engines_.names.size() < 2) return;
  std::map<std::pair<uint32_t, KernelKind>, std::map<uint32_t, int64_t>> counts;
  const auto group = [](const Row& row) { return std::pair(row.kernel.system, row.kernel.shape.kind); };
  for (const Row& row : rows_) ++counts[group(row)][row.engine];
  drop(
      [&](size_t i) {
        const auto& engines = counts[group(rows_[i])];
        const auto most = std::max_element(engines.begin(), engines.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        return rows_[i].engine != most->first;
      },
      "another engine than the one with the most rows of this system and operator");
}

// Rows are in the order of shapes thereafter.
void Builder::keep_one_of_each_shape() {
  std::vector<uint32_t> order(versions_.names.size()), rank(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return version_parts(versions_.names[a]) < version_parts(versions_.names[b]);
  });
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  std::stable_sort(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) {
    const auto first = place_of(a), second = place_of(b);
    if (first != second) return first < second;
    return std::tuple(rank[b.version], a.kernel.library) < std::tuple(rank[a.version], b.kernel.library);
  });
  std::vector<uint8_t> gone(rows_.size());  // 1: an older version, 2: a slower library, 3: a repetition
  for (size_t first = 0, end = 0; first < rows_.size(); first = end) {
    while (end < rows_.size() && place_of(rows_[end]) == place_of(rows_[first])) ++end;
    if (end == first + 1) continue;
    size_t best = first;
    for (size_t i = first, last = first; i < end; i = last) {
      double sum = 0;
      while (last < end && rows_[last].version == rows_[i].version &&
             rows_[last].kernel.library == rows_[i].kernel.library) {
        gone[last] = rows_[last].version != rows_[first].version ? 1 : last > i ? 3 : 0;
        sum += std::log(rows_[last++].kernel.seconds);
      }
      if (gone[i] != 0) continue;
      if (last > i + 1) rows_[i].kernel.seconds = std::exp(sum / static_cast<double>(last - i));
      if (rows_[i].kernel.seconds < rows_[best].kernel.seconds) best = i;
      gone[i] = 2;
    }
    gone[best] = 0;
  }
  std::vector<Row> kept;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (gone[i] == 0) kept.push_back(rows_[i]);
    if (gone[i] == 1) result_.leave_out("an older version, where a newer one measured the same", 1, where(rows_[i]));
    if (gone[i] == 2) result_.leave_out("a slower kernel of another library for the same shape", 1, where(rows_[i]));
    if (gone[i] == 3) result_.leave_out("repetitions: their geometric mean counts", 1, where(rows_[i]));
  }
  rows_ = std::move(kept);
}

// Along each axis in turn, rows that differ in it alone stand next to each other.
void Builder::drop_far_ones() {
  std::vector<uint32_t> order(rows_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  for (size_t axis = 0; axis < kNeighbourAxes; ++axis) {
    const auto others = [&](const Row& row) {
      auto place = place_of(row);
      std::get<3>(place)[axis] = 0;
      return place;
    };
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const auto first = others(rows_[a]), second = others(rows_[b]);
      return first != second ? first < second : rows_[a].kernel.shape.size[axis] < rows_[b].kernel.shape.size[axis];
    });
    for (size_t i = 1; i < order.size(); ++i) {
      Row &before = rows_[order[i - 1]], &after = rows_[order[i]];
      if (others(before) != others(after)) continue;
      const double sizes = std::log(after.kernel.shape.size[axis] / before.kernel.shape.size[axis]);
      if (!(std::abs(sizes) < kNearSizes)) continue;
      const bool far = std::abs(std::log(after.kernel.seconds / before.kernel.seconds)) > kFarLog;
      for (Row* row : {&before, &after}) {
        ++row->neighbours;
        row->far += far ? 1 : 0;
      }
    }
  }
  static_assert(kMostNeighbours < 255);
  drop([&](size_t i) { return rows_[i].neighbours >= 2 && 3 * rows_[i].far >= 2 * rows_[i].neighbours; },
       "a time 100 times and more away from those of the shapes next to it");
}

Result<KernelDatabase> Builder::finish(const std::string& source) {
  keep_one_engine();
  keep_one_of_each_shape();
  drop_far_ones();
  if (rows_.empty()) {
    return Error{
        "no-kernels", "no row can be used", source,
        result_.left_out.empty() ? "one row or more" : "rows without this fault: " + result_.left_out.front().reason};
  }
  std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>> versions;  // by system and engine
  for (const Row& row : rows_) versions[{row.kernel.system, row.engine}].insert(row.version);
  for (const auto& [key, used] : versions) {
    if (used.size() < 2 || used.size() > 20) continue;
    std::vector<std::string> names;
    for (const uint32_t version : used) names.push_back(printable(versions_.names[version].substr(0, 40)));
    note(fmt::format("{}: several versions of {} together: {}", printable(systems_.names[key.first]),
                     printable(engines_.names[key.second].substr(0, 40)), join(names, ", ")));
  }
  result_.kernels.reserve(rows_.size());
  for (const Row& row : rows_) result_.kernels.push_back(row.kernel);
  result_.systems = systems_.names;
  result_.libraries = libraries_.names;
  return std::move(result_);
}

}  // namespace

void KernelDatabase::leave_out(const std::string& reason, int64_t count, const std::string& example) {
  for (Left& left : left_out) {
    if (left.reason != reason) continue;
    left.count += count;
    return;
  }
  left_out.push_back({reason, count, example});
}

Result<KernelDatabase> parse_kernel_table(std::string_view csv, const std::string& source) {
  const auto table = CsvTable::parse_any_form(csv, source);
  if (!table) return table.error();
  Builder builder;
  if (!table->form().empty()) builder.note(source + ": " + table->form());
  if (Status status = builder.add(*table, source); !status) return status.error();
  return builder.finish(source);
}

Result<KernelDatabase> read_kernel_database(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  size_t parquet = 0;
  std::error_code problem;
  for (fs::directory_iterator each(folder, problem), end; !problem && each != end; each.increment(problem)) {
    const std::string name = each->path().filename().string();
    parquet += name.ends_with(".parquet") ? 1 : 0;
    if (name.ends_with(".csv") || name.ends_with(".csv.gz")) files.push_back(each->path().string());
  }
  if (problem)
    return Error{"bad-folder", "the folder can't be read: " + problem.message(), folder, "a folder of tables"};
  std::sort(files.begin(), files.end());
  if (files.empty() || files.size() > kMostTables) {
    return Error{"no-kernels", fmt::format("{} CSV tables, {} Parquet files", files.size(), parquet), folder,
                 parquet > 0 ? "the Parquet files as CSV: docs/llm.md shows how"
                             : fmt::format("from 1 to {} tables (*.csv, *.csv.gz)", kMostTables)};
  }
  Builder builder;
  if (parquet > 0)
    builder.note(fmt::format("{} Parquet files are not read: docs/llm.md shows how they become CSV", parquet));
  std::vector<std::string> problems;
  size_t used = 0;
  for (const std::string& file : files) {
    const auto text = read_file(file, kMostTableBytes);
    const auto table = text ? CsvTable::parse_any_form(*text, file) : Result<CsvTable>(text.error());
    const std::string name = fs::path(file).filename().string();
    if (!table) {
      problems.push_back(name + ": " + table.error().message);
      continue;
    }
    if (!KernelTable::is_one(*table, file)) {
      builder.note(name + " is not used: no table of products, attention or experts");
      continue;
    }
    if (!table->form().empty()) builder.note(name + ": " + table->form());
    if (Status status = builder.add(*table, file); !status) {
      problems.push_back(name + ": " + status.error().message);
    } else {
      ++used;
    }
  }
  if (used == 0) {
    return Error{"no-kernels", "no table of the folder can be used" + (problems.empty() ? "" : ": " + problems.front()),
                 folder, "tables of products (gemm_dtype), attention (attn_dtype) or experts (moe_dtype)"};
  }
  for (std::string& text : problems) builder.note("left out: " + std::move(text));
  return builder.finish(folder);
}

}  // namespace perfcast::ai
