#include "fleet/traces/job_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <unordered_map>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "fleet/traces/name_index.h"

namespace perfcast::fleet {
namespace {

constexpr std::array<const char*, 14> kColumns = {"id",           "arrival_s", "cores",       "gpus",       "spread",
                                                  "memory_bytes", "limit_s",   "cancelled_s", "deadline_s", "priority",
                                                  "owner",        "program",   "after",       "think_s"};

struct Matrix {
  const char* name;
  std::vector<double> Workload::*values;
  bool positive;
};
constexpr std::array<Matrix, 5> kMatrices = {
    Matrix{"time_s", &Workload::time_s, false}, Matrix{"forecast_s", &Workload::forecast_s, true},
    Matrix{"lower_s", &Workload::lower_s, true}, Matrix{"upper_s", &Workload::upper_s, true},
    Matrix{"energy_joules", &Workload::energy_joules, false}};

// A column of the file that belongs to a matrix.
struct MatrixColumn {
  size_t column, matrix, platform;
};

bool is_blank_cell(std::string_view text) { return text.find_first_not_of(" \t") == std::string_view::npos; }

class TableReader {
 public:
  explicit TableReader(const CsvTable& table, const std::string& source) : table_(table), source_(source) {}

  Result<Workload> read() {
    workload_.source = source_;
    if (Status found = find_columns(); !found) return found.error();
    workload_.jobs.resize(table_.rows());
    for (size_t row = 0; row < table_.rows(); ++row) {
      if (Status job = read_job(row); !job) return job.error();
    }
    if (Status joined = join_after(); !joined) return joined.error();
    if (const size_t misplaced = sort_by_arrival(workload_); misplaced > 0) {
      workload_.notes.push_back(fmt::format("{} {} before the row above: sorted by arrival", misplaced,
                                            misplaced == 1 ? "job arrives" : "jobs arrive"));
    }
    if (Status checked = check_workload(workload_); !checked) {
      Error error = checked.error();
      if (error.where != source_) error.where = source_ + ": " + error.where;
      return error;
    }
    return std::move(workload_);
  }

 private:
  std::optional<size_t> at(const char* name) const { return table_.find_column(name); }

  Error bad_job(size_t row, std::string message, std::string expected) const {
    return {"bad-job", std::move(message), table_.where(row), std::move(expected)};
  }

  Status find_columns() {
    for (const char* required : {"id", "arrival_s"}) {
      if (const auto found = table_.column(required); !found) return found.error();
    }
    std::vector<std::string> known(kColumns.begin(), kColumns.end());
    for (const Matrix& matrix : kMatrices) known.push_back(fmt::format("{}:PLATFORM", matrix.name));
    for (const std::string& name : table_.columns()) {
      if (name.starts_with("time_s:") && name.size() > 7) workload_.platforms.push_back(name.substr(7));
    }
    if (workload_.platforms.empty()) {
      return Error{"missing-column", "there is no column 'time_s:PLATFORM'", source_ + ":1",
                   "run times on at least one platform"};
    }
    for (size_t column = 0; column < table_.columns().size(); ++column) {
      const std::string& name = table_.columns()[column];
      if (std::find(kColumns.begin(), kColumns.end(), name) != kColumns.end()) continue;
      const size_t colon = name.find(':');
      const auto matrix = std::find_if(kMatrices.begin(), kMatrices.end(),
                                       [&](const Matrix& entry) { return name.substr(0, colon) == entry.name; });
      if (colon == std::string::npos || colon + 1 == name.size() || matrix == kMatrices.end()) {
        // A platform's name would drown what stands before it.
        const std::string kind = colon == std::string::npos ? name : name.substr(0, colon) + ":PLATFORM";
        return Error{"unknown-column", "the column '" + printable(name.substr(0, 60)) + "' means nothing here",
                     source_ + ":1", "one of: " + nearest_names(kind, known)};
      }
      const std::string platform = name.substr(colon + 1);
      const auto found = std::find(workload_.platforms.begin(), workload_.platforms.end(), platform);
      if (found == workload_.platforms.end()) {
        return Error{"missing-column", "there is '" + printable(name) + "' but no time_s of that platform",
                     source_ + ":1", "a time_s column of: " + nearest_names(platform, workload_.platforms)};
      }
      auto& values = workload_.*(matrix->values);
      if (values.empty()) values.assign(table_.rows() * workload_.platforms.size(), kUnknown);
      columns_.push_back({column, static_cast<size_t>(matrix - kMatrices.begin()),
                          static_cast<size_t>(found - workload_.platforms.begin())});
    }
    return {};
  }

