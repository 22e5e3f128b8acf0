// The dense network, its optimiser and the sigma-VAE against PyTorch (Debian's python3-torch), on the same weights,
// rows and noise. torch_comparison.py states them by PyTorch's own layers, distributions and AdamW, and has their
// gradients from autograd. Skipped with the reason where there is no PyTorch.

#include "learn/neural/torch_comparison.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "learn/neural/dense_network.h"
#include "learn/neural/test_matrices.h"
#include "learn/neural/vae.h"

namespace perfcast {
namespace {

using testing_network::random_mask;
using testing_network::random_matrix;

using testing_network::Matrices;
using testing_network::matrices_of;
using testing_network::put_layers;
using testing_network::text_of;

constexpr const char* kPython = "/usr/bin/python3";
constexpr const char* kScript = PERFCAST_SOURCE_DIR "/src/learn/neural/torch_comparison.py";

// Of a matrix's largest value. PyTorch computes in double, ours are floats: roundings of 6e-8, in sums of tens of
// terms, through up to six layers. Steps of Adam magnify them where a gradient is near 0: on the case here PyTorch in
// float differs from itself in double by 5e-6 after twenty.
constexpr double kTolerance = 5e-6;
constexpr double kSteppedTolerance = 3e-5;

Eigen::MatrixXd scalar(double value) { return Eigen::MatrixXd::Constant(1, 1, value); }

Result<std::vector<Matrices>> run_in(const std::string& folder, const std::string& script, const std::string& task,
                                     const std::vector<Matrices>& cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string path = folder + "/" + std::to_string(i) + ".given";
    if (Status written = write_file_atomically(path, text_of(cases[i])); !written) return written.error();
  }
  const std::string log = folder + "/log";
  const std::string command = std::string(kPython) + " '" + script + "' " + task + " '" + folder + "' " +
                              std::to_string(cases.size()) + " > '" + log + "' 2>&1";
  const int state = std::system(command.c_str());
  const int status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  if (status != 0) {
    const auto said = read_file(log);
    const bool absent = status == 77 || status == 127;  // says the script; says the shell without an interpreter
    return Error{absent ? "not-installed" : "failed", said ? std::string(trim(*said)) : "no output", kPython,
                 "python3-torch"};
  }
  std::vector<Matrices> answers;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto text = read_file(folder + "/" + std::to_string(i) + ".answer");
    if (!text) return text.error();
    auto answer = matrices_of(*text);
    if (!answer) return answer.error();
    answers.push_back(std::move(*answer));
  }
  return answers;
}

