import { element, label, scrollBox } from "../dom.js";
import { cell } from "../format.js";
import { inPages } from "../pages.js";

const rowsPerPage = 100;

const cellOf = (value, i) =>
  element(
    i === 0 ? "th" : "td",
    i === 0 ? { scope: "row" } : { class: typeof value === "number" && "number" },
    label(cell(value)),
  );

const rowOf = (row) => element("tr", {}, row.map(cellOf));

export function table({ title, columns = [], rows = [] }) {
  if (rows.length === 0) return [element("p", { class: "empty" }, "Nothing to list.")];
  const body = element("tbody");
  return [
    scrollBox(
      title,
      element(
        "table",
        { class: "plain" },
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            columns.map((column, i) =>
              element(
                "th",
                { scope: "col", class: i > 0 && rows.some((row) => typeof row[i] === "number") && "number" },
                label(column),
              ),
            ),
          ),
        ),
        body,
      ),
    ),
    inPages(rows, rowsPerPage, body, rowOf).button,
  ];
}
