// A table whose rows are put in order by the head of a column.

import { element, label, scrollBox } from "./dom.js";
import { cell, share } from "./format.js";
import { inPages } from "./pages.js";

const rowsPerPage = 48;

const isMissing = (value) => value === null || value === undefined;

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/** The items in another order; those without a value come last, whichever the direction. */
export const byColumn = (items, column, direction) =>
  [...items].sort(({ [column]: a }, { [column]: b }) =>
    isMissing(a) || isMissing(b) ? isMissing(a) - isMissing(b) : direction * compare(a, b),
  );

/** `prose` is the column, if any, whose text is wrapped instead of cut; `shares` are those of numbers of 0..1. */
export function sortableTable({ title, columns, items, prose, shares = [] }) {
  const shown = items.some(({ features }) => features !== undefined) ? [...columns, "features"] : columns;
  const numeric = new Set(shown.filter((column) => items.some((item) => typeof item[column] === "number")));
  const body = element("tbody");
  const shownCell = (item, column) => (shares.includes(column) ? share(item[column]) : cell(item[column]));
  const rowOf = (item) =>
    element(
      "tr",
      {},
      shown.map((column) =>
        column === prose
          ? element("td", { class: "prose-cell" }, cell(item[column]))
          : element("td", { class: numeric.has(column) && "number" }, label(shownCell(item, column))),
      ),
    );
  const pages = inPages(items, rowsPerPage, body, rowOf);

  function sort(head, column) {
    const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
    pages.restart(byColumn(items, column, direction));
  }

  const headOf = (column) => {
    const head = element("th", { scope: "col", class: numeric.has(column) && "number" });
    head.append(
      column === "features" ? column : element("button", { type: "button", onclick: () => sort(head, column) }, column),
    );
    return head;
  };

  return [
    scrollBox(
      title,
      element("table", { class: "plain sortable" }, element("thead", {}, element("tr", {}, shown.map(headOf))), body),
    ),
    pages.button,
  ];
}
