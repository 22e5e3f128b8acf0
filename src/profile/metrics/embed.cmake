# Makes a .cc whose function built_in_catalogue_json() gives the bytes of a file.
#   cmake -DINPUT=catalogue.json -DOUTPUT=built_in.cc -P embed.cmake
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT}
"#include <string_view>

namespace perfcast {
namespace {

constexpr unsigned char kBytes[] = {
${bytes}};

}  // namespace

std::string_view built_in_catalogue_json();
std::string_view built_in_catalogue_json() { return {reinterpret_cast<const char*>(kBytes), sizeof kBytes}; }

}  // namespace perfcast
")
