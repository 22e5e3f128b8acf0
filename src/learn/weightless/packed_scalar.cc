#include "learn/weightless/packed_kernels_body.h"

namespace perfcast {

const PackedKernels kPackedScalar = {first_layer, count_votes, kRows, room_words, block_best};

}  // namespace perfcast