// Runs `script` in a folder of its own. "not-installed" without PyTorch; "failed" with the script's output.
Result<std::vector<Matrices>> torch_answers(const std::string& script, const std::string& task,
                                            const std::vector<Matrices>& cases) {
  std::error_code ignored;
  std::string folder = (std::filesystem::temp_directory_path(ignored) / "perfcast-torch-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return Error{"failed", "no folder could be made", folder, "room for files"};
  auto answers = run_in(folder, script, task, cases);
  std::filesystem::remove_all(folder, ignored);
  return answers;
}

void expect_same(const Matrices& ours, const Matrices& theirs, const std::string& of) {
  ASSERT_EQ(ours.size(), theirs.size()) << of;
  double worst = 0;
  for (const auto& [name, mine] : ours) {
    SCOPED_TRACE(testing::Message() << of << ", " << name);
    const auto found = theirs.find(name);
    ASSERT_TRUE(found != theirs.end());
    const Eigen::MatrixXd& reference = found->second;
    ASSERT_EQ(mine.rows(), reference.rows());
    ASSERT_EQ(mine.cols(), reference.cols());
    EXPECT_TRUE(mine.allFinite());
    const double largest = reference.cwiseAbs().maxCoeff();
    EXPECT_GT(largest, 0) << "nothing here to compare";
    const double error = (mine - reference).cwiseAbs().maxCoeff() / largest;
    EXPECT_LE(error, name.starts_with("stepped") ? kSteppedTolerance : kTolerance);
    worst = std::max(worst, error);
  }
  std::printf("%s: %zu matrices, largest difference %.1e\n", of.c_str(), ours.size(), worst);
}

void set_biases(Random& random, DenseNetwork& network) {
  for (DenseLayer& layer : network.layers()) layer.bias = 0.3f * random_matrix(random, layer.bias.size(), 1);
}

TEST(TorchComparison, DenseNetworkItsGradientsAndTwentyStepsOfAdam) {
  constexpr int kSteps = 20;
  const AdamOptions options{
      .learning_rate = 3e-3f, .first_decay = 0.8f, .second_decay = 0.99f, .epsilon = 1e-6f, .weight_decay = 0.1f};
  Random random(21);
  DenseNetwork network({13, 37, 29, 5}, 22);  // sizes that fill no vector register
  set_biases(random, network);
  TrainingBatch batch{random_matrix(random, 23, 13), random_matrix(random, 23, 5), {}};
  batch.weights = random_matrix(random, 23, 5).cwiseAbs().cwiseProduct(random_mask(random, 23, 5, 0.3));
  Matrices given{{"inputs", batch.inputs.cast<double>()},
                 {"targets", batch.targets.cast<double>()},
                 {"weights", batch.weights.cast<double>()}};
  Eigen::RowVectorXf adam_options(6);
  adam_options << options.learning_rate, options.first_decay, options.second_decay, options.epsilon,
      options.weight_decay, kSteps;
  given["adam"] = adam_options.cast<double>();
  put_layers("network", network.layers(), given);

  Matrices ours;
  const auto output = network.forward(batch.inputs);
  ASSERT_TRUE(output) << to_text(output.error());
  ours["output"] = output->cast<double>();
  Adam adam(options);
  std::vector<DenseLayer> gradients;
  for (int step = 0; step < kSteps; ++step) {
    const auto loss = network.gradient(batch, gradients);
    ASSERT_TRUE(loss) << to_text(loss.error());
    if (step == 0) {
      ours["loss"] = scalar(*loss);
      put_layers("gradient", gradients, ours);
    }
    ours["stepped.loss"] = scalar(*loss);
    adam.step(network, gradients);
  }
  put_layers("stepped", network.layers(), ours);
  EXPECT_LT(ours["stepped.loss"](0, 0), 0.9 * ours["loss"](0, 0)) << "steps too small to tell anything";

  const auto theirs = torch_answers(kScript, "dense", {given});
  if (!theirs && theirs.error().code == "not-installed") GTEST_SKIP() << to_text(theirs.error());
  ASSERT_TRUE(theirs) << to_text(theirs.error());
  expect_same(ours, theirs->front(), "dense network");
}

// A VAE's loss and gradients by perfcast; `given`: the same for PyTorch. `scale`: of the values and their
// reconstruction. The encoder's log variances reach far enough for their soft bound to matter.
void vae_case(double fixed_sigma, double kl_weight, float scale, Matrices& given, Matrices& ours) {
  constexpr Eigen::Index kRows = 19, kColumns = 11, kLatent = 3;
  Random random(31);
  Vae vae({.columns = kColumns, .hidden = {21, 17}, .latent = kLatent, .fixed_sigma = fixed_sigma}, 32);
  set_biases(random, vae.encoder());
  set_biases(random, vae.decoder());
  vae.encoder().layers().back().weights *= 6;
  vae.decoder().layers().back().weights *= scale;
  vae.decoder().layers().back().bias *= scale;
  VaePass pass;
  const auto inputs =
      masked_inputs(scale * random_matrix(random, kRows, kColumns), random_mask(random, kRows, kColumns, 0.3));
  ASSERT_TRUE(inputs) << to_text(inputs.error());
  pass.encoder.inputs() = *inputs;
  pass.draw_noise(kRows, kLatent, random);
  pass.latent_gradient = 0.5f * random_matrix(random, kRows, kLatent);
  given["inputs"] = inputs->cast<double>();
  given["noise"] = pass.noise.cast<double>();
  given["latent_gradient"] = pass.latent_gradient.cast<double>();
  given["options"] = Eigen::RowVector2d(fixed_sigma, kl_weight);
  put_layers("encoder", vae.encoder().layers(), given);
  put_layers("decoder", vae.decoder().layers(), given);

  const auto loss = vae.forward(pass);
  ASSERT_TRUE(loss) << to_text(loss.error());
  EXPECT_GT(pass.log_variance.cwiseAbs().maxCoeff(), 3) << "too small for the bound to show";
  VaeGradients gradients;
  const Status back = vae.backward(pass, kl_weight, gradients);
  ASSERT_TRUE(back) << to_text(back.error());
  ours["latent"] = pass.latent().cast<double>();
  ours["output"] = pass.decoder.output().cast<double>();
  ours["reconstruction"] = scalar(loss->reconstruction);
  ours["kl"] = scalar(loss->kl);
  ours["sigma"] = scalar(loss->sigma);
  put_layers("encoder", gradients.encoder, ours);
  put_layers("decoder", gradients.decoder, ours);
}

TEST(TorchComparison, VaeItsLossesAndGradients) {
  // As in vae_test.cc: sigma calibrated, fixed, without KL, and so small that its lower bound holds it.
  struct Settings {
    const char* name;
    double fixed_sigma, kl_weight;
    float scale;
  };
  const std::vector<Settings> settings = {{"calibrated sigma", 0, 1, 1},
                                          {"fixed sigma, half the KL", 0.7, 0.5, 1},
                                          {"no KL", 0, 0, 1},
                                          {"bounded sigma", 0, 1, 1e-3f}};
  std::vector<Matrices> given(settings.size());
  std::vector<Matrices> ours(settings.size());
  for (size_t i = 0; i < settings.size(); ++i) {
    const Settings& s = settings[i];
    vae_case(s.fixed_sigma, s.kl_weight, s.scale, given[i], ours[i]);
    if (HasFatalFailure()) return;
  }
  const auto theirs = torch_answers(kScript, "vae", given);
  if (!theirs && theirs.error().code == "not-installed") GTEST_SKIP() << to_text(theirs.error());
  ASSERT_TRUE(theirs) << to_text(theirs.error());
  for (size_t i = 0; i < settings.size(); ++i) {
    expect_same(ours[i], (*theirs)[i], std::string("VAE, ") + settings[i].name);
  }
}

TEST(TorchComparison, SaysWhyItDidNotRun) {
  const auto none = torch_answers("/nonexistent.py", "dense", {Matrices()});
  ASSERT_FALSE(none);
  EXPECT_TRUE(none.error().code == "failed" || none.error().code == "not-installed");
  EXPECT_FALSE(none.error().message.empty());
}

}  // namespace
}  // namespace perfcast
