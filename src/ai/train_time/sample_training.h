#pragma once
// Small trainings of the project's own models on data that are made up, so that time to accuracy can be measured on any
// machine with nothing installed: the data are the same in every run, the seed draws the first weights and the order of
// the rows.
//   mlp      a dense network that tells two classes in eight inputs apart; metric "accuracy" on 4,000 rows that it
//   never
//            sees; 30 epochs reach 0.91 to 0.92. 2% of all labels are wrong: more than 0.98 is out of reach
//   vae-dnn  the VAE and the network on its latent (learn/neural/vae_regressor.h); metric "loss", of the held-out rows

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast::ai {

const std::vector<std::string>& sample_training_names();
std::string sample_training_metric(const std::string& name);  // "accuracy", "loss"

// One line of JSON for each evaluation, without a line end. "bad-usage" for an unknown name; errors of the training.
Status run_sample_training(const std::string& name, uint64_t seed, int64_t epochs,
                           const std::function<void(const std::string&)>& print);

}  // namespace perfcast::ai
