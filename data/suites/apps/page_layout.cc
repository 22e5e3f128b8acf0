// Web pages are laid out and painted, with litehtml, FreeType and Anti-Grain Geometry, after MuJS has run their
// scripts: page_layout FONT.ttf PAGE.html...
#include <agg2/agg_conv_curve.h>
#include <agg2/agg_path_storage.h>
#include <agg2/agg_pixfmt_rgba.h>
#include <agg2/agg_rasterizer_scanline_aa.h>
#include <agg2/agg_renderer_base.h>
#include <agg2/agg_renderer_scanline.h>
#include <agg2/agg_rounded_rect.h>
#include <agg2/agg_scanline_u.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include <litehtml.h>
#include <mujs.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int kWidth = 1280;
constexpr int kStrip = 1024;  // rows that are painted at a time, as if one scrolled

const char* const kDefaultStyle =
    "html, body, div, p, ul, ol, li, h1, h2, h3, h4, blockquote { display: block } head, script, style, title, meta "
    "{ display: none } table { display: table; border-spacing: 2px } tr { display: table-row } td, th { display: "
    "table-cell; vertical-align: middle; padding: 1px } tbody { display: table-row-group } li { display: list-item } "
    "body { margin: 8px } p { margin: 1em 0 } h1 { font-size: 2em; margin: .67em 0; font-weight: bold } h2 { "
    "font-size: 1.5em; margin: .83em 0 } h4 { font-weight: bold } b, th { font-weight: bold } i { font-style: italic } "
    "ul { margin: 1em 0; padding-left: 40px; list-style-type: disc } a { text-decoration: underline } sup { "
    "vertical-align: super; font-size: smaller } code { font-family: monospace }";

struct Glyph {
  FT_Int left = 0, top = 0;
  int width = 0, rows = 0, advance = 0;
  std::vector<std::uint8_t> coverage;
};

struct Font {
  int size = 0;
  bool bold = false;
  bool slanted = false;
  unsigned decoration = 0;
  litehtml::font_metrics metrics;
  std::map<std::uint32_t, Glyph> glyphs;
};

std::uint32_t next_character(const char*& text) {
  const auto byte = static_cast<unsigned char>(*text++);
  if (byte < 0x80) return byte;
  const int more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
  std::uint32_t code = byte & (0x3f >> more);
  for (int i = 0; i < more && *text != '\0'; ++i) code = code << 6 | (static_cast<unsigned char>(*text++) & 0x3f);
  return code;
}

class Canvas final : public litehtml::document_container {
 public:
  explicit Canvas(FT_Face face) : face_(face), pixels_(static_cast<std::size_t>(kWidth) * kStrip * 4) {
    rows_.attach(pixels_.data(), kWidth, kStrip, kWidth * 4);
    format_.attach(rows_);
    base_.attach(format_);
  }
  virtual ~Canvas() = default;

  void start_strip(int top) {
    top_ = top;
    base_.reset_clipping(true);
    base_.clear(agg::rgba8(255, 255, 255));
  }
  std::uint64_t checksum() const {
    std::uint64_t sum = 1469598103934665603U;
    for (std::size_t i = 0; i < pixels_.size(); i += 4) sum = (sum ^ pixels_[i]) * 1099511628211U;
    return sum;
  }

  litehtml::uint_ptr create_font(const litehtml::tchar_t*, int size, int weight, litehtml::font_style style,
                                 unsigned int decoration, litehtml::font_metrics* metrics) override {
    auto font = std::make_unique<Font>();
    font->size = size;
    font->bold = weight > 500;
    font->slanted = style == litehtml::fontStyleItalic;
    font->decoration = decoration;
    FT_Set_Pixel_Sizes(face_, 0, static_cast<FT_UInt>(size));
    const FT_Size_Metrics& scaled = face_->size->metrics;
    font->metrics.ascent = static_cast<int>(scaled.ascender >> 6);
    font->metrics.descent = static_cast<int>(-scaled.descender >> 6);
    font->metrics.height = font->metrics.ascent + font->metrics.descent;
    font->metrics.x_height = glyph(*font, 'x').rows;
    font->metrics.draw_spaces = decoration != 0 || font->slanted;
    *metrics = font->metrics;
    fonts_.push_back(std::move(font));
    return reinterpret_cast<litehtml::uint_ptr>(fonts_.back().get());
  }
  void delete_font(litehtml::uint_ptr) override {}

