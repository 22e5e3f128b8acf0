#pragma once
// Linear programs, and mixed-integer ones in the same form: minimise or maximise c x, rows low <= A x <= high, columns
// low <= x <= high. Solved by Clp, with integer columns by Cbc.

#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"

namespace perfcast::fleet {

inline constexpr double kNoBound = std::numeric_limits<double>::infinity();  // with a minus sign for a lower one

struct LinearSolution {
  double objective = 0;
  std::vector<double> values;  // [columns]
  // [rows] What the objective gains for one unit more on the bound that a row meets, 0 for slack rows; empty with
  // integer columns, which have none.
  std::vector<double> duals;
};

class LinearProgram {
 public:
  enum class Sense { kMinimise, kMaximise };
  struct Entry {
    int column = 0;
    double value = 0;
  };

  explicit LinearProgram(Sense sense);
  ~LinearProgram();
  LinearProgram(LinearProgram&&) noexcept;
  LinearProgram& operator=(LinearProgram&&) noexcept;

  // Return the index of what was added. Entries of one row name each column once.
  int add_column(double cost, double low = 0, double high = kNoBound, bool integer = false);
  int add_row(double low, double high, std::span<const Entry> entries);

  // Changes of costs and bounds keep the last basis: the next solve() starts there.
  void set_cost(int column, double cost);
  void set_column_bounds(int column, double low, double high);
  void set_row_bounds(int row, double low, double high);

  size_t columns() const { return cost_.size(); }
  size_t rows() const { return row_low_.size(); }

  // "infeasible" (of kind kInfeasible), "unbounded"; "bad-program": a number that is none, crossed bounds, an entry
  // twice or out of range; "solver-gave-up" (of kind kEnvironment): no proven optimum within `limit_s` of processor
  // time.
  Result<LinearSolution> solve(double limit_s = 60);

 private:
  struct Model;
  Status check() const;
  void by_columns(std::vector<int>& starts, std::vector<int>& rows, std::vector<double>& values) const;
  Result<LinearSolution> solve_continuous(double limit_s);
  Result<LinearSolution> solve_integer(double limit_s) const;

  bool maximise_;
  bool has_integers_ = false;
  std::vector<double> cost_, column_low_, column_high_, row_low_, row_high_;
  std::vector<char> integer_;
  std::vector<std::vector<Entry>> entries_;  // of each row
  std::unique_ptr<Model> model_;             // Clp's, while the structure stays
};

}  // namespace perfcast::fleet
