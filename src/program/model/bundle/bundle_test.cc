#include "program/model/bundle/bundle.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>

#include "base/file.h"
#include "base/json.h"
#include "learn/tensors/tensor_codec.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/bundle/bundle_records.h"
#include "program/model/bundle/train_bundle.h"
#include "program/model/forecast/forecaster.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;
using testing_world::additive_world;

Bundle small_bundle(const std::string& model = "knn") {
  TrainingTable table = additive_world({.programs = 8, .platforms = 3, .families = 4}).table;
  table.times[4].reset();
  auto bundle = train_bundle(table, {.model = model});
  EXPECT_TRUE(bundle);
  bundle->card.name = "test";
  bundle->card.created_utc = "2026-01-01T00:00:00Z";
  bundle->card.licence = "CC BY-SA 4.0";
  bundle->card.sources.push_back({"source", "https://example.org", "CC BY-SA 4.0", "2026-01-01", "note"});
  bundle->card.scores = std::make_shared<const Json>(Json{{"schema", "perfcast.evaluation/1"}});
  Server server;
  server.vendor = "cloud";
  server.name = "large";
  server.platform = "p1";
  server.vcpus = 4;
  server.facts = {{"l3_bytes", 33554432}, {"memory_read_bytes_per_s", 1.25e10}};
  bundle->servers.push_back(server);
  bundle->platforms[0].facts["l2_bytes"] = 524288;
  bundle->platforms[0].flags = {"avx2"};
  return std::move(*bundle);
}

std::string small_bytes() {
  static const std::string bytes = *bundle_bytes(small_bundle());
  return bytes;
}

// Bundles written before servers had facts of their own.
TEST(Bundle, ReadsServersWithoutFacts) {
  const auto servers = servers_from_text("aws\tm5.large\tp\t2\t8\t2\t1\tsource\n", "b");
  ASSERT_TRUE(servers) << to_text(servers.error());
  ASSERT_EQ(servers->size(), 1u);
  EXPECT_EQ((*servers)[0].source, "source");
  EXPECT_TRUE((*servers)[0].facts.empty());
  for (const char* bad : {"aws\tm5.large\tp\t2\t8\t2\t1\n", "a\tb\tp\t2\t8\t2\t1\ts\tl3_bytes\n",
                          "a\tb\tp\t2\t8\t2\t1\ts\tl3_bytes=x\n", "a\tb\tp\t2\t8\t2\t1\ts\tf=1\tmore\n"}) {
    EXPECT_FALSE(servers_from_text(bad, "b")) << bad;
  }
}

TEST(Bundle, KeepsSixDigitsOfWhatWasMeasured) {
  Server server;
  server.facts = {{"l3_bytes", 1207959552}, {"rate", 830113000000.0001}, {"ratio", 0.0137452837}};
  const auto read = servers_from_text(servers_as_text({server}), "b");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ((*read)[0].facts.at("l3_bytes"), 1207959552);
  EXPECT_EQ((*read)[0].facts.at("rate"), 830113000000);
  EXPECT_EQ((*read)[0].facts.at("ratio"), 0.0137453);
}

// Rows that several parts of a model keep lie in the file once.
TEST(Bundle, HoldsEqualArraysOnce) {
  TensorMap twice, once;
  const Eigen::MatrixXd rows = Eigen::MatrixXd::Random(40, 50);
  once.put("a", rows);
  twice.put("a", rows);
  twice.put("b", rows);
  twice.put("c", 2 * rows);
  const auto bytes_of = [](const TensorMap& tensors, Json& index) {
    ByteWriter data;
    TensorCodec::encode(tensors, 64, index, data);
    return data.bytes();
  };
  Json index, index_of_one;
  const std::string bytes = bytes_of(twice, index);
  EXPECT_EQ(bytes.size(), 2 * bytes_of(once, index_of_one).size());
  TensorMap back;
  ASSERT_TRUE(TensorCodec::decode(
      index, bytes, nullptr, "b", [](std::string_view) { return false; }, back));
  EXPECT_EQ(*back.get("a"), rows);
  EXPECT_EQ(*back.get("b"), rows);
  EXPECT_EQ(*back.get("c"), 2 * rows);
}

