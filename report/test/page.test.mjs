// node page.test.mjs REPORT_PAGE DUPLEX FOLDER: opens pages made by the tool's own code, and one that the tool
// itself has written, in a headless browser, and leaves their screenshots in the folder. Exit 77: there is no browser.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { classesOf, empty, full, hostile } from "./fixture.mjs";

const browserPath = "/usr/bin/chromium";
const [reportPage, duplex, outFolder] = process.argv.slice(2);
if (!reportPage || !duplex || !outFolder) {
  console.error("usage: node page.test.mjs REPORT_PAGE DUPLEX FOLDER");
  process.exit(2);
}
if (!existsSync(browserPath)) {
  console.log(`skipped: ${browserPath} is not installed (Debian's package chromium)`);
  process.exit(77);
}

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const desktop = { width: 1280, height: 900 };
const phone = { width: 390, height: 844 };
const folder = resolve(outFolder);
const profile = mkdtempSync(join(tmpdir(), "duplex-browser-"));
let browser;

before(async () => {
  mkdirSync(folder, { recursive: true });
  browser = await chromium.launchPersistentContext(profile, {
    executablePath: browserPath,
    headless: true,
    args: flags,
  });
});

after(async () => {
  await browser?.close();
  rmSync(profile, { recursive: true, force: true });
});

function write(name, data) {
  const [json, html] = ["json", "html"].map((ending) => join(folder, `${name}.${ending}`));
  writeFileSync(json, JSON.stringify(data));
  execFileSync(reportPage, [json, html], { stdio: "inherit" });
  return pathToFileURL(html).href;
}

let writtenFullPage;
const fullPage = () => (writtenFullPage ??= write("full", full));

/** Shows the page, and fails if it asked the network for anything or complained. */
async function visit(address, check, { viewport = desktop, colorScheme = "light", media = "screen", screenshot } = {}) {
  const page = await browser.newPage();
  const requests = [];
  const complaints = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, media });
  await page.goto(address);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await check(page);
  if (screenshot) await page.screenshot({ path: join(folder, `${screenshot}.png`), fullPage: true });
  await page.close();
  assert.deepEqual(complaints, []);
  assert.deepEqual(
    requests.filter((url) => url !== address && !url.startsWith("data:")),
    [],
  );
}

const texts = (page, selector) => page.locator(selector).allTextContents();
const count = (page, selector) => page.locator(selector).count();
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
const brightness = (page, selector, property) =>
  page
    .locator(selector)
    .first()
    .evaluate(
      (node, name) =>
        getComputedStyle(node)
          [name].match(/\d+/g)
          .slice(0, 3)
          .reduce((a, b) => a + Number(b), 0) / 3,
      property,
    );