  // Reads a number from `least` on into `to`, which stays as it is where the cell is blank.
  Status number(size_t row, size_t column, double& to, bool positive = false) const {
    const auto value = table_.number(row, column);
    if (!value) return value.error();
    if (!*value) return {};
    if (**value < 0 || (positive && **value == 0)) {
      return bad_job(row, fmt::format("column '{}' is {}", printable(table_.columns()[column]), **value),
                     positive ? "a number above 0, or nothing" : "a number from 0, or nothing");
    }
    to = **value;
    return {};
  }

  Status number(size_t row, const char* name, double& to, bool positive = false) const {
    const auto column = at(name);
    return column ? number(row, *column, to, positive) : Status();
  }

  template <typename Integer>
  Status integer(size_t row, const char* name, Integer& to, Integer least) const {
    const auto column = at(name);
    if (!column || is_blank_cell(table_.cell(row, *column))) return {};
    const std::string_view text = trim(table_.cell(row, *column));
    Integer value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || value < least) {
      return bad_job(row, fmt::format("column '{}' is '{}'", name, printable(text.substr(0, 40))),
                     fmt::format("a whole number from {}", least));
    }
    to = value;
    return {};
  }

  Status boolean(size_t row, const char* name, bool& to) const {
    const auto column = at(name);
    if (!column || is_blank_cell(table_.cell(row, *column))) return {};
    const std::string text = lower_case(trim(table_.cell(row, *column)));
    const bool yes = text == "true" || text == "yes" || text == "1";
    if (!yes && text != "false" && text != "no" && text != "0") {
      return bad_job(row, fmt::format("column '{}' is '{}'", name, printable(text.substr(0, 40))), "true or false");
    }
    to = yes;
    return {};
  }

  int32_t text(size_t row, const char* name, NameIndex& names) const {
    const auto column = at(name);
    if (!column || table_.cell(row, *column).empty()) return kNoIndex;
    return names.of(std::string(table_.cell(row, *column)));
  }

  Status read_job(size_t row) {
    JobRequest& job = workload_.jobs[row];
    for (const char* required : {"id", "arrival_s"}) {
      if (is_blank_cell(table_.cell(row, *at(required)))) {
        return bad_job(row, fmt::format("column '{}' is blank", required), "a number");
      }
    }
    for (const Status& status :
         {integer(row, "id", job.id, INT64_MIN), number(row, "arrival_s", job.arrival_s),
          integer(row, "cores", job.cores, 0), integer(row, "gpus", job.gpus, 0), boolean(row, "spread", job.spread),
          number(row, "memory_bytes", job.memory_bytes), number(row, "limit_s", job.limit_s),
          number(row, "cancelled_s", job.cancelled_s), number(row, "deadline_s", job.deadline_s),
          number(row, "priority", job.priority, true), number(row, "think_s", job.think_s)}) {
      if (!status) return status.error();
    }
    if (job.cores == 0 && job.gpus == 0) return bad_job(row, "asks for no cores and no GPUs", "one of either at least");
    job.owner = text(row, "owner", owners_);
    job.program = text(row, "program", programs_);
    if (const auto [before, is_new] = row_of_.try_emplace(job.id, row); !is_new) {
      return bad_job(row, fmt::format("the id {} is that of line {} too", job.id, table_.line(before->second)),
                     "an id of its own for each job");
    }
    for (const MatrixColumn& entry : columns_) {
      const Matrix& matrix = kMatrices[entry.matrix];
      double& to = (workload_.*(matrix.values))[row * workload_.platforms.size() + entry.platform];
      if (Status read = number(row, entry.column, to, matrix.positive); !read) return read;
    }
    return {};
  }

  Status join_after() {
    if (!at("after")) return {};
    for (size_t row = 0; row < table_.rows(); ++row) {
      if (is_blank_cell(table_.cell(row, *at("after")))) continue;
      int64_t id = 0;
      if (Status read = integer(row, "after", id, INT64_MIN); !read) return read;
      const auto found = row_of_.find(id);
      if (found == row_of_.end()) {
        return bad_job(row, fmt::format("waits for job {}, which isn't there", id), "the id of another job");
      }
      workload_.jobs[row].after = static_cast<int32_t>(found->second);
    }
    return {};
  }

