#include "studies/output.h"

#include <cstdio>

#include "base/json.h"

namespace perfcast {

void StudyOutput::add(const std::string& name, const ReportTable& table) {
  if (as_json_) {
    tables_.emplace_back(name, table);
    return;
  }
  if (!table.caption.empty()) std::printf("%s\n\n", table.caption.c_str());
  std::printf("%s\n", rows_text(table).c_str());
  std::fflush(stdout);
}

void StudyOutput::note(const std::string& text) {
  if (as_json_) {
    notes_.push_back(text);
  } else {
    std::printf("%s\n\n", text.c_str());
    std::fflush(stdout);
  }
}

void StudyOutput::finish() {
  if (!as_json_) return;
  Json json = {{"schema", "perfcast.study/1"}, {"study", study_}, {"tables", Json::object()}, {"notes", notes_}};
  for (const auto& [name, table] : tables_) {
    json["tables"][name] = {{"caption", table.caption}, {"rows", rows_json(table)}};
  }
  std::fputs(to_text(json).c_str(), stdout);
}

}  // namespace perfcast
