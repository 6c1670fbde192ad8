import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { collect } from "#test/collect";
import { type ReceivedCall, rejectionFieldsOf, respondWithJson, respondWithLines, StubServer } from "#test/stub-server";

const EARLIER = "0mwscmxpswka0";
const OWN = "0mwscmxpswkak";
const LATER = "0mwscmxpt0000";

let server: StubServer;
const reload = vi.fn();

beforeAll(async () => {
  server = await StubServer.open();
});

beforeEach(() => {
  server.calls.length = 0;
  reload.mockReset();
  vi.doMock("./reload.ts", () => ({ reload }));
});

afterEach(() => void vi.doUnmock("./reload.ts"));

afterAll(() => server.close());

const respondStale = (build: string, stale: string) =>
  respondWithJson(409, { error: { code: "conflict", message: "Reload.", details: { stale } } }, { "x-build": build });

/** Responds to the first calls as a server of an earlier build. */
const staleTimes = (count: number, respond: (call: ReceivedCall) => void) => (call: ReceivedCall) =>
  server.calls.length <= count ? respondStale(EARLIER, "server")(call) : respond(call);

const sentBuilds = () => server.calls.map(({ headers }) => headers["x-build"]);

test("a call, a stream and a call with a file carry the build of the page and the hash of the function", async () => {
  const { stub, stream, upload } = await server.load({ build: OWN });
  server.respond = respondWithJson(200, { result: 1 });
  await stub("f", ["a"], "abc-_1")(1);
  await stub("f", ["a"], "abc-_2", upload)(new File(["a"], "a.txt"));
  server.respond = respondWithLines({ done: true });
  await collect(stream("f", ["a"], "abc-_3")(1));
  expect(sentBuilds()).toEqual([`${OWN}.abc-_1`, `${OWN}.abc-_2`, `${OWN}.abc-_3`]);
});

test("a call carries no build in development", async () => {
  const { stub } = await server.load();
  server.respond = respondWithJson(200, { result: 1 });
  await stub("f", ["a"])(1);
  expect(sentBuilds()).toEqual([undefined]);
});

test("a call that meets a server of a later build rejects at once, and the page is reloaded", async () => {
  const { stub } = await server.load({ build: OWN });
  server.respond = respondStale(LATER, "page");
  expect(await rejectionFieldsOf(stub("f", [], "abc-_1")())).toMatchObject({
    code: "conflict",
    details: { stale: "page" },
  });
  expect([server.calls.length, reload.mock.calls.length]).toEqual([1, 1]);
});

test("a call that meets a server of an earlier build is sent again, with the arguments that it had", async () => {
  const { stub } = await server.load({ build: OWN });
  server.respond = staleTimes(2, respondWithJson(200, { result: "done" }));
  const items = ["tea"];
  const call = stub("f", ["items"], "abc-_1")(items);
  items.push("milk");
  expect(await call).toBe("done");
  expect(server.calls.map(({ body }) => body)).toEqual(Array(3).fill({ args: { items: ["tea"] } }));
  expect(reload).not.toHaveBeenCalled();
});

test("a stream that meets a server of an earlier build is opened again", async () => {
  const { stream } = await server.load({ build: OWN });
  server.respond = staleTimes(1, respondWithLines({ chunk: 1 }, { done: true }));
  expect(await collect(stream("f", [], "abc-_1")())).toEqual([1]);
});

test("a call that is cancelled between two attempts is not sent again", async () => {
  const { stub } = await server.load({ build: OWN });
  const received = new Promise<void>((resolve) => {
    server.respond = (call) => {
      respondStale(EARLIER, "server")(call);
      resolve();
    };
  });
  const call = stub("f", [], "abc-_1")();
  await received;
  call.cancel();
  await expect(call).rejects.toMatchObject({ name: "AbortError" });
  expect(server.calls.length).toBe(1);
});

test("a conflict of the application is not repeated, and does not reload the page", async () => {
  const { stub } = await server.load({ build: OWN });
  const error = { code: "conflict", message: "Sold out.", details: { stale: "page" } };
  server.respond = respondWithJson(409, { error });
  expect(await rejectionFieldsOf(stub("f", [], "abc-_1")())).toMatchObject(error);
  expect([server.calls.length, reload.mock.calls.length]).toEqual([1, 0]);
});
