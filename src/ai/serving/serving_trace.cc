#include "ai/serving/serving_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::ai {
namespace {

constexpr double kMostTokens = 1 << 30;
constexpr double kMostSeconds = 1e11;  // dates count from 1970
constexpr int64_t kMooncakeBlock = 512;
constexpr size_t kMostRequests = size_t{1} << 26;
constexpr size_t kMostHashes = UINT32_MAX;
constexpr size_t kMostNamed = 8;  // columns in a note

// The number that `text` begins with, of `digits` digits; -1: none.
int take_digits(std::string_view& text, size_t digits) {
  int value = 0;
  if (text.size() < digits) return -1;
  for (size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = 10 * value + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// "Z", "+02:00" or nothing, as seconds; absent: something else.
std::optional<double> offset_s(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") return 0.0;
  const double sign = text.front() == '-' ? -1 : 1;
  if (!take(text, "+-")) return std::nullopt;
  const int hours = take_digits(text, 2);
  take(text, ":");
  const int minutes = text.empty() ? 0 : take_digits(text, 2);
  if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59 || !text.empty()) return std::nullopt;
  return sign * (hours * 3600 + minutes * 60);
}

// "2023-11-16 18:17:03.9799600" as seconds since 1970, in UTC where no offset is stated.
std::optional<double> seconds_of_date(std::string_view text) {
  text = trim(text);
  const int year = take_digits(text, 4);
  if (year < 0 || !take(text, "-")) return std::nullopt;
  const int month = take_digits(text, 2);
  if (month < 0 || !take(text, "-")) return std::nullopt;
  const int day = take_digits(text, 2);
  if (day < 0 || !take(text, " T")) return std::nullopt;
  const int hour = take_digits(text, 2);
  if (hour < 0 || hour > 23 || !take(text, ":")) return std::nullopt;
  const int minute = take_digits(text, 2);
  if (minute < 0 || minute > 59 || !take(text, ":")) return std::nullopt;
  const int second = take_digits(text, 2);
  if (second < 0 || second > 60) return std::nullopt;
  double fraction = 0;
  if (take(text, ".,")) {
    for (double place = 0.1; !text.empty() && text.front() >= '0' && text.front() <= '9'; place /= 10) {
      fraction += place * (text.front() - '0');
      text.remove_prefix(1);
    }
  }
  const auto offset = offset_s(trim(text));
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!offset || !date.ok()) return std::nullopt;
  const auto days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  return days * 86400 + hour * 3600 + minute * 60 + second + fraction - *offset;
}

// Requests as they are read, and what was wrong with some.
class Collector {
 public:
  Collector(TraceRead& read, const std::string& source) : read_(read), source_(source) {}

  // Whether it was taken. NaN: not stated.
  bool add(double arrival_s, double prompt, double output, const std::string& where) {
    if (read_.trace.requests.size() == kMostRequests) return leave_out("beyond the first 67 million", where);
    const auto is_count = [](double value) { return value == std::floor(value) && value >= 0 && value <= kMostTokens; };
    if (!is_count(prompt) || !is_count(output)) return leave_out("lengths that are no whole numbers of tokens", where);
    if (prompt == 0) return leave_out("an empty prompt", where);
    if (output == 0) return leave_out("no output", where);
    if (!(std::abs(arrival_s) <= kMostSeconds)) return leave_out("no time of arrival", where);
    read_.trace.requests.push_back({.arrival_s = arrival_s,
                                    .prompt_tokens = static_cast<int64_t>(prompt),
                                    .output_tokens = static_cast<int64_t>(output)});
    return true;
  }

  bool leave_out(const std::string& why, const std::string& where) {
    const auto known = std::find_if(left_.begin(), left_.end(), [&](const Left& left) { return left.why == why; });
    if (known == left_.end()) {
      left_.push_back({why, where, 1});
    } else {
      ++known->count;
    }
    return false;
  }

  Result<TraceRead> finish() {
    std::vector<std::string> left;
    for (const Left& each : left_) {
      left.push_back(fmt::format("{} left out: {} (the first: {})",
                                 each.count == 1 ? "1 request is" : fmt::format("{} requests are", each.count),
                                 each.why, printable(each.first)));
    }
    if (read_.trace.requests.empty()) {
      return Error{"no-requests", "no request can be used" + (left.empty() ? std::string() : "; " + join(left, "; ")),
                   source_, "a request with at least one token of prompt and one of output"};
    }
    read_.notes.insert(read_.notes.end(), left.begin(), left.end());
    sort();
    return std::move(read_);
  }

 private:
  struct Left {
    std::string why, first;
    size_t count;
  };

