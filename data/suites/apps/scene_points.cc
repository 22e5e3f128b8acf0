// Points of a scene and the places of the cameras are found from pictures of it: features and their matches with
// OpenCV, a first guess from two views, then bundle adjustment with Ceres: scene_points VIEW.ppm VIEW.ppm...
#include <ceres/ceres.h>
#include <ceres/rotation.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>
#include <opencv2/features2d.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "picture.h"

namespace {

constexpr double kFocal = 1000;  // pixels; the pictures are made with it

struct View {
  std::vector<cv::KeyPoint> points;
  cv::Mat descriptors;
  std::array<double, 6> camera{};  // rotation vector, translation
  std::map<int, int> to_first;     // features of this view that match one of the first
};

struct Reprojection {
  double x, y;
  template <class T>
  bool operator()(const T* camera, const T* point, T* residual) const {
    T seen[3];
    ceres::AngleAxisRotatePoint(camera, point, seen);
    for (int i = 0; i < 3; ++i) seen[i] += camera[3 + i];
    residual[0] = kFocal * seen[0] / seen[2] - x;
    residual[1] = kFocal * seen[1] / seen[2] - y;
    return true;
  }
};

std::vector<cv::DMatch> matches(const View& a, const View& b) {
  std::vector<std::vector<cv::DMatch>> pairs;
  cv::BFMatcher(cv::NORM_L2).knnMatch(a.descriptors, b.descriptors, pairs, 2);
  std::vector<cv::DMatch> good;
  for (const auto& pair : pairs) {
    if (pair.size() == 2 && pair[0].distance < 0.75F * pair[1].distance) good.push_back(pair[0]);
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "scene_points: expected two views or more\n");
    return 2;
  }
  cv::setNumThreads(1);
  cv::setRNGSeed(1);
  std::vector<View> views;
  cv::Point2d middle;
  const cv::Ptr<cv::SIFT> features = cv::SIFT::create(4000, 3, 0.02);
  for (int i = 1; i < argc; ++i) {
    Picture picture = read_ppm(argv[i]);
    if (picture.rgb.empty()) {
      std::fprintf(stderr, "scene_points: can't read %s\n", argv[i]);
      return 2;
    }
    middle = {picture.width / 2.0, picture.height / 2.0};
    cv::Mat grey;
    cv::cvtColor(cv::Mat(picture.height, picture.width, CV_8UC3, picture.rgb.data()), grey, cv::COLOR_RGB2GRAY);
    View view;
    features->detectAndCompute(grey, cv::noArray(), view.points, view.descriptors);
    views.push_back(std::move(view));
  }

  // The first two views give places of points, up to scale; the other cameras start from the second's.
  std::vector<cv::Point2d> first, second;
  std::vector<cv::DMatch> pairs = matches(views[0], views.back());
  for (const cv::DMatch& pair : pairs) {
    first.push_back(cv::Point2d(views[0].points[static_cast<std::size_t>(pair.queryIdx)].pt));
    second.push_back(cv::Point2d(views.back().points[static_cast<std::size_t>(pair.trainIdx)].pt));
  }
  if (first.size() < 50) return 1;
  cv::Mat kept, rotation, translation, ahead;
  const cv::Mat essential = cv::findEssentialMat(first, second, kFocal, middle, cv::RANSAC, 0.999, 1.5, kept);
  const cv::Mat intrinsic = (cv::Mat_<double>(3, 3) << kFocal, 0, middle.x, 0, kFocal, middle.y, 0, 0, 1);
  cv::recoverPose(essential, first, second, intrinsic, rotation, translation, 100, kept, ahead);
  std::map<int, std::array<double, 3>> points;  // by feature of the first view
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (kept.at<unsigned char>(static_cast<int>(i)) == 0) continue;
    const cv::Mat place = ahead.col(static_cast<int>(i));
    points[pairs[i].queryIdx] = {place.at<double>(0) / place.at<double>(3), place.at<double>(1) / place.at<double>(3),
                                 place.at<double>(2) / place.at<double>(3)};
  }
  cv::Mat turn;
  cv::Rodrigues(rotation, turn);
  for (std::size_t i = 1; i < views.size(); ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(views.size() - 1);
    for (int axis = 0; axis < 3; ++axis) {
      views[i].camera[static_cast<std::size_t>(axis)] = part * turn.at<double>(axis);
      views[i].camera[static_cast<std::size_t>(axis) + 3] = part * translation.at<double>(axis);
    }
  }

  ceres::Problem problem;
  std::size_t seen = 0;
  const auto add = [&](View& view, int feature, int point) {
    const cv::Point2f at = view.points[static_cast<std::size_t>(feature)].pt;
    auto* cost =
        new ceres::AutoDiffCostFunction<Reprojection, 2, 6, 3>(new Reprojection{at.x - middle.x, at.y - middle.y});
    problem.AddResidualBlock(cost, new ceres::HuberLoss(2), view.camera.data(), points[point].data());
    ++seen;
  };
  for (auto& [feature, place] : points) add(views[0], feature, feature);
  for (std::size_t i = 1; i < views.size(); ++i) {
    for (const cv::DMatch& pair : matches(views[0], views[i])) {
      if (points.count(pair.queryIdx) > 0) add(views[i], pair.trainIdx, pair.queryIdx);
    }
  }
  problem.SetParameterBlockConstant(views[0].camera.data());
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_SCHUR;
  options.max_num_iterations = 40;
  options.num_threads = 1;
  options.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  std::vector<double> residuals;
  problem.Evaluate({}, nullptr, &residuals, nullptr, nullptr);
  for (double& residual : residuals) residual = std::abs(residual);
  const auto half = residuals.begin() + static_cast<std::ptrdiff_t>(residuals.size() / 2);
  std::nth_element(residuals.begin(), half, residuals.end());
  std::printf("%zu views, %zu points seen %zu times, median %.3f pixels off\n", views.size(), points.size(), seen,
              *half);
  return points.size() > 100 && *half < 0.5 ? 0 : 1;
}
