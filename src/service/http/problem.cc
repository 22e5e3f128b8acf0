#include "service/http/problem.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/http/http_request.h"
#include "base/json.h"
#include "service/operation.h"

namespace perfcast::service {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 9> kStatuses = {{{"unknown-path", 404},
                                                                        {"unknown-job", 404},
                                                                        {"wrong-method", 405},
                                                                        {"no-token", 401},
                                                                        {"wrong-media-type", 415},
                                                                        {"wrong-host", 421},
                                                                        {"too-many-requests", 429},
                                                                        {"bad-json", 400},
                                                                        {"bad-json-field", 422}}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// "--tensor-parallel 2" -> "tensor_parallel 2".
std::string with_field_names(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const bool begins = text.compare(i, 2, "--") == 0 && i + 2 < text.size() && is_letter(text[i + 2]) &&
                        (i == 0 || !is_letter(text[i - 1]));
    if (!begins) {
      result += text[i++];
      continue;
    }
    for (i += 2; i < text.size() && (is_letter(text[i]) || text[i] == '-'); ++i) {
      result += text[i] == '-' ? '_' : text[i];
    }
  }
  return result;
}

}  // namespace

int status_of(const Error& error) {
  const auto* const found =
      std::find_if(kStatuses.begin(), kStatuses.end(), [&](const auto& each) { return each.first == error.code; });
  if (found != kStatuses.end()) return found->second;
  if (error.kind == ErrorKind::kInterrupted) return 409;
  return error.kind == ErrorKind::kEnvironment ? 503 : 422;
}

std::string problem_document(const Error& error, int status, std::string_view request_id) {
  Json json = {{"type", "about:blank"},
               {"title", std::string(reason_of(status))},
               {"status", status},
               {"detail", with_field_names(error.message)}};
  put_known(json, "where", with_field_names(error.where));
  put_known(json, "allowed", with_field_names(error.expected));
  put_known(json, "code", error.code);
  if (!request_id.empty()) json["instance"] = "urn:request:" + std::string(request_id);
  return compact_text(json);
}

}  // namespace perfcast::service
