#pragma once
// `corpus export --croissant` and `corpus check --croissant`.

#include <CLI/CLI.hpp>
#include <string>

#include "cli/command.h"
#include "program/corpus/croissant/croissant_export.h"

namespace perfcast::cli {

struct CroissantArguments {
  bool wanted = false;
  program::CroissantInfo info;  // as given
};

void add_croissant_options(CLI::App& exported, CroissantArguments& arguments);

// What wasn't given: the name is the corpus file's, the licence that of all sources, the date today's.
program::CroissantInfo croissant_info(const CroissantArguments& arguments, const program::Corpus& corpus,
                                      const CommonOptions& options);

// Prints what breaks a rule; exit status 1 where something does.
int run_check_croissant(const CommonOptions& options, const std::string& folder);

}  // namespace perfcast::cli