  int text_width(const litehtml::tchar_t* text, litehtml::uint_ptr handle) override {
    int width = 0;
    while (*text != '\0') width += glyph(*reinterpret_cast<Font*>(handle), next_character(text)).advance;
    return width;
  }

  void draw_text(litehtml::uint_ptr, const litehtml::tchar_t* text, litehtml::uint_ptr handle,
                 litehtml::web_color color, const litehtml::position& pos) override {
    Font& font = *reinterpret_cast<Font*>(handle);
    const agg::rgba8 ink(color.red, color.green, color.blue, color.alpha);
    const int line = pos.y - top_ + font.metrics.ascent;
    int x = pos.x;
    while (*text != '\0') {
      const Glyph& shape = glyph(font, next_character(text));
      for (int row = 0; row < shape.rows; ++row) {
        base_.blend_solid_hspan(x + shape.left, line - shape.top + row, shape.width, ink,
                                shape.coverage.data() + static_cast<std::ptrdiff_t>(row) * shape.width);
      }
      x += shape.advance;
    }
    if (font.decoration & litehtml::font_decoration_underline) base_.blend_hline(pos.x, line + 1, x, ink, 255);
  }

  void draw_list_marker(litehtml::uint_ptr, const litehtml::list_marker& marker) override {
    agg::rounded_rect dot(marker.pos.x, marker.pos.y - top_, marker.pos.right(), marker.pos.bottom() - top_,
                          marker.pos.width / 2.0);
    fill(dot, marker.color);
  }
  void draw_background(litehtml::uint_ptr, const litehtml::background_paint& bg) override {
    if (bg.color.alpha == 0) return;
    agg::rounded_rect box(bg.border_box.x, bg.border_box.y - top_, bg.border_box.right(), bg.border_box.bottom() - top_,
                          bg.border_radius.top_left_x);
    fill(box, bg.color);
  }
  void draw_borders(litehtml::uint_ptr, const litehtml::borders& borders, const litehtml::position& pos,
                    bool) override {
    const double left = pos.x;
    const double top = pos.y - top_;
    const double right = pos.right();
    const double bottom = pos.bottom() - top_;
    const auto side = [&](const litehtml::border& border, double x1, double y1, double x2, double y2) {
      if (border.width == 0 || border.style == litehtml::border_style_none) return;
      agg::path_storage path;
      path.move_to(x1, y1);
      path.line_to(x2, y1);
      path.line_to(x2, y2);
      path.line_to(x1, y2);
      path.close_polygon();
      fill(path, border.color);
    };
    side(borders.top, left, top, right, top + borders.top.width);
    side(borders.bottom, left, bottom - borders.bottom.width, right, bottom);
    side(borders.left, left, top, left + borders.left.width, bottom);
    side(borders.right, right - borders.right.width, top, right, bottom);
  }

  int pt_to_px(int pt) const override { return pt * 96 / 72; }
  int get_default_font_size() const override { return 16; }
  const litehtml::tchar_t* get_default_font_name() const override { return "sans-serif"; }
  void load_image(const litehtml::tchar_t*, const litehtml::tchar_t*, bool) override {}
  void get_image_size(const litehtml::tchar_t*, const litehtml::tchar_t*, litehtml::size& size) override {
    size.width = size.height = 0;
  }
  void set_caption(const litehtml::tchar_t*) override {}
  void set_base_url(const litehtml::tchar_t*) override {}
  void link(const std::shared_ptr<litehtml::document>&, const litehtml::element::ptr&) override {}
  void on_anchor_click(const litehtml::tchar_t*, const litehtml::element::ptr&) override {}
  void set_cursor(const litehtml::tchar_t*) override {}
  void transform_text(litehtml::tstring&, litehtml::text_transform) override {}
  void import_css(litehtml::tstring&, const litehtml::tstring&, litehtml::tstring&) override {}
  void set_clip(const litehtml::position&, const litehtml::border_radiuses&, bool, bool) override {}
  void del_clip() override {}
  void get_client_rect(litehtml::position& client) const override { client = {0, 0, kWidth, kStrip}; }
  std::shared_ptr<litehtml::element> create_element(const litehtml::tchar_t*, const litehtml::string_map&,
                                                    const std::shared_ptr<litehtml::document>&) override {
    return nullptr;
  }
  void get_media_features(litehtml::media_features& media) const override {
    media.type = litehtml::media_type_screen;
    media.width = media.device_width = kWidth;
    media.height = media.device_height = kStrip;
    media.color = 8;
    media.resolution = 96;
  }
  void get_language(litehtml::tstring& language, litehtml::tstring&) const override { language = "en"; }

