// `perfcast train` with settings and checkpoints as a user runs it, up to a kill in the middle.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "cli/cli_test.h"

namespace perfcast::cli {
namespace {

using testing::HasSubstr;

class TrainCommandTest : public CliTest {
 protected:
  TrainCommandTest() {
    const std::string command = "'" PERFCAST_WRITE_SYNTHETIC "' '" + folder_ + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    write("small.json", R"({"latent": 4, "hidden": [16], "head_hidden": [64, 64], "patience": 1000,
                            "pretrain_epochs": 10, "vae_epochs": 40, "head_epochs": 200})");
  }
  // Starts it and kills it once the checkpoint is `bytes` long; false where it was over before that.
  bool kill_in_the_middle(const std::string& arguments, const std::string& checkpoint, size_t changes) const {
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", command(arguments + " --quiet").c_str(), nullptr);
      _exit(127);
    }
    std::string seen;
    for (size_t seen_changes = 0; seen_changes < changes;) {
      int state = 0;
      if (waitpid(child, &state, WNOHANG) == child) return false;
      if (const std::string now = content(checkpoint); !now.empty() && now != seen) {
        seen = now;
        ++seen_changes;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(child, SIGKILL);
    int state = 0;
    waitpid(child, &state, 0);
    return WIFSIGNALED(state);
  }
};

TEST_F(TrainCommandTest, PrintsTheSettings) {
  const Outcome printed = perfcast("train --print-config --model vae-dnn");
  EXPECT_EQ(printed.exit_code, 0);
  const auto settings = parse_json(printed.text, "output");
  ASSERT_TRUE(settings) << printed.text;
  EXPECT_EQ((*settings)["schema"], "perfcast.vae-config/1");
  EXPECT_EQ((*settings)["head_hidden"], Json({1024, 1024, 1024}));
  EXPECT_EQ((*settings)["use_feedback"], true);
  const auto ablation = parse_json(perfcast("train --print-config --model vae-dnn-no-feedback").text, "output");
  ASSERT_TRUE(ablation);
  EXPECT_EQ((*ablation)["use_feedback"], false);
  const Outcome none = perfcast("train --print-config --model forest");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.text, HasSubstr("the model 'forest' has no settings"));
  EXPECT_THAT(none.text, HasSubstr("vae-dnn"));
}

// The printed defaults are what a training without a file goes by, and a part of them changes that part.
TEST_F(TrainCommandTest, TakesSettingsFromAFile) {
  const std::string train = "train --corpus tiny.db --model vae-dnn --no-scores --name n --quiet ";
  const Outcome first = perfcast(train + "--config small.json -o a.pcb");
  ASSERT_EQ(first.exit_code, 0) << first.text;
  const Outcome second = perfcast(train + "--config small.json -o b.pcb");
  EXPECT_EQ(content("a.pcb"), content("b.pcb"));
  // A null is a key left out.
  write("null.json", R"({"batch": null, "fine_tune_encoder": null, "latent": 4, "hidden": [16], "head_hidden": [64, 64],
                         "patience": 1000, "pretrain_epochs": 10, "vae_epochs": 40, "head_epochs": 200})");
  ASSERT_EQ(perfcast(train + "--config null.json -o n.pcb").exit_code, 0);
  EXPECT_EQ(content("a.pcb"), content("n.pcb"));
  write("other.json", R"({"schema": "perfcast.vae-config/1", "seed": 5, "latent": 3, "hidden": [16],
                          "head_hidden": [16], "pretrain_epochs": 2, "vae_epochs": 2, "head_epochs": 2})");
  ASSERT_EQ(perfcast(train + "--config other.json -o c.pcb").exit_code, 0);
  EXPECT_NE(content("a.pcb"), content("c.pcb"));
  // The file's seed holds unless the command line says otherwise.
  ASSERT_EQ(perfcast(train + "--config other.json --seed 5 -o d.pcb").exit_code, 0);
  EXPECT_EQ(content("c.pcb"), content("d.pcb"));
  ASSERT_EQ(perfcast(train + "--config other.json --seed 6 -o d.pcb").exit_code, 0);
  EXPECT_NE(content("c.pcb"), content("d.pcb"));
}

TEST_F(TrainCommandTest, SaysWhatIsWrongWithSettings) {
  const std::string train = "train --corpus tiny.db --no-scores -o x.pcb --config bad.json --model ";
  write("bad.json", R"({"latents": 4})");
  const Outcome unknown = perfcast(train + "vae-dnn");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.text, HasSubstr("there is no setting 'latents'"));
  EXPECT_THAT(unknown.text, HasSubstr("kl_schedule, "));
  write("bad.json", R"({"kl_ramp": 7})");
  EXPECT_THAT(perfcast(train + "vae-dnn").text, HasSubstr("'kl_ramp'"));
  write("bad.json", R"({"kl_schedule": "sideways"})");
  EXPECT_THAT(perfcast(train + "vae-dnn").text, HasSubstr("cyclical"));
  write("bad.json", R"({"schema": "perfcast.other/1"})");
  EXPECT_THAT(perfcast(train + "vae-dnn").text, HasSubstr("none of the models takes the settings"));
  write("bad.json", R"({"seed": -5})");
  EXPECT_THAT(perfcast(train + "vae-dnn").text, HasSubstr("0 or more"));
  write("bad.json", "[1]");
  EXPECT_THAT(perfcast(train + "vae-dnn").text, HasSubstr("no JSON object"));
  write("bad.json", "{}");
  EXPECT_EQ(perfcast(train + "knn").exit_code, 2);
  EXPECT_EQ(perfcast(train + "vae-dnn --config absent.json").exit_code, 2);  // given twice
  EXPECT_EQ(perfcast("evaluate --corpus tiny.db --models knn,mean --config bad.json").exit_code, 2);
}

