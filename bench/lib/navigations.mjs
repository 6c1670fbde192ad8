// A visit of a measured site in Chromium: from a click to the frame that shows the next page.
import { once } from "node:events";
import { get } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

const TIMEOUT_MS = 30_000;

/** How long the pointer rests on a link: Chromium waits for 200 ms, and the prefetch takes a round trip or two. */
export const HOVER_MS = 1_000;

/** How long a page rests before the next step. */
const REST_MS = 300;

/** The clicks and returns of a visit that are measured, after one that is not. */
const CLICKS = 8;
const COLD_CLICKS = 2;
const FIRST_BYTES = 5;

const FIRST_ORDER = 1001;

/**
 * Visits the pages of a site in a new profile. Returns times in milliseconds, several of each kind.
 *
 * `hovered` and `clicked` begin with the input event of the click, `back` with `history.back()`, the others with the start of the request; the first
 * bytes are those of requests of this process.
 * Pages of documents and of a router in the browser are measured alike: until the first frame that shows the heading of the page.
 * `prefetched` and `restored` count the documents that came from a prefetch, and those that Chromium had kept for Back.
 */
export async function measureVisit(browser, { address, hydrates }) {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.addInitScript(recordFrames);
  try {
    await openOrders(page, address, hydrates);
    const [hovered, back, clicked] = [[], [], []];
    let order = FIRST_ORDER;
    let prefetched = 0;
    let restored = 0;
    for (let count = 0; count <= CLICKS; count++) {
      const forward = await measureClick(page, order++, HOVER_MS);
      const backward = await measureBack(page);
      if (count === 0) continue;
      hovered.push(forward.time);
      back.push(backward.time);
      if (forward.isPrefetched) prefetched++;
      if (backward.isRestored) restored++;
    }
    for (let count = 0; count < COLD_CLICKS; count++) {
      clicked.push((await measureClick(page, order++, 0)).time);
      await measureBack(page);
    }
    return { hovered, back, clicked, prefetched, restored, ...(await measureSlow(page, address)) };
  } finally {
    await context.close();
  }
}

/** Runs in each document: stores the time of the first frame that shows the expected heading, and that of the part. */
function recordFrames() {
  const store = (key, time) => sessionStorage.getItem(key) ?? sessionStorage.setItem(key, String(time));
  const frame = () => {
    const heading = document.querySelector("h1")?.textContent;
    const hasPart = Boolean(document.querySelector("main #figures")?.checkVisibility());
    // The message is handled after this frame is painted. By then, another page may be expected.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      const time = performance.timeOrigin + performance.now(); // before the first use of the storage, which takes some milliseconds
      if (heading && heading === sessionStorage.getItem("expected")) store("shown", time);
      if (hasPart) store("part", time);
    };
    port2.postMessage(0);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const setStart = ({ timeStamp }) => sessionStorage.setItem("start", String(performance.timeOrigin + timeStamp));
  addEventListener("click", setStart, { capture: true });
  addEventListener("pageshow", ({ persisted }) => sessionStorage.setItem("restored", persisted ? "1" : ""));
}

async function openOrders(page, address, hydrates) {
  await page.goto(`${address}/navigation`);
  if (hydrates) await page.waitForSelector("body[data-hydrated]");
  await page.waitForLoadState("networkidle"); // also what is prefetched
  await wait(REST_MS);
}

/** Makes the next page expected that has a heading. */
const expectHeading = (page, heading) =>
  page.evaluate((heading) => {
    for (const key of ["shown", "part", "restored"]) sessionStorage.removeItem(key);
    sessionStorage.setItem("expected", heading);
  }, heading);

async function measureClick(page, order, hoverMs) {
  await expectHeading(page, `Order ${order}`);
  const { x, y, width, height } = await page.locator(`#order-${order}`).boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await wait(hoverMs);
  await page.mouse.down();
  await page.mouse.up();
  const time = await timeSinceStart(page);
  const isPrefetched = await page.evaluate(
    () => performance.getEntriesByType("navigation")[0].deliveryType === "navigational-prefetch",
  );
  return { time, isPrefetched };
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
  const time = await timeSinceStart(page);
  const isRestored = await page.evaluate(() => sessionStorage.getItem("restored") === "1");
  await wait(REST_MS);
  return { time, isRestored };
}

/** Waits until the expected page is shown. */
async function timeSinceStart(page) {
  await page.waitForFunction(() => sessionStorage.getItem("shown"));
  return page.evaluate(() => Number(sessionStorage.getItem("shown")) - Number(sessionStorage.getItem("start")));
}

/** Measures first bytes in pairs, of a page and of one with a part that takes 2 s, and one visit of the latter. */
async function measureSlow(page, address) {
  const [plainFirstByte, slowFirstByte, difference] = [[], [], []];
  for (let count = 0; count < FIRST_BYTES; count++) {
    const plain = await firstByte(`${address}/navigation/orders/${FIRST_ORDER}`);
    const slow = await firstByte(`${address}/navigation/slow`);
    plainFirstByte.push(plain);
    slowFirstByte.push(slow);
    difference.push(slow - plain);
  }
  await expectHeading(page, "Figures");
  await page.goto(`${address}/navigation/slow`);
  await page.waitForFunction(() => sessionStorage.getItem("part") && performance.timing.loadEventEnd > 0);
  const { complete, start } = await navigationTimes(page);
  const since = (key) => page.evaluate((key) => Number(sessionStorage.getItem(key)), key).then((time) => time - start);
  return {
    ...{ plainFirstByte, slowFirstByte, difference },
    ...{ slowHeading: [await since("shown")], slowPart: [await since("part")], slowComplete: [complete] },
  };
}

/**
 * Requests a page as a browser does that loads it, over a new connection, until the first bytes of the document. Browsers reuse
 * some connections, so that their times differ by a round trip.
 */
async function firstByte(url) {
  const headers = { accept: "text/html", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  const startMs = performance.now();
  const request = get(url, { headers, agent: false });
  const [response] = await once(request, "response");
  await once(response, "data");
  const time = performance.now() - startMs;
  response.destroy();
  return time;
}

const navigationTimes = (page) =>
  page.evaluate(() => {
    const [{ responseEnd }] = performance.getEntriesByType("navigation");
    return { complete: responseEnd, start: performance.timeOrigin };
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
