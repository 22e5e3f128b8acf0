#include "base/python_json.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/random.h"

namespace perfcast {
namespace {

std::string as_json(std::string_view text) {
  const auto json = parse_python_json(text, "p");
  return json ? json->dump() : "none";
}

TEST(PythonJson, ReadsWhatDumpsWrites) {
  EXPECT_EQ(as_json(R"({"a": [0.0, Infinity], "b": NaN, "c": -Infinity})"),
            R"({"a":[0.0,"Infinity"],"b":"NaN","c":"-Infinity"})");
  EXPECT_EQ(as_json(R"({"a": 1})"), R"({"a":1})");
  // As streams print it.
  EXPECT_EQ(as_json(R"({"a": -nan, "b": nan, "c": inf, "d": -inf, "e": -nan(ind)})"),
            R"({"a":"NaN","b":"NaN","c":"Infinity","d":"-Infinity","e":null})");
}

TEST(PythonJson, ReadsWhatPrintWrites) {
  EXPECT_EQ(as_json("{'loss': nan, 'ok': True, 'no': None, \"it's\": 'a \"b\"', 3: (1, 2.5,), 'e': 1e-05}"),
            R"({"loss":"NaN","ok":true,"no":null,"it's":"a \"b\"","3":[1,2.5],"e":1e-05})");
  EXPECT_EQ(as_json("{'a': np.float64(0.5), 'b': tensor(0.25, device='cuda:0'), 'c': array([1., 2.], dtype=float32)}"),
            R"({"a":0.5,"b":0.25,"c":[1.0,2.0]})");
  EXPECT_EQ(as_json("{'t': datetime.datetime(2024, 1, 1), 'd': -inf, 's': 'it\\'s \\x41'}"),
            R"({"t":null,"d":"-Infinity","s":"it's A"})");
}

TEST(PythonJson, RefusesWhatIsNeither) {
  for (const char* const text : {"", "{", "{'a'}", "{'a': 1", "{'a': b}", "[1 2]", "{[1]: 2}", "{'a': 1} b",
                                 "{'a': --1}", "{'a': np.float64(1}", "nan nan", "{'a': 'b}", "tensor(0.5", "{,}"}) {
    EXPECT_EQ(as_json(text), "none") << text;
  }
  EXPECT_EQ(as_json(std::string(100, '[') + std::string(100, ']')), "none");
  // Of the document as it stands.
  EXPECT_EQ(parse_python_json("{\"a\": Infinity, }}", "p").error().where, "p:1:7");
}

TEST(PythonJson, KnowsWhereAValueEnds) {
  const auto literal = python_literal("{'a': [1, {'b': 2}]} done {");
  ASSERT_TRUE(literal);
  EXPECT_EQ(literal->length, 20U);
  EXPECT_EQ(literal->json, R"({"a":[1,{"b":2}]})");
}

// The same values in JSON and in Python's words.
struct Written {
  std::string json, python;
};
Written write(Random& random, int depth) {
  const auto quoted = [&random](const std::string& text) {
    return random.below(2) == 0 ? "'" + text + "'" : "\"" + text + "\"";
  };
  switch (random.below(depth > 3 ? 6 : 8)) {
    case 0:
      return {"null", "None"};
    case 1:
      return random.below(2) == 0 ? Written{"true", "True"} : Written{"false", "False"};
    case 2:
      return {R"("NaN")", random.below(2) == 0 ? "nan" : "NaN"};
    case 3:
      return {R"("-Infinity")", random.below(2) == 0 ? "-inf" : "-Infinity"};
    case 4: {
      const std::string number = std::to_string(random.below(1000)) + (random.below(2) == 0 ? ".25" : "e-3");
      const char* const kAround[] = {"", "np.float32(", "tensor("};
      const std::string around = kAround[random.below(3)];
      return {number, around + number + (around.empty() ? "" : ")")};
    }
    case 5: {
      const std::string text = "w" + std::to_string(random.below(100)) + (random.below(2) == 0 ? ", {x: (" : "é");
      return {"\"" + text + "\"", quoted(text)};
    }
    case 6: {
      Written all = {"[", random.below(2) == 0 ? "[" : "("};
      const size_t count = random.below(4);
      for (size_t i = 0; i < count; ++i) {
        const Written each = write(random, depth + 1);
        all.json += (i > 0 ? "," : "") + each.json;
        all.python += each.python + (i + 1 < count ? ", " : random.below(2) == 0 ? "," : "");
      }
      all.json += "]";
      all.python += all.python.front() == '[' ? "]" : ")";
      return all;
    }
    default: {
      Written all = {"{", "{"};
      const size_t count = random.below(4);
      for (size_t i = 0; i < count; ++i) {
        const Written each = write(random, depth + 1);
        const std::string key = "k" + std::to_string(i);
        all.json += (i > 0 ? ",\"" : "\"") + key + "\":" + each.json;
        all.python += quoted(key) + ": " + each.python + (i + 1 < count ? ", " : "");
      }
      all.json += "}";
      all.python += "}";
      return all;
    }
  }
}

TEST(PythonJson, IsTheSameAsJson) {
  Random random(3);
  for (int round = 0; round < 3000; ++round) {
    const Written written = write(random, 0);
    const auto expected = parse_json(written.json, "j");
    ASSERT_TRUE(expected) << written.json;
    const auto read = parse_python_json(written.python, "p");
    ASSERT_TRUE(read) << written.python;
    ASSERT_EQ(*read, *expected) << written.python;
    const auto literal = python_literal(written.python + " and more");
    ASSERT_TRUE(literal);
    ASSERT_EQ(literal->length, written.python.size()) << written.python;
  }
}

}  // namespace
}  // namespace perfcast
