#include "measure/diagnose/bloat/code_bloat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "measure/diagnose/diagnosis.h"
#include "measure/diagnose/report/bloat_report.h"
#include "measure/diagnose/report/diagnosis_report.h"
#include "profile/collect/qemu/qemu_collector.h"

namespace perfcast::measure {
namespace {

const std::string kUsed = std::filesystem::canonical(PERFCAST_BLOAT_USED).string();
const std::string kStart = std::filesystem::canonical(PERFCAST_BLOAT_START).string();
const std::string kIdle = std::filesystem::canonical(PERFCAST_BLOAT_IDLE).string();
const std::string kGuinea = std::filesystem::canonical(PERFCAST_BLOAT_GUINEA).string();
constexpr uint64_t kBase = 0x7f0000000000;

const BloatFile* file_of(const CodeBloat& bloat, const std::string& path) {
  const auto found =
      std::find_if(bloat.files.begin(), bloat.files.end(), [&](const BloatFile& of) { return of.path == path; });
  return found == bloat.files.end() ? nullptr : &*found;
}

const BloatFunction* function_of(const BloatFile& file, const std::string& name) {
  const auto found = std::find_if(file.functions.begin(), file.functions.end(),
                                  [&](const BloatFunction& of) { return of.name == name; });
  return found == file.functions.end() ? nullptr : &*found;
}

// A process that ran blocks of one library, mapped at kBase.
class RanProcess {
 public:
  explicit RanProcess(const std::string& library) : code_(*read_elf_code(library)) {
    executed_.program = "/bin/prog";
    executed_.has_start = true;
    executed_.mappings = {{kBase, kBase + 0x10000, 0, library}};
  }
  uint64_t offset(const std::string& function) const {
    for (const ElfFunction& of : code_.functions) {
      if (of.name != function) continue;
      const ElfPiece* const piece = code_.piece_at(of.address);
      return of.address - piece->address + piece->offset;
    }
    ADD_FAILURE() << "no function " << function;
    return 0;
  }
  void ran(const std::string& function, uint64_t skip, uint32_t bytes, uint64_t executions, uint64_t before = 0,
           uint64_t since_end = 0) {
    executed_.blocks.push_back({kBase + offset(function) + skip, bytes, executions, 0, before, since_end});
  }
  std::vector<ExecutedCode> executed() const { return {executed_}; }

