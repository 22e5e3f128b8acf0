#pragma once
// What the service can be asked: a name, the fields of its request, and the function that answers. HTTP and libraries
// for other languages stand on this table; it knows neither.
//
//   const auto context = std::make_shared<const Context>(files);
//   const auto answer = answer_json(*find_operation("forecast"), *context, R"({"profile": {...}, "top": 3})");

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "service/context.h"
#include "service/request.h"

namespace perfcast::service {

struct Answer {
  std::string json;                                // one document, without a line break at its end
  int64_t forecasts = 0, out_of_distribution = 0;  // of programs
  bool reads_files = false;  // that may change meanwhile: the same request may have another answer later
};

// Of an operation that takes long; both may be empty.
struct Watch {
  std::function<void(const std::string& stage)> progress;
  std::function<bool()> is_cancelled;  // asked between parts of the work: "interrupted"

  void show(const std::string& stage) const {
    if (progress) progress(stage);
  }
  bool cancelled() const { return is_cancelled && is_cancelled(); }
};

struct Operation {
  std::string name;       // "llm/forecast"
  std::string summary;    // a sentence
  std::string answer;     // the schema of its answer
  bool is_long = false;   // may take seconds and more
  bool is_quick = false;  // takes milliseconds, where the request is small
  std::vector<Field> fields = {};
  Result<Answer> (*run)(const Context& context, const Request& request, const Watch& watch) = nullptr;
};

const std::vector<Operation>& operations();
// Null where there is none of this name.
const Operation* find_operation(std::string_view name);

// Errors of the request: "bad-json", "bad-json-field", with the path of what is wrong; others of the operation name a
// field in `where`. An empty body is an empty object.
Result<Answer> answer_json(const Operation& operation, const Context& context, std::string_view body,
                           const Watch& watch = {});

// The same JSON as under a verb's --json, on one line.
std::string compact_text(const Json& json);

// The tables' parts, in their order.
std::vector<Operation> program_operations();
std::vector<Operation> llm_operations();
std::vector<Operation> serving_operations();
std::vector<Operation> other_operations();

}  // namespace perfcast::service