 private:
  template <class Path>
  void fill(Path& path, litehtml::web_color color) {
    rasterizer_.reset();
    rasterizer_.add_path(path);
    agg::render_scanlines_aa_solid(rasterizer_, line_, base_,
                                   agg::rgba8(color.red, color.green, color.blue, color.alpha));
  }

  const Glyph& glyph(Font& font, std::uint32_t code) {
    const auto found = font.glyphs.find(code);
    if (found != font.glyphs.end()) return found->second;
    FT_Set_Pixel_Sizes(face_, 0, static_cast<FT_UInt>(font.size));
    FT_Matrix slant = {0x10000, font.slanted ? 0x3500 : 0, 0, 0x10000};
    FT_Set_Transform(face_, &slant, nullptr);
    Glyph made;
    if (FT_Load_Char(face_, code, FT_LOAD_RENDER) == 0) {
      const FT_GlyphSlot slot = face_->glyph;
      made.left = slot->bitmap_left;
      made.top = slot->bitmap_top;
      made.width = static_cast<int>(slot->bitmap.width);
      made.rows = static_cast<int>(slot->bitmap.rows);
      made.advance = static_cast<int>(slot->advance.x >> 6) + (font.bold ? 1 : 0);
      for (int row = 0; row < made.rows; ++row) {
        const unsigned char* from = slot->bitmap.buffer + row * slot->bitmap.pitch;
        made.coverage.insert(made.coverage.end(), from, from + made.width);
      }
    }
    return font.glyphs.emplace(code, std::move(made)).first->second;
  }

  FT_Face face_;
  std::vector<std::uint8_t> pixels_;
  agg::rendering_buffer rows_;
  agg::pixfmt_rgba32 format_;
  agg::renderer_base<agg::pixfmt_rgba32> base_;
  agg::rasterizer_scanline_aa<> rasterizer_;
  agg::scanline_u8 line_;
  std::vector<std::unique_ptr<Font>> fonts_;
  int top_ = 0;
};

// What the scripts of a page write stands in their place.
bool run_scripts(std::string& page) {
  static const char* const kOpen = "<script>";
  static const char* const kClose = "</script>";
  std::size_t from = 0;
  while ((from = page.find(kOpen, from)) != std::string::npos) {
    const std::size_t end = page.find(kClose, from);
    if (end == std::string::npos) return false;
    const std::string script = page.substr(from + std::strlen(kOpen), end - from - std::strlen(kOpen));
    js_State* engine = js_newstate(nullptr, nullptr, JS_STRICT);
    std::string whole = "var document = {text: '', write: function (more) { this.text += more; }};\n" + script;
    const bool ran = js_dostring(engine, whole.c_str()) == 0;
    js_getglobal(engine, "document");
    js_getproperty(engine, -1, "text");
    const std::string written = js_tostring(engine, -1);
    js_freestate(engine);
    if (!ran || written.empty()) return false;
    page.replace(from, end + std::strlen(kClose) - from, written);
    from += written.size();
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  FT_Library library = nullptr;
  FT_Face face = nullptr;
  if (argc < 3 || FT_Init_FreeType(&library) != 0 || FT_New_Face(library, argv[1], 0, &face) != 0) {
    std::fprintf(stderr, "page_layout: expected a font and pages\n");
    return 2;
  }
  litehtml::context context;
  context.load_master_stylesheet(kDefaultStyle);
  std::uint64_t checksum = 0;
  int rows = 0;
  for (int i = 2; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    std::string page(std::istreambuf_iterator<char>(in), {});
    if (page.empty() || !run_scripts(page)) return 1;
    Canvas canvas(face);
    const litehtml::document::ptr document = litehtml::document::createFromUTF8(page.c_str(), &canvas, &context);
    document->render(kWidth);
    for (int top = 0; top < document->height(); top += kStrip) {
      canvas.start_strip(top);
      const litehtml::position strip(0, top, kWidth, kStrip);
      document->draw(0, 0, 0, &strip);
      checksum = checksum * 31 + canvas.checksum();
    }
    rows += document->height();
  }
  std::printf("%d pages, %d rows, %016llx\n", argc - 2, rows, static_cast<unsigned long long>(checksum));
  return rows > 1000 ? 0 : 1;
}
