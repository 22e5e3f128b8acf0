// Forecasts of programs: forecast, instances, explain, platforms.

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "program/forecast/forecast.h"
#include "program/forecast/platform_filter.h"
#include "program/forecast/server_name.h"
#include "service/operation.h"

namespace perfcast::service {
namespace {

constexpr size_t kMostProfiles = 1000;
constexpr size_t kMostAnswerBytes = size_t{64} << 20;
constexpr const char* kForecastsSchema = "perfcast.forecasts/1";
constexpr const char* kPlatformsSchema = "perfcast.platforms/1";

using Sort = program::ForecastRequest::Sort;

// What a forecast is asked for, apart from the profile.
struct ForecastQuestion {
  program::ForecastRequest request;
  std::vector<size_t> platforms;  // of the bundle; empty: all
  std::string part;               // a program among those that the command started
  bool accept_failure = false;
};

// Names of the request's fields, where a use case has others.
Error with_field_names(Error error) {
  if (error.where == "explain-platform") error.where = "platform";
  if (error.where == "explain-against") error.where = "against";
  if (error.code == "program-failed") error.expected += ", or accept_failure to forecast it all the same";
  return error;
}

Result<std::optional<program::PriceList>> prices_of(const Context& context, const Request& request) {
  program::PriceOptions options;
  options.spot = request.yes("spot");
  options.region = request.text("region");
  options.with_shared = request.yes("shared");
  for (const auto& [currency, worth] : request.amounts("exchange_rates")) {
    if (!(worth > 0)) {
      return usage_error("bad-usage", "a currency that is worth nothing", "exchange_rates", "numbers above 0");
    }
    options.rates[upper_case(currency)] = worth;
  }
  const bool named = request.has("price_list"), stated = request.has("prices");
  if (named && stated) return usage_error("bad-usage", "two price lists", "price_list", "price_list or prices");
  if (!named && !stated) return std::optional<program::PriceList>();
  auto list = Result<program::PriceList>(Error());
  if (stated) {
    list = program::PriceList::parse(request.text("prices"), "prices", options);
  } else {
    const auto& known = context.files().price_lists;
    const auto found = known.find(request.text("price_list"));
    if (found == known.end()) {
      std::vector<std::string> names;
      names.reserve(known.size());
      for (const auto& [name, path] : known) names.push_back(name);
      return usage_error("unknown-price-list",
                         "there is no price list '" + printable(request.text("price_list").substr(0, 60)) + "'",
                         "price_list",
                         names.empty() ? "prices in the request: this service was started without price lists"
                                       : "one of: " + join(names, ", "));
    }
    list = program::PriceList::read(found->second, options);
  }
  if (!list) return list.error();
  return std::optional<program::PriceList>(*std::move(list));
}

std::optional<Sort> sort_of(const std::string& name) {
  if (name == "time") return Sort::kTime;
  if (name == "cost") return Sort::kCost;
  if (name == "name") return Sort::kName;
  return std::nullopt;
}

Result<ForecastQuestion> question_of(const Context& context, const program::Forecaster& forecaster,
                                     const Request& request) {
  ForecastQuestion question;
  program::ForecastRequest& wanted = question.request;
  wanted.reference = request.text("reference", "mean");
  wanted.host = request.text("host");
  wanted.measured_s = request.amounts("measured");
  wanted.filters = request.texts("filter");
  wanted.top = static_cast<size_t>(request.integer("top").value_or(0));
  wanted.sort = sort_of(request.text("sort"));
  wanted.strict = request.yes("strict");
  wanted.reasons = request.yes("reasons", true);
  wanted.core_designs = context.core_designs();
  const auto hosts = context.hosts();
  if (!hosts) return hosts.error();
  wanted.hosts = *hosts;
  question.part = request.text("process");
  question.accept_failure = request.yes("accept_failure");
  const program::Bundle& bundle = forecaster.bundle();
  for (const std::string& name : request.texts("platforms")) {
    const auto index = program::platform_named(bundle.platforms, bundle.servers, name, "platforms");
    if (!index) return index.error();
    question.platforms.push_back(*index);
  }
  // Those that are named are cut from what is left, so that none of them is lost before.
  if (!question.platforms.empty()) wanted.top = 0;
  return question;
}

Status check_question(const program::Forecaster& forecaster, const ForecastQuestion& question) {
  if (question.request.sort == Sort::kCost && !question.request.prices) {
    return usage_error("bad-usage", "costs need prices", "sort", "prices or price_list with it");
  }
  Status fine = program::check_request(forecaster, question.request);
  return fine ? fine : Status(with_field_names(fine.error()));
}

Result<Profile> profile_of(const Json& document, const ForecastQuestion& question, const std::string& where) {
  auto profile = profile_from_json(document, where);
  if (!profile) return profile;
  if (Status status = program::check_success(*profile, question.accept_failure); !status) return status.error();
  return question.part.empty() ? profile : profile_of_part(*profile, question.part);
}

Result<program::ForecastReport> forecast_one(const program::Forecaster& forecaster, const Json& document,
                                             const ForecastQuestion& question, const std::string& where) {
  const auto profile = profile_of(document, question, where);
  if (!profile) return with_field_names(profile.error());
  auto report = program::forecast_program(forecaster, *profile, question.request);
  if (!report) return with_field_names(report.error());
  if (!question.platforms.empty()) {
    const auto& all = forecaster.bundle().platforms;
    std::erase_if(report->rows, [&](const program::PlatformRow& row) {
      return std::none_of(question.platforms.begin(), question.platforms.end(),
                          [&](size_t index) { return all[index].id == row.platform.id; });
    });
  }
  return report;
}

Result<Answer> forecast_many(const program::Forecaster& forecaster, const Json& documents,
                             const ForecastQuestion& question, const Watch& watch) {
  Answer answer;
  // Texts are put together: a document of all of them would be held twice.
  answer.json = "{\"schema\":\"" + std::string(kForecastsSchema) + "\",\"forecasts\":[";
  for (size_t i = 0; i < documents.size(); ++i) {
    if (watch.cancelled()) return interrupted_error("cancelled");
    if (i > 0) answer.json += ',';
    const auto report = forecast_one(forecaster, documents[i], question, "profiles[" + std::to_string(i) + "]");
    answer.json += compact_text(report ? to_json(*report) : perfcast::to_json(report.error()));
    if (answer.json.size() > kMostAnswerBytes) {
      return usage_error("too-large", "the answer is longer than " + human_bytes(static_cast<double>(kMostAnswerBytes)),
                         "profiles", "fewer profiles, or short answers: top or platforms, and reasons false");
    }
    ++answer.forecasts;
    if (report && !report->in_distribution) ++answer.out_of_distribution;
  }
  answer.json += "]}";
  return answer;
}

Result<Answer> forecast_profiles(const Context& context, const Request& request, const Watch& watch,
                                 const std::function<Status(ForecastQuestion&)>& add) {
  const auto forecaster = context.forecaster();
  if (!forecaster) return forecaster.error();
  auto question = question_of(context, **forecaster, request);
  if (!question) return question.error();
  if (Status added = add(*question); !added) return added.error();
  if (Status fine = check_question(**forecaster, *question); !fine) return fine.error();
  const Json* one = request.document("profile");
  const Json* several = request.document("profiles");
  if ((one == nullptr) == (several == nullptr)) {
    return usage_error("bad-usage", one == nullptr ? "nothing to forecast" : "both a profile and several", "profile",
                       "profile, or profiles for several");
  }
  if (several != nullptr) return forecast_many(**forecaster, *several, *question, watch);
  const auto report = forecast_one(**forecaster, *one, *question, "profile");
  if (!report) return report.error();
  return Answer{compact_text(to_json(*report)), 1, report->in_distribution ? 0 : 1};
}

Result<Answer> run_forecast(const Context& context, const Request& request, const Watch& watch) {
  return forecast_profiles(context, request, watch, [](ForecastQuestion&) { return Status(); });
}

Result<Answer> run_instances(const Context& context, const Request& request, const Watch& watch) {
  auto answer = forecast_profiles(context, request, watch, [&](ForecastQuestion& question) -> Status {
    auto prices = prices_of(context, request);
    if (!prices) return prices.error();
    question.request.prices = *std::move(prices);
    question.request.use = {request.number("copies"), request.yes("all_cores")};
    question.request.within_ratio = request.number("within").value_or(1.2);
    question.request.instances = request.yes("unpriced", !question.request.prices);
    return {};
  });
  if (answer) answer->reads_files = request.has("price_list");
  return answer;
}

Result<Answer> run_explain(const Context& context, const Request& request, const Watch& watch) {
  return forecast_profiles(context, request, watch, [&](ForecastQuestion& question) {
    question.request.explain = question.request.reasons = true;
    question.request.explain_platform = request.text("platform");
    question.request.explain_against = request.text("against");
    return Status();
  });
}

Result<Answer> run_platforms(const Context& context, const Request& request, const Watch&) {
  const auto forecaster = context.forecaster();
  if (!forecaster) return forecaster.error();
  const program::Bundle& bundle = (*forecaster)->bundle();
  const auto filters = program::parse_platform_filters(request.texts("filter"));
  if (!filters) return filters.error();
  Json json = {{"schema", kPlatformsSchema}, {"bundle", bundle.card.name}, {"platforms", Json::array()}};
  for (const Platform& platform : bundle.platforms) {
    if (!program::passes(*filters, platform, bundle.servers)) continue;
    Json item = {{"id", platform.id}, {"name", platform.name}, {"vendor", platform.vendor}};
    put_known(item, "kind", platform.segment);
    item["arch"] = platform.arch;
    if (request.yes("instances")) {
      Json& servers = item["instances"] = Json::array();
      for (const program::Server& server : bundle.servers) {
        if (server.platform != platform.id || !program::passes(*filters, server)) continue;
        Json row = {{"vendor", server.vendor}, {"server", server.name}};
        put_known(row, "vcpus", server.vcpus);
        put_known(row, "memory_gib", server.memory_gib);
        servers.push_back(std::move(row));
      }
    }
    json["platforms"].push_back(std::move(item));
  }
  return Answer{compact_text(json)};
}

Field filter_field() {
  return {
      "filter", FieldKind::kTexts,
      "Leaves only these platforms: kind=cloud, vendor=AMD, arch=aarch64, cloud=aws, instance=c7i.xlarge, vcpus=4..16, "
      "memory=16GiB.., or a part of a name. A platform must meet all filters."};
}

// What all forecasts of programs may be asked.
std::vector<Field> forecast_fields(std::vector<Field> own, std::vector<std::string> sorts) {
  std::vector<Field> fields = {
      {.name = "profile",
       .kind = FieldKind::kDocument,
       .meaning = "The profile of a program, as perfcast profile --json prints it.",
       .schema = kProfileSchema},
      {.name = "profiles",
       .kind = FieldKind::kDocuments,
       .meaning = "Several profiles, each forecast by itself. One that can't be forecast has an error in its place.",
       .schema = kProfileSchema,
       .most_items = kMostProfiles},
      {.name = "reference",
       .meaning = "What relative times refer to: mean (of the platforms), host, or the name of a platform."},
      {.name = "measured",
       .kind = FieldKind::kAmounts,
       .meaning = "Times that you measured elsewhere, by platform. They improve all other forecasts.",
       .unit = "s"},
      {.name = "host", .meaning = "The platform that the profile was taken on, if its CPU hides its name."},
      filter_field(),
      {.name = "platforms", .kind = FieldKind::kTexts, .meaning = "Answers with these platforms only."},
      {.name = "top",
       .kind = FieldKind::kInteger,
       .meaning = "Answers with so many of the first platforms. Default: all.",
       .least = 1,
       .most = 100000},
      {.name = "sort", .meaning = "Sorts platforms by this. Default: time.", .choices = std::move(sorts)},
      {.name = "process", .meaning = "Forecasts only this program, if the command started several."},
      {.name = "strict",
       .kind = FieldKind::kYes,
       .meaning = "Refuses a measured time that can't be right. Default: a note says so."},
      {.name = "accept_failure", .kind = FieldKind::kYes, .meaning = "Also forecasts a program that failed."},
      {.name = "reasons",
       .kind = FieldKind::kYes,
       .meaning = "Says what the forecast comes from, which takes most of the time. Default: true."}};
  fields.insert(fields.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return fields;
}

}  // namespace

std::vector<Operation> program_operations() {
  return {
      {.name = "forecast",
       .summary = "Forecasts a program's time on every known CPU model.",
       .answer = program::kForecastSchema,
       .is_quick = true,
       .fields = forecast_fields({}, {"time", "name"}),
       .run = run_forecast},
      {.name = "instances",
       .summary = "Forecasts a program on the instance types of clouds, with costs where prices are known.",
       .answer = program::kForecastSchema,
       .fields = forecast_fields(
           {{.name = "prices", .meaning = "A price list as text: CSV, SkyPilot's catalogue, AWS's or Azure's JSON."},
            {.name = "price_list", .meaning = "The name of a price list that the service was started with."},
            {.name = "region", .meaning = "Takes the prices of this region. Default: the region with the most prices."},
            {.name = "spot", .kind = FieldKind::kYes, .meaning = "Takes the price list's spot prices."},
            {.name = "shared",
             .kind = FieldKind::kYes,
             .meaning = "Also chooses among instance types whose vCPUs are shared or burstable."},
            {.name = "exchange_rates",
             .kind = FieldKind::kAmounts,
             .meaning = "What one unit of a currency is worth in the price list's other currency."},
            {.name = "copies",
             .kind = FieldKind::kNumber,
             .meaning = "Copies of the program side by side. Default: as many as fill the machine.",
             .least = 1,
             .most = 1e6},
            {.name = "all_cores",
             .kind = FieldKind::kYes,
             .meaning = "One run with a thread on every vCPU, as applications do."},
            {.name = "within",
             .kind = FieldKind::kNumber,
             .meaning = "Adds the cheapest instance that is at most this many times slower than the fastest.",
             .least = 1,
             .most = 1000},
            {.name = "unpriced",
             .kind = FieldKind::kYes,
             .meaning = "Also answers with instance types without a price. Default: if no price list is given."}},
           {"time", "cost", "name"}),
       .run = run_instances},
      {.name = "explain",
       .summary = "Explains a forecast: which counters raise or lower it, input by input.",
       .answer = program::kForecastSchema,
       .fields = forecast_fields(
           {{.name = "platform",
             .meaning = "The platform whose forecast is explained. Default: the first of the answer."},
            {.name = "against", .meaning = "Explains the difference to this platform. Default: to the mean."}},
           {"time", "name"}),
       .run = run_explain},
      {.name = "platforms",
       .summary = "Lists the platforms that forecasts of programs know.",
       .answer = kPlatformsSchema,
       .fields = {filter_field(),
                  {.name = "instances", .kind = FieldKind::kYes, .meaning = "Lists their instance types, too."}},
       .run = run_platforms}};
}

}  // namespace perfcast::service