TEST(Bundle, ComesBackAsItWas) {
  const Bundle bundle = small_bundle();
  const auto bytes = bundle_bytes(bundle);
  ASSERT_TRUE(bytes);
  const auto read = parse_bundle(*bytes, "b");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(read->card.name, "test");
  EXPECT_EQ(read->card.model, "knn");
  EXPECT_EQ(read->card.sources[0].licence, "CC BY-SA 4.0");
  EXPECT_EQ((*read->card.scores)["schema"], "perfcast.evaluation/1");
  ASSERT_EQ(read->platforms.size(), 3u);
  EXPECT_EQ(read->platforms[0].facts.at("l2_bytes"), 524288);
  EXPECT_EQ(read->platforms[0].flags, std::vector<std::string>{"avx2"});
  EXPECT_EQ(read->platforms[1].cpu_family, 6);
  EXPECT_EQ(read->platforms[1].stepping, std::nullopt);
  ASSERT_EQ(read->servers.size(), 1u);
  EXPECT_EQ(read->servers[0].vcpus, 4);
  EXPECT_EQ(read->servers[0].memory_gib, std::nullopt);
  EXPECT_EQ(read->servers[0].facts, bundle.servers[0].facts);
  EXPECT_EQ(read->scaling, nullptr);  // none was learned
  EXPECT_EQ(read->programs[5].family, "family1");
  EXPECT_EQ(read->instruction_sets, std::vector<std::string>{"x86_64"});
  EXPECT_EQ(read->training_features, bundle.training_features);
  EXPECT_TRUE(std::isnan(read->training_log_rpv(1, 1)));
  EXPECT_TRUE(read->training_log_rpv.row(0).isApprox(bundle.training_log_rpv.row(0), 1e-6));  // rounded to float
  EXPECT_EQ(read->calibration.multiple, bundle.calibration.multiple);
  EXPECT_TRUE(read->calibration.residual_covariance.isApprox(bundle.calibration.residual_covariance, 1e-6));
  EXPECT_EQ(read->calibration.platform_scale, bundle.calibration.platform_scale);
  EXPECT_EQ(read->distance_limit, bundle.distance_limit);
  EXPECT_EQ(*bundle_bytes(*read), *bytes);
}

// Bundles to which no platform was added don't have it, and neither have those of before.
TEST(Bundle, WhatIsNotKnownOfAnAddedPlatformComesBack) {
  Bundle bundle = small_bundle();
  const auto plain = parse_bundle(*bundle_bytes(bundle), "b");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->calibration.own_half_width.size(), 0);
  bundle.calibration.own_half_width = Eigen::Vector3d(0, 0, 0.25);
  const auto read = parse_bundle(*bundle_bytes(bundle), "b");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(read->calibration.own_half_width, bundle.calibration.own_half_width);
}

TEST(Bundle, ForecastsTheSameFromAFile) {
  const std::string path = testing::TempDir() + "perfcast_bundle_" + std::to_string(getpid());
  const Bundle bundle = small_bundle("stack");
  ASSERT_TRUE(write_bundle(bundle, path).ok());
  auto read = read_bundle(path);
  std::remove(path.c_str());
  ASSERT_TRUE(read);
  Random random(4);
  const Profile profile = testing_world::random_profile(random, "x");
  const auto before = Forecaster(std::make_shared<const Bundle>(bundle)).forecast(profile, {});
  const auto after = Forecaster(std::make_shared<const Bundle>(std::move(*read))).forecast(profile, {});
  ASSERT_TRUE(before);
  ASSERT_TRUE(after);
  EXPECT_EQ(before->log_rpv, after->log_rpv);
  EXPECT_EQ(before->lower, after->lower);
}

TEST(Bundle, AnyFlippedBitIsAnError) {
  const std::string bytes = small_bytes();
  for (size_t i = 0; i < bytes.size(); i += (i < 400 ? 1 : 97)) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    const auto read = parse_bundle(damaged, "b");
    ASSERT_FALSE(read) << "byte " << i;
    EXPECT_TRUE(read.error().code == "bad-bundle" || read.error().code == "future-version") << read.error().code;
  }
}

