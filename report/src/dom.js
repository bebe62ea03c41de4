// Elements whose strings are always text, never markup.

const svgNamespace = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

export const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(svgNamespace, tag), attributes, children);

/** Text that may be too long for its place: cut by the style sheet, whole in the tooltip. */
export function label(text, attributes = {}) {
  const whole = String(text ?? "–");
  return element("span", { ...attributes, class: `label ${attributes.class ?? ""}`.trim(), title: whole }, whole);
}

let lastId = 0;
export const freshId = (stem) => `${stem}-${++lastId}`;

/** A box that scrolls by itself when its content is wider than the page, by keyboard too. */
export const scrollBox = (name, ...children) =>
  element("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": name }, ...children);
