#include "measure/diagnose/bloat/bloat_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr double kMapLeft = 232, kCellPx = 7.5, kCellHighPx = 8, kRowGapPx = 2, kFileGapPx = 12;
constexpr size_t kCellsOfRow = 100, kMostRows = 72, kMostFiles = 24;
constexpr uint64_t kLeastCellBytes = 32;
constexpr double kLeastFilePx = 32;  // two lines of text

enum class CodeCellState : uint8_t { kNever, kPart, kAll };

struct CodeCell {
  uint64_t offset = 0, bytes = 0, executed_bytes = 0;  // its first byte's place in the file
  CodeCellState state() const {
    return executed_bytes == 0       ? CodeCellState::kNever
           : executed_bytes >= bytes ? CodeCellState::kAll
                                     : CodeCellState::kPart;
  }
};

// Code sections one behind the other, in cells of so many bytes; the last one of a section may be smaller.
std::vector<CodeCell> cells_of(const BloatFile& file, uint64_t cell_bytes) {
  std::vector<CodeCell> cells;
  for (const ElfPiece& section : file.code->sections) {
    uint64_t at = section.offset;
    while (at < section.end()) {
      const bool goes_on = !cells.empty() && cells.back().bytes < cell_bytes;
      if (!goes_on) cells.push_back({at, 0, 0});
      CodeCell& cell = cells.back();
      const uint64_t take = std::min(cell_bytes - cell.bytes, section.end() - at);
      auto range = std::partition_point(file.executed.begin(), file.executed.end(),
                                        [&](const CodeRange& of) { return of.to <= at; });
      for (; range != file.executed.end() && range->from < at + take; ++range)
        cell.executed_bytes += std::min(range->to, at + take) - std::max(range->from, at);
      cell.bytes += take;
      at += take;
    }
  }
  return cells;
}

size_t rows_of(uint64_t code_bytes, uint64_t cell_bytes) {
  const uint64_t of_row = cell_bytes * kCellsOfRow;
  return std::max<size_t>(1, static_cast<size_t>((code_bytes + of_row - 1) / of_row));
}

// The largest function that begins in a stretch of cells, for people who point at it.
std::string largest_function(const BloatFile& file, uint64_t from, uint64_t to) {
  const BloatFunction* largest = nullptr;
  auto at = std::partition_point(file.functions.begin(), file.functions.end(),
                                 [&](const BloatFunction& of) { return of.offset < from; });
  for (; at != file.functions.end() && at->offset < to; ++at) {
    if (!at->name.empty() && (largest == nullptr || at->bytes > largest->bytes)) largest = &*at;
  }
  return largest == nullptr ? "" : largest->name;
}

class BloatMap {
 public:
  explicit BloatMap(const CodeBloat& bloat);
  bool is_empty() const { return files_.empty(); }
  uint64_t cell_bytes() const { return cell_bytes_; }
  size_t left_out() const { return left_out_; }
  std::string svg(const std::string& id, const std::string& title) const;
  std::string csv() const;

 private:
  double height_of(const BloatFile& file) const {
    return std::max(kLeastFilePx, static_cast<double>(rows_of(file.code->purposes.code_bytes, cell_bytes_)) *
                                      (kCellHighPx + kRowGapPx));
  }
  void draw_file(SvgCanvas& canvas, const BloatFile& file, double top) const;
  void draw_run(SvgCanvas& canvas, const BloatFile& file, const std::vector<CodeCell>& cells, size_t first, size_t last,
                double y) const;

  std::vector<const BloatFile*> files_;
  uint64_t cell_bytes_ = kLeastCellBytes;
  size_t left_out_ = 0;
};

BloatMap::BloatMap(const CodeBloat& bloat) {
  if (!bloat.is_executed_known) return;
  for (const BloatFile& file : bloat.files) {
    if (!file.code || file.code->sections.empty()) continue;
    if (files_.size() == kMostFiles) {
      ++left_out_;
    } else {
      files_.push_back(&file);
    }
  }
  const auto rows = [&] {
    size_t sum = 0;
    for (const BloatFile* file : files_) sum += rows_of(file->code->purposes.code_bytes, cell_bytes_);
    return sum;
  };
  while (rows() > std::max(kMostRows, files_.size())) cell_bytes_ *= 2;
}

// Neighbours that are alike are one rectangle; a cell that ran in part is as high as its part.
void BloatMap::draw_run(SvgCanvas& canvas, const BloatFile& file, const std::vector<CodeCell>& cells, size_t first,
                        size_t last, double y) const {
  const CodeCell &begin = cells[first], &end = cells[last - 1];
  uint64_t bytes = 0, executed = 0;
  for (size_t i = first; i < last; ++i) {
    bytes += cells[i].bytes;
    executed += cells[i].executed_bytes;
  }
  const std::string name = largest_function(file, begin.offset, end.offset + end.bytes);
  const std::string tip = fmt::format("{} + 0x{:x}: {} of {} bytes ran{}", file.name(), begin.offset, executed, bytes,
                                      name.empty() ? "" : ", such as " + name);
  const double x = kMapLeft + kCellPx * static_cast<double>(first % kCellsOfRow);
  const double width = kCellPx * static_cast<double>(last - first);
  const CodeCellState state = begin.state();
  if (state == CodeCellState::kNever) {
    canvas.rectangle(x, y, width, kCellHighPx, "band", tip);
  } else if (state == CodeCellState::kAll) {
    canvas.rectangle(x, y, width, kCellHighPx, "s0 fill", tip);
  } else {
    const double high = std::max(1.0, kCellHighPx * static_cast<double>(executed) / static_cast<double>(bytes));
    canvas.rectangle(x, y, width, kCellHighPx, "band");
    canvas.rectangle(x, y + kCellHighPx - high, width, high, "s5 fill", tip);
  }
}

