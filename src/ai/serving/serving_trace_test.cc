#include "ai/serving/serving_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TraceRead read(const std::string& text) {
  auto read = read_serving_trace(text, "t");
  EXPECT_TRUE(read) << to_text(read.error());
  return read ? *std::move(read) : TraceRead();
}

std::string error_of(const std::string& text) {
  const auto read = read_serving_trace(text, "t");
  return read ? "none" : read.error().code + " " + read.error().where;
}

TEST(ServingTrace, ReadsItsOwnCsv) {
  const TraceRead trace = read("arrival_s,prompt_tokens,output_tokens,priority\n5,100,10,\n7.5,200,20,-1\n");
  EXPECT_EQ(trace.form, "CSV");
  EXPECT_TRUE(trace.has_arrivals);
  EXPECT_THAT(trace.notes, ElementsAre());
  ASSERT_EQ(trace.trace.requests.size(), 2u);
  const ServingRequest& first = trace.trace.requests[0];
  const ServingRequest& second = trace.trace.requests[1];
  EXPECT_DOUBLE_EQ(first.arrival_s, 0);
  EXPECT_EQ(first.prompt_tokens, 100);
  EXPECT_EQ(first.output_tokens, 10);
  EXPECT_EQ(first.priority, 0);
  EXPECT_EQ(first.after, -1);
  EXPECT_DOUBLE_EQ(second.arrival_s, 2.5);
  EXPECT_EQ(second.priority, -1);
}

TEST(ServingTrace, ReadsOtherFormsOfCsv) {
  const TraceRead vidur = read("arrived_at,num_prefill_tokens,num_decode_tokens\n0.5,374,44\n4.314,396,109\n");
  EXPECT_EQ(vidur.form, "Vidur's CSV");
  EXPECT_NEAR(vidur.trace.requests[1].arrival_s, 3.814, 1e-12);
  EXPECT_EQ(vidur.trace.requests[1].output_tokens, 109);

  const TraceRead azure = read(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 "
      "18:18:04.0319600,3180,8\n"
      "2023-11-16 20:18:05+02:00,1,1\n2023-11-17T00:00:00Z,2,2\n");
  EXPECT_EQ(azure.form, "Azure's CSV");
  ASSERT_EQ(azure.trace.requests.size(), 4u);
  EXPECT_NEAR(azure.trace.requests[1].arrival_s, 60.052, 1e-6);
  EXPECT_NEAR(azure.trace.requests[2].arrival_s, 61.02004, 1e-6);
  EXPECT_NEAR(azure.trace.requests[3].arrival_s, 20576.02004, 1e-6);
}

TEST(ServingTrace, ReadsLinesOfJson) {
  const TraceRead mooncake = read(
      "{\"timestamp\": 1000, \"input_length\": 1500, \"output_length\": 5, \"hash_ids\": [46, 47, 48]}\n\n"
      "{\"timestamp\": 4000, \"input_length\": 600, \"output_length\": 7, \"hash_ids\": [46, 2305843009213693952]}\n");
  EXPECT_EQ(mooncake.form, "Mooncake's lines");
  EXPECT_EQ(mooncake.trace.hash_block_tokens, 512);
  ASSERT_EQ(mooncake.trace.requests.size(), 2u);
  EXPECT_DOUBLE_EQ(mooncake.trace.requests[1].arrival_s, 3);
  EXPECT_THAT(mooncake.trace.prefix_of(mooncake.trace.requests[0]), ElementsAre(46, 47, 48));
  EXPECT_THAT(mooncake.trace.prefix_of(mooncake.trace.requests[1]), ElementsAre(46, 2305843009213693952));

  const TraceRead log = read(
      "{\"request_id\": \"b\", \"input_toks\": 2358, \"output_toks\": 531, \"arrival_time\": 1777142838.5, "
      "\"queued_ts\": 3}\n"
      "{\"request_id\": \"c\", \"input_toks\": 1, \"output_toks\": 2, \"arrival_time\": 1777142838.75, \"queued_ts\": "
      "3}\n");
  EXPECT_EQ(log.form, "an engine's log");
  EXPECT_DOUBLE_EQ(log.trace.requests[1].arrival_s, 0.25);
  EXPECT_THAT(log.notes, ElementsAre("not used: request_id, queued_ts"));
}

