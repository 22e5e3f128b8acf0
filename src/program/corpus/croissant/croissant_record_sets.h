#pragma once
// The record sets of a Croissant data set: fields, where they come from, keys, references, values.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "program/corpus/croissant/croissant_distribution.h"

namespace perfcast::program {

class CroissantRecordSets {
 public:
  CroissantRecordSets(const CroissantDistribution& distribution, CroissantCheck& check, std::set<std::string>& ids)
      : distribution_(distribution), check_(check), ids_(ids) {}

  void read(const Json& document);

 private:
  struct Column {  // of a table that was read
    const CsvTable* table = nullptr;
    size_t index = 0;
  };
  struct FieldEntry {
    const Json* json = nullptr;
    std::string id, set, where;
    std::string file;  // file object or file set that it comes from; empty: none
    Column column;
  };

  void read_set(const Json& set, const std::string& where);
  void read_field(const Json& field, const std::string& set, const std::string& where, bool has_data);
  void check_type(const Json& field, const std::string& where, bool needed);
  void check_source(const Json& field, FieldEntry& entry);
  void check_extract(const Json& source, FieldEntry& entry, const std::string& where);
  void check_values(const FieldEntry& entry);
  // After all fields are known.
  void check_references(const FieldEntry& entry);
  void check_foreign_keys(const FieldEntry& entry, const FieldEntry& target);
  void check_keys(const Json& set, const std::string& id, const std::string& where);
  void check_key_values(const std::vector<const FieldEntry*>& keys, const std::string& where);
  void check_join(const std::string& id, const std::string& where);
  void check_data(const Json& set, const std::string& id, const std::string& where);
  std::vector<const FieldEntry*> fields_of(const std::string& set) const;
  const FieldEntry* find_field(const std::string& id) const;

  const CroissantDistribution& distribution_;
  CroissantCheck& check_;
  std::set<std::string>& ids_;
  std::set<std::string> sets_;
  std::vector<FieldEntry> fields_;
  std::map<std::string, size_t> by_id_;
};

}  // namespace perfcast::program
