#pragma once
// Errors as problem documents (RFC 9457), and the status of each.

#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast::service {

inline constexpr std::string_view kProblemType = "application/problem+json";

// 400: no JSON; 422: a request that can't be answered; 409: a job that was cancelled; 503: this machine lacks
// something; others that are codes of the service: "unknown-path" 404, "wrong-method" 405, "no-token" 401,
// "wrong-media-type" 415, "wrong-host" 421, "too-many-requests" 429, "unknown-job" 404.
int status_of(const Error& error);

// {"type", "title", "status", "detail": what was found, "where", "allowed", "code", "instance": the request's id}.
// Options of the command line are named as the request's fields are.
std::string problem_document(const Error& error, int status, std::string_view request_id);

}  // namespace perfcast::service
