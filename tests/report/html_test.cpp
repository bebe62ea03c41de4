#include "report/html.hpp"

#include "support.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <stdexcept>

namespace duplex::report {
namespace {

using nlohmann::json;
using testing::refusal;

constexpr std::string_view tiny_template = "<script id=d>{{report-data}}</script><script>go()</script>";

std::string data_in(const std::string &page) {
  const std::size_t begin = page.find('>') + 1;
  return page.substr(begin, page.find("</script>") - begin);
}

std::string data_of(const json &data) { return data_in(html_page(tiny_template, data)); }

TEST(ReportHtml, PutsTheDataInTheirPlaceAndKeepsTheRest) {
  EXPECT_EQ(html_page(tiny_template, {{"title", "Trust"}}),
            R"(<script id=d>{"title":"Trust"}</script><script>go()</script>)");
}

TEST(ReportHtml, LabelsCannotEndTheScriptOrOpenAComment) {
  const std::string written = data_of({"</script><script>alert(1)</script>", "<!--", "]]>", "&lt;"});
  EXPECT_EQ(written.find_first_of("<>&"), std::string::npos) << written;
  EXPECT_CONTAINS(written, R"(\u003c/script\u003e)");
}

TEST(ReportHtml, KeysAreEscapedAsValuesAre) { EXPECT_EQ(data_of({{"</script>", 1}}), R"({"\u003c/script\u003e":1})"); }

TEST(ReportHtml, LineAndParagraphSeparatorsAreEscapedAndTheirNeighboursAreNot) {
  EXPECT_EQ(data_of("a\u2028b\u2029c\u2027d→"), "\"a\\u2028b\\u2029c\u2027d→\"");
}

TEST(ReportHtml, WhatWasEscapedReadsBackAsItWas) {
  const json data = {{"a", "</script>\u2028 & <b> \"quoted\" \\ \n é → 😀"}, {"b", {1, 2.5, nullptr, true}}};
  EXPECT_EQ(json::parse(data_of(data)), data);
}

TEST(ReportHtml, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(data_of("a\xFF\xE2\x80"
                    "b"),
            "\"a\uFFFD\uFFFDb\"");
}

TEST(ReportHtml, NumbersThatAreNotFiniteAreNull) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(data_of({std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}), "[null,null,null]");
}

TEST(ReportHtml, DataThatLookLikeThePlaceStayData) { EXPECT_EQ(data_of("{{report-data}}"), "\"{{report-data}}\""); }

TEST(ReportHtml, ATemplateWithoutAPlaceIsRefused) {
  const std::string message = refusal<std::runtime_error>([] { (void)html_page("<html></html>", json::object()); });
  EXPECT_CONTAINS(message, "no place for its data");
}

TEST(ReportHtml, TheToolsOwnPageHoldsTheDataOrTheReasonWhyItIsNotThere) {
  if (html_available()) {
    EXPECT_CONTAINS(html_page({{"title", "<i>"}}), R"(id="report-data">{"title":"\u003ci\u003e"}</script>)");
  } else {
    const std::string message = refusal<std::runtime_error>([] { (void)html_page(json::object()); });
    EXPECT_EQ(message, html_unavailable_reason);
  }
}

} // namespace
} // namespace duplex::report