TEST_F(TrainCommandTest, NeverWritesTwoResultsToOneFile) {
  const Outcome trained =
      perfcast("train --corpus tiny.db --model knn --no-scores --checkpoint one.pcb -o ./one.pcb --quiet");
  EXPECT_EQ(trained.exit_code, 2);
  EXPECT_THAT(trained.text, HasSubstr("the checkpoint takes a file of its own"));
  EXPECT_EQ(perfcast("train --corpus tiny.db --model knn --no-scores --checkpoint - -o one.pcb --quiet").exit_code, 2);
  EXPECT_EQ(content("one.pcb"), "");
  const Outcome scored = perfcast("evaluate --corpus tiny.db --models knn --report ./one.html -o one.html --quiet");
  EXPECT_EQ(scored.exit_code, 2);
  EXPECT_THAT(scored.text, HasSubstr("the same place"));
}

TEST_F(TrainCommandTest, EvaluateTakesSettingsToo) {
  const Outcome outcome = perfcast(
      "evaluate --corpus tiny.db --models vae-dnn,knn --config small.json --no-intervals --folds 2 --json -o e.json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text;
  write("less.json", R"({"latent": 1, "hidden": [], "head_hidden": [], "pretrain_epochs": 0, "vae_epochs": 0,
                         "head_epochs": 0, "validation_share": 0})");
  ASSERT_EQ(perfcast("evaluate --corpus tiny.db --models vae-dnn,knn --config less.json --no-intervals --folds 2 "
                     "--json -o f.json")
                .exit_code,
            0);
  const auto row_of = [this](const std::string& file, const std::string& model) {
    const auto json = parse_json(content(file), file);
    for (const Json& row : (*json)["models"]) {
      if (row["model"] == model && row["group"] == "all") return row;
    }
    return Json();
  };
  EXPECT_EQ(row_of("e.json", "knn"), row_of("f.json", "knn"));
  EXPECT_NE(row_of("e.json", "vae-dnn"), row_of("f.json", "vae-dnn"));
}

TEST_F(TrainCommandTest, AKilledTrainingGoesOnToTheSameBundle) {
  const std::string train = "train --corpus tiny.db --model vae-dnn --config small.json --name n ";
  const Outcome whole = perfcast(train + "-o whole.pcb");
  ASSERT_EQ(whole.exit_code, 0) << whole.text;
  ASSERT_FALSE(content("whole.pcb").empty());

  // In a scoring fold, later, and once more: each goes on where the one before it was killed.
  const std::string resumable = train + "-o resumed.pcb --checkpoint run.ckpt";
  for (const size_t changes : {2, 30, 60}) {
    ASSERT_TRUE(kill_in_the_middle(resumable, "run.ckpt", changes)) << changes;
    EXPECT_TRUE(std::filesystem::exists(path("run.ckpt")));
    EXPECT_FALSE(std::filesystem::exists(path("resumed.pcb")));
  }
  std::filesystem::copy_file(path("run.ckpt"), path("kept.ckpt"));
  const Outcome resumed = perfcast(resumable);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.text;
  EXPECT_THAT(resumed.text, HasSubstr("goes on from run.ckpt"));
  EXPECT_EQ(content("resumed.pcb"), content("whole.pcb"));
  EXPECT_FALSE(std::filesystem::exists(path("run.ckpt")));

  // Of another training it is no use.
  for (const std::string other : {"--seed 2", "--groups user", "--no-scores --model vae-dnn-no-feedback"}) {
    std::string arguments = "train --corpus tiny.db --config small.json --name n -o other.pcb --checkpoint kept.ckpt ";
    if (other.find("--model") == std::string::npos) arguments += "--model vae-dnn ";
    const Outcome refused = perfcast(arguments + other);
    EXPECT_EQ(refused.exit_code, 1) << other;
    EXPECT_THAT(refused.text, HasSubstr("the checkpoint is of another training")) << other;
  }
  // A record that a kill or a full disk cut off costs no more than itself.
  const std::string kept = content("kept.ckpt");
  write("kept.ckpt", kept.substr(0, kept.size() - 10));
  ASSERT_EQ(perfcast(train + "-o torn.pcb --checkpoint kept.ckpt").exit_code, 0);
  EXPECT_EQ(content("torn.pcb"), content("whole.pcb"));
  std::string bent = kept;
  bent[13] = static_cast<char>(bent[13] ^ 1);  // in its head
  write("kept.ckpt", bent);
  EXPECT_THAT(perfcast(train + "-o other.pcb --checkpoint kept.ckpt").text, HasSubstr("corrupt"));
}

}  // namespace
}  // namespace perfcast::cli
