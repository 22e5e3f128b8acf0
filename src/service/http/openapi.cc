#include "service/http/openapi.h"

#include <string>
#include <utility>

#include "base/json.h"
#include "service/http/problem.h"
#include "service/operation.h"

namespace perfcast::service {
namespace {

// "llm/serve-sim" -> "llm_serve_sim".
std::string identifier(std::string name) {
  for (char& c : name) c = c == '/' || c == '-' ? '_' : c;
  return name;
}

Json content(std::string_view type, Json schema) { return {{std::string(type), {{"schema", std::move(schema)}}}}; }

Json reference(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

Json answer_of(const std::string& description, const std::string& schema) {
  return {
      {"description", description},
      {"content", content("application/json",
                          {{"type", "object"}, {"description", schema.empty() ? description : "Schema: " + schema}})}};
}

Json with_problems(Json responses) {
  responses["default"] = {{"description", "A problem: what was found, where, and what is allowed."},
                          {"content", content(kProblemType, reference("problem"))}};
  return responses;
}

Json path_of(const Operation& operation) {
  Json responses = {{"200", answer_of("The answer.", operation.answer)}};
  Json post = {{"operationId", identifier(operation.name)}, {"summary", operation.summary}};
  if (operation.is_long) {
    responses["202"] = answer_of("With Prefer: respond-async, the job that will have the answer.", "perfcast.job/1");
    post["parameters"] = Json::array({{{"name", "Prefer"},
                                       {"in", "header"},
                                       {"description", "respond-async: answers at once with a job."},
                                       {"schema", {{"type", "string"}}}}});
  }
  post["requestBody"] = {{"required", true},
                         {"content", content("application/json", reference(identifier(operation.name) + "_request"))}};
  post["responses"] = with_problems(std::move(responses));
  return {{"post", std::move(post)}};
}

Json get(const char* id, const std::string& summary, const std::string& schema, const char* type = "application/json") {
  Json answer = answer_of(summary, schema);
  if (std::string_view(type) != "application/json") answer["content"] = content(type, {{"type", "string"}});
  return {{"operationId", id}, {"summary", summary}, {"responses", with_problems({{"200", std::move(answer)}})}};
}

Json with_job_id(Json operation) {
  operation["parameters"] = Json::array({{{"name", "id"},
                                          {"in", "path"},
                                          {"required", true},
                                          {"schema", {{"type", "string"}, {"pattern", "^[0-9a-f]{32}$"}}}}});
  return operation;
}

}  // namespace

Json openapi_document(const std::string& version) {
  Json paths = Json::object(), schemas = Json::object();
  for (const Operation& operation : operations()) {
    paths["/v1/" + operation.name] = path_of(operation);
    Json schema = json_schema(operation.fields);
    schema["description"] = operation.summary;
    schemas[identifier(operation.name) + "_request"] = std::move(schema);
  }
  Json cancel = with_job_id(get("cancel_job", "Cancels the job.", "perfcast.job/1"));
  paths["/v1/jobs/{id}"] = {{"get", with_job_id(get("job", "The state of a job, with its answer.", "perfcast.job/1"))},
                            {"delete", std::move(cancel)}};
  paths["/v1/jobs/{id}/events"] = {
      {"get", with_job_id(get("job_events", "Progress of a job, as server-sent events.", "", "text/event-stream"))}};
  paths["/v1/bundles"] = {
      {"get", get("bundles", "The bundle that forecasts of programs come from.", "perfcast.bundles/1")}};
  Json reload = get("reload_bundles", "Reads the bundle and all other files anew.", "perfcast.bundles/1");
  paths["/v1/bundles/reload"] = {{"post", std::move(reload)}};
  paths["/healthz"] = {{"get", get("healthz", "Whether the service runs.", "perfcast.health/1")}};
  paths["/readyz"] = {{"get", get("readyz", "Whether the service takes requests.", "perfcast.health/1")}};
  paths["/metrics"] = {{"get", get("metrics", "Counters for Prometheus.", "", "text/plain")}};
  paths["/openapi.json"] = {{"get", get("openapi", "This document.", "")}};
  const Json text = {{"type", "string"}};
  schemas["problem"] = {
      {"type", "object"},
      {"description", "A problem document (RFC 9457)."},
      {"properties",
       {{"type", text},
        {"title", text},
        {"status", {{"type", "integer"}}},
        {"detail", {{"type", "string"}, {"description", "What was found, and why it can't be used."}}},
        {"where", {{"type", "string"}, {"description", "The field or the place."}}},
        {"allowed", {{"type", "string"}, {"description", "What would be valid, or what to do."}}},
        {"code", {{"type", "string"}, {"description", "Stable, for programs."}}},
        {"instance", text}}},
      {"required", {"type", "title", "status", "detail"}}};
  return {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "perfcast"},
        {"version", version},
        {"description", "Forecasts of programs and language models on machines you don't have."},
        {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"jsonSchemaDialect", "https://json-schema.org/draft/2020-12/schema"},
      {"security", Json::array({{{"token", Json::array()}}, Json::object()})},
      {"paths", std::move(paths)},
      {"components",
       {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}, {"schemas", std::move(schemas)}}}};
}

}  // namespace perfcast::service
