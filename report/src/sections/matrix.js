import { element, label, scrollBox } from "../dom.js";
import { number } from "../format.js";

const numbersUpTo = 20;
const classesUpTo = 100;
const pairsListed = 8;

const count = (value) => (Number.isFinite(value) ? value : 0);

/** The cells that hold something, the largest first. */
function filled({ rows, columns, values }) {
  const cells = [];
  values.forEach((row, r) =>
    row.forEach((value, c) => {
      if (count(value) > 0) cells.push({ r, c, value, diagonal: rows[r] === columns[c] });
    }),
  );
  return cells.sort((a, b) => b.value - a.value);
}

/** The same matrix with only the classes that have most in their row or column, in the same order. */
function busiest(matrix, limit) {
  const weight = new Map();
  for (const { r, c, value } of filled(matrix)) {
    for (const name of [matrix.rows[r], matrix.columns[c]]) weight.set(name, (weight.get(name) ?? 0) + value);
  }
  const kept = new Set(
    [...weight]
      .sort((a, b) => b[1] - a[1])
      .slice(0, limit)
      .map(([name]) => name),
  );
  const indices = (names) => names.map((name, i) => (kept.has(name) ? i : -1)).filter((i) => i >= 0);
  const [r, c] = [indices(matrix.rows), indices(matrix.columns)];
  return {
    rows: r.map((i) => matrix.rows[i]),
    columns: c.map((i) => matrix.columns[i]),
    values: r.map((i) => c.map((j) => matrix.values[i]?.[j])),
  };
}

/** Where the text must change its colour to stay legible: at 1 on dark paper, at 2 on white. */
const depthOf = (strength) => (strength > 0.8 ? 2 : strength > 0.63 ? 1 : undefined);

function cellOf(value, strength, { diagonal, compact, tooltip }) {
  const something = count(value) > 0;
  const attributes = {
    class: diagonal && "diagonal",
    "data-depth": depthOf(strength),
    "--strength": something && strength.toFixed(3),
    title: something && tooltip,
  };
  if (compact) return element("td", attributes, something && element("span", { class: "for-readers" }, number(value)));
  return element(
    "td",
    attributes,
    something ? number(value) : element("span", { class: "nought" }, diagonal ? "" : "0"),
  );
}

/** The largest value that gives the others their strength; what is right would outshine what is wrong. */
function largestOf({ rows, columns, values }, wrong) {
  const cells = filled({ rows, columns, values }).filter(({ diagonal }) => !wrong || !diagonal);
  return cells.length > 0 ? cells[0].value : 1;
}

/** Characters of the longest name. */
const longestOf = (names) => names.reduce((most, name) => Math.max(most, String(name ?? "").length), 1);

function grid({ rows, columns, values }, names) {
  const compact = Math.max(rows.length, columns.length) > numbersUpTo;
  const largest = largestOf({ rows, columns, values }, names.wrong);
  const strengthOf = (value) => Math.min(1, count(value) / largest) ** (compact ? 0.6 : 1);
  const rowOf = (name, r) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, label(name)),
      columns.map((column, c) =>
        cellOf(values[r]?.[c], names.wrong && name === column ? 0.25 * (values[r]?.[c] > 0) : strengthOf(values[r]?.[c]), {
          diagonal: name === column,
          compact,
          tooltip: `${name} → ${column}: ${number(values[r]?.[c])}${names.unit}`,
        }),
      ),
    );
  return element(
    "table",
    { class: `heat${compact ? " compact" : ""}${names.wrong ? " wrong" : ""}`, "--columns": columns.length, "--head": `${longestOf(rows)}ch` },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th", { class: "corner", scope: "col" }, `${names.row} ↓ ${names.column} →`),
        columns.map((column) => element("th", { scope: "col" }, label(column))),
      ),
    ),
    element("tbody", {}, rows.map(rowOf)),
  );
}

const pairOf =
  ({ rows, columns }, most, unit) =>
  ({ r, c, value }) =>
    element(
      "li",
      {},
      element("span", { class: "pair" }, label(rows[r]), element("span", { class: "target" }, "→ ", label(columns[c]))),
      element("span", { class: "count" }, `${number(value)}${unit}`),
      element("span", { class: "gauge", "aria-hidden": "true", "--share": `${(100 * value) / most}%` }),
    );

export function matrix(section) {
  const {
    title,
    rows = [],
    columns = [],
    values = [],
    row_label: row = "row",
    column_label: column = "column",
    wrong = false,
    unit: unitName,
  } = section;
  const unit = unitName ? ` ${unitName}` : "";
  const whole = { rows, columns, values };
  const cells = filled(whole);
  if (cells.length === 0) return [element("p", { class: "empty" }, "Nothing to count.")];
  const isCut = Math.max(rows.length, columns.length) > classesUpTo;
  const pairs = cells.filter(({ diagonal }) => !diagonal).slice(0, pairsListed);
  return [
    isCut &&
      element(
        "p",
        { class: "note" },
        `The ${classesUpTo} classes with the most in them, of ${number(Math.max(rows.length, columns.length))}.`,
      ),
    element(
      "div",
      { class: "beside" },
      element(
        "div",
        { class: "panel" },
        scrollBox(title, grid(isCut ? busiest(whole, classesUpTo) : whole, { row, column, wrong, unit })),
      ),
      pairs.length > 1 &&
        element(
          "div",
          { class: `panel pairs${wrong ? " wrong" : ""}` },
          element("h3", {}, "Most frequent"),
          element("ol", {}, pairs.map(pairOf(whole, pairs[0].value, unit))),
        ),
    ),
  ];
}
