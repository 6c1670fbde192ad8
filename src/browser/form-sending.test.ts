import type { Component } from "preact";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import type { FormOutcome } from "../protocol/index.ts";

const save = Object.assign(async (name: string) => name, { id: "save", named: async () => "" });

/** The requests of the page, which the test answers. */
let requests: { readonly body: FormData; readonly signal: AbortSignal; respond(status: number, body: object): void }[];

beforeEach(() => {
  requests = [];
  vi.resetModules();
  vi.stubGlobal("document", { querySelector: () => ({ textContent: JSON.stringify({ base: "", views: [] }) }) });
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("fetch", (_url: string, { body, signal }: { body: FormData; signal: AbortSignal }) => {
    return new Promise<Response>((resolve) => {
      const respond = (status: number, result: object) => resolve(new Response(JSON.stringify(result), { status }));
      requests.push({ body, signal, respond });
    });
  });
});
afterEach(() => vi.unstubAllGlobals());

/** Returns a form, with the function that sends it and the outcomes that it was told. */
async function openForm() {
  const { createForm } = await import("./form.ts");
  const { sendForm, clear } = await import("./form-sending.ts");
  // Only the rendering of the component is used.
  const component = { forceUpdate: (afterRendering?: () => void) => afterRendering?.() } as unknown as Component;
  const state = createForm(component, save, "", true);
  const outcomes: FormOutcome[] = [];
  state.done = (outcome) => void outcomes.push(outcome);
  const send = (name?: string | File) => {
    const body = new FormData();
    if (name !== undefined) body.set("name", name);
    if (!state.pending) state.update({ pending: true }); // as the listener of the form does
    return sendForm(state, "save", body);
  };
  return { state, outcomes, send, clear: () => clear(state) };
}

const answered = (count: number) => vi.waitFor(() => expect(requests).toHaveLength(count));

describe("a form that is submitted while it is being sent", () => {
  test("is sent again after that, in turn, and says each outcome", async () => {
    const { state, outcomes, send } = await openForm();
    const sending = send(new File(["a"], "a.png"));
    await send(new File(["b"], "b.png"));
    await send("c");
    expect(requests).toHaveLength(1);
    requests[0]?.respond(200, { result: "first" });
    await answered(2);
    expect(state.pending).toBe(true);
    requests[1]?.respond(422, { error: { code: "conflict", message: "Taken.", details: {} } });
    await answered(3);
    requests[2]?.respond(200, { result: null });
    await sending;
    expect(state.pending).toBe(false);
    expect(requests.map(({ body }) => (body.get("name") as File).name ?? body.get("name"))).toEqual([
      "a.png",
      "b.png",
      "c",
    ]);
    expect(outcomes.map(({ result, error, data }) => [result, error?.code, data])).toEqual([
      ["first", undefined, requests[0]?.body],
      [undefined, "conflict", requests[1]?.body],
      [undefined, undefined, requests[2]?.body],
    ]);
  });

  test("is sent once for a double click, and can be sent again later", async () => {
    const { outcomes, send } = await openForm();
    const sending = send("a");
    await send("a");
    requests[0]?.respond(200, { result: 1 });
    await sending;
    expect([requests.length, outcomes.length]).toEqual([1, 1]);
    const again = send("a");
    await answered(2);
    requests[1]?.respond(200, { result: 2 });
    await again;
    expect(outcomes.map(({ result }) => result)).toEqual([1, 2]);
  });

  // <fieldset disabled={form.pending}> is around the fields, and not around the button.
  test.each([
    [true, 1],
    [false, 2],
  ])("is sent once for a double click that finds its fields disabled: %s", async (isDisabled, count) => {
    const { state, send } = await openForm();
    const element = {} as HTMLFormElement; // only fields refer to it
    state.element = element;
    const fields = [{ name: "name", form: element, matches: () => isDisabled }];
    Object.assign(document, { querySelectorAll: () => fields });
    const sending = send("a");
    await send();
    delete state.element;
    requests[0]?.respond(200, { result: 1 });
    await answered(count);
    requests[1]?.respond(200, { result: 2 });
    await sending;
    expect(requests).toHaveLength(count);
  });

  test("is not sent after a reset, and a later submission is", async () => {
    const { outcomes, send, clear } = await openForm();
    const sending = send("a");
    await send("b");
    clear();
    expect(requests[0]?.signal.aborted).toBe(true);
    const later = send("c");
    await answered(2);
    requests[0]?.respond(200, { result: "a" });
    requests[1]?.respond(200, { result: "c" });
    await Promise.all([sending, later]);
    expect(outcomes.map(({ result }) => result)).toEqual(["c"]);
  });
});

