#pragma once
// Holds a folder with a croissant.json against the rules of Croissant 1.0 (http://mlcommons.org/croissant/1.0), and
// against its own files: what must be there is there, identifiers are unique, references lead somewhere, checksums and
// sizes are true, columns exist, values have their field's type, keys tell the rows apart, foreign keys are met.
// Addresses elsewhere are not fetched.

#include <functional>
#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "program/corpus/croissant/croissant_rules.h"

namespace perfcast::program {

struct CroissantCheck {
  std::string name;
  CroissantFindings findings;
  int64_t files = 0, read_files = 0;              // of the distribution; of these, those that lie in the folder
  int64_t record_sets = 0, fields = 0, rows = 0;  // rows: of record sets whose table was read
};

// The bytes of a file of the folder, by its relative path, as they lie there.
using CroissantFiles = std::function<Result<std::string>(const std::string& path)>;

CroissantCheck check_croissant(const Json& document, const CroissantFiles& files);

// "file-not-found", "bad-json", "file-too-large"; what breaks the rules is no error but a finding.
Result<CroissantCheck> check_croissant_folder(const std::string& folder);

std::string to_text(const CroissantCheck& check, const std::string& folder);
Json to_json(const CroissantCheck& check, const std::string& folder);  // perfcast.croissant-check/1

}  // namespace perfcast::program
