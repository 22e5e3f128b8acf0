#include "measure/diagnose/report/parallel_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

ReportTable curve_table(const ThreadCurve& curve) {
  using Q = Quantity;
  using Row = ThreadPoint;
  return table_of<Row>(
      "", curve.points,
      {{"threads_count", "  threads", Q::kCount, &Row::threads},
       {"seen_threads_count", "", Q::kCount,
        [](const Row& of) { return of.seen_threads_count > 0 ? ReportValue(of.seen_threads_count) : nullptr; }},
       {"wall_s", "s", Q::kNumber, &Row::median_wall_s, 3},
       {"cpu_s", "CPU s", Q::kNumber, &Row::median_cpu_s, 3},
       {"runs_count", "", Q::kCount, [](const Row& of) { return of.wall_s.size(); }},
       {"speed_up_ratio", "speed-up", Q::kNumber, &Row::speed_up_ratio},
       {"efficiency_ratio", "efficiency", Q::kShare, &Row::efficiency_ratio, 0}});
}

}  // namespace

std::string thread_curve_text(const ThreadCurve& curve) {
  std::string text = "\nother numbers of threads, by " + curve.how + "\n" + rows_text(curve_table(curve));
  if (!curve.is_obeyed) {
    text += "  it does not go by them: as many threads ran each time\n";
  } else if (curve.serial) {
    text += fmt::format("  serial work, by Amdahl's law: {} ({} .. {}) of the time with one thread\n",
                        in_percent(std::clamp(curve.serial->serial_ratio, 0.0, 1.0)),
                        in_percent(std::clamp(curve.serial->lower, 0.0, 1.0)),
                        in_percent(std::clamp(curve.serial->upper, 0.0, 1.0)));
  }
  return text;
}

Json thread_curve_json(const ThreadCurve& curve) {
  const auto& serial = curve.serial;
  return {{"how", curve.how},
          {"is_obeyed", curve.is_obeyed},
          {"points", rows_json(curve_table(curve))},
          {"one_thread_s", serial ? Json(serial->one_thread_s) : Json()},
          {"serial_ratio", serial ? Json(serial->serial_ratio) : Json()},
          {"serial_ratio_lower", serial ? Json(serial->lower) : Json()},
          {"serial_ratio_upper", serial ? Json(serial->upper) : Json()}};
}

Json shared_lines_json(const std::vector<SharedPlace>& lines) {
  Json all = Json::array();
  for (const SharedPlace& place : lines) {
    Json users = Json::array();
    for (size_t i = 0; i < place.line.users.size(); ++i) {
      const LineUser& user = place.line.users[i];
      users.push_back({{"thread", user.thread == kSeveralThreads ? Json() : Json(user.thread)},
                       {"writes_count", user.writes_count},
                       {"atomic_count", user.atomic_count},
                       {"reads_count", user.reads_count},
                       {"written_bytes_mask", fmt::format("{:016x}", user.written)},
                       {"read_bytes_mask", fmt::format("{:016x}", user.read)},
                       {"function", place.functions[i]}});
    }
    all.push_back({{"address", fmt::format("{:#x}", place.line.address)},
                   {"is_false_sharing", place.line.is_false_sharing()},
                   {"transfers_count", place.line.transfers_count},
                   {"of_data_count", place.line.of_data_count},
                   {"users", users}});
  }
  return all;
}

}  // namespace perfcast::measure