 private:
  ElfCode code_;
  ExecutedCode executed_;
};

CodeBloat bloat_of(const std::vector<ExecutedCode>& executed, const std::vector<std::string>& mapped,
                   bool all_seen = true) {
  Observation seen;
  for (const std::string& path : mapped) add_mapping(seen.mapped, {kBase, kBase + 0x3000, 0x1000, path});
  BloatEvidence evidence(seen);
  evidence.executed = &executed;
  evidence.program = "/bin/prog";
  evidence.is_all_seen = all_seen;
  return code_bloat(evidence);
}

TEST(CodeBloat, CountsEachByteOnce) {
  RanProcess process(kUsed);
  process.ran("used_work", 0, 8, 100);
  process.ran("used_work", 4, 8, 3);  // entered in the middle of the other
  process.ran("mix_sse2", 0, 4, 1000);
  const CodeBloat bloat = bloat_of(process.executed(), {kUsed, kIdle});
  const BloatFile* const used = file_of(bloat, kUsed);
  ASSERT_NE(used, nullptr);
  EXPECT_EQ(used->mapped_bytes, 0x3000U);
  EXPECT_EQ(used->executed_bytes, 16U);
  EXPECT_EQ(used->use, CodeUse::kUsed);
  EXPECT_EQ(function_of(*used, "used_work")->executed_bytes, 12U);
  EXPECT_EQ(function_of(*used, "mix_sse2")->executed_bytes, 4U);
  EXPECT_EQ(function_of(*used, "mix_avx2")->executed_bytes, 0U);
  EXPECT_EQ(used->variants_bytes, function_of(*used, "mix_sse2")->bytes + function_of(*used, "mix_avx2")->bytes);
  EXPECT_EQ(used->variants_executed_bytes, 4U);
  EXPECT_EQ(used->never_ran_count, used->functions.size() - 2);
  const BloatFile* const idle = file_of(bloat, kIdle);
  ASSERT_NE(idle, nullptr);
  EXPECT_EQ(idle->use, CodeUse::kNeverRan);
  EXPECT_EQ(idle->executed_bytes, 0U);
  EXPECT_EQ(bloat.mapped_bytes(), 0x6000U);
  EXPECT_EQ(bloat.executed_bytes(), 16U);
}

TEST(CodeBloat, TellsTheStartFromUse) {
  RanProcess process(kUsed);
  process.ran("used_work", 0, 8, 3, 2, 1);  // by constructors and destructors alone
  EXPECT_EQ(file_of(bloat_of(process.executed(), {kUsed}), kUsed)->use, CodeUse::kStartOnly);
  process.ran("used_work", 0, 8, 4, 2, 1);
  EXPECT_EQ(file_of(bloat_of(process.executed(), {kUsed}), kUsed)->use, CodeUse::kUsed);
  // Loaded while the program runs: constructors run then.
  RanProcess late(kStart);
  late.ran("starts", 0, 4, 1);
  EXPECT_EQ(file_of(bloat_of(late.executed(), {kStart}), kStart)->use, CodeUse::kStartOnly);
}

TEST(CodeBloat, BlamesNothingThatNobodySaw) {
  RanProcess process(kUsed);
  process.ran("used_work", 0, 8, 4);
  const CodeBloat part = bloat_of(process.executed(), {kUsed, kIdle}, false);
  EXPECT_EQ(file_of(part, kUsed)->use, CodeUse::kUsed);
  EXPECT_EQ(file_of(part, kIdle)->use, CodeUse::kUnseen);
  EXPECT_EQ(part.notes.size(), 1U);
  const CodeBloat nothing = bloat_of({}, {kUsed});
  EXPECT_FALSE(nothing.is_executed_known);
  EXPECT_FALSE(file_of(nothing, kUsed)->executed_bytes.has_value());
  EXPECT_EQ(file_of(nothing, kUsed)->use, CodeUse::kUnseen);
  std::vector<Finding> findings;
  find_in_bloat(nothing, findings);
  EXPECT_TRUE(findings.empty());
  const Json json = code_bloat_json(nothing);
  EXPECT_TRUE(json["executed_bytes"].is_null());
  EXPECT_TRUE(json["files"][0]["never_ran_count"].is_null());
}

// What would have run later is not known.
TEST(BloatDiagnosis, LooksUntilTheLimit) {
  if (const Status status = QemuCollector().available(); !status) GTEST_SKIP() << status.error().message;
  DiagnosisRequest request;
  request.command = {"sleep", "30"};
  request.with_bloat = true;
  request.limit_s = 0.7;
  request.proof_budget_s = 0;
  const auto diagnosis = diagnose(request);
  ASSERT_TRUE(diagnosis) << to_text(diagnosis.error());
  ASSERT_TRUE(diagnosis->bloat && diagnosis->bloat->is_executed_known);
  EXPECT_TRUE(diagnosis->bloat->is_cut);
  EXPECT_GT(diagnosis->bloat->executed_bytes(), 1000U);
  for (const BloatFile& file : diagnosis->bloat->files) EXPECT_NE(file.use, CodeUse::kNeverRan);
}

TEST(CodeBloat, KnowsCodeWithoutAFile) {
  ExecutedCode executed;
  executed.mappings = {{0x1000, 0x2000, 0, ""}};
  executed.blocks = {{0x1000, 16, 1, 0, 0, 0}, {0x1008, 16, 1, 0, 0, 0}, {0x9000, 5, 1, 0, 0, 0}};
  const CodeBloat bloat = bloat_of({executed}, {"/nonexistent.so"});
  EXPECT_EQ(bloat.generated_bytes, 24U);
  EXPECT_EQ(bloat.elsewhere_bytes, 5U);
  EXPECT_EQ(bloat.executed_bytes(), 0U);
  const BloatFile* const gone = file_of(bloat, "/nonexistent.so");
  ASSERT_NE(gone, nullptr);
  EXPECT_FALSE(gone->code.has_value());
  EXPECT_EQ(bloat.notes, std::vector<std::string>{"/nonexistent.so: there is no such file"});
}

CodeBloat slow_start() {
  CodeBloat bloat;
  bloat.is_executed_known = true;
  bloat.cpu_s = 0.01;
  bloat.wall_s = 0.02;
  bloat.loader = LoaderStart{1, 0.004, 0.002, 0.001, 900, 100, 950};
  BloatFile program, library;
  program.path = "/bin/prog";
  program.use = CodeUse::kProgram;
  program.code = ElfCode{};
  program.code->relocations_count = 300;
  program.code->needed = {"libx.so.1"};
  library.path = "/lib/libx.so.1.2";
  library.use = CodeUse::kNeverRan;
  library.mapped_bytes = 8192;
  library.is_unneeded = true;
  library.code = ElfCode{};
  library.code->own_name = "libx.so.1";
  library.code->relocations_count = 700;
  bloat.files = {library, program};
  return bloat;
}

TEST(BloatFindings, SayWhatTheLinkerTakes) {
  std::vector<Finding> findings(1);
  findings[0].cause = "loading";
  findings[0].experiments = {{"symbols bound when first called", {}, {"LD_BIND_NOW"}, {}}};
  find_in_bloat(slow_start(), findings);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].cause, "dynamic-linking");
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * 0.2, 1e-12);
  EXPECT_EQ(findings[0].title, "20% of the time is the dynamic linker's");
  EXPECT_EQ(findings[0].experiments.size(), 1U);
  EXPECT_EQ(findings[1].cause, "unused-libraries");
  // All of the loading, of one library, and seven tenths of the relocations.
  EXPECT_NEAR(findings[1].gain_ratio, (0.001 + 0.7 * 0.002) / 0.02, 1e-12);
  EXPECT_EQ(findings[1].evidence,
            std::vector<std::string>{
                "libx.so.1.2: 8.0 KiB mapped, never ran, for prog; the program uses none of its symbols"});
}

