#pragma once
// A corpus as a folder of plain tables, for other tools: sources.csv, platforms.csv, facts.csv, servers.csv,
// server_facts.csv, programs.csv, runs.csv, machine_runs.csv, exclusions.csv and profiles.jsonl (one perfcast.profile/1
// per line, with program and source).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"

namespace perfcast::program {

// Rows of cells; numbers in the shortest form that reads back to the same value, absent ones as nothing.
class CsvText {
 public:
  explicit CsvText(const std::vector<std::string>& columns);
  CsvText& add(const std::string& cell);
  CsvText& add(const char* cell) { return add(std::string(cell)); }
  CsvText& add(double value);
  CsvText& add(int64_t value);
  template <typename T>
  CsvText& add(const std::optional<T>& value) {
    return value ? add(*value) : add(std::string());
  }
  void end_row();
  const std::string& text() const { return text_; }

 private:
  CsvText& put(const std::string& cell);
  std::string text_;
  bool first_ = true;
};

struct TableFile {
  std::string name, text;
};
std::vector<TableFile> corpus_tables(const Corpus& corpus);

// Each file is written whole or not at all; the folder is created where absent.
Status write_tables(const Corpus& corpus, const std::string& folder);

}  // namespace perfcast::program