void BloatMap::draw_file(SvgCanvas& canvas, const BloatFile& file, double top) const {
  canvas.text(0, top + 11, fitted(file.name(), kMapLeft - 16, kBoldPx), "panel", "start", file.path);
  const double code = static_cast<double>(file.code->purposes.code_bytes);
  const double ran = static_cast<double>(file.executed_bytes.value_or(0));
  canvas.text(0, top + 26,
              fmt::format("{} mapped, {} ran ({})", human_bytes(static_cast<double>(file.mapped_bytes)),
                          human_bytes(ran), percent_text(ran / std::max(1.0, code))),
              "tick");
  const std::vector<CodeCell> cells = cells_of(file, cell_bytes_);
  for (size_t begin = 0; begin < cells.size(); begin += kCellsOfRow) {
    const size_t end = std::min(cells.size(), begin + kCellsOfRow);
    const size_t row = begin / kCellsOfRow;
    const double y = top + static_cast<double>(row) * (kCellHighPx + kRowGapPx);
    const double right = kMapLeft + kCellPx * static_cast<double>(end - begin);
    for (size_t first = begin; first < end;) {
      size_t last = first + 1;
      while (last < end && cells[first].state() != CodeCellState::kPart && cells[last].state() == cells[first].state())
        ++last;
      draw_run(canvas, file, cells, first, last, y);
      first = last;
    }
    // What never ran is as pale as the paper: lines say where the file's code is.
    for (const double edge : {y, y + kCellHighPx}) canvas.line(kMapLeft, edge, right, edge, "grid");
    for (const double edge : {kMapLeft, right}) canvas.line(edge, y, edge, y + kCellHighPx, "grid");
  }
}

std::string BloatMap::svg(const std::string& id, const std::string& title) const {
  double height = 34;
  for (const BloatFile* file : files_) height += height_of(*file) + kFileGapPx;
  SvgCanvas canvas(
      id, kFigureWidth, height, title,
      fmt::format("The code of {} files in cells of {} bytes: which of them ran.", files_.size(), cell_bytes_));
  const std::string size = human_bytes(static_cast<double>(cell_bytes_));
  double y = draw_legend(canvas, kMapLeft, kFigureWidth, 10,
                         {{LegendEntry::Kind::kBox, Marker::kSquare, "s0 fill", "all of " + size + " ran"},
                          {LegendEntry::Kind::kBox, Marker::kSquare, "s5 fill", "as high as the part that ran"},
                          {LegendEntry::Kind::kBox, Marker::kSquare, "s6 hollow", "never ran"}});
  for (const BloatFile* file : files_) {
    draw_file(canvas, *file, y);
    y += height_of(*file) + kFileGapPx;
  }
  return canvas.to_svg();
}

// Neighbours that are alike are one line.
std::string BloatMap::csv() const {
  std::string csv = "file,offset_bytes,bytes,executed_bytes\n";
  for (const BloatFile* file : files_) {
    const std::vector<CodeCell> cells = cells_of(*file, cell_bytes_);
    for (size_t first = 0; first < cells.size();) {
      size_t last = first;
      uint64_t bytes = 0, executed = 0;
      do {
        bytes += cells[last].bytes;
        executed += cells[last].executed_bytes;
        ++last;
      } while (last < cells.size() && cells[first].state() != CodeCellState::kPart &&
               cells[last].state() == cells[first].state());
      csv += fmt::format("{},{},{},{}\n", csv_cell(file->path), cells[first].offset, bytes, executed);
      first = last;
    }
  }
  return csv;
}

}  // namespace

Figure code_bloat_figure(const CodeBloat& bloat) {
  Figure figure;
  figure.id = "code";
  figure.title = "Code that was loaded, and what of it ran";
  const BloatMap map(bloat);
  if (map.is_empty()) {
    figure.caption = bloat.is_executed_known ? "No file of code could be read."
                                             : "Which code ran is not known: there was no instrumented run.";
    return figure;
  }
  figure.caption = fmt::format(
      "Each row is {} of a file's code, from its beginning to its end; the largest files come first. Of {} of code in "
      "all files, {} ran at least once.{}{} Where a library has functions for several processors, those of the "
      "instrumenter's ran.",
      human_bytes(static_cast<double>(map.cell_bytes() * kCellsOfRow)),
      human_bytes(static_cast<double>(bloat.code_bytes())), human_bytes(static_cast<double>(bloat.executed_bytes())),
      map.left_out() > 0 ? fmt::format(" {} smaller files are left out.", map.left_out()) : "",
      bloat.is_cut ? " The run was ended before the program's end." : "");
  figure.images.push_back(map.svg("code-map", figure.title));
  figure.csv = map.csv();
  return figure;
}

}  // namespace perfcast::measure
