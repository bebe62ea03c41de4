// Data for pages under test: small, made up, the same every time.

export const hostile = {
  script: "</script><script>window.broken = 1</script>",
  image: '<img src=x onerror="window.broken = 2">',
  comment: "<!--<script>",
  separators: "line\u2028and\u2029paragraph & more",
};

const classes = [
  hostile.image,
  "Trouser",
  "Pullover",
  "Dress",
  "Coat",
  "Sandal",
  "Shirt",
  "Sneaker",
  "Bag",
  "a label that is very much longer than any place for it on any screen that there is",
];

const pixels = (i) => Buffer.from(Array.from({ length: 16 }, (_, p) => (p * 16 + i * 7) % 256)).toString("base64");

const suspectOf = (i) => ({
  row: 3 * i,
  id: i === 1 ? hostile.script : `a-${3 * i}`,
  given: classes[i % 10],
  suggested: classes[(i + 3) % 10],
  trust: i === 2 ? null : i / 200,
  probability: (i % 7) / 50,
  pixels: i === 3 ? "too short" : pixels(i),
});

const steps = Array.from({ length: 60 }, (_, i) => i / 10);
const decay = (from, to) => steps.map((t) => to + (from - to) * Math.exp(-t));
const withGap = decay(1, 0.2).map((y, i) => (i >= 20 && i < 25 ? null : y));
const edges = Array.from({ length: 11 }, (_, i) => i / 10);

const curves = {
  kind: "curves",
  title: "Over time",
  x_label: "seconds",
  panels: [
    {
      title: "Held-out loss",
      y_label: "cross entropy",
      series: [
        { name: "with a gap", x: steps, y: withGap },
        { name: hostile.comment, x: steps, y: decay(2, 0.4) },
      ],
      marks: [{ x: 5.2, label: "stopped here" }],
      log_y: false,
    },
    {
      title: "Residual",
      y_label: "norm",
      log_y: true,
      series: [{ name: "residual", x: steps, y: steps.map((t) => (t === 0 ? 0 : 10 ** -t)) }],
    },
    { title: "Nothing yet", series: [{ name: "none", x: [0, 1], y: [null, null] }] },
  ],
};

const histogram = {
  kind: "histogram",
  title: "Trust",
  note: "How many rows have which weight.",
  x_label: "trust",
  edges,
  series: [
    { name: "kept", counts: [0, 0, 1, 2, 2, 5, 9, 30, 80, 200] },
    { name: "suspects", counts: [90, 40, 12, 6, 3, 0, 0, 0, 0, 0] },
  ],
  marks: [{ x: 0.5, label: "threshold" }],
};

const matrixOf = (names, value) => ({
  kind: "matrix",
  title: "Given label against suggested label",
  rows: names,
  columns: names,
  values: names.map((_, r) => names.map((__, c) => value(r, c))),
  row_label: "given",
  column_label: "suggested",
});

const columns = ["row", "id", "given", "suggested", "trust", "probability"];

export const full = {
  title: `Labels of ${hostile.script}`,
  subtitle: hostile.separators,
  generated: "2026-03-01T09:30:00Z",
  version: "0.1.0",
  warnings: [
    { code: "few-trusted-rows", text: "There are 8 trusted rows for 2 classes: what is found rests on little." },
    { code: "column-left-out", text: hostile.image },
  ],
  headline: [
    { label: "Suspects", value: "2 481", note: "of 5 000 rows", tone: "alert" },
    { label: "Accuracy", value: "83.4 %", note: "69.1 % before" },
    { label: "Held-out loss", value: "0.481" },
    { label: "Time", value: "13 s", note: hostile.image },
  ],
  sections: [
    { kind: "text", title: "What was found", paragraphs: ["Many labels are wrong.", hostile.image] },
    curves,
    histogram,
    matrixOf(classes, (r, c) => (r === c ? 0 : (r * 7 + c * 3) % 40)),
    {
      kind: "suspects",
      title: "The worst suspects",
      image: { width: 4, height: 4, channels: 1 },
      columns,
      items: Array.from({ length: 60 }, (_, i) => suspectOf(i)),
    },
    {
      kind: "suspects",
      title: "The same without pictures",
      image: null,
      columns,
      items: Array.from({ length: 60 }, (_, i) => ({ ...suspectOf(i), pixels: undefined, features: [i, 0.5, null] })),
    },
    {
      kind: "table",
      title: "Settings",
      columns: ["option", "value"],
      rows: [
        ["alpha", "0.1"],
        ["data", hostile.script],
        ["seed", null],
      ],
    },
  ],
};

const noMatrix = { ...matrixOf(["a", "b"], () => 0), title: "No confusion" };

export const empty = {
  title: "Nothing found",
  sections: [
    { kind: "suspects", title: "Suspects", image: null, columns, items: [] },
    { ...histogram, series: [{ name: "kept", counts: edges.slice(1).map(() => 0) }] },
    noMatrix,
    { kind: "curves", title: "Over time", panels: [] },
    { kind: "table", title: "Settings", columns: [], rows: [] },
    { kind: "hologram", title: "From the future" },
  ],
};

export const classesOf = (count) => ({
  title: `${count} classes`,
  sections: [
    matrixOf(
      Array.from({ length: count }, (_, i) => `class number ${i}`),
      (r, c) => ((r * 31 + c * 17) % 97 === 0 ? 1 + (r % 9) : 0),
    ),
  ],
});