  const CsvTable& table_;
  const std::string& source_;
  Workload workload_;
  std::vector<MatrixColumn> columns_;
  NameIndex owners_{workload_.owners};
  NameIndex programs_{workload_.programs};
  std::unordered_map<int64_t, size_t> row_of_;
};

// A column of the request: shown where a job has something other than the default, whose cells stay blank.
struct RequestColumn {
  const char* name;
  bool (*is_default)(const JobRequest&);
  std::string (*text)(const Workload&, const JobRequest&);
};

template <double JobRequest::*kMember>
RequestColumn optional_number(const char* name) {
  return {name, [](const JobRequest& job) { return std::isnan(job.*kMember); },
          [](const Workload&, const JobRequest& job) { return fmt::format("{}", job.*kMember); }};
}

std::vector<RequestColumn> request_columns() {
  return {
      {"cores", [](const JobRequest& job) { return job.cores == 1; },
       [](const Workload&, const JobRequest& job) { return fmt::format("{}", job.cores); }},
      {"gpus", [](const JobRequest& job) { return job.gpus == 0; },
       [](const Workload&, const JobRequest& job) { return fmt::format("{}", job.gpus); }},
      {"spread", [](const JobRequest& job) { return !job.spread; },
       [](const Workload&, const JobRequest&) { return std::string("true"); }},
      optional_number<&JobRequest::memory_bytes>("memory_bytes"),
      optional_number<&JobRequest::limit_s>("limit_s"),
      optional_number<&JobRequest::cancelled_s>("cancelled_s"),
      optional_number<&JobRequest::deadline_s>("deadline_s"),
      {"priority", [](const JobRequest& job) { return job.priority == 1; },
       [](const Workload&, const JobRequest& job) { return fmt::format("{}", job.priority); }},
      {"owner", [](const JobRequest& job) { return job.owner == kNoIndex; },
       [](const Workload& all, const JobRequest& job) { return csv_cell(all.owners[static_cast<size_t>(job.owner)]); }},
      {"program", [](const JobRequest& job) { return job.program == kNoIndex; },
       [](const Workload& all, const JobRequest& job) {
         return csv_cell(all.programs[static_cast<size_t>(job.program)]);
       }},
      {"after", [](const JobRequest& job) { return job.after == kNoIndex; },
       [](const Workload& all, const JobRequest& job) {
         return fmt::format("{}", all.jobs[static_cast<size_t>(job.after)].id);
       }},
      {"think_s", [](const JobRequest& job) { return job.think_s == 0; },
       [](const Workload&, const JobRequest& job) { return fmt::format("{}", job.think_s); }},
  };
}

}  // namespace

Result<Workload> parse_job_table(std::string_view text, const std::string& source) {
  const auto table = CsvTable::parse_any_form(text, source);
  if (!table) return table.error();
  auto workload = TableReader(*table, source).read();
  if (workload && !table->form().empty()) workload->notes.push_back(source + " was read as having " + table->form());
  return workload;
}

Result<Workload> read_job_table(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return parse_job_table(*text, path);
}

std::string job_table_text(const Workload& workload) {
  std::vector<RequestColumn> columns = request_columns();
  std::erase_if(columns, [&](const RequestColumn& column) {
    return std::all_of(workload.jobs.begin(), workload.jobs.end(), column.is_default);
  });
  std::string text = "id,arrival_s";
  for (const RequestColumn& column : columns) text += std::string(",") + column.name;
  for (const Matrix& matrix : kMatrices) {
    if ((workload.*(matrix.values)).empty()) continue;
    for (const std::string& platform : workload.platforms) {
      text += "," + csv_cell(fmt::format("{}:{}", matrix.name, platform));
    }
  }
  text += "\n";
  for (size_t i = 0; i < workload.size(); ++i) {
    const JobRequest& job = workload.jobs[i];
    fmt::format_to(std::back_inserter(text), "{},{}", job.id, job.arrival_s);
    for (const RequestColumn& column : columns) {
      text += ",";
      if (!column.is_default(job)) text += column.text(workload, job);
    }
    for (const Matrix& matrix : kMatrices) {
      for (const double value : workload.row(workload.*(matrix.values), i)) {
        text += ",";
        if (!std::isnan(value)) fmt::format_to(std::back_inserter(text), "{}", value);
      }
    }
    text += "\n";
  }
  return text;
}

Status write_job_table(const Workload& workload, const std::string& path) {
  return write_file_atomically(path, job_table_text(workload));
}

}  // namespace perfcast::fleet
