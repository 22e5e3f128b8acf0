// Photographs go into a library: each is decoded, classified by a network of the shape of MobileNet (8-bit integers on
// oneDNN, weights drawn at random), made a thumbnail of, and entered with its tags into SQLite:
// photo_library FOLDER PHOTO.jpg...
// clang-format off
#include <cstdio>
#include <jpeglib.h>  // needs <cstdio> before it
// clang-format on
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "mobile_network.h"
#include "picture.h"

namespace {

constexpr int kSide = 224;
constexpr int kClasses = 1000;
constexpr int kTags = 5;

Picture decoded(const std::string& file) {
  jpeg_decompress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&jpeg, TRUE);
  jpeg_start_decompress(&jpeg);
  Picture picture{static_cast<int>(jpeg.output_width), static_cast<int>(jpeg.output_height), {}};
  picture.rgb.resize(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 3);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = picture.at(0, static_cast<int>(jpeg.output_scanline));
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  jpeg_destroy_decompress(&jpeg);
  return picture;
}

std::string encoded(Picture& picture) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(picture.width);
  jpeg.image_height = static_cast<JDIMENSION>(picture.height);
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 85, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = picture.at(0, static_cast<int>(jpeg.next_scanline));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string file(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&jpeg);
  std::free(bytes);
  return file;
}

// Each pixel is the mean of those that it stands for.
Picture smaller(const Picture& from, int width) {
  Picture to{width, from.height * width / from.width, {}};
  to.rgb.resize(static_cast<std::size_t>(to.width) * static_cast<std::size_t>(to.height) * 3);
  for (int y = 0; y < to.height; ++y) {
    const int top = y * from.height / to.height;
    const int bottom = std::max(top + 1, (y + 1) * from.height / to.height);
    for (int x = 0; x < to.width; ++x) {
      const int left = x * from.width / to.width;
      const int right = std::max(left + 1, (x + 1) * from.width / to.width);
      int sums[3] = {0, 0, 0};
      for (int row = top; row < bottom; ++row) {
        for (int column = left; column < right; ++column) {
          for (int colour = 0; colour < 3; ++colour) sums[colour] += from.at(column, row)[colour];
        }
      }
      for (int colour = 0; colour < 3; ++colour) {
        to.at(x, y)[colour] = static_cast<std::uint8_t>(sums[colour] / ((bottom - top) * (right - left)));
      }
    }
  }
  return to;
}

class Library {
 public:
  explicit Library(const std::string& path) {
    std::remove(path.c_str());
    sqlite3_open(path.c_str(), &file_);
    run("PRAGMA synchronous = OFF");
    run("CREATE TABLE photos (id INTEGER PRIMARY KEY, name TEXT, width INTEGER, height INTEGER, thumbnail BLOB)");
    run("CREATE TABLE tags (photo INTEGER, tag TEXT, score REAL)");
    run("CREATE INDEX tags_by_name ON tags (tag, score)");
  }
  ~Library() { sqlite3_close(file_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void run(const char* statement) { sqlite3_exec(file_, statement, nullptr, nullptr, nullptr); }

  void add_photo(int id, const std::string& name, const Picture& picture, const std::string& thumbnail) {
    sqlite3_stmt* insert = nullptr;
    sqlite3_prepare_v2(file_, "INSERT INTO photos VALUES (?, ?, ?, ?, ?)", -1, &insert, nullptr);
    sqlite3_bind_int(insert, 1, id);
    sqlite3_bind_text(insert, 2, name.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int(insert, 3, picture.width);
    sqlite3_bind_int(insert, 4, picture.height);
    sqlite3_bind_blob(insert, 5, thumbnail.data(), static_cast<int>(thumbnail.size()), SQLITE_TRANSIENT);
    sqlite3_step(insert);
    sqlite3_finalize(insert);
  }
  void add_tag(int photo, int kind, float score) {
    sqlite3_stmt* insert = nullptr;
    sqlite3_prepare_v2(file_, "INSERT INTO tags VALUES (?, 'kind ' || ?, ?)", -1, &insert, nullptr);
    sqlite3_bind_int(insert, 1, photo);
    sqlite3_bind_int(insert, 2, kind);
    sqlite3_bind_double(insert, 3, score);
    sqlite3_step(insert);
    sqlite3_finalize(insert);
  }
  int count(const char* query) {
    sqlite3_stmt* select = nullptr;
    sqlite3_prepare_v2(file_, query, -1, &select, nullptr);
    const int value = sqlite3_step(select) == SQLITE_ROW ? sqlite3_column_int(select, 0) : -1;
    sqlite3_finalize(select);
    return value;
  }

 private:
  sqlite3* file_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "photo_library: expected a folder and photographs\n");
    return 2;
  }
  MobileNetwork network(true);
  dnnl::memory at = network.convolution(network.input({1, 3, kSide, kSide}), {32, 3, 2});
  const std::vector<std::pair<int, int>> trunk = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                                                  {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
  for (const auto& [channels, stride] : trunk) at = network.separable(at, channels, stride);
  MobileNetwork::Convolution last{kClasses};
  last.relu6 = false;
  const dnnl::memory scores = network.output(network.convolution(network.pooled(at), last));

  Library library(std::string(argv[1]) + "/library.db");
  const int photos = argc - 2;
  for (int photo = 0; photo < photos; ++photo) {
    std::ifstream in(argv[photo + 2], std::ios::binary);
    const std::string file(std::istreambuf_iterator<char>(in), {});
    const Picture picture = decoded(file);
    to_planes(picture, kSide, network.input_data());
    network.run();
    Picture thumbnail = smaller(picture, 320);
    const float* values = MobileNetwork::values(scores);
    std::vector<int> kinds(kClasses);
    std::iota(kinds.begin(), kinds.end(), 0);
    std::partial_sort(kinds.begin(), kinds.begin() + kTags, kinds.end(),
                      [&](int a, int b) { return values[a] > values[b]; });
    library.run("BEGIN");
    library.add_photo(photo, argv[photo + 2], picture, encoded(thumbnail));
    for (int i = 0; i < kTags; ++i)
      library.add_tag(photo, kinds[static_cast<std::size_t>(i)], values[kinds[static_cast<std::size_t>(i)]]);
    library.run("COMMIT");
  }
  const int entered = library.count("SELECT count(*) FROM photos WHERE length(thumbnail) > 1000");
  const int tags = library.count("SELECT count(DISTINCT tag) FROM tags JOIN photos ON photos.id = tags.photo");
  std::printf("%d photographs, %d tags\n", entered, tags);
  return entered == photos && tags >= kTags ? 0 : 1;
}
