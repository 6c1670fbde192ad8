import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { compiledPage, compiledView, createTestApp, getPage } from "#test/compiled-app";
import { unsignedFeed } from "#test/unsigned-feed";
import type { subscribe as browserSubscribe } from "../browser/index.ts";
import { on_mount, subscribe } from "./browser.ts";

// Applications compile against the types of the browser and run the server's version.
const listen: typeof browserSubscribe = subscribe;

test("a view that subscribes in on_mount can be rendered on the server with a feed as its prop", async () => {
  const feed = unsignedFeed("room:1");
  const Room = compiledView("Room", (props: { feed: typeof feed }) => {
    on_mount(() => listen(props.feed, () => {}));
    return h("p", null, "Nothing yet");
  });
  const response = await getPage(createTestApp({ room: compiledPage("/", () => h(Room, { feed })) }), "/");
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("<p>Nothing yet</p>");
});

test("a view that subscribes while it renders throws on the server", () => {
  const Room = compiledView("Room", () => {
    listen(unsignedFeed("room:1"), () => {});
    return h("p", null, "Nothing yet");
  });
  expect(() => renderToString(h(Room, {}))).toThrow(
    "subscribe() was called on the server. Call it inside on_mount(), which runs in the browser only.",
  );
});
