#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/csv.h"
#include "base/text.h"
#include "program/explain/price_rows.h"

namespace perfcast::program {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr const char* kJsonForms =
    "AWS's offer file, `aws pricing get-products`, `aws ec2 describe-spot-price-history`, or pages of Azure's retail "
    "prices API; or CSV";
constexpr size_t kDateLength = 10;  // of 2026-11-20T...

std::string text_at(object of, std::string_view key) {
  std::string_view text;
  return of[key].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::optional<double> number_at(object of, std::string_view key) {
  element value;
  if (of[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  double number = 0;
  if (value.get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? parse_number(trim(text)) : std::nullopt;
}

std::optional<object> object_at(object of, std::string_view key) {
  object value;
  return of[key].get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
}

std::optional<array> array_at(object of, std::string_view key) {
  array value;
  return of[key].get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
}

// "8 GiB", "1,952 GiB".
std::optional<double> gib_of(std::string text) {
  if (!text.ends_with(" GiB")) return std::nullopt;
  text.resize(text.size() - 4);
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  const auto number = parse_number(text);
  return number && *number > 0 ? number : std::nullopt;
}

class PriceJson {
 public:
  explicit PriceJson(std::string source) : source_(std::move(source)) {}

  // False: no such thing.
  bool take_document(element document) {
    array all;
    if (document.get(all) == simdjson::SUCCESS) {
      bool any = false;
      for (const element one : all) any |= take_document_or_text(one);
      return any;
    }
    object of;
    if (document.get(of) != simdjson::SUCCESS) return false;
    if (const auto products = object_at(of, "products")) return take_offer_file(of, *products);
    if (const auto list = array_at(of, "PriceList")) {
      for (const element one : *list) take_document_or_text(one);
      result_.what = "get-products of AWS";
      return true;
    }
    if (const auto items = array_at(of, "Items")) {
      for (const element one : *items) take_document(one);
      result_.what = "Azure's retail prices";
      return true;
    }
    if (const auto spot = array_at(of, "SpotPriceHistory")) {
      for (const element one : *spot) take_spot(one);
      result_.what = "AWS's history of spot prices";
      return true;
    }
    if (const auto product = object_at(of, "product")) return take_product_with_terms(of, *product);
    if (of["armSkuName"].error() == simdjson::SUCCESS) return take_azure_item(of);
    return false;
  }

  PriceRows result() && { return std::move(result_); }

 private:
  // get-products prints each product as JSON in a text.
  bool take_document_or_text(element one) {
    std::string_view text;
    if (one.get(text) != simdjson::SUCCESS) return take_document(one);
    simdjson::dom::parser parser;
    element inner;
    object of;
    if (parser.parse(text.data(), text.size()).get(inner) != simdjson::SUCCESS || inner.get(of) != simdjson::SUCCESS)
      return false;
    return take_document(inner);
  }

  void take_date(const std::string& date) {
    if (date.size() >= kDateLength) result_.date = std::max(result_.date, date.substr(0, kDateLength));
  }

  // A row without a price; nullopt: no machine of that kind.
  std::optional<PriceRow> row_of_product(object product) const {
    const auto attributes = object_at(product, "attributes");
    if (!attributes) return std::nullopt;
    const auto is = [&](const char* key, std::string_view wanted) {
      const std::string text = text_at(*attributes, key);
      return text.empty() || text == wanted;
    };
    PriceRow row;
    row.vendor = "aws";
    row.server = text_at(*attributes, "instanceType");
    if (row.server.find('.') == std::string::npos) return std::nullopt;  // "m5" of a dedicated host
    if (!is("operatingSystem", "Linux") || !is("tenancy", "Shared") || !is("preInstalledSw", "NA") ||
        !is("capacitystatus", "Used"))
      return std::nullopt;
    row.region = text_at(*attributes, "regionCode");
    row.place = text_at(*attributes, "location");
    row.memory_gib = gib_of(text_at(*attributes, "memory"));
    row.where = source_ + ": " + text_at(product, "sku");
    return row;
  }

  // `offers`: {"SKU.TERM": {"priceDimensions": {...: {"unit": "Hrs", "pricePerUnit": {"USD": "0.096"}}}}}.
  void take_offers(object offers, const PriceRow& row) {
    for (const auto& offer : offers) {
      object of;
      if (offer.value.get(of) != simdjson::SUCCESS) continue;
      const auto dimensions = object_at(of, "priceDimensions");
      if (!dimensions) continue;
      for (const auto& dimension : *dimensions) {
        object price;
        if (dimension.value.get(price) != simdjson::SUCCESS || !text_at(price, "unit").starts_with("Hr")) continue;
        const auto per_unit = object_at(price, "pricePerUnit");
        if (!per_unit) continue;
        for (const auto& [currency, value] : *per_unit) {
          std::string_view text;
          const auto number = value.get(text) == simdjson::SUCCESS ? parse_number(text) : std::nullopt;
          if (!number || !(*number > 0)) continue;
          result_.rows.push_back(row);
          result_.rows.back().currency = upper_case(currency);
          result_.rows.back().per_hour = *number;
        }
      }
    }
  }

  bool take_offer_file(object file, object products) {
    result_.what = "AWS's offer file";
    take_date(text_at(file, "publicationDate"));
    const auto terms = object_at(file, "terms");
    const auto on_demand = terms ? object_at(*terms, "OnDemand") : std::nullopt;
    if (!on_demand) return true;
    // Both are in the order of their numbers, and too long to be looked through for each.
    std::map<std::string_view, PriceRow> rows;
    for (const auto& product : products) {
      object of;
      if (product.value.get(of) != simdjson::SUCCESS) continue;
      if (auto row = row_of_product(of)) rows.emplace(product.key, std::move(*row));
    }
    for (const auto& offers : *on_demand) {
      object of;
      const auto row = rows.find(offers.key);
      if (row != rows.end() && offers.value.get(of) == simdjson::SUCCESS) take_offers(of, row->second);
    }
    return true;
  }

  bool take_product_with_terms(object document, object product) {
    result_.what = "get-products of AWS";
    take_date(text_at(document, "publicationDate"));
    const auto row = row_of_product(product);
    const auto terms = object_at(document, "terms");
    const auto on_demand = terms ? object_at(*terms, "OnDemand") : std::nullopt;
    if (row && on_demand) take_offers(*on_demand, *row);
    return true;
  }

  void take_spot(element one) {
    object of;
    if (one.get(of) != simdjson::SUCCESS || !text_at(of, "ProductDescription").starts_with("Linux")) return;
    PriceRow row;
    row.vendor = "aws";
    row.server = text_at(of, "InstanceType");
    row.region = text_at(of, "AvailabilityZone");
    if (!row.region.empty() && row.region.back() >= 'a' && row.region.back() <= 'z') row.region.pop_back();
    row.currency = "USD";
    row.is_spot = true;
    row.where = source_ + ": " + row.server;
    take_date(text_at(of, "Timestamp"));
    take_row(std::move(row), number_at(of, "SpotPrice"));
  }

  bool take_azure_item(object of) {
    result_.what = "Azure's retail prices";
    const std::string product = text_at(of, "productName"), sku = text_at(of, "skuName");
    const std::string service = text_at(of, "serviceName"), type = text_at(of, "type");
    const auto holds = [](const std::string& text, std::string_view part) {
      return text.find(part) != std::string::npos;
    };
    if ((!service.empty() && service != "Virtual Machines") || (!type.empty() && type != "Consumption")) return true;
    if (holds(product, "Windows") || holds(product, "Cloud Services") || holds(product, "CloudServices") ||
        holds(product, "Dedicated Host") || holds(sku, "Low Priority"))
      return true;
    if (number_at(of, "tierMinimumUnits").value_or(0) > 0 || text_at(of, "unitOfMeasure") != "1 Hour") return true;
    PriceRow row;
    row.vendor = "azure";
    row.server = text_at(of, "armSkuName");
    row.region = text_at(of, "armRegionName");
    row.place = text_at(of, "location");
    row.currency = upper_case(text_at(of, "currencyCode"));
    row.is_spot = holds(sku, "Spot");
    row.where = source_ + ": " + text_at(of, "meterId");
    take_row(std::move(row), number_at(of, "retailPrice"));
    return true;
  }

  void take_row(PriceRow row, const std::optional<double>& price) {
    if (row.server.empty() || !price || !(*price > 0)) return;
    row.per_hour = *price;
    result_.rows.push_back(std::move(row));
  }

  std::string source_;
  PriceRows result_;
};

}  // namespace

bool looks_like_json(std::string_view text) {
  const std::string_view body = trim(text);
  return body.starts_with('{') || body.starts_with('[');
}

Result<PriceRows> price_rows_of_json(std::string_view text, const std::string& source) {
  PriceJson reader(source);
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(text);
  bool any = false;
  element document;
  simdjson::error_code problem = parser.parse(padded).get(document);
  if (problem == simdjson::SUCCESS) {
    any = reader.take_document(document);
  } else {
    // Pages after each other.
    simdjson::dom::document_stream pages;
    problem = parser.parse_many(padded, std::max<size_t>(padded.size(), 32)).get(pages);
    if (problem == simdjson::SUCCESS) {
      for (auto page : pages) {
        problem = page.get(document);
        if (problem != simdjson::SUCCESS) break;
        any |= reader.take_document(document);
      }
      if (problem == simdjson::SUCCESS && pages.truncated_bytes() > 0) problem = simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
    }
  }
  if (problem != simdjson::SUCCESS) {
    return Error{"bad-json", std::string("this is no whole JSON: ") + simdjson::error_message(problem), source,
                 kJsonForms};
  }
  if (!any) return Error{"bad-price", "this JSON is no price list that perfcast knows", source, kJsonForms};
  return std::move(reader).result();
}

}  // namespace perfcast::program
