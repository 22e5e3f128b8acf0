#pragma once
// The methods of the paper that perfcast began with (Nichols et al.), on samples of power: a random forest, a dense
// network, and a dense network on the latent of a variational autoencoder. All see every counter, and of which group a
// row is; nothing is chosen.

#include "studies/power/left_out_workloads.h"

namespace perfcast::measure::power_study {

PowerMethod random_forest_method();
// `with_vae`: on the latent's mean (learn/neural/vae_regressor.h, smaller than its defaults: there are few samples).
PowerMethod dense_network_method(bool with_vae);

}  // namespace perfcast::measure::power_study
