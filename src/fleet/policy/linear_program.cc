#include "fleet/policy/linear_program.h"

#include <Cbc_C_Interface.h>
#include <Clp_C_Interface.h>
#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace perfcast::fleet {
namespace {

// Clp and Cbc take the largest double for no bound.
double bound(double value) { return std::clamp(value, -DBL_MAX, DBL_MAX); }
std::vector<double> bounds(const std::vector<double>& values) {
  std::vector<double> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), bound);
  return result;
}

Error infeasible() {
  return infeasible_error("infeasible", "no solution meets all constraints of the linear program", "",
                          "constraints that agree");
}
Error unbounded() {
  return {"unbounded", "the linear program's objective has no limit", "", "a constraint that limits the objective"};
}
Error gave_up(double limit_s) {
  return environment_error("solver-gave-up", fmt::format("no proven optimum within {} s", limit_s), "",
                           "a smaller program, more time");
}

std::vector<double> copied(const double* values, size_t count) {
  return values == nullptr ? std::vector<double>(count, 0.0) : std::vector<double>(values, values + count);
}

}  // namespace

struct LinearProgram::Model {
  Clp_Simplex* clp = Clp_newModel();
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() { Clp_deleteModel(clp); }
};

LinearProgram::LinearProgram(Sense sense) : maximise_(sense == Sense::kMaximise) {}
LinearProgram::~LinearProgram() = default;
LinearProgram::LinearProgram(LinearProgram&&) noexcept = default;
LinearProgram& LinearProgram::operator=(LinearProgram&&) noexcept = default;

int LinearProgram::add_column(double cost, double low, double high, bool integer) {
  model_.reset();
  cost_.push_back(cost);
  column_low_.push_back(low);
  column_high_.push_back(high);
  integer_.push_back(integer ? 1 : 0);
  has_integers_ = has_integers_ || integer;
  return static_cast<int>(cost_.size()) - 1;
}

int LinearProgram::add_row(double low, double high, std::span<const Entry> entries) {
  model_.reset();
  row_low_.push_back(low);
  row_high_.push_back(high);
  entries_.emplace_back(entries.begin(), entries.end());
  return static_cast<int>(row_low_.size()) - 1;
}

void LinearProgram::set_cost(int column, double cost) { cost_[static_cast<size_t>(column)] = cost; }
void LinearProgram::set_column_bounds(int column, double low, double high) {
  column_low_[static_cast<size_t>(column)] = low;
  column_high_[static_cast<size_t>(column)] = high;
}
void LinearProgram::set_row_bounds(int row, double low, double high) {
  row_low_[static_cast<size_t>(row)] = low;
  row_high_[static_cast<size_t>(row)] = high;
}

Status LinearProgram::check() const {
  const auto bad = [](const char* what, size_t index, const char* message, const char* expected) {
    return Error{"bad-program", message, fmt::format("{} {}", what, index), expected};
  };
  for (size_t j = 0; j < columns(); ++j) {
    if (!std::isfinite(cost_[j])) return bad("column", j, "its cost is no number", "a finite cost");
    if (!(column_low_[j] <= column_high_[j]) || column_low_[j] == kNoBound || column_high_[j] == -kNoBound) {
      return bad("column", j, "its lower bound is above its upper one, or one is no number", "low <= high");
    }
  }
  std::vector<size_t> seen(columns(), rows());
  for (size_t i = 0; i < rows(); ++i) {
    if (!(row_low_[i] <= row_high_[i]) || row_low_[i] == kNoBound || row_high_[i] == -kNoBound) {
      return bad("row", i, "its lower bound is above its upper one, or one is no number", "low <= high");
    }
    for (const Entry& entry : entries_[i]) {
      if (entry.column < 0 || static_cast<size_t>(entry.column) >= columns()) {
        return bad("row", i, "an entry names a column that isn't there", "a column that was added");
      }
      if (!std::isfinite(entry.value)) return bad("row", i, "an entry is no number", "finite entries");
      size_t& last = seen[static_cast<size_t>(entry.column)];
      if (last == i) return bad("row", i, "it names a column twice", "one entry for each column");
      last = i;
    }
  }
  return {};
}

void LinearProgram::by_columns(std::vector<int>& starts, std::vector<int>& row_of, std::vector<double>& values) const {
  starts.assign(columns() + 1, 0);
  for (const auto& row : entries_) {
    for (const Entry& entry : row) ++starts[static_cast<size_t>(entry.column) + 1];
  }
  for (size_t j = 0; j < columns(); ++j) starts[j + 1] += starts[j];
  row_of.resize(static_cast<size_t>(starts.back()));
  values.resize(row_of.size());
  std::vector<int> next(starts.begin(), starts.end() - 1);
  for (size_t i = 0; i < rows(); ++i) {
    for (const Entry& entry : entries_[i]) {
      const auto at = static_cast<size_t>(next[static_cast<size_t>(entry.column)]++);
      row_of[at] = static_cast<int>(i);
      values[at] = entry.value;
    }
  }
}

