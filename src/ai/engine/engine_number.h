#pragma once
// A number of an engine's file, within what engines have.

#include <string>

namespace perfcast {
class JsonReader;
}

namespace perfcast::ai {

// `least` where it isn't within, which is complained of.
double number_within(JsonReader& in, const std::string& key, double least, double most);

}  // namespace perfcast::ai