TEST(Bundle, AnyTruncationIsAnError) {
  const std::string bytes = small_bytes();
  for (size_t size = 0; size < bytes.size(); size += (size < 200 ? 1 : 173)) {
    const auto read = parse_bundle(bytes.substr(0, size), "b");
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code, "bad-bundle");
  }
  EXPECT_FALSE(parse_bundle(bytes + "x", "b"));
}

// Damage that a checksum made anew would hide.
TEST(Bundle, NumbersAndNamesMustMakeSense) {
  const auto error_after = [](const std::function<void(Bundle&)>& damage) {
    Bundle bundle = small_bundle();
    damage(bundle);
    const auto read = parse_bundle(*bundle_bytes(bundle), "b");
    EXPECT_EQ(read ? "" : read.error().code, "bad-bundle");
    return read ? "" : read.error().message;
  };
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(error_after([](Bundle& b) { std::swap(b.feature_names[0], b.feature_names[1]); }), HasSubstr("names"));
  EXPECT_THAT(error_after([](Bundle& b) { b.calibration.residual_covariance(0, 1) = kNaN; }),
              HasSubstr("'residual_covariance'"));
  EXPECT_THAT(error_after([](Bundle& b) { b.calibration.residual_covariance(1, 1) = 0; }), HasSubstr("above 0"));
  EXPECT_THAT(error_after([](Bundle& b) { b.calibration.platform_scale(2) = 0; }), HasSubstr("above 0"));
  EXPECT_THAT(error_after([](Bundle& b) { b.calibration.platform_scale(2) = kInfinity; }), HasSubstr("not finite"));
  EXPECT_THAT(error_after([](Bundle& b) { b.calibration.own_half_width = Eigen::Vector3d(0, 0, -1); }),
              HasSubstr("below 0"));
  EXPECT_THAT(error_after([](Bundle& b) { b.calibration.own_half_width = Eigen::Vector2d(0, 1); }),
              HasSubstr("'own_half_width_log'"));
  EXPECT_THAT(error_after([](Bundle& b) { b.calibration.residuals(0, 0) = kInfinity; }), HasSubstr("'residuals'"));
  EXPECT_THAT(error_after([](Bundle& b) { b.training_features(0, 0) = -kInfinity; }), HasSubstr("not finite"));
  EXPECT_THAT(error_after([](Bundle& b) { b.calibration.multiple = -1; }), HasSubstr("multiple.all"));
}

TEST(Bundle, FutureVersionSaysSo) {
  std::string bytes = small_bytes();
  bytes[8] = 2;
  const auto read = parse_bundle(bytes, "b.bundle");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "future-version");
  EXPECT_THAT(read.error().message, HasSubstr("version 2"));
  EXPECT_EQ(read.error().where, "b.bundle");
}

TEST(Bundle, SomeOtherFileSaysSo) {
  const auto read = parse_bundle("hello, this is some text that is no bundle at all", "notes.txt");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "bad-bundle");
  EXPECT_THAT(read.error().message, HasSubstr("no perfcast bundle"));
  EXPECT_EQ(read_bundle("/nonexistent/x").error().code, "file-not-found");
}

TEST(Bundle, WithoutAModelIsNotWritten) { EXPECT_EQ(bundle_bytes(Bundle{}).error().code, "bad-bundle"); }

TEST(TensorMap, ChecksShapesAndKeepsPrefixes) {
  TensorMap inner;
  inner.put("a", Eigen::MatrixXd::Ones(2, 3));
  inner.put_json("n", 4);
  TensorMap outer;
  outer.put_within("part", inner);
  const TensorMap back = outer.within("part");
  EXPECT_TRUE(back.get("a", 2, 3));
  EXPECT_TRUE(back.get("a"));
  EXPECT_EQ(back.get("a", 3, 2).error().code, "bad-bundle");
  EXPECT_EQ(back.get("b").error().code, "bad-bundle");
  EXPECT_EQ(back.get_float("a").error().code, "bad-bundle");
  EXPECT_EQ(*back.get_json("n"), 4);
  EXPECT_FALSE(outer.within("par").get("a"));
}

}  // namespace
}  // namespace perfcast::program
