// Raw bytes as a picture: row by row, the channels of a pixel side by side.

import { element } from "./dom.js";

const smallUpTo = 96;

function bytesOf(base64) {
  try {
    return Uint8Array.from(atob(base64 ?? ""), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function coloursOf(bytes, count, channels) {
  const rgba = new Uint8ClampedArray(4 * count);
  for (let i = 0; i < count; ++i) {
    const at = i * channels;
    const grey = channels < 3;
    rgba[4 * i] = bytes[at];
    rgba[4 * i + 1] = bytes[grey ? at : at + 1];
    rgba[4 * i + 2] = bytes[grey ? at : at + 2];
    rgba[4 * i + 3] = channels === 4 ? bytes[at + 3] : channels === 2 ? bytes[at + 1] : 255;
  }
  return rgba;
}

export function picture({ width, height, channels = 1 }, base64, description) {
  const bytes = bytesOf(base64);
  if (bytes.length !== width * height * channels) {
    return element("div", { class: "picture absent", role: "img", "aria-label": description }, "no picture");
  }
  const size = Math.max(width, height) <= smallUpTo ? "picture small" : "picture";
  const canvas = element("canvas", { class: size, width, height, role: "img", "aria-label": description });
  canvas.getContext("2d").putImageData(new ImageData(coloursOf(bytes, width * height, channels), width, height), 0, 0);
  return canvas;
}
