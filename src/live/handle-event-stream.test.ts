import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it, vi } from "vitest";
import { createEventStreams, FakeClient } from "#test/event-stream-client";
import { requestContextOf, signInCookie, testConfig } from "#test/request-context";
import { ContextValues, isPushedBody } from "../http/index.ts";
import { AppSessions, keysFor, SESSIONS } from "../session/index.ts";
import { handleEventStream } from "./event-stream.ts";
import { signFeed } from "./feed.ts";
import { readSubscriptionRequest } from "./subscription-request.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: unknown = runInNewContext("gc");

it.each([
  ["GET", "signed-out", undefined],
  ["GET", "signed-in", signInCookie()],
  ["POST", "signed-out", undefined],
  ["POST", "signed-in", signInCookie()],
])(
  "an event stream of a %s of a %s client keeps nothing of its request while it is open",
  async (method, _, cookie) => {
    const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn(), refused: vi.fn() };
    const sessions = new AppSessions({ revocations: () => ({ store: null }), log });
    await sessions.revocations.start(1_000);
    const { hub, bus, close } = createEventStreams(log);
    const [position = ""] = await bus.position(["room"]);
    const expiresAt = Math.ceil(Date.now() / 1000) + 60;
    const feed = signFeed({ channel: "room", position, sid: null, expiresAt }, keysFor(testConfig(), "feed"));
    const client = new FakeClient();
    async function open() {
      const url = `http://localhost/__web/live?feed=${feed}`;
      const headers = { "content-type": "application/json", ...(cookie === undefined ? {} : { cookie }) };
      const body = method === "POST" ? JSON.stringify({ feeds: [feed] }) : null;
      const provided = new ContextValues().set(SESSIONS, sessions);
      const context = requestContextOf(new Request(url, { method, headers, body }), testConfig(), { provided });
      const request = await readSubscriptionRequest(context, "live");
      const response = handleEventStream(request, hub, { context, presence: null, queries: null, release: vi.fn() });
      if (!isPushedBody(response.body)) throw new Error("The body of an event stream is pushed.");
      response.body.open(client);
      return [new WeakRef<object>(context), new WeakRef<object>(request)];
    }
    const references = await open();
    await expect
      .poll(() => {
        Reflect.apply(collectGarbage as () => void, undefined, []); // the function that --expose-gc adds
        return references.filter((reference) => reference.deref() !== undefined).length;
      })
      .toBe(0);
    expect(client.state).toBe("open");
    close();
  },
);
