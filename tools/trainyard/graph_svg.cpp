// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/graph_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "messages/printable.h"
#include "tools/trainyard/layered_layout.h"

namespace trainyard::tools {
namespace {

// The text is in a monospaced font, so that its width can be computed.
constexpr double kNameWidth = 8.5;   ///< The width of a character in the name of a component, at 14 px.
constexpr double kSmallWidth = 6.7;  ///< The width of a character in all other texts, at 11 px.
constexpr double kLineHeight = 15;
constexpr double kPadding = 10;

constexpr const char* kGraphStyle =
    "svg{--back:#fff;--ink:#1f2430;--soft:#5b6475;--box:#eef4ff;--edge:#3b6fd4;--topic:#f6f7f9;--line:#9aa3b5}"
    "@media(prefers-color-scheme:dark){svg{--back:#14171f;--ink:#e8ebf2;--soft:#a3adc0;--box:#1d2a44;--edge:#7ea6f5;"
    "--topic:#20242e;--line:#6b7488}}"
    "text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;fill:var(--soft)}"
    ".name{font-size:14px;font-weight:600;fill:var(--ink)}"
    ".topic text{fill:var(--ink)}"
    ".component rect{fill:var(--box);stroke:var(--edge);stroke-width:1.5}"
    ".topic rect{fill:var(--topic);stroke:var(--line)}"
    "path{fill:none;stroke:var(--line);stroke-width:1.3}"
    "marker path{fill:var(--line);stroke:none}";

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : printable_line(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

/// Returns the second line in the box of a component.
std::string subtitle(const GraphNode& node) {
  if (node.plugin.empty()) return "program";
  return node.plugin == node.name ? "process " + node.process : node.plugin + ", process " + node.process;
}

LayoutBox box_of(const GraphNode& node) {
  const double width = std::max(kNameWidth * static_cast<double>(node.name.size()),
                                kSmallWidth * static_cast<double>(subtitle(node).size()));
  return {width + 2 * kPadding + 4, 46};
}

LayoutBox box_of(const TopicGroup& group) {
  std::size_t longest = 0;
  for (const std::string& topic : group.topics) longest = std::max(longest, topic.size());
  return {kSmallWidth * static_cast<double>(longest) + 2 * kPadding,
          kLineHeight * static_cast<double>(group.topics.size()) + 9};
}

std::string rectangle(const LayoutBox& box, double radius) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\"/>", box.corner.x,
                     box.corner.y, box.width, box.height, radius);
}

std::string component_svg(const GraphNode& node, const LayoutBox& box) {
  const double middle = box.corner.x + box.width / 2;
  return fmt::format(
      "<g class=\"component\">{}<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>"
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text></g>\n",
      rectangle(box, 8), middle, box.corner.y + 20, xml_text(node.name), middle, box.corner.y + 36,
      xml_text(subtitle(node)));
}

std::string topics_svg(const TopicGroup& group, const LayoutBox& box) {
  std::string text = "<g class=\"topic\">" + rectangle(box, 4);
  double y = box.corner.y + kLineHeight;
  for (const std::string& topic : group.topics) {
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", box.corner.x + kPadding, y, xml_text(topic));
    y += kLineHeight;
  }
  return text + "</g>\n";
}

/// Returns the SVG path of an arrow: a smooth curve that passes through all its points horizontally.
std::string arrow_svg(const LayoutArrow& arrow, bool has_head) {
  if (arrow.points.empty()) return "";
  std::string path = fmt::format("M{:.1f} {:.1f}", arrow.points.front().x, arrow.points.front().y);
  for (std::size_t i = 1; i < arrow.points.size(); ++i) {
    const Point& a = arrow.points[i - 1];
    const Point& b = arrow.points[i];
    const double middle = (a.x + b.x) / 2;
    path += a.y == b.y ? fmt::format("H{:.1f}", b.x)
                       : fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", middle, a.y, middle, b.y, b.x, b.y);
  }
  return fmt::format("<path d=\"{}\"{}/>\n", path, has_head ? " marker-end=\"url(#head)\"" : "");
}

}  // namespace

std::string graph_svg(const Graph& graph) {
  const std::vector<TopicGroup> groups = topic_groups(graph);
  const std::size_t nodes = graph.nodes.size();
  std::vector<LayoutBox> boxes;
  std::vector<LayoutArrow> arrows;
  for (const GraphNode& node : graph.nodes) boxes.push_back(box_of(node));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    boxes.push_back(box_of(groups[g]));
    for (const std::size_t from : groups[g].from) arrows.push_back({from, nodes + g});
    for (const std::size_t to : groups[g].to) arrows.push_back({nodes + g, to});
  }
  const Point size = lay_out(boxes, arrows);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "role=\"img\">\n<title>{2}</title>\n<style>{3}</style>\n"
      "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
      "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"var(--back)\"/>\n",
      size.x, size.y, xml_text(graph.title), kGraphStyle);
  // Only arrows that end at a component have a head.
  for (const LayoutArrow& arrow : arrows) text += arrow_svg(arrow, arrow.to < nodes);
  for (std::size_t i = 0; i < nodes; ++i) text += component_svg(graph.nodes[i], boxes[i]);
  for (std::size_t g = 0; g < groups.size(); ++g) text += topics_svg(groups[g], boxes[nodes + g]);
  return text + "</svg>\n";
}

}  // namespace trainyard::tools
