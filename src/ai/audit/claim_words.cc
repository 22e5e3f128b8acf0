#include "ai/audit/claim_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "ai/audit/claim_lexicon.h"
#include "ai/audit/claim_units.h"
#include "ai/audit/claim_work.h"
#include "ai/latency/model/device_catalogue.h"
#include "ai/llm/model_catalogue.h"
#include "base/json.h"
#include "base/number_style.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kLongestClaim = 1000, kLongestName = 6;  // bytes; words

class WordReader {
 public:
  WordReader(std::string_view text, const std::vector<DeviceFacts>& devices, const KnownModels& models)
      : text_(text), devices_{devices}, models_(models), words_(words_of_claim(text)) {
    claim_ = {{"id", "claim"}, {"says", std::string(text)}};
  }

  Result<Json> read() {
    while (at_ < words_.size()) {
      take_sign();
      if (take_shape() || take_multiple_behind() || take_quantity() || take_name() || take_count() || take_meaning() ||
          take_filler())
        continue;
      unknown_.push_back(words_[at_++]);
    }
    if (!unknown_.empty()) return unknown_words();
    if (!problem_.empty()) return wrong(problem_, expected_);
    if (!time_name_.empty())
      return wrong("no time stands beside '" + time_word_ + "'", "such as " + time_word_ + " 20 ms");
    if (behind_ && quantities_.empty()) {
      quantities_.push_back(*behind_);
    } else if (behind_) {
      counts_.push_back({"devices", behind_->number, 1});
    }
    if (quantities_.empty()) {
      return wrong("nothing is claimed: no number has a unit",
                   "a number with its unit, such as 120 tok/s, 5.28 ms, 26 TFLOP/s or 3 TB/s");
    }
    return with_numbers();
  }

 private:
  struct Count {
    std::string field, number;
    double factor = 1;
  };
  struct Quantity {
    std::string number;
    double factor = 1;
    ClaimUnitName unit;
    bool named = false;  // a time whose name stood beside it
  };

  Error wrong(const std::string& message, const std::string& expected) const {
    return usage_error("bad-claim", message, "claim '" + printable(text_.substr(0, 100)) + "'", expected);
  }
  void complain(const std::string& problem, const std::string& expected) {
    if (!problem_.empty()) return;
    problem_ = problem;
    expected_ = expected;
  }
  std::string lower(size_t i) const { return i < words_.size() ? lower_case(words_[i]) : ""; }

  void state(const char* field, const Json& value) {
    if (claim_.contains(field) && claim_[field] != value) {
      complain(fmt::format("{} is stated twice: {} and {}", field, claim_[field].dump(), value.dump()),
               "one claim at a time");
    }
    claim_[field] = value;
  }

  // "-5 tok/s": read on as 5, and complained of.
  void take_sign() {
    std::string& word = words_[at_];
    if (!word.starts_with('-') || number_length(std::string_view(word).substr(1)) == 0) return;
    complain("the number '" + printable(word.substr(0, 60)) + "' is below 0", "a number above 0");
    word.erase(0, 1);
  }

  // "4096x4096x4096", "4096 x 4096 x 4096", "4096^3".
  bool take_shape() {
    if (const std::string& word = words_[at_]; word.ends_with("^3")) {
      const std::string side = word.substr(0, word.size() - 2);
      words_[at_] = side + "x" + side + "x" + side;
    }
    std::string joined;
    size_t used = 0;
    for (size_t i = at_; i < words_.size() && i < at_ + 5; ++i) {
      joined += lower(i);
      if (std::count(joined.begin(), joined.end(), 'x') == 2 && joined.back() != 'x') {
        used = i - at_ + 1;
        break;
      }
    }
    if (used == 0) return false;
    Json shape = Json::array();
    for (const std::string& side : split(joined, 'x')) {
      if (side.empty() || side.size() > 9 || side.find_first_not_of("0123456789") != std::string::npos) return false;
      shape.push_back(std::stoll(side));
    }
    state("shape", shape);
    at_ += used;
    return true;
  }

