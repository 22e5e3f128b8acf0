#pragma once
// One request to an http:// address: a GET for scrapes, a POST for alerts. Answers beyond 64 MiB and redirects are
// errors.

#include <string>

#include "base/result.h"

namespace perfcast::measure {

// "bad-usage", of this option, where it is no http://HOST[:PORT][/PATH].
Status check_url(const std::string& url, const std::string& option);
// The body of an answer with status 200; "endpoint-failed", of kind kEnvironment, where there is none within `limit_s`.
Result<std::string> http_get(const std::string& url, double limit_s);
// JSON to this address; an answer with a status of 200 to 299 is success. Errors as those of http_get().
Status http_post_json(const std::string& url, const std::string& json, double limit_s);

}  // namespace perfcast::measure
