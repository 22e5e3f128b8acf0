// What a program that uses Eigen asks a compiler for: arrays, blocks, geometry. It is compiled, not run.
#include <Eigen/Dense>
#include <iostream>

int main() {
  Eigen::ArrayXXf image = Eigen::ArrayXXf::Random(30, 40);
  image = (image.abs().sqrt() + image.square().cos() * 3).min(2).max(0.1F);
  image.block(2, 3, 10, 10) += image.topLeftCorner(10, 10).exp() - image.bottomRightCorner(10, 10);
  std::cout << image.rowwise().mean().maxCoeff() << " " << (image > 0.5F).count() << "\n"
            << image.leftCols<3>() << "\n";

  const Eigen::AngleAxisd turn(0.3, Eigen::Vector3d(1, 2, 3).normalized());
  const Eigen::Affine3d move = Eigen::Translation3d(1, 0, 2) * turn;
  std::cout << (move * Eigen::Vector3d::UnitX()).transpose() << " " << Eigen::Quaterniond(turn).norm() << "\n";
}
