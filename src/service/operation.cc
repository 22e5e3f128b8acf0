#include "service/operation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json.h"

namespace perfcast::service {

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> table;
    for (auto part : {program_operations(), llm_operations(), serving_operations(), other_operations()}) {
      std::move(part.begin(), part.end(), std::back_inserter(table));
    }
    return table;
  }();
  return all;
}

const Operation* find_operation(std::string_view name) {
  const auto& all = operations();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Operation& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Result<Answer> answer_json(const Operation& operation, const Context& context, std::string_view body,
                           const Watch& watch) {
  const bool is_empty = body.find_first_not_of(" \t\r\n") == std::string_view::npos;
  auto json = is_empty ? Result<Json>(Json::object()) : parse_json(body, "request");
  if (!json) return json.error();
  const auto request = Request::read(std::move(*json), operation.fields);
  if (!request) return request.error();
  return operation.run(context, *request, watch);
}

std::string compact_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace perfcast::service
