#pragma once
// The rungs of a ladder as a list: which there are, and whether they can run here.

#include <string>
#include <vector>

#include "ai/gemm/precision.h"
#include "base/report/table.h"

namespace perfcast::ai::gemm {

template <typename Rungs>
ReportTable rung_list(const Rungs& rungs) {
  using enum Quantity;
  using Row = typename Rungs::value_type;
  const auto unavailable = [](const Row& rung) { return rung.unavailable ? rung.unavailable() : std::string(); };
  return table_of<Row>("", rungs,
                       {{"name", "rung", kText, [](const Row& rung) { return rung.name; }},
                        {"title", "what", kText, [](const Row& rung) { return rung.title; }},
                        {"device", "", kText, [](const Row& rung) { return rung.device; }},
                        {"precision", "precision", kText, [](const Row& rung) { return name_of(rung.precision); }},
                        {"threaded", "threads", kText, [](const Row& rung) { return rung.threaded; },
                         [](const Row& rung) { return rung.threaded ? "any" : "1"; }},
                        {"unavailable", "here", kText,
                         [unavailable](const Row& rung) {
                           const std::string reason = unavailable(rung);
                           return reason.empty() ? ReportValue() : ReportValue(reason);
                         },
                         [unavailable](const Row& rung) {
                           const std::string reason = unavailable(rung);
                           return reason.empty() ? "yes" : "no: " + reason;
                         }}});
}

}  // namespace perfcast::ai::gemm
