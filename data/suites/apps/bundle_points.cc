// Points of a scene and the places of the cameras from what the cameras saw, with Eigen: descriptors are matched, the
// second camera found by the eight-point method among wrong matches, and all adjusted by Levenberg and Marquardt with
// the points eliminated: bundle_points CAMERAS POINTS. The scene is drawn at random.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

namespace {

constexpr int kValues = 128;  // of a descriptor
using Descriptors = Eigen::Matrix<float, kValues, Eigen::Dynamic>;
using Camera = Eigen::Matrix<double, 6, 1>;  // rotation vector, translation

Eigen::Matrix3d turn(const Eigen::Vector3d& vector) {
  const double angle = vector.norm();
  if (angle < 1e-12) return Eigen::Matrix3d::Identity();
  return Eigen::AngleAxisd(angle, vector / angle).toRotationMatrix();
}

Eigen::Matrix3d crossed(const Eigen::Vector3d& v) {
  Eigen::Matrix3d m;
  m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return m;
}

struct Scene {
  std::vector<Camera> cameras;
  std::vector<Eigen::Vector3d> points;
  std::vector<Descriptors> descriptors;                // by camera
  std::vector<std::vector<Eigen::Vector2d>> pictures;  // by camera: where each point is seen, at focal length 1
};

Scene make_scene(int cameras, int points, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-1, 1);
  Scene scene;
  Descriptors base(kValues, points);
  for (int i = 0; i < points; ++i) {
    scene.points.emplace_back(4 * uniform(random), 3 * uniform(random), 9 + 3 * uniform(random));
    for (int k = 0; k < kValues; ++k) base(k, i) = static_cast<float>(std::abs(normal(random)));
  }
  for (int c = 0; c < cameras; ++c) {
    Camera camera;
    camera << 0.02 * c, -0.03 * c, 0.01 * c, -0.4 * c, 0.1 * c, 0.05 * c;
    scene.cameras.push_back(camera);
    Descriptors seen = base;
    std::vector<Eigen::Vector2d> picture;
    for (int i = 0; i < points; ++i) {
      const Eigen::Vector3d at = turn(camera.head<3>()) * scene.points[static_cast<std::size_t>(i)] + camera.tail<3>();
      picture.emplace_back(at.hnormalized() + 0.0005 * Eigen::Vector2d(normal(random), normal(random)));
      for (int k = 0; k < kValues; ++k) seen(k, i) += 0.45F * static_cast<float>(normal(random));
      seen.col(i).normalize();
    }
    scene.pictures.push_back(std::move(picture));
    scene.descriptors.push_back(std::move(seen));
  }
  return scene;
}

// For each descriptor of `a` the nearest of `b`, -1 where the second nearest is hardly farther.
std::vector<int> matches(const Descriptors& a, const Descriptors& b) {
  const Eigen::MatrixXf likeness = b.transpose() * a;
  std::vector<int> found(static_cast<std::size_t>(a.cols()), -1);
  for (Eigen::Index i = 0; i < a.cols(); ++i) {
    Eigen::Index best = 0;
    const float first = likeness.col(i).maxCoeff(&best);
    float second = -1;
    for (Eigen::Index j = 0; j < b.cols(); ++j) {
      if (j != best) second = std::max(second, likeness(j, i));
    }
    if (2 - 2 * first < 0.8F * (2 - 2 * second)) found[static_cast<std::size_t>(i)] = static_cast<int>(best);
  }
  return found;
}

using Pair = std::pair<Eigen::Vector2d, Eigen::Vector2d>;