test("a page of everything", async (all) => {
  await visit(fullPage(), async (page) => {
    await all.test("the page shows every part of its data", async () => {
      assert.equal(await page.title(), full.title);
      assert.deepEqual(
        await texts(page, "section h2"),
        full.sections.map(({ title }) => title),
      );
      assert.deepEqual(await texts(page, ".tile .value"), ["2 481", "83.4 %", "0.481", "13 s"]);
      assert.match((await texts(page, ".made"))[0], /Duplex 0\.1\.0 · 1 March 2026, 09:30 UTC/);
      assert.equal(await count(page, ".chart g.curve path"), 3);
      assert.deepEqual(await texts(page, ".panel .empty"), ["No values."]);
      assert.equal(await count(page, ".histogram g.bars rect"), 20);
      assert.equal(await count(page, ".heat td"), 100);
      assert.deepEqual(await texts(page, ".heat tbody tr:nth-child(2) td:nth-child(n+2):nth-child(-n+5)"), [
        "7",
        "",
        "13",
        "16",
      ]);
      assert.deepEqual(await texts(page, ".table tbody tr:first-child > *"), ["alpha", "0.1"]);
      assert.deepEqual(await texts(page, ".table tbody tr:last-child > *"), ["seed", "–"]);
    });

    await all.test("warnings come before all else, as text", async () => {
      assert.deepEqual(await texts(page, ".cautions li"), full.warnings.map(({ text }) => text));
      assert.equal(await page.locator("#page > *").nth(1).getAttribute("class"), "cautions");
      assert.equal(await page.locator(".cautions li").first().getAttribute("data-code"), "few-trusted-rows");
    });

    await all.test("a curve has a gap where it has no value", async () => {
      const path = await page.locator("g.curve path").first().getAttribute("d");
      assert.equal(path.match(/M/g).length, 2);
      assert.doesNotMatch(path, /NaN/);
    });

    await all.test("pointing at a chart tells the values", async () => {
      const chart = page.locator(".chart svg").first();
      await chart.scrollIntoViewIfNeeded();
      const box = await chart.boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      const tip = page.locator('.chart [aria-label="tip"] text').first();
      await tip.waitFor();
      assert.match(await tip.textContent(), /seconds .*with a gap: .*/);
    });

    await all.test("labels made of markup are shown as text and run nothing", async () => {
      assert.equal(await page.locator("h1").textContent(), full.title);
      assert.equal(await page.locator(".subtitle").textContent(), hostile.separators);
      assert.ok((await texts(page, ".prose p")).includes(hostile.image));
      assert.equal(await page.locator(".heat tbody th").first().textContent(), hostile.image);
      assert.equal(await page.evaluate(() => window.broken), undefined);
      assert.equal(await count(page, "img"), 0);
      assert.equal(await count(page, "script"), 2);
      const policy = await page.locator("meta[http-equiv=Content-Security-Policy]").getAttribute("content");
      assert.match(
        policy,
        /^default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[^']+'; img-src data: blob:;/,
      );
    });

    await all.test("the gallery shows pictures, more of them when asked, in the order asked for", async () => {
      assert.equal(await count(page, ".suspect"), 24);
      assert.equal(await count(page, ".suspect canvas"), 23);
      assert.deepEqual(
        await page
          .locator(".suspect canvas")
          .first()
          .evaluate((canvas) => [...canvas.getContext("2d").getImageData(1, 0, 1, 1).data]),
        [16, 16, 16, 255],
      );
      assert.match(
        await page.locator(".suspect").nth(1).textContent(),
        /given label Trouser→, suggested label Coattrust0\.005probability0\.02/,
      );
      assert.match(await page.locator(".suspect").nth(2).textContent(), /trust–/);
      const more = page.locator(".suspects").first().getByRole("button", { name: "Show 24 more" });
      await more.click();
      assert.equal(await count(page, ".suspect"), 48);
      await page.getByRole("button", { name: "Show 12 more" }).first().click();
      assert.equal(await count(page, ".suspect"), 60);
      await page.getByLabel("Sorted by").selectOption("given");
      assert.equal(await count(page, ".suspect"), 24);
      assert.equal(await page.locator(".suspect .given").first().textContent(), hostile.image);
    });

    await all.test("without pictures the suspects are a table that sorts by its heads", async () => {
      const firstRow = () => page.locator(".sortable tbody tr").first().locator("td").first().textContent();
      assert.equal(await count(page, ".sortable tbody tr"), 48);
      const head = page.locator(".sortable thead th").first();
      await head.getByRole("button").click();
      assert.equal(await head.getAttribute("aria-sort"), "ascending");
      await head.getByRole("button").press("Enter");
      assert.equal(await head.getAttribute("aria-sort"), "descending");
      assert.equal(await firstRow(), "177");
    });
  });
});

test("a page with nothing to show says so", async () => {
  await visit(write("empty", empty), async (page) => {
    assert.deepEqual(await texts(page, ".empty"), [
      "No suspects: no label stands out as wrong.",
      "Nothing to count.",
      "Nothing to count.",
      "No curves.",
      "Nothing to list.",
      "This page cannot show a section of kind “hologram”.",
    ]);
  });
});

for (const [classes, shown] of [
  [100, 100],
  [1000, 100],
]) {
  test(`a matrix of ${classes} classes scrolls in its own box`, async () => {
    await visit(
      write(`classes-${classes}`, classesOf(classes)),
      async (page) => {
        assert.equal(await count(page, ".heat tbody tr"), shown);
        assert.equal(await overflow(page), 0);
        assert.equal(await count(page, ".pairs li"), 8);
      },
      { viewport: phone, screenshot: `classes-${classes}-phone` },
    );
  });
}

for (const [device, viewport] of Object.entries({ desktop, phone })) {
  for (const colorScheme of ["light", "dark"]) {
    test(`on a ${device} in ${colorScheme} colours everything fits and can be read`, async () => {
      await visit(
        fullPage(),
        async (page) => {
          assert.equal(await overflow(page), 0);
          const [ink, paper] = [
            await brightness(page, "h1", "color"),
            await brightness(page, "body", "backgroundColor"),
          ];
          assert.ok(colorScheme === "light" ? paper - ink > 150 : ink - paper > 150, `ink ${ink} on ${paper}`);
        },
        { viewport, colorScheme, screenshot: `${device}-${colorScheme}` },
      );
    });
  }
}

test("on paper the page is light, whatever the screen is", async () => {
  await visit(
    fullPage(),
    async (page) => {
      assert.equal(await brightness(page, "body", "backgroundColor"), 255);
      assert.ok((await brightness(page, "h1", "color")) < 60);
      assert.equal(await overflow(page), 0);
    },
    { colorScheme: "dark", media: "print", viewport: { width: 720, height: 1000 }, screenshot: "paper" },
  );
});

test("the page that duplex clean writes", async (all) => {
  const out = join(folder, "clean");
  const demo = ["--demo", "fashion-mnist", "--noise-kind", "always-wrong", "--trusted-samples", "500"];
  execFileSync(duplex, ["clean", ...demo, "--out", out], { stdio: "ignore" });
  const summary = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
  const address = pathToFileURL(join(out, "report.html")).href;
  const digits = (text) => text.replace(/[^0-9.]/g, "");

  await all.test("it tells what the summary tells", () =>
    visit(
      address,
      async (page) => {
        const values = await texts(page, ".tile .value");
        assert.equal(digits(values[0]), String(summary.suspects));
        assert.equal(digits(values[1]), "500");
        assert.equal(digits(values[2]), (100 * summary.test.accuracy).toFixed(1));
        assert.equal(values[3], summary.quality.f1.toFixed(3));
        assert.deepEqual(await texts(page, "main > section > h2"), [
          "How to read this",
          "The worst suspects",
          "Class by class",
          "Given label against suggested label",
          "How labels go wrong",
          "Trust in the labels",
        ]);
        assert.deepEqual(await texts(page, ".folded h2"), ["Where the time went", "Settings"]);
        assert.equal(await count(page, ".cautions"), 0);
        assert.equal(await count(page, ".gallery canvas"), 24);
        assert.equal(await count(page, ".heat td"), 200);
        assert.equal(await count(page, ".heat td.diagonal .nought"), 10, "a suspect's suggestion is another class");
        assert.equal(await page.locator(".folded table").first().isVisible(), false, "what is technical is folded away");
        await page.locator(".folded > summary").click();
        await page.locator(".folded table").first().waitFor();
        await page.locator(".folded > summary").click();
        await page.screenshot({ path: join(folder, "clean-top.png"), clip: { x: 0, y: 0, width: 1280, height: 1180 } });
        const rows = readFileSync(join(out, "suspects.csv"), "utf8").trim().split("\n");
        const [row, , given, suggested] = rows[1].split(",");
        assert.match((await texts(page, ".suspect"))[0], new RegExp(`${given}.*${suggested}.*row ${row}`, "s"));
      },
      { screenshot: "clean-desktop" },
    ),
  );

  await all.test("it fits on a phone", () =>
    visit(address, async (page) => assert.ok((await overflow(page)) <= 0), { viewport: phone, screenshot: "clean-phone" }),
  );
});
