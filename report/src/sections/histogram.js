import { plot, rectY, ruleY } from "@observablehq/plot";
import { colour, hover, legend, look, marginLeftOf, panel, responsive, valuesTable, verticalMarks } from "../chart.js";
import { element, freshId, svg } from "../dom.js";
import { number } from "../format.js";

function hatch(i) {
  const id = freshId("hatch");
  const pattern = svg(
    "pattern",
    { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("rect", { width: 6, height: 6, fill: colour(i) }),
    svg("rect", { width: 1.6, height: 6, fill: "var(--surface)", "fill-opacity": 0.55 }),
  );
  return { paint: `url(#${id})`, pattern };
}

/** Bars on top of one another: each with its bin, and where it begins and ends. */
function stacked(edges, series) {
  const bins = edges.slice(1).map((to, i) => ({ from: edges[i], to, x: (edges[i] + to) / 2, y: 0, index: i }));
  const bars = series.map(({ counts = [] }, s) =>
    bins.map((bin) => {
      const below = bin.y;
      bin.y += Number.isFinite(counts[bin.index]) ? counts[bin.index] : 0;
      return { x1: bin.from, x2: bin.to, y1: below, y2: bin.y, s };
    }),
  );
  return { bins, bars };
}

function draw(width, section, bins, bars) {
  const { edges, series, x_label: xLabel } = section;
  const patterns = [];
  const paintOf = (s) => {
    if (s % 2 === 0) return colour(s);
    const { paint, pattern } = hatch(s);
    patterns.push(pattern);
    return paint;
  };
  const domain = [edges[0], edges.at(-1)];
  const told = (bin) =>
    [
      `${xLabel ?? "x"} ${number(bin.from)} to ${number(bin.to)}`,
      ...series.map(({ name, counts }) => `${name}: ${number(counts?.[bin.index])}`),
    ].join("\n");
  const largest = bins.reduce((most, { y }) => Math.max(most, y), 0);
  const drawing = plot({
    ...look(
      width,
      `${section.title}: ${bins.length} bins of ${xLabel ?? "x"} from ${number(domain[0])} to ${number(domain[1])}.`,
    ),
    marginLeft: marginLeftOf([largest]),
    x: { label: xLabel ?? null, domain, tickFormat: number, ticks: Math.max(3, Math.floor(width / 90)) },
    y: { label: "rows", grid: true, ticks: 5, nice: 5, tickFormat: number, domain: [0, largest] },
    marks: [
      ...bars.map((bar, s) =>
        rectY(bar, { x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: paintOf(s), inset: 0.5, className: "bars" }),
      ),
      ruleY([0], { stroke: "var(--line-strong)" }),
      ...verticalMarks(section.marks, domain),
      ...hover(bins, told),
    ],
  });
  drawing.prepend(svg("defs", {}, patterns));
  return drawing;
}

export function histogram(section) {
  const { title, edges = [], series = [] } = section;
  const { bins, bars } = stacked(edges, series);
  if (!bins.some(({ y }) => y > 0)) return [element("p", { class: "empty" }, "Nothing to count.")];
  const rows = bins.map((bin) => [
    `${number(bin.from)} to ${number(bin.to)}`,
    ...series.map(({ counts }) => counts?.[bin.index]),
  ]);
  return [
    series.length > 1 &&
      legend(
        series.map(({ name }) => name),
        true,
      ),
    panel(
      undefined,
      responsive((width) => draw(width, section, bins, bars)),
      valuesTable(title, [section.x_label ?? "bin", ...series.map(({ name }) => name)], rows),
    ),
  ];
}
