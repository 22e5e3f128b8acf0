#include "program/evaluate/all_cores_evaluation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/statistics.h"
#include "base/unknown.h"

namespace perfcast::program {
namespace {

// Vendor, CPU model and size.
std::string class_of(const AllCoresRun& run) {
  return run.server.substr(0, run.server.find('/')) + "\t" + run.platform + "\t" + std::to_string(run.vcpus);
}

// Programs by servers, logs.
struct AllCoresTable {
  std::vector<std::string> families;                // of the programs
  Eigen::MatrixXd truth, alone, others, half, own;  // throughput of the server, by one thread times vCPUs, ...
  Eigen::VectorXd log_vcpus;
};

AllCoresTable table_of(const std::vector<AllCoresRun>& runs) {
  const std::map<std::string, AllCoresFamilies> known = all_cores_families(runs);
  std::map<std::string, Eigen::Index> row_of, column_of;
  std::map<std::pair<std::string, std::string>, std::vector<double>> of_class;  // by program and class
  AllCoresTable table;
  for (const AllCoresRun& run : runs) {
    const std::string server = run.server + "\t" + run.platform;
    if (known.at(server).size() <= kAllCoresLeastFamilies) continue;
    of_class[{run.program, class_of(run)}].push_back(run.log_slowdown);
    if (row_of.emplace(run.program, static_cast<Eigen::Index>(row_of.size())).second)
      table.families.push_back(run.family);
    column_of.emplace(server, static_cast<Eigen::Index>(column_of.size()));
  }
  const auto rows = static_cast<Eigen::Index>(row_of.size()), columns = static_cast<Eigen::Index>(column_of.size());
  table.truth = Eigen::MatrixXd::Constant(rows, columns, kUnknown);
  table.alone = table.others = table.half = table.own = table.truth;
  table.log_vcpus = Eigen::VectorXd::Zero(columns);
  for (const AllCoresRun& run : runs) {
    const std::string server = run.server + "\t" + run.platform;
    const auto column = column_of.find(server);
    const auto row = row_of.find(run.program);
    if (column == column_of.end() || row == row_of.end()) continue;
    const Eigen::Index i = row->second, s = column->second;
    const AllCoresLevel level = all_cores_level(known.at(server), run.family);
    table.log_vcpus(s) = std::log(run.vcpus);
    table.alone(i, s) = table.log_vcpus(s) - run.log_alone;
    table.truth(i, s) = table.alone(i, s) - run.log_slowdown;
    table.others(i, s) = table.alone(i, s) - level.log_slowdown;
    table.half(i, s) = all_cores_half_width(level);
    // The median of the like servers less this one.
    std::vector<double> like = of_class.at({run.program, class_of(run)});
    like.erase(std::find(like.begin(), like.end(), run.log_slowdown));
    if (!like.empty()) table.own(i, s) = table.alone(i, s) - median(std::move(like));
  }
  return table;
}

}  // namespace

std::vector<ScalingRow> evaluate_all_cores(const std::vector<AllCoresRun>& runs) {
  const AllCoresTable table = table_of(runs);
  std::vector<ScalingRow> rows;
  if (table.families.empty()) return rows;
  const Eigen::MatrixXd of_a_vcpu = (-table.log_vcpus.transpose()).replicate(table.truth.rows(), 1);
  const auto add = [&](const std::string& name, const Eigen::MatrixXd& predicted, bool has_interval) {
    ScoreInput input;
    input.truth = table.truth;
    input.predicted = predicted;
    input.families = table.families;
    if (has_interval) {
      input.lower = predicted - table.half;
      input.upper = predicted + table.half;
    }
    rows.push_back(scaling_row(kAllCoresGroup, name, input, of_a_vcpu));
  };
  add("one core x vCPUs", table.alone, false);
  add("mean of the other applications on the server", table.others, true);
  add("the program itself on other servers of its vendor, CPU model and size (floor)", table.own, false);
  return rows;
}

}  // namespace perfcast::program