test("on_progress reports how much of a call with files has been sent, of its own call only", async () => {
  vi.stubGlobal("addEventListener", () => undefined);
  class FakeRequest {
    static sent: FakeRequest[] = [];
    readonly upload: { onprogress?: (event: { loaded: number; total: number }) => void } = {};
    onload?: () => void;
    readonly status = 200;
    readonly response = '{"result":"stored"}';
    open() {}
    setRequestHeader() {}
    getResponseHeader = () => null;
    send() {
      FakeRequest.sent.push(this);
    }
  }
  vi.stubGlobal("XMLHttpRequest", FakeRequest);
  const { stub, upload } = await import("./stub.ts");
  const { on_progress } = await import("./form-upload.ts");
  const store = stub("store", ["file"], undefined, upload);
  const parts: number[] = [];
  const call = on_progress(
    (sent) => parts.push(sent),
    () => store(new File(["a"], "a.png")),
  );
  const silent = store(new File(["b"], "b.png"));
  await vi.waitFor(() => expect([FakeRequest.sent.length, requests.length]).toEqual([1, 1]));
  const [request] = FakeRequest.sent;
  request?.upload.onprogress?.({ loaded: 1, total: 4 });
  request?.upload.onprogress?.({ loaded: 4, total: 4 });
  request?.onload?.();
  expect(await call).toBe("stored");
  expect(parts).toEqual([0.25, 1]);
  requests[0]?.respond(200, { result: "silent" });
  expect(await silent).toBe("silent");
});

describe("a form that shows its progress", () => {
  /** The part of the browser's class that the form uses. */
  class FakeRequest {
    static last: FakeRequest | undefined;
    readonly upload: { onprogress?: (event: { loaded: number; total: number }) => void } = {};
    onload = () => {};
    status = 0;
    response = "";
    headers: Record<string, string> = {};
    open = () => {};
    setRequestHeader = () => {};
    getResponseHeader = (name: string) => this.headers[name.toLowerCase()] ?? null;
    send() {
      FakeRequest.last = this;
    }
    respond(headers: Record<string, string>) {
      Object.assign(this, { status: 200, response: JSON.stringify({ result: "ok" }), headers });
      this.onload();
    }
  }

  // A form with the header of a redirect is pending for two seconds more, also if it is empty.
  it.each([[{}], [{ "x-published": "AAAAAAAAAAA=e.1" }]])(
    "has the headers of its response only: %j",
    async (headers) => {
      vi.stubGlobal("XMLHttpRequest", FakeRequest);
      const { state, outcomes, send } = await openForm();
      const { landing } = await import("./landing.ts");
      const waited: object[] = [];
      landing.wait = ({ headers }) =>
        waited.push(Object.fromEntries([...headers].filter(([name]) => /^x-/.test(name))));
      expect((state as unknown as { progress: number }).progress).toBe(0); // shown from now on
      const sending = send("a");
      await vi.waitFor(() => expect(FakeRequest.last).toBeDefined());
      FakeRequest.last?.upload.onprogress?.({ loaded: 1, total: 4 });
      expect(state.sent).toBe(0.25);
      FakeRequest.last?.respond(headers);
      FakeRequest.last = undefined;
      await sending;
      expect([outcomes.map(({ result }) => result), waited]).toEqual([["ok"], [headers]]);
    },
  );
});
