import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it, vi } from "vitest";
import { createEventStreams, FakeClient } from "#test/event-stream-client";
import { requestContextOf, signInCookie } from "#test/request-context";
import { ContextValues, isPushedBody } from "../http/index.ts";
import { AppSessions, SESSIONS } from "../session/index.ts";
import { handleEventStream } from "./event-stream.ts";
import { FeedReader } from "./feed-reader.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: unknown = runInNewContext("gc");

it.each([
  ["signed-out", undefined],
  ["signed-in", signInCookie()],
])("an event stream of a %s client keeps nothing of its request while it is open", async (_, cookie) => {
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn(), refused: vi.fn() };
  const sessions = new AppSessions({ revocations: () => ({ store: null }), log });
  await sessions.revocations.start(1_000);
  const { hub, bus, close } = createEventStreams(log);
  const [position = ""] = await bus.position(["room"]);
  const client = new FakeClient();
  function open() {
    const request = new Request("http://localhost/", { headers: cookie === undefined ? {} : { cookie } });
    const context = requestContextOf(request, undefined, { provided: new ContextValues().set(SESSIONS, sessions) });
    const readers = [new FeedReader("room", position)];
    const { body } = handleEventStream({ readers, gaps: [] }, hub, { context, release: vi.fn() });
    if (!isPushedBody(body)) throw new Error("The body of an event stream is pushed.");
    body.open(client);
    return new WeakRef(context);
  }
  const context = open();
  await expect
    .poll(() => {
      Reflect.apply(collectGarbage as () => void, undefined, []); // the function that --expose-gc adds
      return context.deref() === undefined;
    })
    .toBe(true);
  expect(client.state).toBe("open");
  close();
});
