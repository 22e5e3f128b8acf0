#pragma once
// The SQLite store behind a narrow interface (PostgreSQL may stand behind the same one later).

#include <memory>
#include <string>

#include "corpus/corpus.h"

namespace perfcast {

class CorpusStore {
 public:
  // Creates the file and schema where absent; a file of another kind or a future schema version is refused unchanged.
  static Result<std::unique_ptr<CorpusStore>> open(const std::string& path);
  static Result<std::unique_ptr<CorpusStore>> open_read_only(const std::string& path);
  virtual ~CorpusStore() = default;

  virtual Result<Corpus> load() = 0;
  // Adds or replaces rows by key in one transaction: killed at any point, the corpus is as before or complete.
  virtual Status merge(const Corpus& additions) = 0;
  // One profile, written as it arrives.
  virtual Status put_profile(const StoredProfile& profile) = 0;
};

}  // namespace perfcast
