#include "program/corpus/croissant/croissant_record_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr std::array<std::string_view, 9> kAtomic = {"Boolean", "Date", "DateTime", "Float", "Integer",
                                                     "Number",  "Text", "Time",     "URL"};
constexpr std::array<std::string_view, 10> kOther = {"ImageObject", "AudioObject",   "VideoObject",      "BoundingBox",
                                                     "Split",       "Label",         "SegmentationMask", "RecordSet",
                                                     "Enumeration", "GeoCoordinates"};
constexpr std::array<std::string_view, 6> kFileProperties = {"fullpath", "filename",    "content",
                                                             "lines",    "lineNumbers", "filepath"};

template <size_t N>
bool is_in(const std::array<std::string_view, N>& known, std::string_view name) {
  return std::find(known.begin(), known.end(), name) != known.end();
}

// Names of other vocabularies have a prefix of theirs, or are addresses.
bool is_foreign(std::string_view type) {
  return is_url(type) || (type.find(':') != std::string_view::npos && local_name(type) == type);
}

bool is_value_of(std::string_view type, std::string_view value) {
  if (type == "Boolean") {
    const std::string text = lower_case(value);
    return text == "true" || text == "false" || text == "0" || text == "1";
  }
  if (type == "Date" || type == "DateTime") return is_iso_date(value);
  if (type == "URL") return is_url(value);
  if (type != "Float" && type != "Number" && type != "Integer") return true;
  const auto number = parse_number(value);
  return number && (type != "Integer" || *number == std::floor(*number));
}

// How a source names what it takes from.
struct SourceKind {
  const char* property;
  bool is_file;
};
constexpr std::array kSources = {SourceKind{"fileObject", true}, SourceKind{"fileSet", true},
                                 SourceKind{"recordSet", false}, SourceKind{"field", false}};

}  // namespace

void CroissantRecordSets::read(const Json& document) {
  const auto sets = values_of(property(document, "recordSet"));
  if (sets.empty()) check_.findings.advise("recordSet", "is missing: nothing says what is in the files");
  const auto where_of = [](size_t i) { return fmt::format("recordSet[{}]", i); };
  for (size_t i = 0; i < sets.size(); ++i) read_set(*sets[i], where_of(i));
  for (size_t i = 0; i < fields_.size(); ++i) by_id_.try_emplace(fields_[i].id, i);
  for (const FieldEntry& entry : fields_) check_references(entry);
  for (size_t i = 0; i < sets.size(); ++i) {
    const std::string id = text_of_property(*sets[i], "@id");
    check_keys(*sets[i], id, where_of(i));
    check_join(id, where_of(i));
    check_data(*sets[i], id, where_of(i));
  }
}

void CroissantRecordSets::read_set(const Json& set, const std::string& where) {
  ++check_.record_sets;
  if (!set.is_object()) {
    check_.findings.mistake(where, "is no object");
    return;
  }
  const std::string id = take_id(set, where, ids_, check_.findings);
  sets_.insert(id);
  if (!is_of_type(set, "RecordSet")) check_.findings.mistake(where + ".@type", "is not cr:RecordSet");
  const auto fields = values_of(property(set, "field"));
  if (fields.empty()) check_.findings.mistake(where + ".field", "is missing: records have fields");
  const bool has_data = property(set, "data") != nullptr;
  for (size_t i = 0; i < fields.size(); ++i) {
    read_field(*fields[i], id, fmt::format("{}.field[{}]", where, i), has_data);
  }
  const auto own = fields_of(id);
  for (const FieldEntry* entry : own) {
    if (entry->column.table == nullptr) continue;
    check_.rows += static_cast<int64_t>(entry->column.table->rows());
    break;
  }
}

