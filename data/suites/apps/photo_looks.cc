// Filters as applications for sharing photographs have them, with OpenCV on bytes: photo_looks PICTURE.ppm ROUNDS.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "picture.h"

namespace {

cv::Mat curve(double gamma, double brightness) {
  cv::Mat table(1, 256, CV_8U);
  for (int i = 0; i < 256; ++i) {
    table.at<unsigned char>(i) = cv::saturate_cast<unsigned char>(255 * std::pow(i / 255.0, gamma) + brightness);
  }
  return table;
}

cv::Mat vignette(cv::Size size) {
  cv::Mat mask(size, CV_32FC3);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const float across = 2.0F * static_cast<float>(x) / static_cast<float>(size.width) - 1;
      const float down = 2.0F * static_cast<float>(y) / static_cast<float>(size.height) - 1;
      const float part = (across * across + down * down) / 2;
      const float share = 1 - 0.6F * part * part;
      mask.at<cv::Vec3f>(y, x) = {share, share, share};
    }
  }
  return mask;
}

cv::Mat look(const cv::Mat& picture, const cv::Mat& mask, int number) {
  cv::Mat to, other;
  switch (number) {
    case 0: {  // warm
      const cv::Mat mix = (cv::Mat_<float>(3, 3) << 1.08F, 0.04F, 0, 0.02F, 1, 0, 0, 0.03F, 0.86F);
      cv::transform(picture, to, mix);
      cv::LUT(to, curve(0.9, 4), to);
      cv::multiply(to, mask, to, 1, CV_8UC3);
      break;
    }
    case 1: {  // old
      const cv::Mat mix = (cv::Mat_<float>(3, 3) << 0.39F, 0.77F, 0.19F, 0.35F, 0.69F, 0.17F, 0.27F, 0.53F, 0.13F);
      cv::transform(picture, to, mix);
      cv::multiply(to, mask, to, 1, CV_8UC3);
      break;
    }
    case 2:  // dreaming
      cv::GaussianBlur(picture, other, cv::Size(19, 19), 5);
      cv::addWeighted(picture, 0.6, other, 0.6, -10, to);
      break;
    case 3:  // clear
      cv::GaussianBlur(picture, other, cv::Size(5, 5), 1);
      cv::addWeighted(picture, 1.7, other, -0.7, 0, to);
      cv::cvtColor(to, other, cv::COLOR_RGB2HSV);
      cv::add(other, cv::Scalar(0, 20, 0), other);
      cv::cvtColor(other, to, cv::COLOR_HSV2RGB);
      break;
    case 4:  // cold and dark
      picture.convertTo(to, -1, 0.85, -5);
      cv::LUT(to, curve(1.2, 0), to);
      break;
    default:  // small and soft
      cv::resize(picture(cv::Rect(picture.cols / 8, picture.rows / 8, picture.cols * 3 / 4, picture.rows * 3 / 4)), to,
                 cv::Size(picture.cols / 2, picture.rows / 2), 0, 0, cv::INTER_LINEAR);
      cv::blur(to, to, cv::Size(9, 9));
      break;
  }
  return to;
}

}  // namespace

int main(int argc, char** argv) {
  Picture picture = argc == 3 ? read_ppm(argv[1]) : Picture{};
  const int rounds = argc == 3 ? std::atoi(argv[2]) : 0;
  if (picture.width < 256 || picture.height < 256 || rounds <= 0) {
    std::fprintf(stderr, "photo_looks: expected a picture of 256 x 256 pixels or more and a number of rounds\n");
    return 2;
  }
  cv::setNumThreads(1);
  const cv::Mat whole(picture.height, picture.width, CV_8UC3, picture.rgb.data());
  const cv::Mat mask = vignette(whole.size());
  double level = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int number = 0; number < 6; ++number) {
      const cv::Scalar mean = cv::mean(look(whole, mask, number));
      level += (mean[0] + mean[1] + mean[2]) / 3;
    }
  }
  level /= 6 * rounds;
  std::printf("%d rounds, mean level %.2f\n", rounds, level);
  return level > 40 && level < 215 ? 0 : 1;
}
