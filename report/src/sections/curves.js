import { dot, line, plot } from "@observablehq/plot";
import {
  colour,
  dash,
  hover,
  legend,
  look,
  marginLeftOf,
  panel,
  responsive,
  sample,
  valuesTable,
  verticalMarks,
} from "../chart.js";
import { element } from "../dom.js";
import { number } from "../format.js";

const pointsPerCurve = 4000;
const markersUpTo = 25;

const isShown = (value, logY) => typeof value === "number" && Number.isFinite(value) && (!logY || value > 0);

function pointsOf(series, logY) {
  const points = (series.x ?? [])
    .map((x, i) => ({ name: series.name, x, y: isShown(series.y?.[i], logY) ? series.y[i] : NaN }))
    .filter(({ x }) => typeof x === "number");
  return sample(points, pointsPerCurve);
}

const isAlone = (points, i) =>
  !Number.isNaN(points[i].y) && Number.isNaN(points[i - 1]?.y ?? NaN) && Number.isNaN(points[i + 1]?.y ?? NaN);

const dotted = (points) => points.filter((_, i) => points.length <= markersUpTo || isAlone(points, i));

function byX(curves) {
  const found = new Map();
  for (const { points } of curves) {
    for (const point of points) found.set(point.x, [...(found.get(point.x) ?? []), point]);
  }
  return found;
}

const extent = (values) => [
  values.reduce((a, b) => Math.min(a, b), Infinity),
  values.reduce((a, b) => Math.max(a, b), -Infinity),
];

function describe({ title, x_label: xLabel }, curves) {
  const parts = curves.map(({ name, points }) => {
    const known = points.filter(({ y }) => !Number.isNaN(y));
    return known.length
      ? `${name} goes from ${number(known[0].y)} to ${number(known.at(-1).y)}`
      : `${name} has no values`;
  });
  return `${title ?? "Curves"} against ${xLabel ?? "x"}: ${parts.join("; ")}.`;
}

function draw(width, chart, curves, together) {
  const all = curves.flatMap(({ points }) => points);
  const known = all.filter(({ y }) => !Number.isNaN(y));
  const domain = extent([...all, ...(chart.marks ?? [])].map(({ x }) => x).filter(Number.isFinite));
  const heading = `${chart.x_label ? `${chart.x_label} ` : ""}`;
  const told = ({ x }) =>
    [`${heading}${number(x)}`, ...together.get(x).map((point) => `${point.name}: ${number(point.y)}`)].join("\n");
  return plot({
    ...look(width, describe(chart, curves)),
    marginLeft: marginLeftOf(extent(known.map(({ y }) => y))),
    x: {
      label: chart.x_label ?? null,
      domain,
      ticks: Math.max(3, Math.floor(width / 90)),
      tickFormat: number,
      nice: false,
    },
    y: {
      label: chart.y_label ?? null,
      type: chart.log_y ? "log" : "linear",
      grid: true,
      ticks: 5,
      nice: chart.log_y ? false : 5,
      tickFormat: number,
    },
    marks: [
      ...curves.map(({ points, style }) =>
        line(points, {
          x: "x",
          y: "y",
          stroke: colour(style),
          strokeWidth: 2,
          strokeDasharray: dash(style),
          className: "curve",
        }),
      ),
      ...curves.map(({ points, style }) => dot(dotted(points), { x: "x", y: "y", r: 2.5, fill: colour(style) })),
      ...verticalMarks(chart.marks, domain),
      ...hover(known, told),
    ],
  });
}

function panelOf(chart, styleOf) {
  const curves = (chart.series ?? []).map((series) => ({
    name: series.name ?? "",
    style: styleOf(series.name),
    points: pointsOf(series, chart.log_y),
  }));
  const together = byX(curves);
  const drawable = curves.some(({ points }) => points.some(({ y }) => !Number.isNaN(y)));
  if (!drawable) return panel(chart.title, element("p", { class: "empty" }, "No values."));
  const rows = [...together.keys()]
    .sort((a, b) => a - b)
    .map((x) => [number(x), ...curves.map(({ name }) => together.get(x).find((point) => point.name === name)?.y)]);
  return panel(
    chart.title,
    responsive((width) => draw(width, chart, curves, together)),
    valuesTable(chart.title ?? "the curves", [chart.x_label ?? "x", ...curves.map(({ name }) => name)], rows),
  );
}

export function curves({ panels = [], x_label: xLabel }) {
  if (panels.length === 0) return [element("p", { class: "empty" }, "No curves.")];
  const compared = panels.filter(({ series = [] }) => series.length > 1);
  const names = [...new Set(compared.flatMap(({ series }) => series.map(({ name }) => name)))];
  const styleOf = (name) => Math.max(0, names.indexOf(name));
  return [
    names.length > 0 && legend(names),
    element(
      "div",
      { class: "panels", "data-count": panels.length },
      panels.map((chart) => panelOf({ x_label: xLabel, ...chart }, styleOf)),
    ),
  ];
}