void CroissantRecordSets::read_field(const Json& field, const std::string& set, const std::string& where,
                                     bool has_data) {
  ++check_.fields;
  if (!field.is_object()) {
    check_.findings.mistake(where, "is no object");
    return;
  }
  FieldEntry entry{&field, take_id(field, where, ids_, check_.findings), set, where, "", {}};
  if (!is_of_type(field, "Field")) check_.findings.mistake(where + ".@type", "is not cr:Field");
  if (!entry.id.empty() && !set.empty() && !entry.id.starts_with(set + "/")) {
    check_.findings.advise(where + ".@id",
                           "'" + entry.id + "' should begin with that of its record set, '" + set + "/'");
  }
  if (text_of_property(field, "name").empty()) check_.findings.mistake(where + ".name", "is missing");
  const auto sub_fields = values_of(property(field, "subField"));
  const Json* source = property(field, "source");
  const bool is_from_field = source != nullptr && !id_in(*source).empty();
  check_type(field, where, sub_fields.empty() && !is_from_field && property(field, "references") == nullptr);
  if (source == nullptr && !has_data && sub_fields.empty()) {
    check_.findings.mistake(where + ".source", "is missing, and the record set has no data of its own");
  }
  if (source != nullptr) check_source(field, entry);
  check_values(entry);
  fields_.push_back(std::move(entry));
  for (size_t i = 0; i < sub_fields.size(); ++i) {
    read_field(*sub_fields[i], set, fmt::format("{}.subField[{}]", where, i), has_data);
  }
}

void CroissantRecordSets::check_type(const Json& field, const std::string& where, bool needed) {
  const auto types = values_of(property(field, "dataType"));
  if (types.empty() && needed) check_.findings.mistake(where + ".dataType", "is missing");
  bool has_known = false;
  for (const Json* type : types) {
    const std::string name = id_in(*type);
    const std::string_view local = local_name(name);
    if (is_in(kAtomic, local) || is_in(kOther, local)) {
      has_known = true;
    } else if (!is_foreign(name)) {
      check_.findings.mistake(where + ".dataType", "'" + name +
                                                       "' is no data type; such as sc:Text, sc:Integer, sc:Float, "
                                                       "sc:Boolean, sc:Date");
      has_known = true;  // said already
    }
  }
  if (!types.empty() && !has_known && needed) {
    check_.findings.mistake(where + ".dataType", "has no atomic type among those of other vocabularies");
  }
}

void CroissantRecordSets::check_source(const Json& field, FieldEntry& entry) {
  const std::string where = entry.where + ".source";
  const Json& source = *property(field, "source");
  std::vector<SourceKind> named;
  for (const SourceKind& kind : kSources) {
    if (property(source, kind.property) != nullptr) named.push_back(kind);
  }
  const std::string direct = id_in(source);
  if (named.size() + (direct.empty() ? 0 : 1) != 1) {
    check_.findings.mistake(where, "should name one of fileObject, fileSet, recordSet, field or @id");
    return;
  }
  if (named.empty() || !named.front().is_file) return;  // check_references() looks whether the field is there
  const bool is_object = std::string_view(named.front().property) == "fileObject";
  entry.file = id_in(*property(source, named.front().property));
  if (is_object ? !distribution_.has_file(entry.file) : !distribution_.has_set(entry.file)) {
    check_.findings.mistake(where + "." + named.front().property,
                            "there is no '" + entry.file + "' in the distribution; " + distribution_.known());
    return;
  }
  check_extract(source, entry, where);
}

