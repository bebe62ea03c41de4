import { element, freshId, label } from "./dom.js";
import { moment } from "./format.js";
import { curves } from "./sections/curves.js";
import { histogram } from "./sections/histogram.js";
import { matrix } from "./sections/matrix.js";
import { suspects } from "./sections/suspects.js";
import { table } from "./sections/table.js";
import { text } from "./sections/text.js";

const kinds = { curves, histogram, matrix, suspects, table, text };

function contentOf(section) {
  const draw = Object.hasOwn(kinds, section.kind) ? kinds[section.kind] : undefined;
  if (!draw) return [element("p", { class: "empty" }, `This page cannot show a section of kind “${section.kind}”.`)];
  try {
    return draw(section);
  } catch (problem) {
    console.error(problem);
    return [element("p", { class: "empty" }, "This section could not be drawn.")];
  }
}

function sectionOf(section) {
  const id = freshId("section");
  const heading = `${id}-title`;
  return element(
    "section",
    { id, class: section.kind, "aria-labelledby": heading },
    element("h2", { id: heading }, section.title ?? ""),
    section.note && element("p", { class: "note" }, section.note),
    contentOf(section),
  );
}

/** What is technical is folded away, for those who want to know. */
const folded = (sections) =>
  element("details", { class: "folded" }, element("summary", {}, "Technical details"), sections);

const cautions = (warnings) =>
  element(
    "aside",
    { class: "cautions", "aria-label": "Warnings" },
    element("h2", {}, warnings.length === 1 ? "Before you rely on this" : `${warnings.length} things to know before you rely on this`),
    element(
      "ul",
      {},
      warnings.map(({ code, text: sentence }) => element("li", { "data-code": code }, sentence)),
    ),
  );

const tile = ({ label: name, value, note, tone }) =>
  element(
    "div",
    { class: "tile", "data-tone": tone },
    element("dt", { title: name }, name),
    element("dd", { class: "value" }, label(value)),
    note && element("dd", { class: "remark" }, note),
  );

function header(data) {
  const made = [data.version && `Duplex ${data.version}`, data.generated && moment(data.generated)].filter(Boolean);
  return element(
    "header",
    {},
    element("h1", {}, data.title ?? "Report"),
    data.subtitle && element("p", { class: "subtitle" }, data.subtitle),
    made.length > 0 && element("p", { class: "made" }, made.join(" · ")),
  );
}

const contents = (sections) =>
  element(
    "nav",
    { "aria-label": "Sections" },
    element(
      "ul",
      {},
      sections.map((section) => element("li", {}, linkTo(section))),
    ),
  );

const linkTo = (section) => element("a", { href: `#${section.id}` }, section.querySelector("h2").textContent);

function show(data) {
  const parts = data.sections ?? [];
  const sections = parts.filter(({ technical }) => !technical).map(sectionOf);
  const details = parts.filter(({ technical }) => technical).map(sectionOf);
  document.title = data.title ?? "Report";
  document
    .getElementById("page")
    .replaceChildren(
      header(data),
      ...(data.warnings?.length ? [cautions(data.warnings)] : []),
      ...(data.headline?.length
        ? [element("dl", { class: "tiles", "aria-label": "Key figures" }, data.headline.map(tile))]
        : []),
      ...(sections.length > 2 ? [contents(sections)] : []),
      element("main", {}, sections, details.length > 0 && folded(details)),
      element("footer", {}, "This file holds all that it shows and asks nothing of the network."),
    );
}

show(JSON.parse(document.getElementById("report-data").textContent));
