// Long lists, a page at a time.

import { element } from "./dom.js";
import { number } from "./format.js";

/** Fills `list` with the first items, and gives a button that adds the next ones and `restart` for another order. */
export function inPages(items, size, list, draw) {
  let order = items;
  let shown = 0;
  const status = element("span", { role: "status" });
  const more = element("button", { type: "button", onclick: () => add(true) });
  const button = element("p", { class: "more" }, more, status);

  function add(byHand = false) {
    const next = order.slice(shown, shown + size).map(draw);
    shown += next.length;
    list.append(...next);
    const left = order.length - shown;
    button.hidden = left === 0 && !byHand;
    more.hidden = left === 0;
    more.textContent = `Show ${number(Math.min(size, left))} more`;
    status.textContent = `${number(shown)} of ${number(order.length)} shown`;
  }

  function restart(other) {
    order = other;
    shown = 0;
    list.replaceChildren();
    add();
  }

  add();
  return { button, restart };
}
