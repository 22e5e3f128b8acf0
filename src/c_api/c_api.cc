#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "c_api/perfcast.h"
#include "service/context.h"
#include "service/operation.h"

struct perfcast_bundle {
  explicit perfcast_bundle(perfcast::service::ContextFiles files) : context(std::move(files)) {}
  perfcast::service::Context context;
};

struct perfcast_error {
  std::string code, message, where, allowed;
};

namespace perfcast {
namespace {

constexpr const char* kForecast = "forecast";
constexpr const char* kModelForecast = "llm/forecast";
constexpr const char* kServing = "llm/serve-sim";

// Where there is no memory for an error of its own; never freed, and made before memory can run out.
perfcast_error kOutOfMemory{"out-of-memory", "no memory is left", "", ""};
perfcast_error* out_of_memory() { return &kOutOfMemory; }

perfcast_error* error_of(const Error& error) {
  return new perfcast_error{error.code, error.message, error.where, error.expected};
}

// Whatever `work` does, its caller gets a value: a null pointer, or an error.
template <typename Work>
perfcast_error* as_value(const Work& work) noexcept {
  try {
    try {
      const Status status = work();
      return status ? nullptr : error_of(status.error());
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    } catch (const std::exception& problem) {
      return error_of({"internal-error", std::string("internal error: ") + problem.what(), "",
                       "a report of this: it is a mistake of perfcast"});
    }
  } catch (...) {  // of making the error
    return out_of_memory();
  }
}

Status check_given(std::initializer_list<std::pair<const char*, const void*>> arguments) {
  for (const auto& [name, argument] : arguments) {
    if (argument == nullptr) return usage_error("bad-usage", "an argument is a null pointer", name, "a pointer");
  }
  return {};
}

// What is shipped lies in ../share/perfcast beside this library; in its build tree, in the source's.
std::string share_folder() {
  if (const char* given = std::getenv("PERFCAST_SHARE"); given != nullptr && *given != '\0') return given;
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&perfcast_version), &own) != 0 && own.dli_fname != nullptr) {
    std::error_code problem;
    const auto library = std::filesystem::canonical(own.dli_fname, problem);
    const auto share = library.parent_path().parent_path() / "share" / "perfcast";
    if (!problem && std::filesystem::is_directory(share, problem)) return share.string();
  }
  return PERFCAST_SOURCE_SHARE;
}

service::ContextFiles files_of(const char* bundle_path) {
  const std::string share = share_folder();
  const auto file = [&share](const char* name) { return share + "/" + name; };
  service::ContextFiles files;
  files.bundle = bundle_path != nullptr ? bundle_path : file("bundles/cpus.pcb");
  files.devices = {file("devices/devices.json"), file("bundles/gpu-latency.json"), file("bundles/half-precision.json"),
                   file("bundles/kernels.json")};
  files.engines = file("bundles/engines.json");
  files.audit_models = file("audit/models.json");
  files.core_designs = file("cores/designs.json");
  return files;
}

Result<const service::Operation*> operation_named(const std::string& name) {
  if (const service::Operation* found = service::find_operation(name)) return found;
  std::vector<std::string> names;
  for (const service::Operation& each : service::operations()) names.push_back(each.name);
  return usage_error("unknown-operation", "there is no operation '" + printable(name.substr(0, 60)) + "'", "operation",
                     "one of: " + join(names, ", "));
}

// For perfcast_free_text().
char* copy_of(const std::string& text) {
  char* copy = strdup(text.c_str());
  if (copy == nullptr) throw std::bad_alloc();
  return copy;
}

Status answer(const perfcast_bundle& bundle, const char* name, Json request, char** answer_json) {
  const auto operation = operation_named(name);
  if (!operation) return operation.error();
  const auto checked = service::Request::read(std::move(request), (*operation)->fields);
  if (!checked) return checked.error();
  const auto result = (*operation)->run(bundle.context, *checked, {});
  if (!result) return result.error();
  *answer_json = copy_of(result->json);
  return {};
}

