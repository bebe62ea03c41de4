#include "report/svg_markup.hpp"

#include "report/text.hpp"

#include <fmt/format.h>

namespace duplex::report::svg {
namespace {

constexpr double bold_scale = 1.15;
constexpr double exponent_scale = 0.72;
constexpr double exponent_rise = 0.42;

/// In units of the font's size, on the wide side of the common sans-serif fonts.
double units_of(const Glyph &glyph) {
  if (glyph.combining) {
    return 0;
  }
  if (glyph.code >= 0x80) {
    return 0.68;
  }
  constexpr std::string_view narrow = " !',.:;|ijl()[]ftrI";
  constexpr std::string_view wide = "mwMW@%";
  const char c = static_cast<char>(glyph.code);
  if (narrow.find(c) != std::string_view::npos) {
    return 0.34;
  }
  if (wide.find(c) != std::string_view::npos) {
    return 0.9;
  }
  return 'A' <= c && c <= 'Z' ? 0.68 : 0.58;
}

std::string cut(std::string_view content, double size, double room) {
  double used = size; // of the ellipsis
  std::string result;
  for (const Glyph &glyph : glyphs(content)) {
    used += units_of(glyph) * size;
    if (used > room) {
      break;
    }
    result += glyph.bytes;
  }
  return result + "…";
}

std::string element(double x, double y, const Type &type, std::string_view markup) {
  std::string result = fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"", number(x), number(y),
                                   number(type.size), type.colour);
  if (type.anchor != "start") {
    result += fmt::format(" text-anchor=\"{}\"", type.anchor);
  }
  if (type.bold) {
    result += " font-weight=\"600\"";
  }
  if (type.degrees != 0) {
    result += fmt::format(" transform=\"rotate({} {} {})\"", number(type.degrees), number(x), number(y));
  }
  return result + fmt::format(">{}</text>\n", markup);
}

} // namespace

std::string number(double value) {
  std::string result = fmt::format("{:.2f}", value);
  result.erase(result.find_last_not_of('0') + 1);
  if (result.ends_with('.')) {
    result.pop_back();
  }
  return result == "-0" ? "0" : result;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const Glyph &glyph : glyphs(text)) {
    switch (glyph.code) {
    case U'<':
      result += "&lt;";
      break;
    case U'>':
      result += "&gt;";
      break;
    case U'&':
      result += "&amp;";
      break;
    case U'"':
      result += "&quot;";
      break;
    default:
      result += glyph.bytes;
    }
  }
  return result;
}

double width_of(std::string_view text, double size) {
  double units = 0;
  for (const Glyph &glyph : glyphs(text)) {
    units += units_of(glyph);
  }
  return units * size;
}

double width_of(const Tick &tick, double size) {
  const double raised = tick.exponent ? width_of(fmt::format("{}", *tick.exponent), size * exponent_scale) : 0.0;
  return width_of(tick.text, size) + raised;
}

std::string text(double x, double y, std::string_view content, const Type &type, double room) {
  const double size = type.bold ? bold_scale * type.size : type.size;
  if (width_of(content, size) <= room) {
    return element(x, y, type, escaped(content));
  }
  const std::string shown = escaped(cut(content, size, room));
  return element(x, y, type, fmt::format("{}<title>{}</title>", shown, escaped(content)));
}

std::string text(double x, double y, const Tick &tick, const Type &type) {
  if (!tick.exponent) {
    return element(x, y, type, escaped(tick.text));
  }
  // A shift by dy, for not all browsers know baseline-shift.
  const std::string power =
      *tick.exponent < 0 ? fmt::format("−{}", -*tick.exponent) : fmt::format("{}", *tick.exponent);
  return element(x, y, type,
                 fmt::format("{}<tspan dy=\"{}\" font-size=\"{}\">{}</tspan>", escaped(tick.text),
                             number(-exponent_rise * type.size), number(exponent_scale * type.size), power));
}

std::string line(double x1, double y1, double x2, double y2) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", number(x1), number(y1), number(x2),
                     number(y2));
}

} // namespace duplex::report::svg
