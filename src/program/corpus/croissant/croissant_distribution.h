#pragma once
// The files of a Croissant data set: what croissant_check.h holds them to, and their tables for its record sets.

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/csv.h"
#include "base/json_fwd.h"
#include "program/corpus/croissant/croissant_check.h"

namespace perfcast::program {

class CroissantDistribution {
 public:
  CroissantDistribution(const CroissantFiles& files, CroissantCheck& check, std::set<std::string>& ids)
      : files_(files), check_(check), ids_(ids) {}

  void read(const Json& document);
  bool has_file(const std::string& id) const { return file_objects_.contains(id); }
  bool has_set(const std::string& id) const { return file_sets_.contains(id); }
  std::string known() const;  // ids, for messages
  // Its table where it is CSV and lies in the folder; null else, or where it is none (found already).
  const CsvTable* table(const std::string& id) const;

 private:
  void read_entry(const Json& entry, const std::string& where);
  void check_file(const Json& entry, const std::string& id, const std::string& where);
  void check_content(const Json& entry, const std::string& id, const std::string& path, const std::string& where);
  void check_containers(const Json& document);

  const CroissantFiles& files_;
  CroissantCheck& check_;
  std::set<std::string>& ids_;
  std::set<std::string> file_objects_, file_sets_;
  std::map<std::string, CsvTable> tables_;
};

// Remembers an "@id"; a mistake where it is missing or taken. Returns it.
std::string take_id(const Json& entry, const std::string& where, std::set<std::string>& ids,
                    CroissantFindings& findings);

}  // namespace perfcast::program