void CroissantRecordSets::check_extract(const Json& source, FieldEntry& entry, const std::string& where) {
  const Json* extract = property(source, "extract");
  const CsvTable* table = distribution_.table(entry.file);
  if (extract == nullptr) {
    if (table != nullptr) check_.findings.mistake(where + ".extract", "is missing: which column?");
    return;
  }
  int64_t ways = 0;
  for (const char* way : {"column", "fileProperty", "jsonPath"}) ways += property(*extract, way) != nullptr ? 1 : 0;
  if (ways != 1) {
    check_.findings.mistake(where + ".extract", "should have one of column, fileProperty or jsonPath");
    return;
  }
  if (const Json* file_property = property(*extract, "fileProperty")) {
    const std::string name = id_in(*file_property);
    if (!is_in(kFileProperties, name)) {
      check_.findings.mistake(where + ".extract.fileProperty",
                              "'" + name + "' is none of fullpath, filename, content, lines, lineNumbers");
    }
  }
  const Json* column = property(*extract, "column");
  if (column == nullptr || table == nullptr) return;
  const std::string name = id_in(*column);
  const auto found = table->find_column(name);
  if (!found) {
    check_.findings.mistake(where + ".extract.column", "'" + entry.file + "' has no column '" + name +
                                                           "'; near: " + nearest_names(name, table->columns()));
    return;
  }
  entry.column = {table, *found};
}

// A blank cell is a value that isn't known.
void CroissantRecordSets::check_values(const FieldEntry& entry) {
  const Json* source = property(*entry.json, "source");
  if (entry.column.table == nullptr || property(*source, "transform") != nullptr ||
      property(*source, "format") != nullptr) {
    return;
  }
  const Json* repeated = property(*entry.json, "repeated");
  if (repeated != nullptr && repeated->is_boolean() && repeated->get<bool>()) return;
  for (const Json* type : values_of(property(*entry.json, "dataType"))) {
    const std::string name = id_in(*type);
    const std::string_view local = local_name(name);
    if (!is_in(kAtomic, local)) continue;
    int64_t wrong = 0;
    size_t first = 0;
    for (size_t row = 0; row < entry.column.table->rows(); ++row) {
      const std::string_view value = trim(entry.column.table->cell(row, entry.column.index));
      if (value.empty() || is_value_of(local, value)) continue;
      if (wrong++ == 0) first = row;
    }
    if (wrong == 0) continue;
    check_.findings.mistake(entry.column.table->where(first),
                            fmt::format("'{}' is no {}, which {} has for type{}",
                                        entry.column.table->cell(first, entry.column.index).substr(0, 60), name,
                                        entry.id, wrong > 1 ? fmt::format("; {} rows are so", wrong) : ""));
  }
}

std::vector<const CroissantRecordSets::FieldEntry*> CroissantRecordSets::fields_of(const std::string& set) const {
  std::vector<const FieldEntry*> found;
  for (const FieldEntry& entry : fields_) {
    if (entry.set == set) found.push_back(&entry);
  }
  return found;
}

const CroissantRecordSets::FieldEntry* CroissantRecordSets::find_field(const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &fields_[found->second];
}

void CroissantRecordSets::check_references(const FieldEntry& entry) {
  if (const Json* source = property(*entry.json, "source")) {
    const Json* field = property(*source, "field");
    const Json* set = property(*source, "recordSet");
    const std::string target = field != nullptr ? id_in(*field) : id_in(*source);
    if (!target.empty() && find_field(target) == nullptr && !distribution_.has_file(target) &&
        !distribution_.has_set(target)) {
      check_.findings.mistake(entry.where + ".source", "there is no field '" + target + "'");
    }
    if (set != nullptr && !sets_.contains(id_in(*set))) {
      check_.findings.mistake(entry.where + ".source.recordSet", "there is no record set '" + id_in(*set) + "'");
    }
  }
  for (const Json* reference : values_of(property(*entry.json, "references"))) {
    const Json* field = property(*reference, "field");
    const std::string target = id_in(field != nullptr ? *field : *reference);
    const FieldEntry* found = find_field(target);
    if (found == nullptr) {
      check_.findings.mistake(entry.where + ".references", "there is no field '" + target + "'");
      continue;
    }
    check_foreign_keys(entry, *found);
  }
}

