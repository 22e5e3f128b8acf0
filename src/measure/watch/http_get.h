#pragma once
// One GET of an http:// address, for scrapes. Answers beyond 64 MiB and redirects are errors.

#include <string>

#include "base/result.h"

namespace perfcast::measure {

// "bad-usage" where it is no http://HOST[:PORT][/PATH].
Status check_url(const std::string& url);
// The body of an answer with status 200; "endpoint-failed", of kind kEnvironment, where there is none within `limit_s`.
Result<std::string> http_get(const std::string& url, double limit_s);

}  // namespace perfcast::measure
