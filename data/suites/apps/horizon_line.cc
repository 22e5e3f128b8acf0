// The horizon of a photograph is found (Canny's edges, Hough's lines) and made level, with OpenCV:
// horizon_line PICTURE.ppm ROUNDS. In each round the picture is tilted by another angle before.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "picture.h"

namespace {

constexpr double kDegree = CV_PI / 180;

cv::Mat turned(const cv::Mat& picture, double degrees) {
  const cv::Point2f middle(static_cast<float>(picture.cols) / 2, static_cast<float>(picture.rows) / 2);
  cv::Mat to;
  cv::warpAffine(picture, to, cv::getRotationMatrix2D(middle, degrees, 1), picture.size(), cv::INTER_LINEAR,
                 cv::BORDER_REPLICATE);
  return to;
}

// Degrees by which the strongest line that is nearly level is tilted; 0 without one.
double tilt(const cv::Mat& picture) {
  cv::Mat grey, soft, edges;
  cv::cvtColor(picture, grey, cv::COLOR_RGB2GRAY);
  cv::GaussianBlur(grey, soft, cv::Size(9, 9), 2);
  cv::Canny(soft, edges, 30, 90);
  std::vector<cv::Vec2f> lines;
  cv::HoughLines(edges, lines, 1, kDegree / 4, picture.cols / 8, 0, 0, 70 * kDegree, 110 * kDegree);
  return lines.empty() ? 0 : lines.front()[1] / kDegree - 90;
}

}  // namespace

int main(int argc, char** argv) {
  Picture picture = argc == 3 ? read_ppm(argv[1]) : Picture{};
  const int rounds = argc == 3 ? std::atoi(argv[2]) : 0;
  if (picture.rgb.empty() || rounds <= 0) {
    std::fprintf(stderr, "horizon_line: expected a picture and a number of rounds\n");
    return 2;
  }
  cv::setNumThreads(1);
  cv::Mat level(picture.height, picture.width, CV_8UC3, picture.rgb.data());
  const int horizon = picture.height * 2 / 5;  // water up to here, with a far shore
  level(cv::Rect(0, horizon, picture.width, picture.height - horizon)) *= 0.5;
  double worst = 0;
  for (int round = 0; round < rounds; ++round) {
    const double angle = 2 + 8.0 * round / rounds;
    const cv::Mat photograph = turned(level, angle);
    const cv::Mat straight = turned(photograph, tilt(photograph));
    worst = std::max(worst, std::abs(tilt(straight)));
  }
  std::printf("%d rounds, %.2f degrees off at the most\n", rounds, worst);
  return worst <= 0.5 ? 0 : 1;
}
