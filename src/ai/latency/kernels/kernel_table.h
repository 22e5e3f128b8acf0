#pragma once
// One table of a kernel database, row by row.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ai/latency/model/kernel_shape.h"
#include "base/csv.h"
#include "base/result.h"

namespace perfcast::ai {

enum class KernelTableKind : uint8_t { kProducts, kAttention, kExperts };

struct KernelRow {
  std::string system, engine, version, library;
  KernelShape shape;
  double seconds = 0;
};

class KernelTable {
 public:
  // "missing-column" where the table is of no kind, or lacks what its kind needs.
  static Result<KernelTable> open(const CsvTable& table, const std::string& source);
  // Whether the columns, or the file's name, are those of a table that is read here.
  static bool is_one(const CsvTable& table, const std::string& source);

  size_t rows() const { return table_->rows(); }
  std::string where(size_t row) const { return table_->where(row); }
  // Why the row can't be used; nothing where it can.
  std::optional<std::string> read(size_t row, KernelRow& into) const;
  const std::string& unit_note() const { return unit_note_; }  // empty: ms, as usual

 private:
  Status find_columns(const std::string& source);
  std::string_view cell(size_t row, size_t column) const;
  std::optional<std::string> read_sizes(size_t row, KernelShape& shape) const;

  const CsvTable* table_ = nullptr;
  KernelTableKind kind_ = KernelTableKind::kProducts;
  size_t system_ = 0, latency_ = 0, format_ = 0, computed_ = 0, step_ = 0, window_ = 0, skew_ = 0;
  size_t engine_ = 0, version_ = 0, library_ = 0;  // kNone where there is no such column
  std::vector<size_t> sizes_;                      // columns of the sizes, in the order of the axes
  double unit_s_ = 1e-3;
  std::string unit_note_;
};

}  // namespace perfcast::ai
