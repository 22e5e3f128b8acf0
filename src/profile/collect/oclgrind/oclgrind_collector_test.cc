// Real runs: Oclgrind counts, and pocl says on the CPU what the results are.
#include "profile/collect/oclgrind/oclgrind_collector.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "base/csv.h"
#include "base/file.h"
#include "base/process/process.h"

namespace perfcast {
namespace {

using testing::HasSubstr;

class Oclgrind : public testing::Test {
 protected:
  void SetUp() override {
#ifndef PERFCAST_OPENCL_GUINEA
    GTEST_SKIP() << "OpenCL's headers are missing: ocl-icd-opencl-dev";
#else
    guinea_ = PERFCAST_OPENCL_GUINEA;
    if (const Status status = OclgrindCollector().available(); !status) GTEST_SKIP() << status.error().message;
#endif
  }
  CollectResult collect(std::vector<std::string> arguments, double limit_s = 0) {
    CollectRequest request;
    request.command = {guinea_};
    request.command.insert(request.command.end(), arguments.begin(), arguments.end());
    request.pass_output = false;
    request.wants_output = true;
    request.limit_s = limit_s;
    return OclgrindCollector().collect(request);
  }
  ProcessOutcome run_natively(const std::vector<std::string>& arguments) {
    ProcessRequest request;
    request.executable = guinea_;
    request.arguments = {guinea_};
    request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
    request.output = StreamTo::kDigest;
    const auto outcome = run_process(request);
    EXPECT_TRUE(outcome);
    return outcome ? *outcome : ProcessOutcome();
  }
  static bool warns(const Collection& found, const std::string& code) {
    for (const ProfileWarning& warning : found.warnings) {
      if (warning.code == code) return true;
    }
    return false;
  }
  std::string guinea_;
};

// The kernels of k-means are short enough to be the same program as the published ones.
TEST_F(Oclgrind, GivesThePublishedFeatures) {
  const std::filesystem::path path = std::filesystem::path(PERFCAST_SHARED_DATA) / "aiwc" / "features.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no folder aiwc in " << PERFCAST_SHARED_DATA;
  const auto table = CsvTable::parse(*read_file(path.string(), size_t{1} << 24), path.string());
  ASSERT_TRUE(table);
  const auto found = collect({"kmeans", "256"});
  ASSERT_TRUE(found) << found.error().message;
  const std::map<std::string, std::string> published = {{"turn", "invert_mapping"}, {"nearest", "kmeansPoint"}};
  ASSERT_EQ(found->kernels.size(), published.size());
  for (const ProfileKernel& kernel : found->kernels) {
    size_t near = 0, all = 0;
    for (size_t row = 0; row < table->rows(); ++row) {
      if (table->cell(row, *table->column("kernel")) != published.at(kernel.name) ||
          table->cell(row, *table->column("size")) != "tiny")
        continue;
      for (size_t column = 0; column < table->columns().size(); ++column) {
        const std::string* metric = Catalogue::built_in().metric_of("aiwc", table->columns()[column]);
        if (metric == nullptr) continue;
        ++all;
        const double value = **table->number(row, column), own = kernel.metrics.at(*metric);
        const bool is_near = std::abs(own - value) <= 0.05 * std::abs(value);
        near += is_near ? 1 : 0;
        EXPECT_TRUE(is_near) << kernel.name << " " << *metric << ": " << own << ", published " << value;
      }
    }
    EXPECT_EQ(all, 31u);
    EXPECT_EQ(near, 31u);
  }
}

TEST_F(Oclgrind, GivesTheResultsOfAnotherDevice) {
  for (const std::vector<std::string>& work : std::vector<std::vector<std::string>>{
           {"kmeans", "64"}, {"fill", "8"}, {"strided", "32"}, {"add_up", "1"}, {"four"}, {"count"}}) {
    const ProcessOutcome native = run_natively(work);
    if (!native.ok()) GTEST_SKIP() << "no OpenCL device here: pocl-opencl-icd";
    const auto found = collect(work);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->outputs.size(), 1u);
    EXPECT_EQ(found->outputs[0], native.digest) << work[0];
    EXPECT_EQ(found->exit_code, 0);
  }
}

TEST_F(Oclgrind, CountsAccessesAndTransfers) {
  const auto near = collect({"strided", "1"}), far = collect({"strided", "32"});
  ASSERT_TRUE(near && far);
  const MetricValues &one = near->kernels.at(0).metrics, &other = far->kernels.at(0).metrics;
  EXPECT_EQ(one.at("kernel_work_items_count"), 128);
  EXPECT_EQ(one.at("kernel_global_loads_count"), 128);
  EXPECT_EQ(one.at("kernel_global_load_bytes"), 512);
  EXPECT_EQ(one.at("kernel_op_query_count"), 128);
  EXPECT_EQ(one.at("kernel_transactions_per_access_ratio"), 4);
  EXPECT_EQ(other.at("kernel_transactions_per_access_ratio"), 18);  // reads 32, writes 4
  EXPECT_EQ(one.at("kernel_global_footprint_bytes"), 1024);
  EXPECT_EQ(other.at("kernel_global_footprint_bytes"), 128 * 32 + 512);
  EXPECT_EQ(near->counters.at("opencl_to_device_bytes"), 2 * 4096 * 4);
  EXPECT_EQ(near->counters.at("opencl_from_device_bytes"), 512);
  EXPECT_EQ(near->counters.at("opencl_device_memory_bytes"), 2 * 4096 * 4);
}

TEST_F(Oclgrind, CountsBarriersVectorsAndAtomics) {
  const auto sum = collect({"add_up", "1"}), four = collect({"four"}), atomic = collect({"count"});
  ASSERT_TRUE(sum && four && atomic);
  EXPECT_EQ(sum->kernels.at(0).metrics.at("kernel_op_barrier_count"), 7 * 4096);
  EXPECT_EQ(sum->kernels.at(0).metrics.at("kernel_passes_per_local_access_ratio"), 1);
  EXPECT_LT(sum->kernels.at(0).metrics.at("kernel_busy_lanes_ratio"), 1);
  EXPECT_EQ(four->kernels.at(0).metrics.at("kernel_flops_count"), 2 * 64);
  EXPECT_EQ(four->kernels.at(0).metrics.at("aiwc_max_simd_width_count"), 4);
  EXPECT_EQ(atomic->kernels.at(0).metrics.at("kernel_atomics_count"), 64);
}

TEST_F(Oclgrind, SamplesLaunches) {
  const auto found = collect({"fill_often", "20"});
  ASSERT_TRUE(found) << found.error().message;
  const ProfileKernel& kernel = found->kernels.at(0);
  EXPECT_EQ(kernel.launches_count, 20);
  ASSERT_EQ(kernel.launches.size(), 10u);  // 0 to 8, and 16
  EXPECT_EQ(kernel.launches[8].stands_for_count, 8);
  EXPECT_EQ(kernel.launches[9].stands_for_count, 4);
  EXPECT_EQ(found->counters.at("opencl_launches_count"), 20);
}

// The child ends with its parent's kernel and transfers in its memory.
TEST_F(Oclgrind, CountsKernelsOnceThoughTheProgramForks) {
  const auto found = collect({"fork"});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->kernels.size(), 1u);
  EXPECT_EQ(found->kernels[0].launches_count, 1);
  EXPECT_EQ(found->counters.at("opencl_to_device_bytes"), 2 * 4096 * 4);
}

