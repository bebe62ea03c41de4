// node build.mjs FOLDER: writes FOLDER/report.html, one file with everything inline and a place for the
// data, and FOLDER/html_template.cpp, the same bytes for the tool.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
if (!folder) throw new Error("usage: node build.mjs FOLDER");
const dataPlace = "{{report-data}}";

/** What the licences of the bundled packages ask for: each text once, with the packages it is for. */
async function licences(inputs) {
  const names = new Set(inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean));
  const packagesOf = new Map();
  for (const name of [...names].sort()) {
    const home = join(here, "node_modules", name);
    const file = (await readdir(home)).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file`);
    const text = (await readFile(join(home, file), "utf8")).trim();
    packagesOf.set(text, [...(packagesOf.get(text) ?? []), name]);
  }
  const notices = [...packagesOf].map(([text, packages]) => `${packages.join(", ")}\n\n${text}`);
  return `/*!\n${notices.join("\n\n---\n\n").replaceAll("*/", "* /")}\n*/\n`;
}

async function bundled(entry) {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    metafile: true,
  });
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0),
  );
  const notices = used.some((path) => path.includes("node_modules/")) ? await licences(used) : "";
  return notices + outputFiles[0].text.trim();
}

const put = (page, place, content) => page.replace(place, () => content);

function checked(page) {
  const occurrences = page.split(dataPlace).length - 1;
  if (occurrences !== 1) throw new Error(`the page must have one place for the data, and has ${occurrences}`);
  if (page.split("</script").length - 1 !== 2) throw new Error("a script of the page ends before its end");
  return page;
}

const octal = (byte) => `\\${byte.toString(8).padStart(3, "0")}`;
const isPlain = (byte) => byte >= 0x20 && byte < 0x7f && !'"\\?'.includes(String.fromCharCode(byte));
const literal = (bytes) =>
  `"${Array.from(bytes, (byte) => (isPlain(byte) ? String.fromCharCode(byte) : octal(byte))).join("")}"`;

function asSource(page) {
  const bytes = Buffer.from(page);
  const lines = [];
  for (let at = 0; at < bytes.length; at += 1000) lines.push(literal(bytes.subarray(at, at + 1000)));
  return [
    '#include "report/html_template.hpp"',
    "namespace duplex::report {",
    "namespace {",
    `constexpr char page[] =\n${lines.join("\n")};`,
    "}",
    `std::string_view html_template() { return {page, ${bytes.length}}; }`,
    "}",
    "",
  ].join("\n");
}

const script = await bundled("main.js");
const style = await bundled("page.css");
const hash = `sha256-${createHash("sha256").update(script).digest("base64")}`;
let page = await readFile(join(here, "src/page.html"), "utf8");
page = put(page, "{{script-hash}}", hash);
page = put(page, "{{style}}", style);
page = checked(put(page, "{{script}}", script));

await mkdir(folder, { recursive: true });
await writeFile(join(folder, "report.html"), page);
await writeFile(join(folder, "html_template.cpp"), asSource(page));