  // A number at `i`, and what follows it within its word; a factor of "k" or "M" where a unit comes after.
  bool number_at(size_t i, std::string& number, std::string& rest) const {
    if (i >= words_.size()) return false;
    const size_t length = number_length(words_[i]);
    number = words_[i].substr(0, length);
    rest = words_[i].substr(length);
    return length > 0;
  }
  static double factor_of(std::string& rest) {
    const std::pair<std::string_view, double> kFactors[] = {{"k", 1e3}, {"K", 1e3}, {"M", 1e6}};
    for (const auto& [name, factor] : kFactors) {
      if (rest != name) continue;
      rest.clear();
      return factor;
    }
    return 1;
  }

  // A number with a unit at `from`: the longest unit that stands behind it, "tokens per second per user". Gives how
  // many words it has; 0: there is none.
  size_t quantity_at(size_t from, Quantity& quantity) const {
    std::string unit;
    if (!number_at(from, quantity.number, unit)) return 0;
    quantity.factor = factor_of(unit);
    size_t used = 0;
    for (size_t i = from + 1; i <= words_.size() && i <= from + 6; ++i) {
      if (const auto found = claim_unit_named(unit)) {
        quantity.unit = *found;
        used = i - from;
      }
      if (i == words_.size()) break;
      const std::string word = lower(i);
      if (word == "output" && unit.empty()) continue;  // "output tokens/s"
      const bool joins = word == "per" || word == "a" || word.starts_with("/") || unit.ends_with("/") || unit.empty();
      if (!joins) break;
      unit += word == "per" || (word == "a" && !unit.empty()) ? "/" : words_[i];
    }
    return used;
  }

  bool take_quantity() {
    Quantity quantity;
    const size_t used = quantity_at(at_, quantity);
    if (used == 0) return false;
    const bool is_behind = device_end_ == at_ && device_end_ > 0;
    at_ += used;
    if (quantity.unit.metric == ClaimMetric::kSpeedup && take_multiple(quantity, is_behind)) return true;
    if (quantity.unit.metric == ClaimMetric::kUtilisation && !take_utilisation()) {
      complain("it is not said of what " + quantity.number + "% are", "such as 45% MFU");
    }
    if (quantity.unit.metric == ClaimMetric::kLatency && !time_name_.empty()) name_time(quantity);
    quantities_.push_back(quantity);
    return true;
  }

