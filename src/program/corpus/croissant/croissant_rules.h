#pragma once
// What the parts of a Croissant check share: words of the specification (http://mlcommons.org/croissant/1.0), forms of
// values, and the list of what was found.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"

namespace perfcast::program {

inline constexpr const char* kCroissantVersion = "http://mlcommons.org/croissant/1.0";
inline constexpr const char* kCroissantNamespace = "http://mlcommons.org/croissant/";

bool is_url(std::string_view text);       // scheme://something, without blanks
bool is_iso_date(std::string_view text);  // 2026-11-24, or with a time behind T; a day that there is
bool is_version(std::string_view text);   // MAJOR.MINOR.PATCH

struct CroissantFinding {
  std::string where;  // "recordSet[2].field[0].source"; "runs.csv:17"
  std::string message;
  bool is_mistake = true;  // else advice: the specification recommends it
};

// Every mistake, as long as there is an end of them: what comes after the limit is counted.
class CroissantFindings {
 public:
  void mistake(const std::string& where, const std::string& message) { add({where, message, true}); }
  void advise(const std::string& where, const std::string& message) { add({where, message, false}); }
  const std::vector<CroissantFinding>& list() const { return list_; }
  int64_t mistakes() const { return mistakes_; }
  int64_t advice() const { return advice_; }

 private:
  void add(CroissantFinding finding);
  std::vector<CroissantFinding> list_;
  int64_t mistakes_ = 0, advice_ = 0;
};

// The property of an object by its name, with or without a prefix of its vocabulary (cr:, sc:, dct:, or the whole
// address); null where it is absent, or JSON's null.
const Json* property(const Json& object, std::string_view name);
// The values of a property: none, one, or those of a list.
std::vector<const Json*> values_of(const Json* property);
// Its text; empty where it is none.
std::string text_of_property(const Json& object, std::string_view name);
// Whether "@type" says so, in any of the forms that mean the same.
bool is_of_type(const Json& object, std::string_view type);
// What a reference points to: {"@id": X}, or X; empty where it is neither.
std::string id_in(const Json& reference);
// Without the prefix of its vocabulary: "sc:Text" -> "Text".
std::string_view local_name(std::string_view name);

}  // namespace perfcast::program
