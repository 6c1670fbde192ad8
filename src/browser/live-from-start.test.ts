/** Subscriptions whose feeds begin at the oldest stored message. */
import { expect, test } from "vitest";
import { encodeEvent } from "#test/fake-page";
import { openBarePage, page, received, usePageWithRoom } from "#test/page-with-room";
import { unsignedFeed } from "#test/unsigned-feed";

const fromStart = unsignedFeed("room:1", { position: "0" });
const fromNow = unsignedFeed("room:1", { position: "p.3" });

usePageWithRoom();

/** Subscribes, and records what is received under a name. */
function subscribe(name: string, feed: typeof fromStart): void {
  page.subscribe(feed, (message) => received.push([name, message]), { gap: (reason) => received.push([name, reason]) });
}

test("a subscription from the start requests position 0, and continues after the last message", async () => {
  await openBarePage();
  subscribe("start", fromStart);
  await page.advance();
  expect([page.lastRequest.feeds, page.lastRequest.after]).toEqual([[fromStart], "0"]);
  page.lastRequest.respondStream().push(encodeEvent.message("0=p.7", "room:1", "seven"));
  await page.advance();
  expect(received).toEqual([["start", "seven"]]);
  page.lastRequest.breakConnection();
  await page.waitForRequest();
  expect([page.lastRequest.feeds, page.lastRequest.after]).toEqual([[fromStart], "p.7"]);
});

test("a ping with the position of an empty channel is where the next request continues", async () => {
  await openBarePage();
  subscribe("start", fromStart);
  await page.advance();
  page.lastRequest.respondStream().push("id: 0=p.9\nevent: ping\ndata: 1\n\n");
  await page.advance();
  page.lastRequest.breakConnection();
  await page.waitForRequest();
  expect(page.lastRequest.after).toBe("p.9");
});

test("of two subscriptions to a channel, the one that is behind the oldest stored message gets its gap", async () => {
  await openBarePage();
  subscribe("now", fromNow);
  subscribe("start", fromStart);
  await page.advance();
  const first = page.lastRequest;
  expect([first.feeds, first.after]).toEqual([[fromStart], "0"]);
  // The messages 4 to 6 are no longer stored. The server does not know that a subscription has not received them.
  first.respondStream().push(encodeEvent.message("0=p.7", "room:1", "seven"));
  await page.waitForRequest();
  expect(received).toEqual([["start", "seven"]]);
  const second = page.lastRequest;
  expect([second.feeds, second.after]).toEqual([[fromNow], "p.3"]);
  second.respondStream().push(encodeEvent.gap("0=-", "room:1", "trimmed"));
  await page.waitForRequest();
  expect(received).toEqual([
    ["start", "seven"],
    ["now", "trimmed"],
  ]);
  expect([page.lastRequest.feeds, page.lastRequest.after]).toEqual([[fromStart], "p.7"]);
});

test("a subscription that has everything before the oldest stored message continues without a gap", async () => {
  await openBarePage();
  subscribe("now", fromNow);
  subscribe("start", fromStart);
  await page.advance();
  const stream = page.lastRequest.respondStream();
  for (const number of [1, 3, 5]) stream.push(encodeEvent.message(`0=p.${number}`, "room:1", number));
  await page.advance();
  expect(received).toEqual([
    ["start", 1],
    ["start", 3],
    ["now", 5],
    ["start", 5],
  ]);
  expect(page.requests).toHaveLength(1);
});

test("a gap of another subscription to the channel is none of one that has not begun", async () => {
  await openBarePage();
  subscribe("now", fromNow);
  await page.advance();
  const open = page.lastRequest.respondStream();
  subscribe("start", fromStart);
  open.push(encodeEvent.gap("0=-", "room:1", "trimmed"));
  await page.waitForRequest();
  expect(received).toEqual([["now", "trimmed"]]);
  page.lastRequest.respondStream().push(encodeEvent.message("0=p.7", "room:1", "seven"));
  await page.advance();
  expect(received.at(-1)).toEqual(["start", "seven"]);
});
