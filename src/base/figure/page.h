#pragma once
// A report as one HTML file for a browser and for print: no network, no script; every figure with its data.

#include <string>
#include <string_view>
#include <vector>

namespace perfcast {

struct Figure {
  std::string id;                   // "distribution": anchors, file names
  std::string title, caption;       // plain text; the caption says how to read it
  std::vector<std::string> images;  // SVG; empty: there is nothing to draw, and the caption says why
  std::string csv;                  // what is drawn, with a header line
};

// Drawings are this wide; their height follows from what they hold.
inline constexpr double kFigureWidth = 1000;

// What stands between the header and the figures.
struct PageSection {
  std::string id, title, html;
};

struct Page {
  std::string title, lead;  // plain text
  std::string facts_html;   // a list under the lead
  std::string style;        // CSS added to page_style.h's
  std::string hidden_svg;   // patterns that the drawings share; empty: none
  std::vector<PageSection> sections;
  std::vector<Figure> figures;
  bool figures_first = false;  // before the sections
};

// What a link with `download` offers: it works from a file, offline, and where scripts are forbidden. `type`:
// "text/csv;charset=utf-8".
std::string data_uri(std::string_view type, std::string_view content);

// Text for a terminal, its lines as they are, tables lined up.
std::string preformatted_html(const std::string& text);

// A drawing of SvgCanvas with the page's light look in it, in colours that every viewer knows, so that a browser, a
// viewer of pictures or a document shows it alone.
std::string standalone_svg(const std::string& svg);

// Deterministic. Text of figures, title and lead is escaped here; what is called html is taken as it is.
std::string html_page(const Page& page);

}  // namespace perfcast
