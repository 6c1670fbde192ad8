// A visit of a measured site in Chromium: from a click to the frame that shows the next page.
import { setTimeout as wait } from "node:timers/promises";

const TIMEOUT_MS = 30_000;

/** How long the pointer rests on a link before the click, and how long a page rests before the next step. */
const REST_MS = 1_000;

const HOVERED = 1001;
const CLICKED = 1002;

/**
 * Visits the pages of a site in a new profile. Returns the times in milliseconds.
 *
 * `hovered` and `clicked` begin with the click, `back` with `history.back()`, the others with the start of the request. Pages of documents and
 * of a router in the browser are measured alike: in the first frame that shows the heading of the page.
 */
export async function measureVisit(browser, address) {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.addInitScript(recordFrames);
  try {
    await open(page, `${address}/navigation`, "Orders");
    const hovered = await measureClick(page, HOVERED, REST_MS);
    const back = await measureBack(page);
    const clicked = await measureClick(page, CLICKED, 0);
    await open(page, `${address}/navigation/orders/1003`, "Order 1003");
    const plain = await navigationTimes(page);
    return { hovered, back, clicked, plainFirstByte: plain.firstByte, ...(await measureSlow(page, address)) };
  } finally {
    await context.close();
  }
}

/** Runs in each document: stores the time of the first frame that shows the expected heading, and that of the part. */
function recordFrames() {
  const store = (key) => sessionStorage.getItem(key) ?? sessionStorage.setItem(key, String(now()));
  const now = () => performance.timeOrigin + performance.now();
  const frame = () => {
    const heading = document.querySelector("h1")?.textContent;
    const hasPart = Boolean(document.querySelector("main #figures")?.checkVisibility());
    // The message is handled after this frame is painted. By then, another page may be expected.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      if (heading && heading === sessionStorage.getItem("expected")) store("shown");
      if (hasPart) store("part");
    };
    port2.postMessage(0);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  addEventListener("click", () => sessionStorage.setItem("start", String(now())), { capture: true });
}

async function open(page, url, heading) {
  await page.goto(url);
  await page.waitForFunction((heading) => document.querySelector("h1")?.textContent === heading, heading);
  await wait(REST_MS); // scripts, hydration and prefetches
}

/** Makes the next page expected that has a heading. */
const expectHeading = (page, heading) =>
  page.evaluate((heading) => {
    sessionStorage.removeItem("shown");
    sessionStorage.setItem("expected", heading);
  }, heading);

async function measureClick(page, order, hoverMs) {
  await expectHeading(page, `Order ${order}`);
  const { x, y, width, height } = await page.locator(`#order-${order}`).boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await wait(hoverMs);
  await page.mouse.down();
  await page.mouse.up();
  return timeSince(page);
}

async function measureBack(page) {
  await wait(REST_MS);
  await expectHeading(page, "Orders");
  await page.evaluate(() => {
    setTimeout(() => {
      sessionStorage.setItem("start", String(performance.timeOrigin + performance.now()));
      history.back();
    });
  });
  const time = await timeSince(page);
  await wait(REST_MS);
  return time;
}

/** Waits until the expected page is shown. */
async function timeSince(page) {
  await page.waitForFunction(() => sessionStorage.getItem("shown"));
  return page.evaluate(() => Number(sessionStorage.getItem("shown")) - Number(sessionStorage.getItem("start")));
}

async function measureSlow(page, address) {
  await expectHeading(page, "Figures");
  await page.goto(`${address}/navigation/slow`);
  await page.waitForFunction(() => sessionStorage.getItem("part") && performance.timing.loadEventEnd > 0);
  const { firstByte, complete, start } = await navigationTimes(page);
  const since = (key) => page.evaluate((key) => Number(sessionStorage.getItem(key)), key).then((time) => time - start);
  return {
    slowFirstByte: firstByte,
    slowComplete: complete,
    slowHeading: await since("shown"),
    slowPart: await since("part"),
  };
}

const navigationTimes = (page) =>
  page.evaluate(() => {
    const [{ responseStart, responseEnd }] = performance.getEntriesByType("navigation");
    return { firstByte: responseStart, complete: responseEnd, start: performance.timeOrigin };
  });

/** Returns the bytes of the scripts of a page, as transferred; of those in the document, their length. */
export async function scriptBytes(browser, url) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    await page.waitForLoadState("networkidle");
    await wait(REST_MS);
    return await page.evaluate(() => {
      const files = performance.getEntriesByType("resource").filter(({ name }) => /\.m?js(\?|$)/.test(name));
      const isCode = ({ src, type }) => !src && ["", "module", "text/javascript"].includes(type);
      const inline = [...document.scripts].filter(isCode).map(({ textContent }) => textContent.length);
      return [...files.map(({ encodedBodySize }) => encodedBodySize), ...inline].reduce((sum, size) => sum + size, 0);
    });
  } finally {
    await context.close();
  }
}
