"""Web pages for layout and script, the same on every machine: make_pages.py FOLDER COUNT SECTIONS."""

import random
import sys

SYLLABLES = "ba co di fu ga he ji ko la me no pi qua ro sta tri u ven wes xo ya zen mar lin tor sel".split()


def word(draw):
    return "".join(draw.choice(SYLLABLES) for _ in range(draw.randint(1, 4)))


def sentence(draw, links):
    parts = []
    for _ in range(draw.randint(6, 24)):
        text = word(draw)
        chance = draw.random()
        if links and chance < 0.08:
            text = '<a href="/wiki/%s" class="%s">%s</a>' % (text, draw.choice(["near", "far", "new"]), text)
        elif chance < 0.10:
            text = "<b>%s</b>" % text
        elif chance < 0.12:
            text = '<i class="term">%s</i>' % text
        elif chance < 0.13:
            text = "<code>%s()</code>" % text
        elif chance < 0.14:
            text += '<sup class="note"><a href="#n">[%d]</a></sup>' % draw.randint(1, 99)
        parts.append(text)
    return " ".join(parts).capitalize() + "."


def paragraph(draw):
    return "<p>%s</p>" % " ".join(sentence(draw, True) for _ in range(draw.randint(3, 7)))


def sheet(draw):
    """Rules as a site's style has them: some for what is there, more for what isn't."""
    colour = lambda: "#%06x" % draw.randint(0, 0xFFFFFF)
    rules = [
        "body { font-family: sans-serif; font-size: 15px; margin: 0; color: #202122; background: #f6f6f6 }",
        "#top { background: #234; color: #fff; padding: 10px 20px; border-bottom: 3px solid #57a }",
        "#top ul { list-style: none; margin: 0; padding: 0 } #top li { display: inline-block; margin-right: 14px }",
        "#top a { color: #cdf; text-decoration: none }",
        "#side { float: left; width: 160px; padding: 12px; font-size: 13px }",
        "#main { margin-left: 190px; padding: 14px 24px; background: #fff; border: 1px solid #a7d7f9 }",
        ".box { float: right; width: 240px; margin: 0 0 12px 16px; border: 1px solid #aaa; background: #f8f9fa }",
        ".box td { padding: 3px 6px; font-size: 12px; border-bottom: 1px solid #ddd }",
        "h2 { border-bottom: 1px solid #a2a9b1; font-weight: normal; margin: 18px 0 6px 0 }",
        "table.data { border-collapse: collapse; margin: 8px 0 } .data td, .data th { border: 1px solid #a2a9b1; padding: 4px 8px }",
        ".data tr:nth-child(even) td { background: #eef } .data th { background: #eaecf0; text-align: left }",
        "p { line-height: 1.5; text-align: justify } sup.note { font-size: 9px } code { background: #eee; padding: 1px 3px }",
        ".cards { overflow: hidden } .card { float: left; width: 180px; margin: 6px; padding: 8px; border: 2px solid #ccc; border-radius: 6px }",
        ".card h4 { margin: 0 0 4px 0; color: #345 } .card .price { color: #a00; font-weight: bold }",
        "a { color: #36c } a.new { color: #d33 } a:hover { text-decoration: underline } .term { color: #444 }",
        "blockquote { border-left: 4px solid #c8ccd1; padding: 4px 16px; margin: 8px 24px; font-style: italic }",
    ]
    tags = "div p li td a span h3 ul table b i".split()
    for _ in range(250):
        selector = " ".join(
            draw.choice(tags) + draw.choice(["", "." + word(draw), "#" + word(draw), ":first-child", "[title]"])
            for _ in range(draw.randint(1, 3))
        )
        rules.append("%s > .%s { color: %s; margin-left: %dpx }" % (selector, word(draw), colour(), draw.randint(0, 9)))
    return "\n".join(rules)


