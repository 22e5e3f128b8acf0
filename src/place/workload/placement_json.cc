#include "base/json.h"
#include "place/workload/placement.h"

namespace perfcast::place {
namespace {

template <typename Value>
void put_known(Json& json, const char* key, const std::optional<Value>& value) {
  if (value) json[key] = *value;
}

void put_bound(Json& json, const char* key, const std::optional<PlaceBound>& bound) {
  if (bound) json[key] = name_of(*bound);
}

Json row_json(const PlacementRow& row) {
  Json json;
  json["device"] = row.device;
  json["kind"] = name_of(row.kind);
  json["devices_count"] = static_cast<int64_t>(row.count);
  put_known(json, "vcpus_count", if_known(row.vcpus));
  if (!row.instance.empty()) json["instance"] = row.instance;
  if (!row.precision.empty()) json["precision"] = row.precision;
  put_known(json, "time_s", row.time_s);
  put_known(json, "lower_s", row.lower_s);
  put_known(json, "upper_s", row.upper_s);
  put_known(json, "forecast_s", row.forecast_s);
  put_known(json, "relative_time_ratio", row.relative_time);
  put_known(json, "energy_joules", row.energy_joules);
  put_known(json, "energy_lower_joules", row.energy_lower_joules);
  put_known(json, "energy_upper_joules", row.energy_upper_joules);
  if (row.energy_joules) json["energy_basis"] = name_of(row.energy_basis);
  put_known(json, "power_w", row.power_w);
  put_known(json, "cost", row.cost);
  put_known(json, "price_per_hour", row.price_per_hour);
  put_known(json, "fits", row.fits);
  put_known(json, "fits_on_count", row.fits_on);
  put_known(json, "needed_bytes", row.needed_bytes);
  put_known(json, "memory_bytes", row.memory_bytes);
  put_bound(json, "bound", row.bound);
  json["basis"] = row.time_s || row.relative_time ? Json(name_of(row.basis)) : Json(nullptr);
  put_known(json, "transfer_s", row.transfer_s);
  put_known(json, "load_s", row.load_s);
  if (row.transfer_s) json["host_link_assumed"] = row.host_link_assumed;
  put_known(json, "prefill_s", row.prefill_s);
  put_known(json, "token_s", row.token_s);
  put_known(json, "tokens_per_s", row.tokens_per_s);
  put_bound(json, "prefill_bound", row.prefill_bound);
  put_bound(json, "token_bound", row.token_bound);
  json["meets_limits"] = row.meets;
  json["on_front"] = row.is_on_front;
  if (!row.note.empty()) json["note"] = row.note;
  return json;
}

}  // namespace

Json to_json(const Placement& placement) {
  Json json;
  json["schema"] = kPlacementSchema;
  json["workload"] = placement.workload;
  json["workload_kind"] = name_of(placement.kind);
  if (!placement.details.empty()) json["details"] = placement.details;
  if (!placement.currency.empty()) json["currency"] = placement.currency;
  json["interval"] = 0.9;
  json["rows"] = Json::array();
  for (const PlacementRow& row : placement.rows) json["rows"].push_back(row_json(row));
  json["best"] = nullptr;
  if (!placement.best.empty()) {
    const PlacementBest& best = placement.best.front();
    Json one;
    one["device"] = placement.rows[best.row].device;
    one["kind"] = name_of(placement.rows[best.row].kind);
    one["by"] = name_of(best.measure);
    one["reasons"] = placement.reasons;
    for (const PlacementBest& each : placement.best) {
      one["least_" + std::string(name_of(each.measure))] = placement.rows[each.row].device;
    }
    json["best"] = std::move(one);
  }
  json["break_even"] = Json::array();
  for (const PlaceBreakEven& one : placement.break_even) {
    Json crossing;
    crossing["by"] = name_of(one.measure);
    crossing["size"] = placement.kind == PlacedWorkload::kProduct ? "longest_side" : "batch";
    crossing["first"] = one.first;
    crossing["second"] = one.second;
    crossing["least_count"] = one.least;
    crossing["most_count"] = one.most;
    crossing["at_count"] = one.at ? Json(*one.at) : Json(nullptr);
    crossing["crossings_count"] = one.crossings_count;
    if (!one.limited_by.empty()) crossing["limited_by"] = one.limited_by;
    json["break_even"].push_back(std::move(crossing));
  }
  json["notes"] = placement.notes;
  return json;
}

}  // namespace perfcast::place
