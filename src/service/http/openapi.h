#pragma once
// The OpenAPI document (3.1) of the service, made of the table of operations.

#include <string>

#include "base/json_fwd.h"

namespace perfcast::service {

Json openapi_document(const std::string& version);

}  // namespace perfcast::service