  // By arrival; turns behind the ones that they follow.
  void sort() {
    std::vector<ServingRequest>& requests = read_.trace.requests;
    std::vector<double> begun_s(requests.size());  // the conversation
    for (size_t i = 0; i < requests.size(); ++i) {
      const int32_t before = requests[i].after;
      begun_s[i] = before < 0 ? requests[i].arrival_s : begun_s[static_cast<size_t>(before)];
    }
    if (!std::is_sorted(begun_s.begin(), begun_s.end())) {
      std::vector<uint32_t> order(requests.size());
      std::iota(order.begin(), order.end(), 0U);
      std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return begun_s[a] < begun_s[b]; });
      std::vector<int32_t> place(requests.size());
      for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int32_t>(i);
      std::vector<ServingRequest> sorted;
      sorted.reserve(requests.size());
      for (const uint32_t from : order) {
        ServingRequest& moved = sorted.emplace_back(requests[from]);
        if (moved.after >= 0) moved.after = place[static_cast<size_t>(moved.after)];
      }
      // Turns lie behind other conversations now and then: that is no disorder of arrivals.
      bool is_mixed = false;
      double last_s = -kMostSeconds;
      for (const ServingRequest& request : requests) {
        if (request.after >= 0) continue;
        is_mixed = is_mixed || request.arrival_s < last_s;
        last_s = request.arrival_s;
      }
      if (is_mixed) read_.notes.emplace_back("arrivals were out of order: they are sorted");
      requests = std::move(sorted);
    }
    const double first_s = requests.front().arrival_s;  // of no turn: turns follow something
    for (ServingRequest& request : requests) {
      if (request.after < 0) request.arrival_s -= first_s;
    }
  }

  TraceRead& read_;
  const std::string& source_;
  std::vector<Left> left_;
};

void note_unused(const std::vector<std::string>& unused, TraceRead& read) {
  if (unused.empty()) return;
  std::vector<std::string> named(unused.begin(),
                                 unused.begin() + static_cast<std::ptrdiff_t>(std::min(unused.size(), kMostNamed)));
  for (std::string& name : named) name = printable(name);
  if (unused.size() > kMostNamed) named.push_back(fmt::format("{} more", unused.size() - kMostNamed));
  read.notes.push_back("not used: " + join(named, ", "));
}

// A kind of CSV by the names of its columns.
struct CsvForm {
  const char* name;
  const char *arrival, *prompt, *output;
};
constexpr CsvForm kCsvForms[] = {
    {"Vidur's CSV", "arrived_at", "num_prefill_tokens", "num_decode_tokens"},
    {"Azure's CSV", "TIMESTAMP", "ContextTokens", "GeneratedTokens"},
    {"CSV", "arrival_s", "prompt_tokens", "output_tokens"},
};

std::optional<size_t> column_of(const CsvTable& table, std::string_view name) {
  const std::string wanted = lower_case(name);
  for (size_t i = 0; i < table.columns().size(); ++i) {
    if (lower_case(trim(table.columns()[i])) == wanted) return i;
  }
  return std::nullopt;
}

class CsvReader {
 public:
  CsvReader(const CsvTable& table, const std::string& source)
      : table_(table), collector_(read_, source), taken_(table.rows(), kLeftOut) {}

  Result<TraceRead> read() {
    const CsvForm* form = &kCsvForms[2];
    for (const CsvForm& each : kCsvForms) {
      if (column_of(table_, each.prompt)) form = &each;
    }
    arrival_ = column_of(table_, form->arrival);
    prompt_ = column_of(table_, form->prompt);
    output_ = column_of(table_, form->output);
    // The error names the nearest that there are.
    for (const auto& [found, name] : {std::pair(prompt_, form->prompt), {output_, form->output}}) {
      if (!found) return table_.column(name).error();
    }
    priority_ = column_of(table_, "priority");
    after_ = column_of(table_, "after_request");
    read_.form = form->name;
    read_.has_arrivals = arrival_.has_value();
    if (!table_.form().empty()) read_.notes.push_back(table_.form());
    std::vector<std::string> unused;
    for (size_t i = 0; i < table_.columns().size(); ++i) {
      const std::array used = {arrival_, prompt_, output_, priority_, after_};
      if (std::find(used.begin(), used.end(), std::optional(i)) == used.end()) unused.push_back(table_.columns()[i]);
    }
    note_unused(unused, read_);
    for (size_t row = 0; row < table_.rows(); ++row) {
      if (Status status = read_row(row); !status) return status.error();
    }
    return collector_.finish();
  }

 private:
  static constexpr int32_t kLeftOut = -2;

  // NaN: blank, or no such column.
  Result<double> number(size_t row, std::optional<size_t> column) const {
    if (!column) return kUnknown;
    const auto stated = table_.number(row, *column);
    if (!stated) return stated.error();
    return stated->value_or(kUnknown);
  }

  Result<double> arrival_s(size_t row, bool is_turn) const {
    if (!arrival_) return 0.0;
    if (const auto date = seconds_of_date(table_.cell(row, *arrival_)); date && !is_turn) return *date;
    const auto stated = number(row, arrival_);
    if (!stated) return stated.error();
    if (!is_turn) return stated;
    return std::isnan(*stated) ? 0 : *stated;  // at once
  }

