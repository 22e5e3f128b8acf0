// An object is removed from a picture with OpenCV's inpainting (Telea's way from the edges inwards):
// picture_inpaint PICTURE.ppm HOLES.
#include <cstdio>
#include <cstdlib>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/photo.hpp>

#include "picture.h"

int main(int argc, char** argv) {
  Picture picture = argc == 3 ? read_ppm(argv[1]) : Picture{};
  const int holes = argc == 3 ? std::atoi(argv[2]) : 0;
  if (picture.width < 512 || picture.height < 512 || holes <= 0) {
    std::fprintf(stderr, "picture_inpaint: expected a picture of 512 x 512 pixels or more and a number of holes\n");
    return 2;
  }
  cv::setNumThreads(1);
  const cv::Mat whole(picture.height, picture.width, CV_8UC3, picture.rgb.data());
  double error = 0;
  for (int hole = 0; hole < holes; ++hole) {
    cv::Mat mask = cv::Mat::zeros(whole.size(), CV_8U);
    const cv::Point middle(whole.cols * (hole + 1) / (holes + 1), whole.rows / 2);
    cv::ellipse(mask, middle, cv::Size(whole.cols / 12, whole.rows / 8), 0, 0, 360, cv::Scalar(255), cv::FILLED);
    cv::Mat filled;
    cv::inpaint(whole, mask, filled, 5, cv::INPAINT_TELEA);
    cv::Mat difference;
    cv::absdiff(whole, filled, difference);
    const cv::Scalar mean = cv::mean(difference, mask);
    error += (mean[0] + mean[1] + mean[2]) / 3 / holes;
  }
  std::printf("%d holes, %.1f levels off\n", holes, error);
  return error > 0 && error < 100 ? 0 : 1;
}
