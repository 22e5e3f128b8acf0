#pragma once
// A small trained network for rows in bulk or one by one: what it gives for a row has the same bits however many rows
// come with it, so that alerts don't hang on how a stream is cut into blocks.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace perfcast {
class DenseNetwork;
}  // namespace perfcast

namespace perfcast::measure {

class RowNetwork {
 public:
  RowNetwork() = default;
  // `masked`: the inputs' second half is a mask of the first. `outputs`: only so many of the last layer's; 0: all.
  RowNetwork(const DenseNetwork& network, bool masked, size_t outputs = 0);

  // Without the mask's half.
  size_t inputs() const { return layers_.empty() ? 0 : layers_.front().inputs; }
  size_t outputs() const { return layers_.empty() ? 0 : layers_.back().outputs; }
  // x: rows x inputs(); NaN where `masked` and absent. y: rows x outputs().
  void run(size_t rows, const float* x, float* y);

 private:
  struct Layer {
    size_t inputs = 0, outputs = 0, stride = 0;  // stride: outputs, up to a multiple of kTile
    std::vector<float> weights;                  // inputs x stride
    std::vector<float> bias;                     // stride; with all of the mask
    std::vector<float> mask_weights;             // inputs x stride where masked
  };

  bool masked_ = false;
  std::vector<Layer> layers_;
  std::vector<float> from_, to_;
};

}  // namespace perfcast::measure