SCRIPT = """
var seed = %d;
function draw(n) { seed = seed * 16807 %% 2147483647; return Math.floor(seed / 128) %% n; }
function name() {
  var parts = ["ba", "co", "di", "fu", "ga", "he", "ji", "ko", "la", "me"], text = "";
  for (var i = 0, n = 2 + draw(3); i < n; i++) text += parts[draw(parts.length)];
  return text.charAt(0).toUpperCase() + text.slice(1);
}
var goods = [];
for (var i = 0; i < %d; i++) {
  goods.push({id: i, name: name(), price: draw(100000) / 100, stock: draw(50), tags: [name(), name()]});
}
function by(key, falling) {
  return function (a, b) { return (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : a.id - b.id) * (falling ? -1 : 1); };
}
function fill(template, values) {
  return template.replace(/\\{(\\w+)\\}/g, function (all, key) { return String(values[key]); });
}
var groups = {}, sum = 0;
goods.sort(by("price", true));
for (var k = 0; k < goods.length; k++) {
  var g = goods[k], key = g.name.charAt(0);
  (groups[key] = groups[key] || []).push(g);
  sum += g.price * g.stock;
}
var html = "<div class='cards'>", cards = goods.slice(0).sort(by("name")).slice(0, %d);
for (var c = 0; c < cards.length; c++) {
  html += fill("<div class='card'><h4>{name}</h4><span class='price'>{price}</span> <i>{tags}</i><p>{stock} left</p></div>", cards[c]);
}
html += "</div><table class='data'><tr><th>group</th><th>goods</th><th>dearest</th><th>names</th></tr>";
for (var letter in groups) {
  var list = groups[letter];
  html += fill("<tr><td>{a}</td><td>{b}</td><td>{c}</td><td>{d}</td></tr>", {a: letter, b: list.length, c: list[0].price.toFixed(2),
      d: list.map(function (g) { return g.name.toLowerCase(); }).slice(0, 12).join(", ")});
}
document.write(html + "</table><p>" + sum.toFixed(2) + "</p>");
"""


def page(draw, sections):
    out = ["<!DOCTYPE html><html><head><meta charset='utf-8'><title>%s</title>" % word(draw)]
    out.append("<style>%s</style></head><body>" % sheet(draw))
    out.append("<div id='top'><ul>%s</ul></div>" % "".join("<li><a href='#'>%s</a></li>" % word(draw) for _ in range(9)))
    out.append("<div id='side'><ul>%s</ul></div><div id='main'>" % "".join("<li>%s</li>" % word(draw) for _ in range(40)))
    rows = "".join("<tr><td>%s</td><td>%s</td></tr>" % (word(draw), sentence(draw, True)) for _ in range(12))
    out.append("<h1>%s</h1><div class='box'><table>%s</table></div>" % (word(draw).title(), rows))
    for number in range(sections):
        out.append("<div class='section'><h2 id='s%d'>%s</h2>" % (number, word(draw).title()))
        out.extend(paragraph(draw) for _ in range(draw.randint(1, 4)))
        kind = draw.randint(0, 3)
        if kind == 0:
            out.append("<ul>%s</ul>" % "".join("<li>%s</li>" % sentence(draw, True) for _ in range(draw.randint(3, 9))))
        elif kind == 1:
            cells = lambda tag: "".join("<%s>%s</%s>" % (tag, word(draw), tag) for _ in range(5))
            body = "".join("<tr>%s</tr>" % cells("td") for _ in range(draw.randint(4, 14)))
            out.append("<table class='data'><tr>%s</tr>%s</table>" % (cells("th"), body))
        elif kind == 2:
            out.append("<blockquote>%s</blockquote>" % sentence(draw, False))
        out.append("</div>")
    out.append("<script>%s</script>" % (SCRIPT % (draw.randint(1, 1 << 30), 60 * sections, 4 * sections)))
    out.append("</div></body></html>")
    return "\n".join(out)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("make_pages.py: expected a folder, a number of pages and a number of sections")
    for index in range(int(sys.argv[2])):
        with open("%s/page%02d.html" % (sys.argv[1], index), "w") as file:
            file.write(page(random.Random(index), int(sys.argv[3])))
