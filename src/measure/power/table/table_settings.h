#pragma once
// Frequency, voltage and number of cores of a table's rows: models forecast power as a multiple of them, and one row
// without would spoil all that is learnt.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "measure/power/table/power_table.h"

namespace perfcast::measure {

struct SettingColumn {
  const Eigen::VectorXd* values;
  const char* name;
  const char* unit;
  double most;  // beyond is another unit: Hz in a column of MHz, and the like
};
// Those that the table has. They point into it.
std::vector<SettingColumn> setting_columns(const PowerTable& table);

// Leaves out rows whose setting is not known (the sampler missed it, or the table was joined from others without), with
// a note, and numbers the runs anew. "bad-samples" where no row is left. `given_run`: of each row, or empty.
Status leave_out_unplaced(PowerTable& table, std::vector<int>& given_run, const std::string& source,
                          PowerTableNotes& notes);

// "missing-setting" names the first row whose frequency, voltage or number of cores is not known or not above 0, where
// the table has the column: models take no such rows.
Status check_settings(const PowerTable& table);

// Frequencies this close are one setting: 1 MHz, or so many that no machine of the table has more than 64 of them.
// Clocks that were measured differ in every sample, those that were set do not.
double clock_step_hz(const PowerTable& table);

}  // namespace perfcast::measure
