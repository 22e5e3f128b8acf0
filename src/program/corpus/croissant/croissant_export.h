#pragma once
// A corpus as a data set that can be published: CSV tables and croissant.json, which describes them (MLCommons
// Croissant 1.0, http://mlcommons.org/croissant/1.0).

#include <string>

#include "base/result.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

inline constexpr const char* kCroissantFile = "croissant.json";

// What the corpus itself doesn't say. All but `description` and `citation` must be given.
struct CroissantInfo {
  std::string name, description, license, url, creator;
  std::string date_published;  // ISO 8601 date
  std::string version = "1.0.0";
  std::string citation;  // empty: made of the others, as BibTeX
};

// Writes the folder whole or not at all. "folder-not-empty" where something is there already; "bad-usage" (all mistakes
// at once) where the information breaks a rule; "file-error".
Status write_croissant(const Corpus& corpus, const CroissantInfo& info, const std::string& folder);

// The licence of all sources where they state one and the same; else empty.
std::string common_licence(const Corpus& corpus);

}  // namespace perfcast::program