  // "8x H100", "8x GPUs", "H100 8x": devices and no speed-up, except in "H100 3x faster". In "H100: 8x" it is one where
  // nothing else is claimed.
  bool take_multiple(const Quantity& quantity, bool is_behind) {
    std::string found;
    const bool counts_next = name_length(at_, found, &WordReader::is_device) > 0 || is_claim_plural(lower(at_));
    if (!counts_next && is_behind && !is_claim_comparison(lower(at_)) && is_digits(quantity.number)) {
      behind_ = quantity;
      return true;
    }
    if (counts_next) counts_.push_back({"devices", quantity.number, 1});
    return counts_next;
  }
  // "H100 x8", "H100 x 8", "H100x8".
  bool take_multiple_behind() {
    std::string word = lower(at_), name;
    if (device_end_ == at_ && device_end_ > 0 && word.starts_with('x')) {
      const bool apart = word == "x";
      const std::string number = apart ? lower(at_ + 1) : word.substr(1);
      if (!is_digits(number)) return false;
      counts_.push_back({"devices", number, 1});
      at_ += apart ? 2 : 1;
      return true;
    }
    for (size_t i = at_; i < words_.size() && i < at_ + kLongestName; ++i) {
      const std::string whole = words_[i];
      const size_t x = whole.find_last_of("xX");
      if (x == std::string::npos || x == 0 || !is_digits(whole.substr(x + 1))) continue;
      words_[i] = whole.substr(0, x);
      if (name_length(at_, name, &WordReader::is_device) == i + 1 - at_ && take_device()) {
        counts_.push_back({"devices", whole.substr(x + 1), 1});
        return true;
      }
      words_[i] = whole;
    }
    return false;
  }
  static bool is_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  }
  bool take_utilisation() {
    for (const std::string_view word : {"mfu", "utilisation", "utilization", "peak"}) {
      const bool skip = lower(at_) == "of" && lower(at_ + 1) == word;
      if (!skip && lower(at_) != word) continue;
      at_ += skip ? 2 : 1;
      return true;
    }
    return std::exchange(utilisation_, false);
  }
  void name_time(Quantity& quantity) {
    quantity.unit.metric = *claim_metric_named(time_name_);
    quantity.named = true;
    time_name_.clear();
  }

  bool is_device(const std::string& name) const { return find_device(devices_, name).ok(); }
  bool is_model(const std::string& name) const {
    return name == "gemm" || name == "matmul" || find_known_model(models_, name) != nullptr ||
           built_in_model(name).ok();
  }
  bool is_precision(const std::string& name) const { return claim_precision_named(name).has_value(); }

  // The words from `from` on that together are a name: the longest; 0: none.
  size_t name_length(size_t from, std::string& name, bool (WordReader::*is_one)(const std::string&) const) const {
    size_t longest = 0;
    std::string joined;
    for (size_t i = from; i < words_.size() && i < from + kLongestName; ++i) {
      // "llama3-8b q4_k_m": a format is no part of a model's name.
      if (i > from && is_one == &WordReader::is_model && is_precision(lower(i))) break;
      joined += (joined.empty() ? "" : "-") + lower(i);
      if (!(this->*is_one)(joined)) continue;
      longest = i - from + 1;
      name = joined;
    }
    return longest;
  }

  bool take_name() {
    const std::string whole = words_[at_];
    // "8xH100", and "H100s" of eight of them.
    std::string number, rest;
    if (number_at(at_, number, rest) && rest.size() > 1 && (rest[0] == 'x' || rest[0] == 'X')) {
      words_[at_] = rest.substr(1);
      if (take_device()) {
        counts_.push_back({"devices", number, 1});
        return true;
      }
      words_[at_] = whole;
    }
    if (take_device()) return true;
    if (words_[at_].size() > 2 && words_[at_].ends_with('s')) {
      words_[at_].pop_back();
      if (take_device()) return true;
      words_[at_] = whole;
    }
    std::string name;
    if (const size_t length = name_length(at_, name, &WordReader::is_model); length > 0) {
      at_ += length;
      state_model(name);
      return true;
    }
    if (const auto spelled = claim_precision_spelled(lower(at_)); !spelled.empty()) {
      ++at_;
      state("precision", spelled);
      return true;
    }
    if (const size_t length = name_length(at_, name, &WordReader::is_precision); length > 0) {
      at_ += length;
      state("precision", name);
      return true;
    }
    return take_number_of_devices(number, rest);
  }
  // "llama3-8b-fp8" states a format, too.
  void state_model(const std::string& name) {
    for (size_t dash = name.find('-'); dash != std::string::npos; dash = name.find('-', dash + 1)) {
      const std::string model = name.substr(0, dash), format = name.substr(dash + 1);
      if (!is_precision(format) || !is_model(model)) continue;
      state("model", model);
      state("precision", format);
      return;
    }
    state("model", name);
  }
  bool take_device() {
    std::string name;
    const size_t length = name_length(at_, name, &WordReader::is_device);
    if (length == 0) return false;
    at_ += length;
    device_end_ = at_;
    state("device", name);
    return true;
  }
  // "8 H100", "8 x H100s".
  bool take_number_of_devices(const std::string& number, const std::string& rest) {
    if (number.empty() || !rest.empty() || field_counted_by(at_ + 1) != nullptr) return false;
    const size_t before = at_, x = lower(at_ + 1) == "x" ? 1 : 0;
    if (at_ + 1 + x >= words_.size() || number_length(words_[at_ + 1 + x]) > 0) return false;
    at_ += 1 + x;
    const std::string whole = words_[at_];
    bool found = take_device();
    if (!found && whole.size() > 2 && whole.ends_with('s')) {
      words_[at_].pop_back();
      found = take_device();
      if (!found) words_[at_] = whole;
    }
    if (found) {
      counts_.push_back({"devices", number, 1});
    } else {
      at_ = before;
    }
    return found;
  }

  const char* field_counted_by(size_t i) const { return claim_count_named(lower(i)); }

  // "batch 8", "batch size of 8", "bs8", "8 users", "context 8k".
  bool take_count() {
    Count count;
    std::string rest;
    if (const char* field = field_counted_by(at_)) {
      size_t i = at_ + 1;
      while (lower(i) == "size" || lower(i) == "of" || lower(i) == "length" || lower(i) == "tokens" ||
             lower(i) == "requests")
        ++i;
      Quantity quantity;
      const bool of_the_next = lower(at_) == "gpu" && field_counted_by(i + 1) != nullptr;  // "one GPU, 8 users"
      if (of_the_next || quantity_at(i, quantity) > 0 || !number_at(i, count.number, rest)) {
        ++at_;  // "one GPU", "output throughput"
        return true;
      }
      count.factor = factor_of(rest);
      if (!rest.empty()) return false;
      count.field = field;
      counts_.push_back(count);
      at_ = i + 1;
      return true;
    }
    const size_t letters = std::min(words_[at_].find_first_of("0123456789"), words_[at_].size());
    if (const char* field = claim_count_named(lower_case(words_[at_].substr(0, letters)))) {
      count.number = words_[at_].substr(letters);
      if (number_length(count.number) != count.number.size()) return false;
      count.field = field;
      counts_.push_back(count);
      ++at_;
      return true;
    }
    if (!number_at(at_, count.number, rest)) return false;
    count.factor = factor_of(rest);
    if (!rest.empty()) return false;
    const char* field = field_counted_by(at_ + 1);
    if (field == nullptr) {
      // A number that nothing explains.
      const std::string word = words_[at_];
      const bool alone = at_ + 1 >= words_.size() || number_length(words_[at_ + 1]) > 0;
      complain(
          "the number '" + word + "' has no unit" + (alone ? "" : ", and '" + printable(words_[at_ + 1]) + "' is none"),
          "such as " + nearest_names(alone ? "tokens/s" : words_[at_ + 1], claim_unit_spellings(), 4));
      at_ += alone || is_word(at_ + 1) ? 1 : 2;
      return true;
    }
    count.field = field;
    counts_.push_back(count);
    at_ += 2;
    while (field_counted_by(at_) != nullptr && field_counted_by(at_) == count.field) ++at_;  // "8 concurrent users"
    return true;
  }
  bool is_word(size_t i) const {
    std::string name;
    return claim_count_named(lower(i)) != nullptr || claim_word_named(lower(i)) != nullptr ||
           is_claim_filler(lower(i)) ||
           name_length(i, name, &WordReader::is_device) + name_length(i, name, &WordReader::is_model) +
                   name_length(i, name, &WordReader::is_precision) >
               0;
  }

  // "0.6", "v0.6.3", "b4000", "2" behind the name of a library: a number that nothing else explains.
  bool is_version(size_t i) const {
    Quantity quantity;
    std::string name;
    if (i >= words_.size() || quantity_at(i, quantity) > 0 || field_counted_by(i + 1) != nullptr || is_word(i))
      return false;
    const std::string word = lower(i);
    const size_t letter = word[0] == 'v' || word[0] == 'b' ? 1 : 0, digits = number_length(word.substr(letter));
    if (digits == 0 || word.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.+-") != std::string::npos)
      return false;
    if (letter > 0 || word.find('.') != std::string::npos) return true;
    return digits == word.size() && lower(i + 1) != "x" && name_length(i + 1, name, &WordReader::is_device) == 0 &&
           !is_claim_plural(lower(i + 1));
  }

  bool take_meaning() {
    std::string word = lower(at_);
    const bool two = (word == "first" || word == "per" || word == "inter") &&
                     (lower(at_ + 1) == "token" || lower(at_ + 1) == "user");
    if (two) word += "-" + lower(at_ + 1);
    if (word == "mfu" || word == "utilisation" || word == "utilization") {
      utilisation_ = true;
      ++at_;
      return true;
    }
    const ClaimWord* meaning = claim_word_named(word);
    if (meaning == nullptr) return false;
    at_ += two ? 2 : 1;
    const std::string_view field = meaning->field;
    // Speculative decoding says nothing of the phase.
    if (field == "phase" && word == "decoding" && claim_.contains("speculative")) return true;
    if (field != "time") {
      std::string value = meaning->value;
      const bool has_versions = field == "libraries" || field == "language";
      if (has_versions && is_version(at_)) value += " " + words_[at_++];
      state(meaning->field, value == "true" ? Json(true) : Json(value));
      return true;
    }
    Quantity* last = quantities_.empty() ? nullptr : &quantities_.back();
    const bool names_last = last != nullptr && last->unit.metric == ClaimMetric::kLatency && !last->named;
    if (word == "latency" && (names_last || !time_name_.empty() || (last != nullptr && last->named))) return true;
    time_name_ = meaning->value;
    time_word_ = word;
    // "20 ms TTFT" names the time before it; "TTFT 20 ms" the one behind it.
    std::string number, rest;
    const size_t behind = at_ + (claim_count_named(lower(at_)) != nullptr ? 1 : 0);
    if (names_last && !number_at(behind, number, rest)) name_time(*last);
    return true;
  }

  bool take_filler() { return is_claim_filler(lower(at_)) && ++at_ > 0; }

  Error unknown_words() const {
    std::vector<std::string> names = built_in_models();
    const auto append = [&names](const std::vector<std::string>& more) {
      names.insert(names.end(), more.begin(), more.end());
    };
    append(names_of(models_));
    for (const DeviceFacts& device : devices_.devices)
      append(device.aliases.empty() ? std::vector{device.name} : device.aliases);
    append(claim_precision_names());
    append(claim_lexicon());
    std::vector<std::string> said, near;
    for (const std::string& word : unknown_) {
      const std::string shown = "'" + printable(word.substr(0, 60)) + "'";
      if (std::find(said.begin(), said.end(), shown) != said.end()) continue;
      said.push_back(shown);
      near.push_back(is_prose(word) ? "the claim without " + shown
                                    : fmt::format("for {} one of {}", shown, nearest_names(word, names, 3)));
    }
    return wrong("no meaning is known for " + join(said, ", "),
                 join(near, "; ") + "; or the claim in a file, whose fields docs/audit.md lists");
  }

  // All numbers of the text are written in one style.
  Result<Json> with_numbers() {
    NumberEvidence evidence(ThreeDigits::kGrouped);
    for (const Count& count : counts_) evidence.see(count.number);
    for (const Quantity& quantity : quantities_) evidence.see(quantity.number);
    const auto style = evidence.decide("claim '" + printable(text_.substr(0, 100)) + "'");
    if (!style) return style.error();
    for (const Count& count : counts_) {
      const auto value = parse_number(count.number, *style);
      if (!value) return wrong("'" + printable(count.number) + "' is no number", "such as 8, 4096 or 30,000");
      state(count.field.c_str(), *value * count.factor);
    }
    std::set<ClaimMetric> seen;
    for (const Quantity& quantity : quantities_) {
      const auto value = parse_number(quantity.number, *style);
      if (!value) return wrong("'" + printable(quantity.number) + "' is no number", "such as 5.28 or 30,000");
      if (!seen.insert(quantity.unit.metric).second) {
        return wrong(fmt::format("{} is stated twice", name_of(quantity.unit.metric)), "one claim at a time");
      }
      if (quantity.unit.per_user) state("scope", "per-user");
      const double devices =
          quantity.unit.per_device && claim_.contains("devices") ? claim_["devices"].get<double>() : 1;
      const Json number = {{"metric", name_of(quantity.unit.metric)},
                           {"value", *value * quantity.factor * devices},
                           {"unit", quantity.unit.unit}};
      if (&quantity == &quantities_.front()) {
        claim_.update(number);
      } else if (quantity.unit.metric == ClaimMetric::kSpeedup) {
        return wrong("a speed-up stands beside another number", "a claims file, where a speed-up says over what it is");
      } else {
        claim_["and"].push_back(number);
      }
    }
    if (!problem_.empty()) return wrong(problem_, expected_);
    return claim_;
  }

  std::string_view text_;
  DeviceCatalogue devices_;
  const KnownModels& models_;
  std::vector<std::string> words_;
  size_t at_ = 0, device_end_ = 0;  // the word behind the last device
  Json claim_;
  std::vector<Count> counts_;
  std::vector<Quantity> quantities_;
  std::optional<Quantity> behind_;  // "8x" behind a device
  std::vector<std::string> unknown_;
  std::string problem_, expected_;     // the first
  std::string time_name_, time_word_;  // of the time that comes next
  bool utilisation_ = false;
};

}  // namespace

Result<Json> claim_from_words(std::string_view text, const std::vector<DeviceFacts>& devices,
                              const KnownModels& models) {
  if (text.size() > kLongestClaim) {
    return usage_error("bad-claim", fmt::format("the claim has {} bytes", text.size()), "--claim",
                       fmt::format("{} at most", kLongestClaim));
  }
  return WordReader(text, devices, models).read();
}

}  // namespace perfcast::ai
