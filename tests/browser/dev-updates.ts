import type { Page } from "playwright-core";

/**
 * Keeps a page open that receives the updates of all edits. Without any connection, Vite keeps the last one for the next page,
 * which is then reloaded.
 *
 * @param page an empty page
 * @param address that of the development server
 */
export async function receiveUpdates(page: Page, address: string): Promise<void> {
  await page.goto(`${address}/__web/dev/@tsweb/edits`);
  const url = `${address}/__web/dev/@vite/client`;
  const client = await (await fetch(url, { headers: { "sec-fetch-dest": "script" } })).text();
  const [, token] = /const wsToken = "([^"]+)"/.exec(client) ?? [];
  await page.evaluate((token) => {
    const socket = new WebSocket(`/__web/dev/?token=${token}`, "vite-hmr");
    return new Promise((resolve, reject) => {
      socket.onmessage = resolve;
      socket.onerror = reject;
    });
  }, token);
}
