#include "base/figure/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/figure/page_style.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"

namespace perfcast {
namespace {

std::string section(const Figure& figure, size_t number) {
  std::string html = fmt::format("<section id=\"{}\">\n<h2>Figure {}. {}</h2>\n<figure>\n", figure.id, number,
                                 escape_html(figure.title));
  if (figure.images.empty()) {
    return html + "<figcaption class=\"empty\">" + escape_html(figure.caption) +
           "</figcaption>\n</figure>\n</section>\n";
  }
  html += "<figcaption>" + escape_html(figure.caption) + "</figcaption>\n<div class=\"wide\">\n" +
          join(figure.images, "") + "</div>\n";
  html += fmt::format("<a class=\"csv\" download=\"perfcast-{}.csv\" href=\"{}\">CSV</a>\n", figure.id,
                      data_uri("text/csv;charset=utf-8", figure.csv));
  return html + "</figure>\n</section>\n";
}

// The light palette's value of a variable such as "--ink", which stands first in the style.
std::string_view palette_value(std::string_view name) {
  const std::string_view style = kPageStyle;
  const size_t begin = style.find(std::string(name) + ':') + name.size() + 1;
  return style.substr(begin, style.find_first_of(";}", begin) - begin);
}

// What the page's style says of drawings, in the light palette and without variables: not everything that shows a
// drawing knows those (librsvg, Inkscape and what typesets by them do not). A series' own colour is `color` then.
std::string svg_style_with_plain_colours() {
  constexpr std::string_view kVariable = "var(", kSeries = "--c:";
  std::string plain;
  for (const std::string& line : split(kPageStyle, '\n')) {
    const bool is_series = line.starts_with(".s") && line.find(kSeries) != std::string::npos;
    if (!is_series && !line.starts_with("svg ")) continue;
    std::string_view left = line;
    while (!left.empty()) {
      const size_t begin = std::min(left.find(kVariable), left.find(kSeries));
      plain += left.substr(0, begin);
      if (begin == std::string_view::npos) break;
      left.remove_prefix(begin);
      if (left.starts_with(kSeries)) {
        plain += "color:";
        left.remove_prefix(kSeries.size());
        continue;
      }
      const size_t end = left.find(')');
      const std::string_view name = left.substr(kVariable.size(), end - kVariable.size());
      plain += name == "--c" ? std::string_view("currentColor") : palette_value(name);
      left.remove_prefix(end + 1);
    }
    plain += '\n';
  }
  return plain;
}

}  // namespace

std::string data_uri(std::string_view type, std::string_view content) {
  std::string uri = "data:";
  uri += type;
  uri += ',';
  for (const char c : content) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-_.,~").find(c) != std::string_view::npos;
    if (plain) uri += c;
    if (!plain) uri += fmt::format("%{:02X}", byte);
  }
  return uri;
}

std::string preformatted_html(const std::string& text) {
  std::string html = "<div class=\"wide\"><pre>";
  for (const std::string& line : split(text, '\n')) html += escape_html(line) + "\n";
  return html + "</pre></div>\n";
}

std::string standalone_svg(const std::string& svg) {
  const size_t inside = svg.find('>') + 1;
  return svg.substr(0, inside) + "\n<style>\n" + svg_style_with_plain_colours() +
         "svg .ground{fill:#fff}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>" + svg.substr(inside);
}

std::string html_page(const Page& page) {
  const std::string title = escape_html(page.title);
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
      title + "</title>\n<style>" + kPageStyle + page.style + "</style>\n</head>\n<body>\n" + page.hidden_svg +
      "<header>\n<h1>" + title + "</h1>\n<p class=\"lead\">" + escape_html(page.lead) + "</p>\n" + page.facts_html +
      "<nav>";
  std::string sections, section_links, figures, figure_links;
  for (const PageSection& part : page.sections) {
    section_links += fmt::format("<a href=\"#{}\">{}</a>", part.id, escape_html(part.title));
    sections +=
        fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", part.id, escape_html(part.title), part.html);
  }
  for (size_t i = 0; i < page.figures.size(); ++i) {
    figure_links +=
        fmt::format("<a href=\"#{}\">{}. {}</a>", page.figures[i].id, i + 1, escape_html(page.figures[i].title));
    figures += section(page.figures[i], i + 1);
  }
  const bool first = page.figures_first;
  html += (first ? figure_links + section_links : section_links + figure_links) + "</nav>\n</header>\n<main>\n" +
          (first ? figures + sections : sections + figures);
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace perfcast
