// How many messages per second one process can publish to a bus, and other processes receive.
import { randomBytes } from "node:crypto";
import { startApp } from "../lib/app.mjs";
import { startBus } from "../lib/programs.mjs";
import { callFunction, issueFeeds } from "./contestants.mjs";
import { openListeners } from "./listeners.mjs";

/** How many messages the publisher may be ahead of the others. A channel keeps 1,000; who is further behind gets a gap. */
const WINDOW = 500;

/** The first windows are not measured: until then, everything is compiled and connected. */
const WARM_UP_WINDOWS = 4;
const WINDOWS = 20;
const CONCURRENCY = 256;

/** @returns messages per second: `published` by one process, and `received` by each of the others, from the first on */
export async function measurePublishing(bus, { processes }) {
  const { url, end: endBus } = await startBus[bus]();
  const servers = [];
  let listeners;
  try {
    // All have the same secrets, because they are processes of one application. They may use any core.
    const env = { WEB_TRUST_PROXY: "1", WEB_BUS_URL: url, WEB_AUTH_SECRET: randomBytes(32).toString("hex") };
    for (let i = 0; i <= processes; i++) servers.push(await startApp({ env, core: null }));
    const [publisher, ...listening] = servers;
    const urls = [];
    for (const { address } of listening) urls.push(...(await issueFeeds(address, 1)));
    listeners = await openListeners(urls, { connections: processes });
    const publishWindow = async (index) => {
      const args = { name: "0", first: index * WINDOW, count: WINDOW, concurrency: CONCURRENCY };
      const ms = await callFunction(publisher.address, "publish_many", args);
      await listeners.complete(urls.map(() => (index + 1) * WINDOW));
      return ms;
    };
    for (let index = 0; index < WARM_UP_WINDOWS; index++) await publishWindow(index);
    const start = performance.now();
    let publishMs = 0;
    for (let index = 0; index < WINDOWS; index++) publishMs += await publishWindow(WARM_UP_WINDOWS + index);
    const perSecond = (ms) => (WINDOWS * WINDOW * 1_000) / ms;
    return { published: perSecond(publishMs), received: perSecond(performance.now() - start) };
  } finally {
    await listeners?.end();
    await Promise.all(servers.map(({ end }) => end()));
    await endBus();
  }
}
