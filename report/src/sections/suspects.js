import { element, label } from "../dom.js";
import { share } from "../format.js";
import { inPages } from "../pages.js";
import { picture } from "../picture.js";
import { byColumn, sortableTable } from "../sortable.js";

const picturesPerPage = 24;
const shares = ["trust", "probability"];

const measure = (name, value) =>
  element("div", { class: "measure" }, element("dt", {}, name), element("dd", {}, share(value)));

const usualNames = { given: "given label", suggested: "suggested label" };

const verdict = (item, names) =>
  element(
    "p",
    { class: "verdict" },
    element("span", { class: "for-readers" }, `${names.given} `),
    label(item.given, { class: "given" }),
    element("span", { class: "arrow", "aria-hidden": "true" }, "→"),
    element("span", { class: "for-readers" }, `, ${names.suggested} `),
    label(item.suggested, { class: "suggested" }),
  );

const nameOf = (item) =>
  [`row ${item.row}`, item.id !== undefined && item.id !== String(item.row) && item.id].filter(Boolean).join(" · ");

const cardOf = (image, columns, names) => (item) =>
  element(
    "li",
    { class: "suspect" },
    picture(image, item.pixels, `Row ${item.row}, ${names.given} ${item.given}`),
    verdict(item, names),
    element(
      "dl",
      {},
      shares.filter((name) => columns.includes(name)).map((name) => measure(name, item[name])),
    ),
    element("p", { class: "origin" }, label(nameOf(item))),
  );

function gallery({ title, image, columns, items, names = usualNames }) {
  const list = element("ol", { class: "gallery", "aria-label": title });
  const pages = inPages(items, picturesPerPage, list, cardOf(image, columns, names));
  const reorder = ({ target }) => pages.restart(target.value ? byColumn(items, target.value, 1) : items);
  const order = element(
    "label",
    {},
    "Sorted by ",
    element(
      "select",
      { onchange: reorder },
      element("option", { value: "" }, "rank"),
      columns.map((column) => element("option", { value: column }, column)),
    ),
  );
  const key = element("span", {}, `${names.given} → `, element("strong", {}, names.suggested));
  return [element("div", { class: "order" }, key, items.length > 1 && order), list, pages.button];
}

export function suspects(section) {
  const { image, items = [], columns = ["row", "given", "suggested", "trust"] } = section;
  if (items.length === 0) {
    return [element("p", { class: "empty" }, section.empty ?? "No suspects: no label stands out as wrong.")];
  }
  return image ? gallery({ ...section, columns }) : sortableTable({ ...section, columns, shares });
}