TEST(ServingTrace, TurnsFollowTheRowThatTheyName) {
  const TraceRead trace =
      read("arrival_s,prompt_tokens,output_tokens,after_request\n9,10,1,\n4,20,2,\n3,30,3,1\n,40,4,2\n1,50,5,3\n");
  ASSERT_EQ(trace.trace.requests.size(), 5u);
  std::vector<std::vector<double>> got;
  for (const ServingRequest& request : trace.trace.requests) {
    got.push_back({static_cast<double>(request.prompt_tokens), request.arrival_s, static_cast<double>(request.after)});
  }
  EXPECT_EQ(got, (std::vector<std::vector<double>>{{20, 0, -1}, {40, 0, 0}, {10, 5, -1}, {30, 3, 2}, {50, 1, 3}}));
  EXPECT_THAT(trace.notes, ElementsAre("arrivals were out of order: they are sorted"));
}

TEST(ServingTrace, LeavesOutWhatIsNoRequestAndCountsIt) {
  const TraceRead trace = read(
      "arrival_s,prompt_tokens,output_tokens,after_request\n1,0,5,\n2,5,0,\n3,5,0,\n4,1.5,2,\n,6,6,\n5,7,7,\n6,8,8,1\n"
      "7,,9,\n");
  EXPECT_EQ(trace.trace.requests.size(), 1u);
  EXPECT_THAT(trace.notes,
              ElementsAre("1 request is left out: an empty prompt (the first: t:2)",
                          "2 requests are left out: no output (the first: t:3)",
                          "2 requests are left out: lengths that are no whole numbers of tokens (the first: t:5)",
                          "1 request is left out: no time of arrival (the first: t:6)",
                          "1 request is left out: a turn after one that is left out (the first: t:8)"));
}

TEST(ServingTrace, SaysWhatItCannotRead) {
  EXPECT_EQ(error_of(""), "bad-csv t");
  EXPECT_EQ(error_of("arrival_s,prompts,output_tokens\n1,2,3\n"), "missing-column t:1");
  EXPECT_EQ(error_of("num_prefill_tokens,output_tokens\n1,2\n"), "missing-column t:1");
  EXPECT_EQ(error_of("prompt_tokens,output_tokens\n1,many\n"), "bad-number t:2");
  EXPECT_EQ(error_of("prompt_tokens,output_tokens,arrival_s\n1,1,2023-13-16 18:17:03\n"), "bad-number t:2");
  EXPECT_EQ(error_of("prompt_tokens,output_tokens\n0,0\n"), "no-requests t");
  EXPECT_EQ(error_of("prompt_tokens,output_tokens\n"), "no-requests t");
  for (const char* const after : {"1", "2", "0", "-1", "0.5", "1e300"}) {
    EXPECT_EQ(error_of(fmt::format("prompt_tokens,output_tokens,after_request\n1,1,{}\n", after)), "bad-number t:2");
  }
  EXPECT_EQ(error_of("prompt_tokens,output_tokens,after_request,arrival_s\n1,1,,0\n1,1,1,-2\n"), "bad-number t:3");
  EXPECT_EQ(error_of("prompt_tokens,output_tokens,priority\n1,1,1e9\n"), "bad-number t:2");
  EXPECT_EQ(error_of("{\"input_length\": 3}\n").substr(0, 14), "bad-json-field");
  EXPECT_EQ(error_of("{\"input_length\": 3, \"output_length\": 1, \"hash_ids\": [\"a\"]}\n").substr(0, 14),
            "bad-json-field");
  EXPECT_EQ(error_of("{\"input_length\": 3, \"output_length\": 1}\n[]\n").substr(0, 14), "bad-json-field");
  EXPECT_EQ(error_of("{\"input_length\": \n").substr(0, 8), "bad-json");
  const auto near = read_serving_trace("arrival_s,prompt_token,output_tokens\n1,2,3\n", "t");
  ASSERT_FALSE(near);
  EXPECT_THAT(near.error().expected, HasSubstr("prompt_token"));
}

