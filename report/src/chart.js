// What all charts share: colours, size, marks, legends and the same values as a table.

import { dot, pointerX, ruleX, text, tip } from "@observablehq/plot";
import { element, freshId, label, scrollBox, svg } from "./dom.js";
import { cut, number } from "./format.js";

const colours = 8;
const dashes = ["", "8 3", "2 3", "8 3 2 3"];
const rowsInTable = 40;
const markLine = 15;

export const colour = (i) => `var(--series-${i % colours})`;
export const dash = (i) => dashes[i % dashes.length];

/** Draws again whenever the place for it becomes wider or narrower. */
export function responsive(draw) {
  const frame = element("div", { class: "chart" });
  let width = 0;
  new ResizeObserver(() => {
    const available = Math.floor(frame.clientWidth);
    if (available === 0 || available === width) return;
    width = available;
    frame.replaceChildren(draw(width));
  }).observe(frame);
  return frame;
}

export const look = (width, description) => ({
  width,
  height: Math.round(Math.min(340, Math.max(220, width * 0.52))),
  marginTop: 28,
  marginRight: 16,
  marginBottom: 42,
  ariaLabel: description,
  style: { fontFamily: "inherit", fontSize: "12px", background: "none", overflow: "visible" },
});

/** Room for the numbers at the ticks, which are rounder than the values. */
export const marginLeftOf = (values) =>
  18 + 7 * Math.max(3, ...values.map((value) => number(Number(value.toPrecision(2))).length));

const lineSwatch = (i) =>
  svg(
    "svg",
    { class: "swatch", viewBox: "0 0 26 10", "aria-hidden": "true" },
    svg("line", { x1: 0, x2: 26, y1: 5, y2: 5, stroke: colour(i), "stroke-width": 2.5, "stroke-dasharray": dash(i) }),
  );

const barSwatch = (i) =>
  element("span", { class: "swatch bar", "--fill": colour(i), "data-hatched": i % 2 === 1, "aria-hidden": "true" });

export const legend = (names, bars = false) =>
  element(
    "ul",
    { class: "legend" },
    names.map((name, i) => element("li", {}, bars ? barSwatch(i) : lineSwatch(i), label(name))),
  );

/** Dashed lines across the chart, each with its label, beneath one another where they would collide. */
export function verticalMarks(marks, [from, to]) {
  const known = (marks ?? []).filter((mark) => Number.isFinite(mark.x));
  const leans = (mark) => (mark.x > (from + to) / 2 ? "end" : "start");
  return [
    ruleX(known, { x: "x", stroke: "var(--ink)", strokeDasharray: "3 3", strokeWidth: 1.2 }),
    ...known.map((mark, i) =>
      text([mark], {
        x: "x",
        text: () => cut(mark.label, 32),
        frameAnchor: "top",
        textAnchor: leans(mark),
        dx: leans(mark) === "end" ? -6 : 6,
        dy: 3 + markLine * i,
        lineAnchor: "top",
        fill: "var(--ink)",
        stroke: "var(--surface)",
        strokeWidth: 4,
        fontWeight: 600,
      }),
    ),
  ];
}

/** The values at the pointer; `title` tells what to show of a point {x, y}. */
export const hover = (points, title) => [
  ruleX(points, pointerX({ x: "x", py: "y", stroke: "var(--muted)", strokeWidth: 1 })),
  dot(points, pointerX({ x: "x", y: "y", r: 4, fill: "var(--surface)", stroke: "var(--ink)", strokeWidth: 2 })),
  tip(
    points,
    pointerX({
      x: "x",
      y: "y",
      title,
      fontSize: 12,
      lineHeight: 1.35,
      fill: "var(--surface)",
      stroke: "var(--line-strong)",
    }),
  ),
];

/** At most so many of them, evenly, with the first and the last. */
export function sample(values, count) {
  if (values.length <= count) return values;
  return Array.from({ length: count }, (_, i) => values[Math.round((i * (values.length - 1)) / (count - 1))]);
}

/** What the chart shows, for those who cannot see or point at it. */
export function valuesTable(title, columns, rows) {
  const shown = sample(rows, rowsInTable);
  const row = ([head, ...cells]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, head),
      cells.map((value) => element("td", {}, number(value))),
    );
  return element(
    "details",
    {},
    element("summary", {}, "Values", element("span", { class: "for-readers" }, ` of ${title}`)),
    scrollBox(
      `Values of ${title}`,
      element(
        "table",
        { class: "plain numbers" },
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            columns.map((name) => element("th", { scope: "col" }, label(name))),
          ),
        ),
        element("tbody", {}, shown.map(row)),
      ),
    ),
    shown.length < rows.length &&
      element("p", { class: "note" }, `${number(shown.length)} of ${number(rows.length)} points, evenly taken.`),
  );
}

/** A chart with its title, the drawing and the table. */
export function panel(title, ...content) {
  const id = freshId("panel");
  return element(
    "figure",
    { class: "panel", role: "group", "aria-labelledby": title ? id : undefined },
    title && element("figcaption", {}, element("h3", { id }, label(title))),
    ...content,
  );
}