// On two CPUs: samples say more than the report, which ends where the program starts.
TEST(BloatFindings, GoByTheLargerPart) {
  CodeBloat bloat = slow_start();
  bloat.cpu_s = 0.04;
  bloat.loader_cpu_ratio = 0.3;
  std::vector<Finding> findings;
  find_in_bloat(bloat, findings);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].title, "30% of the time is the dynamic linker's");
}

TEST(BloatFindings, SayNothingOfAShortStart) {
  CodeBloat bloat = slow_start();
  bloat.loader->start_s = 0.0001;
  bloat.files[0].use = CodeUse::kUsed;
  std::vector<Finding> findings;
  find_in_bloat(bloat, findings);
  EXPECT_TRUE(findings.empty());
}

// All of it on a real program, which uses a part of its own code and of its libraries.
TEST(BloatDiagnosis, SaysWhichCodeRan) {
  if (const Status status = QemuCollector().available(); !status) GTEST_SKIP() << status.error().message;
  DiagnosisRequest request;
  request.command = {PERFCAST_BLOAT_GUINEA};
  request.with_bloat = true;
  request.proof_budget_s = 0;
  const auto diagnosis = diagnose(request);
  ASSERT_TRUE(diagnosis) << to_text(diagnosis.error());
  ASSERT_TRUE(diagnosis->bloat);
  const CodeBloat& bloat = *diagnosis->bloat;
  const std::string text = diagnosis_text(*diagnosis);
  EXPECT_TRUE(bloat.is_executed_known);
  EXPECT_FALSE(bloat.is_cut);
  EXPECT_EQ(bloat.elsewhere_bytes, 0U);
  ASSERT_EQ(bloat.files.size(), 6U) << text;  // three libraries of ours, the C library, the dynamic linker
  const BloatFile* const guinea = file_of(bloat, kGuinea);
  ASSERT_NE(guinea, nullptr);
  EXPECT_EQ(guinea->use, CodeUse::kProgram);
  EXPECT_EQ(guinea->mapped_bytes, guinea->code->mapped_bytes);
  EXPECT_EQ(function_of(*guinea, "never_ran")->executed_bytes, 0U);
  EXPECT_GT(function_of(*guinea, "main")->executed_bytes, 0U);
  EXPECT_LT(function_of(*guinea, "main")->executed_bytes, function_of(*guinea, "main")->bytes);
  const BloatFile *const used = file_of(bloat, kUsed), *const start = file_of(bloat, kStart),
                         *const idle = file_of(bloat, kIdle);
  ASSERT_TRUE(used != nullptr && start != nullptr && idle != nullptr) << text;
  EXPECT_EQ(used->use, CodeUse::kUsed);
  EXPECT_EQ(function_of(*used, "mix_sse2")->executed_bytes, function_of(*used, "mix_sse2")->bytes);
  EXPECT_EQ(function_of(*used, "mix_avx2")->executed_bytes, 0U);
  EXPECT_EQ(start->use, CodeUse::kStartOnly) << text;
  EXPECT_FALSE(start->is_unneeded);
  EXPECT_GT(function_of(*start, "start_value")->executed_bytes, 0U);
  EXPECT_EQ(idle->use, CodeUse::kStartOnly) << text;  // the compiler's own start-up code
  EXPECT_TRUE(idle->is_unneeded);
  EXPECT_EQ(function_of(*idle, "idle_work")->executed_bytes, 0U);
  ASSERT_TRUE(bloat.loader);
  EXPECT_EQ(bloat.loader->starts_count, 1);
  EXPECT_GT(bloat.loader->start_s, 0);
  EXPECT_LT(bloat.loader->start_s, 1);
  const auto finding = std::find_if(diagnosis->findings.begin(), diagnosis->findings.end(),
                                    [](const Finding& of) { return of.cause == "unused-libraries"; });
  ASSERT_NE(finding, diagnosis->findings.end());
  EXPECT_EQ(finding->title.substr(0, 46), "2 of 4 libraries are loaded and never used, 8.") << finding->title;
  EXPECT_NE(text.find("of perfcast_bloat_guinea never ran: never_ran"), std::string::npos) << text;
  const Json json = diagnosis_json(*diagnosis);
  EXPECT_EQ(json["bloat"]["files"].size(), 6U);
  EXPECT_EQ(json["bloat"]["executed_bytes"], bloat.executed_bytes());
}

}  // namespace
}  // namespace perfcast::measure