TEST(ServingTrace, NamesColumnsThatAreNotUsed) {
  EXPECT_THAT(read("prompt_tokens,output_tokens,user,tag\n1,1,a,b\n").notes, ElementsAre("not used: user, tag"));
  EXPECT_FALSE(read("prompt_tokens,output_tokens\n1,1\n").has_arrivals);
  std::string many = "prompt_tokens,output_tokens", cells = "1,1";
  for (int i = 0; i < 11; ++i) {
    many += fmt::format(",c{}", i);
    cells += ",x";
  }
  EXPECT_THAT(read(many + "\n" + cells + "\n").notes, ElementsAre("not used: c0, c1, c2, c3, c4, c5, c6, c7, 3 more"));
}

// The same requests, however a table is written, are the same trace.
TEST(ServingTrace, ReadsATableInWhateverOrderAndStyle) {
  Random random(1);
  struct Row {
    double at_s;
    int64_t prompt, output, priority;
  };
  int sorted = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<Row> rows(1 + random.below(20));
    for (Row& row : rows) {
      row = {static_cast<double>(random.below(1000)) / 8, 1 + static_cast<int64_t>(random.below(5000)),
             1 + static_cast<int64_t>(random.below(500)), static_cast<int64_t>(random.below(5)) - 2};
    }
    const bool is_sorted =
        std::is_sorted(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.at_s < b.at_s; });
    sorted += is_sorted ? 1 : 0;
    std::vector<int> columns = {0, 1, 2, 3, 4};
    random.shuffle(columns);
    const char separator = ",;\t|"[random.below(4)];
    const std::string end = random.below(2) == 0 ? "\n" : "\r\n", blank = random.below(2) == 0 ? "" : " ";
    const bool capital = random.below(2) == 0;
    const auto line = [&](const std::vector<std::string>& cells) {
      std::vector<std::string> placed;
      for (const int column : columns) placed.push_back(blank + cells[static_cast<size_t>(column)] + blank);
      return join(placed, std::string(1, separator)) + end;
    };
    std::string text = random.below(2) == 0 ? "\xEF\xBB\xBF" : "";
    const std::vector<std::string> names = {"arrival_s", "prompt_tokens", "output_tokens", "priority", "colour"};
    std::vector<std::string> written = names;
    for (std::string& name : written) name = capital ? upper_case(name) : name;
    text += line(written);
    for (const Row& row : rows) {
      text += line({fmt::format("{}", row.at_s), fmt::format("{}", row.prompt), fmt::format("{}", row.output),
                    fmt::format("{}", row.priority), "red"});
      if (random.below(4) == 0) text += end;
    }
    const TraceRead got = read(text);
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.at_s < b.at_s; });
    ASSERT_EQ(got.trace.requests.size(), rows.size()) << text;
    for (size_t i = 0; i < rows.size(); ++i) {
      const ServingRequest& request = got.trace.requests[i];
      ASSERT_DOUBLE_EQ(request.arrival_s, rows[i].at_s - rows[0].at_s) << text;
      ASSERT_EQ(request.prompt_tokens, rows[i].prompt);
      ASSERT_EQ(request.output_tokens, rows[i].output);
      ASSERT_EQ(request.priority, rows[i].priority);
    }
    const bool said =
        std::find(got.notes.begin(), got.notes.end(), "arrivals were out of order: they are sorted") != got.notes.end();
    ASSERT_EQ(said, !is_sorted);
  }
  EXPECT_GT(sorted, 2);
  EXPECT_LT(sorted, 50);
}

}  // namespace
}  // namespace perfcast::ai