// The object in `text`, which may be null, without the fields that the function's own arguments give.
Result<Json> options_of(const char* text, std::initializer_list<const char*> given) {
  if (text == nullptr) return Json(Json::object());
  auto options = parse_json(text, "options_json");
  if (!options) return options;
  if (!options->is_object()) return usage_error("bad-json", "the options are no object", "options_json", "{}");
  for (const char* name : given) {
    if (options->contains(name))
      return usage_error("bad-usage", "an argument of the function gives this field", name, "other fields");
  }
  return options;
}

Status answer_about_model(const perfcast_bundle* bundle, const char* operation, const char* model, const char* devices,
                          const char* options_json, char** answer_json) {
  if (Status given =
          check_given({{"bundle", bundle}, {"model", model}, {"devices", devices}, {"answer_json", answer_json}});
      !given)
    return given;
  auto request = options_of(options_json, {"model", "config", "on"});
  if (!request) return request.error();
  if (*model == '{') {
    auto config = parse_json(model, "model");
    if (!config) return config.error();
    (*request)["config"] = *std::move(config);
  } else {
    (*request)["model"] = model;
  }
  (*request)["on"] = split(devices, ',');
  return answer(*bundle, operation, *std::move(request), answer_json);
}

}  // namespace
}  // namespace perfcast

using perfcast::as_value;
using perfcast::check_given;
using perfcast::Status;

const char* perfcast_version(void) { return PERFCAST_VERSION; }

perfcast_error* perfcast_open(const char* bundle_path, perfcast_bundle** bundle) {
  return as_value([&]() -> Status {
    if (Status given = check_given({{"bundle", bundle}}); !given) return given;
    auto opened = std::make_unique<perfcast_bundle>(perfcast::files_of(bundle_path));
    if (const auto forecaster = opened->context.forecaster(); !forecaster) return forecaster.error();
    *bundle = opened.release();
    return {};
  });
}

void perfcast_close(perfcast_bundle* bundle) { delete bundle; }

perfcast_error* perfcast_call(perfcast_bundle* bundle, const char* operation, const char* request_json,
                              char** answer_json) {
  return as_value([&]() -> Status {
    if (Status given = check_given({{"bundle", bundle},
                                    {"operation", operation},
                                    {"request_json", request_json},
                                    {"answer_json", answer_json}});
        !given)
      return given;
    auto request = perfcast::parse_json(request_json, "request_json");
    if (!request) return request.error();
    return perfcast::answer(*bundle, operation, *std::move(request), answer_json);
  });
}

perfcast_error* perfcast_forecast_profile(perfcast_bundle* bundle, const char* profile_json, const char* options_json,
                                          char** answer_json) {
  return as_value([&]() -> Status {
    if (Status given = check_given({{"bundle", bundle}, {"profile_json", profile_json}, {"answer_json", answer_json}});
        !given)
      return given;
    auto request = perfcast::options_of(options_json, {"profile", "profiles"});
    if (!request) return request.error();
    auto profile = perfcast::parse_json(profile_json, "profile_json");
    if (!profile) return profile.error();
    (*request)["profile"] = *std::move(profile);
    return perfcast::answer(*bundle, perfcast::kForecast, *std::move(request), answer_json);
  });
}

perfcast_error* perfcast_forecast_model(perfcast_bundle* bundle, const char* model, const char* devices,
                                        const char* options_json, char** answer_json) {
  return as_value([&] {
    return perfcast::answer_about_model(bundle, perfcast::kModelForecast, model, devices, options_json, answer_json);
  });
}

perfcast_error* perfcast_simulate_serving(perfcast_bundle* bundle, const char* model, const char* devices,
                                          const char* options_json, char** answer_json) {
  return as_value([&] {
    return perfcast::answer_about_model(bundle, perfcast::kServing, model, devices, options_json, answer_json);
  });
}

void perfcast_free_text(char* text) { std::free(text); }

const char* perfcast_error_code(const perfcast_error* error) { return error->code.c_str(); }
const char* perfcast_error_message(const perfcast_error* error) { return error->message.c_str(); }
const char* perfcast_error_where(const perfcast_error* error) { return error->where.c_str(); }
const char* perfcast_error_allowed(const perfcast_error* error) { return error->allowed.c_str(); }

void perfcast_free_error(perfcast_error* error) {
  if (error != perfcast::out_of_memory()) delete error;
}
