// Shortest routes on a road network, with Dijkstra's algorithm or A* and a binary heap:
// road_routes dijkstra|astar SIDE ROUTES. The network has SIDE x SIDE crossings.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

namespace {

constexpr float kFar = 1e30F;
constexpr float kTopSpeed = 30;  // m/s

struct Road {
  std::uint32_t to;
  float time_s;
};

struct Network {
  std::vector<float> x_m, y_m;
  std::vector<std::uint32_t> first;  // of the roads of a crossing, one more than there are crossings
  std::vector<Road> roads;
  float distance_m(std::uint32_t a, std::uint32_t b) const { return std::hypot(x_m[a] - x_m[b], y_m[a] - y_m[b]); }
};

// Crossings are numbered by districts of 16 x 16, in any order within each: as in a map made from surveys.
Network make_network(std::uint32_t side, std::mt19937& random) {
  constexpr std::uint32_t kDistrict = 16;
  std::vector<std::uint32_t> number(side * side);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
  for (std::uint32_t cell = 0; cell < side * side; ++cell) {
    const std::uint64_t district = cell / side / kDistrict * side + cell % side / kDistrict;
    order.emplace_back(district << 32 | (random() & 0xffffffff), cell);
  }
  std::sort(order.begin(), order.end());
  for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i].second] = i;

  Network network;
  network.x_m.resize(side * side);
  network.y_m.resize(side * side);
  const auto uniform = [&] { return static_cast<float>(random() % 65536) / 65536; };
  for (std::uint32_t cell = 0; cell < side * side; ++cell) {
    network.x_m[number[cell]] = 100 * (static_cast<float>(cell % side) + 0.8F * uniform());
    network.y_m[number[cell]] = 100 * (static_cast<float>(cell / side) + 0.8F * uniform());
  }
  std::vector<std::vector<Road>> from(side * side);
  for (std::uint32_t cell = 0; cell < side * side; ++cell) {
    const std::uint32_t column = cell % side;
    const std::uint32_t row = cell / side;
    for (const bool across : {true, false}) {
      if ((across ? column : row) + 1 == side) continue;
      const bool highway = (across ? row : column) % 32 == 0;
      if (!highway && uniform() < 0.2F) continue;  // no road here
      const std::uint32_t a = number[cell];
      const std::uint32_t b = number[cell + (across ? 1 : side)];
      const float speed = highway ? kTopSpeed : 6 + 10 * uniform();
      const float time_s = network.distance_m(a, b) / speed;
      from[a].push_back({b, time_s});
      if (highway || uniform() > 0.05F) from[b].push_back({a, time_s});  // else a one-way road
    }
  }
  network.first.push_back(0);
  for (const std::vector<Road>& roads : from) {
    network.roads.insert(network.roads.end(), roads.begin(), roads.end());
    network.first.push_back(static_cast<std::uint32_t>(network.roads.size()));
  }
  return network;
}

struct Search {
  std::vector<float> time_s;
  std::vector<std::uint32_t> before;
  std::uint64_t settled = 0;

  // The time from `start` to `end`, kFar if there is no route.
  float run(const Network& network, std::uint32_t start, std::uint32_t end, bool aim) {
    time_s.assign(network.x_m.size(), kFar);
    before.assign(network.x_m.size(), start);
    const auto rest_s = [&](std::uint32_t at) { return aim ? network.distance_m(at, end) / kTopSpeed : 0; };
    using Entry = std::pair<float, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
    time_s[start] = 0;
    heap.emplace(rest_s(start), start);
    while (!heap.empty()) {
      const auto [key, at] = heap.top();
      heap.pop();
      if (key > time_s[at] + rest_s(at)) continue;  // an older, longer way
      ++settled;
      if (at == end) break;
      for (std::uint32_t i = network.first[at]; i < network.first[at + 1]; ++i) {
        const Road road = network.roads[i];
        const float time = time_s[at] + road.time_s;
        if (time >= time_s[road.to]) continue;
        time_s[road.to] = time;
        before[road.to] = at;
        heap.emplace(time + rest_s(road.to), road.to);
      }
    }
    return time_s[end];
  }
};

// Draws the route into a picture of the map, one dot a metre of its longer side.
std::size_t draw(const Network& network, const Search& search, std::uint32_t start, std::uint32_t end,
                 std::vector<std::uint8_t>& map, float extent_m) {
  constexpr std::size_t kMap = 1024;
  map.assign(kMap * kMap, 0);
  for (std::uint32_t at = end; at != start; at = search.before[at]) {
    const std::uint32_t to = search.before[at];
    const int steps = 1 + static_cast<int>(network.distance_m(at, to));
    for (int i = 0; i < steps; ++i) {
      const float part = static_cast<float>(i) / static_cast<float>(steps);
      const float x = network.x_m[at] + part * (network.x_m[to] - network.x_m[at]);
      const float y = network.y_m[at] + part * (network.y_m[to] - network.y_m[at]);
      map[static_cast<std::size_t>(y / extent_m * kMap) * kMap + static_cast<std::size_t>(x / extent_m * kMap)] = 255;
    }
  }
  return map.size() - static_cast<std::size_t>(std::count(map.begin(), map.end(), 0));
}

}  // namespace

int main(int argc, char** argv) {
  const bool aim = argc == 4 && std::strcmp(argv[1], "astar") == 0;
  const int side = argc == 4 ? std::atoi(argv[2]) : 0;
  const int routes = argc == 4 ? std::atoi(argv[3]) : 0;
  if ((!aim && (argc != 4 || std::strcmp(argv[1], "dijkstra") != 0)) || side < 32 || side > 4096 || routes <= 0) {
    std::fprintf(stderr, "road_routes: expected dijkstra or astar, a side of 32 to 4096 and a number of routes\n");
    return 2;
  }
  std::mt19937 random(1);
  const Network network = make_network(static_cast<std::uint32_t>(side), random);
  const auto crossings = static_cast<std::uint32_t>(network.x_m.size());
  Search search;
  std::vector<std::uint8_t> map;
  std::size_t dots = 0;
  double total_s = 0;
  int found = 0;
  std::uint32_t start = random() % crossings;
  for (int route = 0; route < routes; ++route) {
    const std::uint32_t end = random() % crossings;
    const float time_s = search.run(network, start, end, aim);
    if (time_s >= kFar) continue;
    ++found;
    total_s += time_s;
    dots += draw(network, search, start, end, map, static_cast<float>(100 * side));
    start = end;
  }
  std::printf("%d routes of %d, %.0f s, %llu crossings, %zu dots\n", found, routes, total_s,
              static_cast<unsigned long long>(search.settled), dots);
  return found * 2 > routes && dots > 0 ? 0 : 1;
}
