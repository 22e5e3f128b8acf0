#pragma once
// The part of the corpus that a verb works on: shared by `train` and `evaluate`.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "program/corpus/all_cores.h"
#include "program/corpus/corpus.h"
#include "program/model/scaling/scaling_table.h"

namespace perfcast::cli {

struct TableArguments {
  std::vector<std::string> groups, platforms, segments;
  double minimum_coverage = 0.7;
  bool every_profile = false, complete_rows = false;
  int64_t minimum_servers = 1, minimum_programs = 0;
  bool include_unprofiled = false;  // where no model sees the profiles
  std::string source = "auto", features = "all";
};

void add_table_options(CLI::App& verb, TableArguments& arguments);

struct LoadedTable {
  program::TrainingTable table;
  std::vector<program::Source> sources;
  std::vector<program::Server> servers;                  // of the table's platforms
  std::shared_ptr<const program::ScalingTable> scaling;  // of all of the corpus' whole machines; null where it has none
  std::vector<program::AllCoresRun> all_cores;           // of all of the corpus' applications
  std::vector<std::string> notes;                        // what models see of profiles, where that is not simply all
};

// Errors say how to make a corpus where there is none.
Result<program::Corpus> open_corpus(const CommonOptions& options);
Result<LoadedTable> fold_corpus(const program::Corpus& corpus, const TableArguments& arguments);
// Both in turn.
Result<LoadedTable> load_table(const CommonOptions& options, const TableArguments& arguments);

// "a,b" and "a" "b" alike; empty parts are left out. A part that is a whole name in `known` keeps its commas.
std::vector<std::string> list_of(const std::vector<std::string>& given, const std::vector<std::string>& known = {});

}  // namespace perfcast::cli
