#include "figure/page.h"

#include <fmt/format.h>

#include <string_view>

#include "base/text.h"
#include "figure/page_style.h"
#include "figure/svg_canvas.h"

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

std::string standalone_svg(const std::string& svg) {
  const size_t inside = svg.find('>') + 1;
  return svg.substr(0, inside) + "\n<style>" + kPageStyle +
         "svg .ground{fill:var(--paper)}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>" +
         svg.substr(inside);
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
