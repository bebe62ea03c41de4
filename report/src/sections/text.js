import { element } from "../dom.js";

export const text = ({ paragraphs = [] }) => [
  element(
    "div",
    { class: "prose" },
    paragraphs.map((paragraph) => element("p", {}, paragraph)),
  ),
];
