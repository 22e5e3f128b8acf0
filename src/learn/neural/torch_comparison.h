#pragma once
// For tests: named matrices as the text that torch_comparison.py reads and writes. A matrix a line: its name, rows,
// columns and values, row by row.

#include <Eigen/Core>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/neural/dense_network.h"

namespace perfcast::testing_network {

using Matrices = std::map<std::string, Eigen::MatrixXd>;

// NAME.I.weights and NAME.I.bias of every layer I.
inline void put_layers(const std::string& name, const std::vector<DenseLayer>& layers, Matrices& into) {
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string layer = name + "." + std::to_string(i);
    into[layer + ".weights"] = layers[i].weights.cast<double>();
    into[layer + ".bias"] = layers[i].bias.cast<double>();
  }
}

inline std::string text_of(const Matrices& matrices) {
  std::string text;
  char number[32];
  for (const auto& [name, matrix] : matrices) {
    text += name + " " + std::to_string(matrix.rows()) + " " + std::to_string(matrix.cols());
    for (const double value : matrix.reshaped<Eigen::RowMajor>()) {
      std::snprintf(number, sizeof number, " %.17g", value);
      text += number;
    }
    text += "\n";
  }
  return text;
}

inline Result<Matrices> matrices_of(const std::string& text) {
  std::istringstream words(text);
  Matrices matrices;
  std::string name;
  Eigen::Index rows = 0, columns = 0;
  while (words >> name >> rows >> columns) {
    Eigen::MatrixXd& matrix = matrices[name];
    matrix.resize(rows, columns);
    for (double& value : matrix.reshaped<Eigen::RowMajor>()) {
      if (!(words >> value)) return Error{"failed", "no number in a matrix", name, "finite numbers"};
    }
  }
  return matrices;
}

}  // namespace perfcast::testing_network
