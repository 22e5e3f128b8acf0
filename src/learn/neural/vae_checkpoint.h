#pragma once
// The state of a training run between two epochs, as one string of bytes: "PCVAECKP", uint32 version, uint32 CRC-32 of
// the configuration and data, stage and epochs, networks, Adam's moments, the best networks so far, CRC-32 of all
// before it. Little-endian. Draws need no state of their own: each epoch's generator is seeded by seed, stage and
// epoch.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learn/neural/dense_network.h"

namespace perfcast {

struct VaeTrainingState {
  uint32_t run = 0;   // CRC-32 of configuration and data: a checkpoint of another run is no use
  int64_t stage = 0;  // VaeStage
  int64_t epoch = 0;  // done in this stage
  DenseNetwork encoder, decoder, head;
  AdamState encoder_adam, decoder_adam, head_adam;
  DenseNetwork best_encoder, best_head;  // by validation
  double best_validation = 0;
  int64_t best_epoch = -1;  // -1: none yet
};

std::string to_bytes(const VaeTrainingState& state);
// "bad-checkpoint": corrupt, truncated, or of another version. Never reads past the end nor allocates more than the
// bytes could hold.
Result<VaeTrainingState> vae_training_state_from_bytes(std::string_view bytes, const std::string& source);

}  // namespace perfcast