TEST_F(Oclgrind, SaysWhatIsWrong) {
  const auto beyond = collect({"beyond", "5000"});
  ASSERT_TRUE(beyond);
  EXPECT_TRUE(warns(*beyond, "kernel-errors"));
  EXPECT_THAT(beyond->warnings.at(0).message, HasSubstr("Invalid write of size 4"));
  const auto empty = collect({"empty"});  // a launch of nothing
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->kernels.at(0).launches_count, 1);
  EXPECT_TRUE(empty->kernels.at(0).metrics.empty());
  const auto other = collect({"device", "a GPU that nobody has"});
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->kernels.empty());
  EXPECT_EQ(other->exit_code, 4);
  EXPECT_THAT(other->last_words, HasSubstr("no device is called a GPU"));
  EXPECT_EQ(collect({"device", "Oclgrind"})->kernels.size(), 1u);
  EXPECT_EQ(collect({"shared"})->exit_code, 5);
  EXPECT_NE(collect({"huge"})->exit_code, 0);
  EXPECT_TRUE(collect({"nothing"})->kernels.empty());
}

TEST_F(Oclgrind, EndsAtTheLimit) {
  const auto found = collect({"endless"}, 10);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(warns(*found, "kernels-cut"));
  EXPECT_FALSE(found->exit_code);
  EXPECT_GT(found->kernels.at(0).metrics.at("kernel_instructions_count"), 1e6);
  EXPECT_FALSE(found->kernels.at(0).metrics.contains("aiwc_operands_count"));
}

}  // namespace
}  // namespace perfcast
