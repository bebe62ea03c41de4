// Numbers, dates and labels as people read them.

const thinSpace = "\u202f";
const minus = "\u2212";
const missing = "–";

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

function grouped(digits) {
  const [whole, fraction] = digits.split(".");
  const spaced = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, thinSpace) : whole;
  return fraction === undefined ? spaced : `${spaced}.${fraction}`;
}

/** Three or four significant digits; "–" for what is not a number. */
export function number(value) {
  if (!isNumber(value)) return missing;
  const size = Math.abs(value);
  const sign = value < 0 ? minus : "";
  if (Number.isInteger(value) && size < 1e9) return sign + grouped(String(size));
  if (size < 1e-3 || size >= 1e6) {
    const [mantissa, exponent] = size.toExponential(2).split("e");
    return `${sign}${Number(mantissa)}e${exponent.replace("+", "").replace("-", minus)}`;
  }
  return sign + grouped(String(Number(size.toPrecision(4))));
}

/** A number of 0..1, short enough for a thumbnail. */
export function share(value) {
  if (!isNumber(value)) return missing;
  if (value > 0 && value < 0.001) return "<0.001";
  if (value < 1 && value > 0.999) return ">0.999";
  return String(Number(value.toFixed(3)));
}

/** Whatever a cell of a table holds. */
export function cell(value) {
  if (value === null || value === undefined || value === "") return missing;
  if (typeof value === "number") return number(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.slice(0, 12).map(cell).join(", ") + (value.length > 12 ? ", …" : "");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export const cut = (text, length) => {
  const characters = Array.from(String(text ?? missing));
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : characters.join("");
};

/** "2026-03-01T09:30:00Z" as "1 March 2026, 09:30 UTC"; anything else as it stands. */
export function moment(text) {
  const parts = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(Z?)$/.exec(text);
  if (!parts) return String(text);
  const [, year, month, day, time, zulu] = parts;
  const names = "January February March April May June July August September October November December".split(" ");
  return `${Number(day)} ${names[Number(month) - 1] ?? month} ${year}, ${time}${zulu ? " UTC" : ""}`;
}