void CroissantRecordSets::check_foreign_keys(const FieldEntry& entry, const FieldEntry& target) {
  if (entry.column.table == nullptr || target.column.table == nullptr) return;
  std::unordered_set<std::string_view> known;
  for (size_t row = 0; row < target.column.table->rows(); ++row) {
    known.insert(target.column.table->cell(row, target.column.index));
  }
  int64_t missing = 0;
  size_t first = 0;
  for (size_t row = 0; row < entry.column.table->rows(); ++row) {
    const std::string_view value = entry.column.table->cell(row, entry.column.index);
    if (value.empty() || known.contains(value)) continue;
    if (missing++ == 0) first = row;
  }
  if (missing == 0) return;
  check_.findings.mistake(
      entry.column.table->where(first),
      fmt::format("'{}' in {} is not in {}{}", entry.column.table->cell(first, entry.column.index).substr(0, 60),
                  entry.id, target.id, missing > 1 ? fmt::format("; {} rows are so", missing) : ""));
}

void CroissantRecordSets::check_keys(const Json& set, const std::string& id, const std::string& where) {
  std::vector<const FieldEntry*> keys;
  const auto named = values_of(property(set, "key"));
  for (const Json* key : named) {
    const FieldEntry* field = find_field(id_in(*key));
    if (field == nullptr || field->set != id) {
      check_.findings.mistake(where + ".key", "the record set has no field '" + id_in(*key) + "'");
      continue;
    }
    keys.push_back(field);
  }
  if (!keys.empty() && keys.size() == named.size()) check_key_values(keys, where + ".key");
}

void CroissantRecordSets::check_key_values(const std::vector<const FieldEntry*>& keys, const std::string& where) {
  const CsvTable* table = keys.front()->column.table;
  for (const FieldEntry* key : keys) {
    if (table == nullptr || key->column.table != table) return;
  }
  std::unordered_set<std::string> seen;
  for (size_t row = 0; row < table->rows(); ++row) {
    std::vector<std::string> cells;
    cells.reserve(keys.size());
    for (const FieldEntry* key : keys) cells.emplace_back(table->cell(row, key->column.index));
    if (std::all_of(cells.begin(), cells.end(), [](const std::string& cell) { return cell.empty(); })) {
      check_.findings.mistake(table->where(row), "the key is blank");
      return;
    }
    const std::string line = csv_line(cells);
    if (seen.insert(line).second) continue;
    check_.findings.mistake(table->where(row), "a second row has the key " + std::string(trim(line)) + ", by " + where);
    return;
  }
}

// Fields of several files are joined by a reference from one of them.
void CroissantRecordSets::check_join(const std::string& id, const std::string& where) {
  std::set<std::string> files;
  bool is_joined = false;
  for (const FieldEntry* entry : fields_of(id)) {
    if (!entry->file.empty()) files.insert(entry->file);
    is_joined = is_joined || property(*entry->json, "references") != nullptr;
  }
  if (files.size() > 1 && !is_joined) {
    check_.findings.mistake(where, "takes fields from " + join({files.begin(), files.end()}, ", ") +
                                       " and no references say how their rows go together");
  }
}

void CroissantRecordSets::check_data(const Json& set, const std::string& id, const std::string& where) {
  const Json* data = property(set, "data");
  if (data == nullptr) return;
  if (!data->is_array() || data->empty()) {
    check_.findings.mistake(where + ".data", "is no list of records");
    return;
  }
  std::set<std::string> known;
  for (const FieldEntry* entry : fields_of(id)) {
    known.insert(entry->id);
    known.insert(text_of_property(*entry->json, "name"));
  }
  for (size_t i = 0; i < data->size(); ++i) {
    const std::string at = fmt::format("{}.data[{}]", where, i);
    if (!(*data)[i].is_object()) {
      check_.findings.mistake(at, "is no record");
      continue;
    }
    for (const auto& [key, value] : (*data)[i].items()) {
      if (!known.contains(key)) check_.findings.mistake(at, "the record set has no field '" + key + "'");
    }
  }
}

}  // namespace perfcast::program