Result<LinearSolution> LinearProgram::solve(double limit_s) {
  if (Status checked = check(); !checked) return checked.error();
  return has_integers_ ? solve_integer(limit_s) : solve_continuous(limit_s);
}

Result<LinearSolution> LinearProgram::solve_continuous(double limit_s) {
  const auto column_low = bounds(column_low_), column_high = bounds(column_high_);
  const auto row_low = bounds(row_low_), row_high = bounds(row_high_);
  if (!model_) {
    model_ = std::make_unique<Model>();
    Clp_setLogLevel(model_->clp, 0);
    Clp_setOptimizationDirection(model_->clp, maximise_ ? -1 : 1);
    std::vector<int> starts, row_of;
    std::vector<double> values;
    by_columns(starts, row_of, values);
    Clp_loadProblem(model_->clp, static_cast<int>(columns()), static_cast<int>(rows()), starts.data(), row_of.data(),
                    values.data(), column_low.data(), column_high.data(), cost_.data(), row_low.data(),
                    row_high.data());
  } else {
    Clp_chgColumnLower(model_->clp, column_low.data());
    Clp_chgColumnUpper(model_->clp, column_high.data());
    Clp_chgRowLower(model_->clp, row_low.data());
    Clp_chgRowUpper(model_->clp, row_high.data());
    Clp_chgObjCoefficients(model_->clp, cost_.data());
  }
  Clp_Simplex* clp = model_->clp;
  Clp_setMaximumSeconds(clp, limit_s);
  Clp_primal(clp, 0);
  if (Clp_status(clp) == 0 && Clp_secondaryStatus(clp) >= 2 && Clp_secondaryStatus(clp) <= 4) {
    // Optimal as Clp scaled it, but bounds are missed in the program's own units: once more in these.
    const int scaling = Clp_scalingFlag(clp);
    Clp_scaling(clp, 0);
    Clp_primal(clp, 0);
    Clp_scaling(clp, scaling);
  }
  const int status = Clp_status(clp);
  if (status != 0) {
    model_.reset();  // its basis is no place to start from
    if (status == 1) return infeasible();
    if (status == 2) return unbounded();
    return gave_up(limit_s);
  }
  LinearSolution solution;
  solution.objective = Clp_objectiveValue(clp);
  solution.values = copied(Clp_primalColumnSolution(clp), columns());
  solution.duals = copied(Clp_dualRowSolution(clp), rows());
  return solution;
}

Result<LinearSolution> LinearProgram::solve_integer(double limit_s) const {
  // Cbc's cuts and preprocessing don't tell an unbounded program from an infeasible one: the relaxation does.
  LinearProgram relaxed(maximise_ ? Sense::kMaximise : Sense::kMinimise);
  relaxed.cost_ = cost_;
  relaxed.column_low_ = column_low_;
  relaxed.column_high_ = column_high_;
  relaxed.row_low_ = row_low_;
  relaxed.row_high_ = row_high_;
  relaxed.entries_ = entries_;
  if (auto bounded = relaxed.solve_continuous(limit_s); !bounded) return bounded.error();

  std::vector<int> starts, row_of;
  std::vector<double> values;
  by_columns(starts, row_of, values);
  const auto column_low = bounds(column_low_), column_high = bounds(column_high_);
  const auto row_low = bounds(row_low_), row_high = bounds(row_high_);
  const std::unique_ptr<Cbc_Model, void (*)(Cbc_Model*)> owner(Cbc_newModel(), Cbc_deleteModel);
  Cbc_Model* cbc = owner.get();
  Cbc_loadProblem(cbc, static_cast<int>(columns()), static_cast<int>(rows()), starts.data(), row_of.data(),
                  values.data(), column_low.data(), column_high.data(), cost_.data(), row_low.data(), row_high.data());
  for (size_t j = 0; j < columns(); ++j) {
    if (integer_[j] != 0) Cbc_setInteger(cbc, static_cast<int>(j));
  }
  Cbc_setObjSense(cbc, maximise_ ? -1 : 1);
  Cbc_setLogLevel(cbc, 0);
  Cbc_setParameter(cbc, "logLevel", "0");
  Cbc_setParameter(cbc, "ratioGap", "0");
  Cbc_setParameter(cbc, "allowableGap", "0");
  Cbc_setParameter(cbc, "seconds", fmt::format("{}", limit_s).c_str());
  Cbc_solve(cbc);
  if (Cbc_isProvenInfeasible(cbc) != 0) return infeasible();
  if (Cbc_isProvenOptimal(cbc) == 0) return gave_up(limit_s);
  LinearSolution solution;
  solution.values = copied(Cbc_getColSolution(cbc), columns());
  for (size_t j = 0; j < columns(); ++j) {
    if (integer_[j] != 0) solution.values[j] = std::round(solution.values[j]);
    solution.objective += cost_[j] * solution.values[j];
  }
  return solution;
}

}  // namespace perfcast::fleet
