#pragma once
// What a study prints: tables for people as they come, or one JSON document at the end, which tools/reproduce-tables
// keeps.

#include <string>
#include <utility>
#include <vector>

#include "base/report/table.h"

namespace perfcast {

class StudyOutput {
 public:
  StudyOutput(std::string study, bool as_json) : study_(std::move(study)), as_json_(as_json) {}
  // The caption is the table's own and may be empty; `name` is the JSON's, unique in the study.
  void add(const std::string& name, const ReportTable& table);
  void note(const std::string& text);  // a line for people, a note in the JSON
  // Schema perfcast.study/1: study, tables by name with a "caption" and "rows", notes.
  void finish();

 private:
  std::string study_;
  bool as_json_;
  std::vector<std::pair<std::string, ReportTable>> tables_;  // of the JSON
  std::vector<std::string> notes_;
};

}  // namespace perfcast
