#include "ai/gemm/run/verify.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "ai/gemm/run/gemm_task.h"

namespace perfcast::ai::gemm {
namespace {

struct Problem {
  Problem(const Shape& of, Precision in, uint64_t seed = 5) : shape(of), precision(in) {
    a.resize(static_cast<size_t>(of.m * of.k));
    b.resize(static_cast<size_t>(of.k * of.n));
    fill_operands(seed, a, b);
    c.resize(static_cast<size_t>(of.m * of.n));
    std::vector<double> rounded_b(b.size());
    for (size_t i = 0; i < b.size(); ++i) rounded_b[i] = rounded(b[i], precision);
    for (size_t i = 0; i < static_cast<size_t>(of.m); ++i) {
      for (size_t l = 0; l < static_cast<size_t>(of.k); ++l) {
        const double factor = rounded(a[i * static_cast<size_t>(of.k) + l], precision);
        for (size_t j = 0; j < static_cast<size_t>(of.n); ++j) {
          c[i * static_cast<size_t>(of.n) + j] += factor * rounded_b[l * static_cast<size_t>(of.n) + j];
        }
      }
    }
  }
  Verdict verdict() const { return verify({shape, a, b}, precision, c, 9); }

  Shape shape;
  Precision precision;
  std::vector<float> a, b;
  std::vector<double> c;
};

TEST(Verify, AcceptsTheReferenceInEveryPrecision) {
  for (const Precision precision : precisions()) {
    for (const Shape& shape : {Shape{1, 1, 1}, Shape{33, 17, 65}, Shape{1, 40, 300}}) {
      const Verdict verdict = Problem(shape, precision).verdict();
      EXPECT_TRUE(verdict.correct) << name_of(precision);
      EXPECT_LT(verdict.worst, 0.01);
    }
  }
}

TEST(Verify, ErrorIsThatOfTheRoundedInputs) {
  const Shape shape{40, 40, 400};
  EXPECT_LT(Problem(shape, Precision::kFp32).verdict().relative_error, 1e-12);
  // Two inputs, each uniformly wrong by up to a half unit: bf16 about 0.2%, int8 about 0.6%.
  EXPECT_NEAR(Problem(shape, Precision::kBf16).verdict().relative_error, 0.0021, 0.0004);
  EXPECT_NEAR(Problem(shape, Precision::kInt8).verdict().relative_error, 0.0056, 0.001);
}

TEST(Verify, AcceptsFloatSumsAndRefusesOneWrongElement) {
  Problem problem({60, 50, 200}, Precision::kFp32);
  for (double& value : problem.c) value = static_cast<float>(value);
  EXPECT_TRUE(problem.verdict().correct);
  problem.c[7 * 50 + 3] += 1e-3;
  const Verdict verdict = problem.verdict();
  EXPECT_FALSE(verdict.correct);
  EXPECT_EQ(verdict.detail, "row 7, column 3 is wrong");
  problem.c[7 * 50 + 3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(problem.verdict().correct);
}

TEST(Verify, IntegersMustBeEqual) {
  Problem problem({20, 20, 100}, Precision::kInt8);
  EXPECT_EQ(problem.verdict().worst, 0);
  problem.c[0] += 1;
  EXPECT_FALSE(problem.verdict().correct);
}

TEST(Verify, SeesRowsThatItDoesNotCompareOneByOne) {
  // 1.3e5 multiplications a row: some 1500 of 4000 rows are compared, and each wrong row must be seen all the same.
  const Shape shape{4000, 256, 512};
  Problem problem(shape, Precision::kFp32);
  EXPECT_TRUE(problem.verdict().correct);
  for (const size_t row : {1u, 777u, 2345u, 3998u}) {
    const double before = problem.c[row * 256 + 11];
    problem.c[row * 256 + 11] += 1;
    EXPECT_FALSE(problem.verdict().correct) << row;
    problem.c[row * 256 + 11] = before;
  }
}

TEST(Verify, ZerosAreWrong) {
  Problem problem({30, 30, 30}, Precision::kFp32);
  std::fill(problem.c.begin(), problem.c.end(), 0);
  EXPECT_FALSE(problem.verdict().correct);
}

TEST(Operands, AreRandomAndRepeat) {
  std::vector<float> a(1001), b(999), again(1001), other(1001), more(999);
  fill_operands(1, a, b);
  fill_operands(1, again, more);
  EXPECT_EQ(a, again);
  fill_operands(2, other, more);
  EXPECT_NE(a, other);
  double sum = 0, squares = 0;
  for (const float value : a) {
    EXPECT_LE(std::abs(value), 1);
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum / 1001, 0, 0.06);
  EXPECT_NEAR(squares / 1001, 1.0 / 3, 0.03);
}

}  // namespace
}  // namespace perfcast::ai::gemm
