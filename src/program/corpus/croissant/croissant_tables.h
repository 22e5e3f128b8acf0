#pragma once
// The tables of a published corpus, and what their columns are.

#include <string>
#include <vector>

#include "program/corpus/corpus.h"

namespace perfcast::program {

struct PublishedColumn {
  std::string name;  // ends in its unit
  std::string type;  // "Text", "Integer", "Float": of schema.org
  std::string description;
  bool is_key = false;     // with the table's other keys it tells the rows apart
  std::string references;  // "programs/program": a column whose values it takes; empty: none
};

struct PublishedTable {
  std::string name, description;  // name: "runs"; its file is name + ".csv"
  std::vector<PublishedColumn> columns;
  std::string csv;
};

// All tables of table_writer.h, profiles and profile_metrics (one row for each number) made of the profiles, and where
// programs have both a profile and times, samples: a row for each, with all counters and a time for each platform.
std::vector<PublishedTable> published_tables(const Corpus& corpus);

// How `perfcast import table` reads samples.csv (perfcast.table/1); empty where there are no samples. `name`: the
// source in the new corpus. `licence`, `url`: of the published set.
std::string samples_mapping(const Corpus& corpus, const std::string& name, const std::string& licence,
                            const std::string& url);

}  // namespace perfcast::program
