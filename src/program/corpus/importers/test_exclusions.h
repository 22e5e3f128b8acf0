#pragma once
// How many of `subject` an import left out for a reason that begins so; 0: none.

#include <string>

#include "program/corpus/importers/import.h"

namespace perfcast::program {

inline int64_t excluded(const Corpus& corpus, const std::string& subject, const std::string& reason_start) {
  for (const Exclusion& exclusion : corpus.exclusions) {
    if (exclusion.subject == subject && exclusion.reason.starts_with(reason_start)) return exclusion.count;
  }
  return 0;
}
inline int64_t excluded(const Import& result, const std::string& subject, const std::string& reason_start) {
  return excluded(result.corpus, subject, reason_start);
}

}  // namespace perfcast::program