Eigen::Matrix3d essential(const std::vector<Pair>& pairs) {
  Eigen::Matrix<double, Eigen::Dynamic, 9> rows(static_cast<Eigen::Index>(pairs.size()), 9);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Eigen::Vector3d a = pairs[i].first.homogeneous(), b = pairs[i].second.homogeneous();
    for (int k = 0; k < 3; ++k) rows.block<1, 3>(static_cast<Eigen::Index>(i), 3 * k) = b[k] * a.transpose();
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> least(rows.transpose() * rows, Eigen::ComputeFullV);
  const Eigen::Matrix<double, 9, 1> last = least.matrixV().col(8);
  const Eigen::Matrix3d found = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(last.data());
  const Eigen::JacobiSVD<Eigen::Matrix3d> parts(found, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return parts.matrixU() * Eigen::Vector3d(1, 1, 0).asDiagonal() * parts.matrixV().transpose();
}

bool fits(const Eigen::Matrix3d& e, const Pair& pair) {
  const Eigen::Vector3d a = pair.first.homogeneous(), b = pair.second.homogeneous();
  const Eigen::Vector3d line = e * a, back = e.transpose() * b;
  const double error = b.dot(line);
  return error * error < 9e-6 * (line.head<2>().squaredNorm() + back.head<2>().squaredNorm());
}

Eigen::Vector3d triangulated(const std::vector<Eigen::Matrix<double, 3, 4>>& views,
                             const std::vector<Eigen::Vector2d>& seen) {
  Eigen::MatrixXd rows(2 * static_cast<Eigen::Index>(views.size()), 4);
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (int k = 0; k < 2; ++k) {
      rows.row(2 * static_cast<Eigen::Index>(i) + k) = seen[i][k] * views[i].row(2) - views[i].row(k);
    }
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> least(rows, Eigen::ComputeFullV);
  const Eigen::Vector4d last = least.matrixV().col(3);
  return last.hnormalized();
}

Eigen::Matrix<double, 3, 4> view_of(const Eigen::Matrix3d& rotation, const Eigen::Vector3d& shift) {
  Eigen::Matrix<double, 3, 4> view;
  view << rotation, shift;
  return view;
}

struct Sight {
  int camera, point;
  Eigen::Vector2d at;
};

// Wrong matches count little: the logarithm of Cauchy's distribution, with this square of its width.
constexpr double kSpread = 4e-6;

double cost(const std::vector<Camera>& cameras, const std::vector<Eigen::Vector3d>& points,
            const std::vector<Sight>& sights) {
  double sum = 0;
  for (const Sight& sight : sights) {
    const Camera& camera = cameras[static_cast<std::size_t>(sight.camera)];
    const Eigen::Vector3d at =
        turn(camera.head<3>()) * points[static_cast<std::size_t>(sight.point)] + camera.tail<3>();
    sum += std::log1p((at.hnormalized() - sight.at).squaredNorm() / kSpread);
  }
  return sum;
}

// Steps until they no longer help; the first camera stays where it is.
void adjust(std::vector<Camera>& cameras, std::vector<Eigen::Vector3d>& points, const std::vector<Sight>& sights) {
  const Eigen::Index free = 6 * (static_cast<Eigen::Index>(cameras.size()) - 1);
  double damping = 1e-4;
  double now = cost(cameras, points, sights);
  for (int step = 0; step < 25 && damping < 1e6; ++step) {
    Eigen::MatrixXd system = Eigen::MatrixXd::Zero(free, free);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(free);
    std::vector<Eigen::Matrix3d> inverses(points.size(), Eigen::Matrix3d::Zero());
    std::vector<Eigen::Vector3d> pulls(points.size(), Eigen::Vector3d::Zero());
    std::vector<Eigen::Matrix<double, 6, 3>> links(sights.size());
    for (std::size_t i = 0; i < sights.size(); ++i) {
      const Sight& sight = sights[i];
      const Camera& camera = cameras[static_cast<std::size_t>(sight.camera)];
      const Eigen::Matrix3d rotation = turn(camera.head<3>());
      const Eigen::Vector3d turned = rotation * points[static_cast<std::size_t>(sight.point)];
      const Eigen::Vector3d at = turned + camera.tail<3>();
      Eigen::Matrix<double, 2, 3> by_place;
      by_place << 1 / at.z(), 0, -at.x() / (at.z() * at.z()), 0, 1 / at.z(), -at.y() / (at.z() * at.z());
      Eigen::Vector2d error = sight.at - at.hnormalized();
      const double weight = 1 / (1 + error.squaredNorm() / kSpread);
      by_place *= std::sqrt(weight);
      error *= std::sqrt(weight);
      Eigen::Matrix<double, 2, 6> by_camera;  // turns are made from the left
      by_camera << by_place * -crossed(turned), by_place;
      const Eigen::Matrix<double, 2, 3> by_point = by_place * rotation;
      inverses[static_cast<std::size_t>(sight.point)] += by_point.transpose() * by_point;
      pulls[static_cast<std::size_t>(sight.point)] += by_point.transpose() * error;
      links[i] = by_camera.transpose() * by_point;
      if (sight.camera > 0) {
        const Eigen::Index first = 6 * (sight.camera - 1);
        system.block<6, 6>(first, first) += by_camera.transpose() * by_camera;
        right.segment<6>(first) += by_camera.transpose() * error;
      }
    }
    system.diagonal() *= 1 + damping;
    for (Eigen::Matrix3d& matrix : inverses) {
      matrix.diagonal() *= 1 + damping;
      matrix = matrix.inverse().eval();
    }
    for (std::size_t from = 0, to = 0; from < sights.size(); from = to) {  // sights are in the order of the points
      const auto point = static_cast<std::size_t>(sights[from].point);
      while (to < sights.size() && sights[to].point == sights[from].point) ++to;
      for (std::size_t i = from; i < to; ++i) {
        if (sights[i].camera == 0) continue;
        const Eigen::Matrix<double, 6, 3> scaled = links[i] * inverses[point];
        right.segment<6>(6 * (sights[i].camera - 1)) -= scaled * pulls[point];
        for (std::size_t j = from; j < to; ++j) {
          if (sights[j].camera == 0) continue;
          system.block<6, 6>(6 * (sights[i].camera - 1), 6 * (sights[j].camera - 1)) -= scaled * links[j].transpose();
        }
      }
    }
    const Eigen::VectorXd move = system.ldlt().solve(right);
    std::vector<Camera> moved = cameras;
    std::vector<Eigen::Vector3d> shifted = points;
    for (std::size_t i = 0; i < sights.size(); ++i) {
      if (sights[i].camera == 0) continue;
      pulls[static_cast<std::size_t>(sights[i].point)] -=
          links[i].transpose() * move.segment<6>(6 * (sights[i].camera - 1));
    }
    for (std::size_t i = 0; i < points.size(); ++i) shifted[i] += inverses[i] * pulls[i];
    for (std::size_t c = 1; c < moved.size(); ++c) {
      const Camera part = move.segment<6>(6 * (static_cast<Eigen::Index>(c) - 1));
      const Eigen::AngleAxisd turned(turn(part.head<3>()) * turn(moved[c].head<3>()));
      moved[c].head<3>() = turned.angle() * turned.axis();
      moved[c].tail<3>() += part.tail<3>();
    }
    const double then = cost(moved, shifted, sights);
    if (then < now) {
      const bool small = now - then < 1e-6 * now;
      cameras.swap(moved);
      points.swap(shifted);
      now = then;
      damping /= 4;
      if (small) break;
    } else {
      damping *= 10;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int cameras = argc == 3 ? std::atoi(argv[1]) : 0;
  const int count = argc == 3 ? std::atoi(argv[2]) : 0;
  if (cameras < 2 || cameras > 100 || count < 100 || count > 100000) {
    std::fprintf(stderr, "bundle_points: expected 2 to 100 cameras and 100 to 100000 points\n");
    return 2;
  }
  std::mt19937 random(1);
  const Scene scene = make_scene(cameras, count, random);

  std::vector<std::vector<int>> tracks(static_cast<std::size_t>(cameras));
  for (std::size_t c = 1; c < tracks.size(); ++c) tracks[c] = matches(scene.descriptors[0], scene.descriptors[c]);
  std::vector<Pair> pairs;
  std::vector<int> kept;
  for (int i = 0; i < count; ++i) {
    const int other = tracks[1][static_cast<std::size_t>(i)];
    if (other < 0) continue;
    // Every fifth match is spoilt, as features of pictures are.
    const auto seen = static_cast<std::size_t>(i % 5 == 0 ? (other + 7) % count : other);
    pairs.emplace_back(scene.pictures[0][static_cast<std::size_t>(i)], scene.pictures[1][seen]);
    kept.push_back(i);
  }
  Eigen::Matrix3d best = Eigen::Matrix3d::Zero();
  std::size_t most = 0;
  for (int attempt = 0; attempt < 300; ++attempt) {
    std::vector<Pair> few;
    for (int i = 0; i < 8; ++i) few.push_back(pairs[random() % pairs.size()]);
    const Eigen::Matrix3d e = essential(few);
    const auto good =
        static_cast<std::size_t>(std::count_if(pairs.begin(), pairs.end(), [&](const Pair& p) { return fits(e, p); }));
    if (good > most) {
      most = good;
      best = e;
    }
  }

  // Of the four ways to read the matrix the one with the points in front.
  const Eigen::JacobiSVD<Eigen::Matrix3d> parts(best, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::Matrix3d quarter;
  quarter << 0, -1, 0, 1, 0, 0, 0, 0, 1;
  Eigen::Matrix3d rotation;
  Eigen::Vector3d shift;
  std::size_t front = 0;
  const Eigen::Matrix<double, 3, 4> still = view_of(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  for (int way = 0; way < 4; ++way) {
    Eigen::Matrix3d turned =
        parts.matrixU() * (way < 2 ? quarter : Eigen::Matrix3d(quarter.transpose())) * parts.matrixV().transpose();
    if (turned.determinant() < 0) turned = -turned;
    const Eigen::Vector3d along = (way % 2 == 0 ? 1 : -1) * parts.matrixU().col(2);
    std::size_t ahead = 0;
    for (std::size_t i = 0; i < pairs.size(); i += 8) {
      const Eigen::Vector3d at = triangulated({still, view_of(turned, along)}, {pairs[i].first, pairs[i].second});
      ahead += at.z() > 0 && (turned * at + along).z() > 0;
    }
    if (ahead > front) {
      front = ahead;
      rotation = turned;
      shift = along;
    }
  }

  std::vector<Eigen::Vector3d> points;
  std::vector<Sight> sights;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!fits(best, pairs[i])) continue;
    const int point = static_cast<int>(points.size());
    points.push_back(triangulated({still, view_of(rotation, shift)}, {pairs[i].first, pairs[i].second}));
    sights.push_back({0, point, pairs[i].first});
    sights.push_back({1, point, pairs[i].second});
    for (int c = 2; c < cameras; ++c) {
      const int other = tracks[static_cast<std::size_t>(c)][static_cast<std::size_t>(kept[i])];
      if (other >= 0)
        sights.push_back({c, point, scene.pictures[static_cast<std::size_t>(c)][static_cast<std::size_t>(other)]});
    }
  }
  // The other cameras go on as the second does; scale is that of its shift.
  std::vector<Camera> guess(static_cast<std::size_t>(cameras), Camera::Zero());
  const Eigen::AngleAxisd turned(rotation);
  for (int c = 1; c < cameras; ++c) {
    guess[static_cast<std::size_t>(c)] << c * turned.angle() * turned.axis(), c * shift;
  }
  adjust(guess, points, sights);
  std::size_t near = 0;
  for (const Sight& sight : sights) near += cost(guess, points, {sight}) < std::log1p(1.0);
  std::printf("%zu of %zu matches, %zu of %zu sights fit\n", points.size(), pairs.size(), near, sights.size());
  return points.size() > 50 && 4 * near > 3 * sights.size() ? 0 : 1;
}
