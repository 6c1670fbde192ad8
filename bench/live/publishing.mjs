// How many messages per second one process can publish to a bus, and other processes receive.
import { randomBytes } from "node:crypto";
import { startApp } from "../lib/app.mjs";
import { startBus } from "../lib/programs.mjs";
import { callFunction, issueFeeds } from "./contestants.mjs";
import { openListeners } from "./listeners.mjs";

const MESSAGES = 20_000;

/** The messages before the measurement, so that everything is compiled and connected. */
const WARM_UP = 2_000;
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
    const publish = (first, count) =>
      callFunction(publisher.address, "publish_many", { name: "0", first, count, concurrency: CONCURRENCY });
    const complete = (count) => listeners.complete(urls.map(() => count));
    await publish(0, WARM_UP);
    await complete(WARM_UP);
    const start = performance.now();
    const ms = await publish(WARM_UP, MESSAGES);
    await complete(WARM_UP + MESSAGES);
    return { published: (MESSAGES / ms) * 1_000, received: (MESSAGES / (performance.now() - start)) * 1_000 };
  } finally {
    await listeners?.end();
    await Promise.all(servers.map(({ end }) => end()));
    await endBus();
  }
}
