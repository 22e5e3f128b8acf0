#include "measure/diagnose/report/parallel_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::measure {

std::string thread_curve_text(const ThreadCurve& curve) {
  std::string text = "\nother numbers of threads, by " + curve.how + "\n";
  TextTable table;
  for (const char* title : {"  threads", "s", "CPU s", "speed-up", "efficiency"})
    table.add_column(title, TextTable::Align::kRight);
  for (const ThreadPoint& point : curve.points) {
    table.add_row({std::to_string(point.threads), fmt::format("{:.3f}", point.median_wall_s),
                   fmt::format("{:.3f}", point.median_cpu_s), fmt::format("{:.2f}", point.speed_up_ratio),
                   in_percent(point.efficiency_ratio)});
  }
  text += table.to_text();
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
  Json points = Json::array();
  for (const ThreadPoint& point : curve.points) {
    points.push_back({{"threads_count", point.threads},
                      {"seen_threads_count", point.seen_threads_count > 0 ? Json(point.seen_threads_count) : Json()},
                      {"wall_s", point.median_wall_s},
                      {"cpu_s", point.median_cpu_s},
                      {"runs_count", point.wall_s.size()},
                      {"speed_up_ratio", point.speed_up_ratio},
                      {"efficiency_ratio", point.efficiency_ratio}});
  }
  const auto& serial = curve.serial;
  return {{"how", curve.how},
          {"is_obeyed", curve.is_obeyed},
          {"points", points},
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