  Status read_row(size_t row) {
    const auto prompt = number(row, prompt_), output = number(row, output_), priority = number(row, priority_),
               after = number(row, after_);
    for (const Result<double>* each : {&prompt, &output, &priority, &after}) {
      if (!*each) return each->error();
    }
    const bool is_turn = !std::isnan(*after);
    const std::string where = table_.where(row);
    int32_t before = -1;
    if (is_turn) {
      const bool is_above = *after >= 1 && *after <= static_cast<double>(row) && *after == std::floor(*after);
      if (!is_above) {
        return Error{"bad-number", fmt::format("after_request is {:g}, which is no row above it", *after), where,
                     "the number of an earlier row: 1 is the first"};
      }
      before = taken_[static_cast<size_t>(*after) - 1];
    }
    const auto at_s = arrival_s(row, is_turn);
    if (!at_s) return at_s.error();
    if (is_turn && *at_s < 0) {
      return Error{"bad-number", fmt::format("a turn {:g} s before the end of the one that it follows", -*at_s), where,
                   "0 or more seconds after it"};
    }
    if (before == kLeftOut) {
      collector_.leave_out("a turn after one that is left out", where);
      return {};
    }
    if (!std::isnan(*priority) && !(std::abs(*priority) <= 1e6)) {
      return Error{"bad-number", fmt::format("a priority of {:g}", *priority), where, "from -1000000 to 1000000"};
    }
    if (!collector_.add(*at_s, *prompt, *output, where)) return {};
    ServingRequest& request = read_.trace.requests.back();
    request.after = before;
    if (!std::isnan(*priority)) request.priority = static_cast<int32_t>(*priority);
    taken_[row] = static_cast<int32_t>(read_.trace.requests.size()) - 1;
    return {};
  }

  const CsvTable& table_;
  TraceRead read_;
  Collector collector_;
  std::vector<int32_t> taken_;  // rows as requests
  std::optional<size_t> arrival_, prompt_, output_, priority_, after_;
};

// A kind of JSON lines by the names of its members.
struct LineForm {
  const char* name;
  const char *arrival, *prompt, *output;
  double seconds;  // of a unit of arrivals
};
constexpr LineForm kLineForms[] = {
    {"Mooncake's lines", "timestamp", "input_length", "output_length", 1e-3},
    {"an engine's log", "arrival_time", "input_toks", "output_toks", 1},
};

Result<TraceRead> read_lines(std::string_view text, const std::string& source) {
  TraceRead read;
  Collector collector(read, source);
  ServingTrace& trace = read.trace;
  const LineForm* form = nullptr;
  const Status status = for_each_json_line(text, source, [&](const Json& json, const std::string& where) -> Status {
    JsonReader in(json, where);
    const bool is_first = form == nullptr;
    if (is_first) {
      form = json.is_object() && json.contains(kLineForms[1].prompt) ? &kLineForms[1] : &kLineForms[0];
      read.form = form->name;
    }
    const auto at = in.optional_number(form->arrival);
    read.has_arrivals = is_first ? at.has_value() : read.has_arrivals;
    const double prompt = in.number(form->prompt), output = in.number(form->output);
    const size_t begin = trace.hashes.size();
    in.each("hash_ids", kMostHashes, [&](const Json& id, const std::string& path) {
      if (id.is_number_unsigned()) {
        trace.hashes.push_back(id.get<uint64_t>());
      } else if (id.is_number_integer()) {
        trace.hashes.push_back(static_cast<uint64_t>(id.get<int64_t>()));
      } else {
        in.complain("hash_ids", path, "whole numbers");
      }
    });
    if (Status whole = in.finish(); !whole) return whole;
    if (trace.hashes.size() > kMostHashes) {
      return Error{"too-large", "more than 4 billion blocks of prefixes", where, "a shorter trace"};
    }
    if (is_first) {
      std::vector<std::string> unused;
      for (const auto& [key, value] : json.items()) {
        if (std::find(in.asked().begin(), in.asked().end(), key) == in.asked().end()) unused.push_back(key);
      }
      note_unused(unused, read);
    }
    const double at_s = !read.has_arrivals ? 0 : at ? *at * form->seconds : kUnknown;
    if (collector.add(at_s, prompt, output, where)) {
      trace.requests.back().prefix = {static_cast<uint32_t>(begin), static_cast<uint32_t>(trace.hashes.size() - begin)};
    } else {
      trace.hashes.resize(begin);
    }
    return {};
  });
  if (!status) return status.error();
  trace.hash_block_tokens = kMooncakeBlock;
  return collector.finish();
}

}  // namespace

Result<TraceRead> read_serving_trace(std::string_view text, const std::string& source) {
  const size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string_view::npos && text[first] == '{') return read_lines(text.substr(first), source);
  const auto table = CsvTable::parse_any_form(text, source);
  if (!table) return table.error();
  return CsvReader(*table, source).read();
}

}  // namespace perfcast::ai
