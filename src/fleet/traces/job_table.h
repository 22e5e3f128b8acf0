#pragma once
// Jobs as CSV. Columns, in any order: id, arrival_s and at least one time_s:PLATFORM; and where wanted cores, gpus,
// spread, memory_bytes, limit_s, cancelled_s, deadline_s, priority, owner, program, after (the id of another job),
// think_s, and for each platform forecast_s:, lower_s:, upper_s: and energy_joules:PLATFORM. A blank cell is what the
// column's absence is: not known, none, or the default of JobRequest. A blank time_s: the job can't run there.
// Platforms are numbered in the order of their time_s columns.

#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

// Jobs out of order are sorted, and counted in the notes. "bad-csv"; "unknown-column" with near names;
// "missing-column"; "bad-number" and "bad-job" with file and line; check_workload's errors.
Result<Workload> parse_job_table(std::string_view text, const std::string& source);
Result<Workload> read_job_table(const std::string& path);

// Reading it gives the same jobs, matrices, owners and programs bit for bit, given that every owner and program of the
// lists is used, first in the order of the lists, and has a name. Source and notes aren't written.
std::string job_table_text(const Workload& workload);
Status write_job_table(const Workload& workload, const std::string& path);  // "-": stdout

}  // namespace perfcast::fleet
