import type { Component } from "preact";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { type FormOutcome, IDEMPOTENCY_HEADER } from "../protocol/index.ts";

const save = Object.assign(async (name: string) => name, { id: "save", named: async () => "" });

/** The requests of the page, which the test answers. */
let requests: {
  readonly body: FormData;
  readonly key: string | undefined;
  readonly signal: AbortSignal;
  respond(status: number, body: object, headers?: Record<string, string>): void;
}[];

beforeEach(() => {
  requests = [];
  vi.resetModules();
  vi.stubGlobal("document", { querySelector: () => ({ textContent: JSON.stringify({ base: "", views: [] }) }) });
  vi.stubGlobal("addEventListener", () => undefined);
  type Init = { body: FormData; signal: AbortSignal; headers: Record<string, string> };
  vi.stubGlobal("fetch", (_url: string, { body, signal, headers: sent }: Init) => {
    return new Promise<Response>((resolve) => {
      const respond = (status: number, result: object, headers?: Record<string, string>) =>
        resolve(new Response(JSON.stringify(result), { status, headers: headers ?? {} }));
      requests.push({ body, key: sent[IDEMPOTENCY_HEADER], signal, respond });
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
  const send = (name?: string | File, csrf = "") => {
    const body = new FormData();
    if (csrf) body.set("__csrf", csrf);
    if (name !== undefined) body.set("name", name);
    if (!state.pending) state.update({ pending: true }); // as the listener of the form does
    return sendForm(state, "save", body);
  };
  return { state, outcomes, send, clear: () => clear(state) };
}

const answered = (count: number) => expect.poll(() => requests).toHaveLength(count);

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
  await expect.poll(() => [FakeRequest.sent.length, requests.length]).toEqual([1, 1]);
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
      await expect.poll(() => FakeRequest.last).toBeDefined();
      FakeRequest.last?.upload.onprogress?.({ loaded: 1, total: 4 });
      expect(state.sent).toBe(0.25);
      FakeRequest.last?.respond(headers);
      FakeRequest.last = undefined;
      await sending;
      expect([outcomes.map(({ result }) => result), waited]).toEqual([["ok"], [headers]]);
    },
  );
});

describe("the key of a submission", () => {
  const REDIRECT = { "x-redirect": "/next" };
  const refusal = { error: { code: "conflict", message: "Taken.", details: {} } };
  let entry: { state: unknown; replaceState(state: unknown): void };
  beforeEach(() => {
    entry = {
      state: null,
      replaceState(state) {
        entry.state = state;
      },
    };
    vi.stubGlobal("history", entry);
    vi.stubGlobal("location", { href: "http://shop.example/", origin: "http://shop.example", assign: () => {} });
    // Back shows the page again at once.
    vi.stubGlobal("addEventListener", (type: string, listener: () => void) => type === "pageshow" && listener());
  });

  type Form = Awaited<ReturnType<typeof openForm>>;
  /** Sends a form, responds, and returns the key that it had. */
  async function submit(form: Form, name: string, headers?: Record<string, string>, status = 200, body: object = {}) {
    const count = requests.length;
    const sending = form.send(name, `token ${count}`);
    await answered(count + 1);
    requests[count]?.respond(status, status === 200 ? { result: null } : body, headers);
    await sending;
    return requests[count]?.key;
  }

  /** Loads the code again, with the entry of the history that the page had. The clock stays: other code of this process reads it. */
  function goBack() {
    vi.resetModules();
    vi.stubGlobal("performance", {
      now: performance.now.bind(performance),
      getEntriesByType: () => [{ type: "back_forward" }],
    });
  }

  it("has 16 to 128 letters, digits and hyphens", async () => {
    expect(await submit(await openForm(), "a")).toMatch(/^[\w-]{16,128}$/);
  });

  it.each([
    ["stays after a response of a proxy", 502, {}, true],
    ["is another one after an error of the application", 422, refusal, false],
    ["is another one after a result", 200, {}, false],
  ])("%s", async (_title, status, body, isSame) => {
    const form = await openForm();
    const first = await submit(form, "a", {}, status, body);
    expect((await submit(form, "a")) === first).toBe(isSame);
  });

  it("is another one for other fields, also for those of an earlier submission", async () => {
    const form = await openForm();
    const first = await submit(form, "admin", REDIRECT);
    expect(await submit(form, "admin", REDIRECT)).toBe(first);
    const second = await submit(form, "user", REDIRECT);
    const third = await submit(form, "admin", REDIRECT);
    expect(new Set([first, second, third]).size).toBe(3);
  });

  it("is another one in each form of the function, also for the same fields", async () => {
    const [one, two] = [await openForm(), await openForm()];
    const first = await submit(one, "a", REDIRECT);
    expect(await submit(two, "a", REDIRECT)).not.toBe(first);
    expect(await submit(one, "a", REDIRECT)).toBe(first);
  });

  it("is another one for an earlier submission of a page that Back has loaded again", async () => {
    const first = await submit(await openForm(), "admin", REDIRECT);
    goBack();
    const form = await openForm();
    const second = await submit(form, "user");
    expect(new Set([first, second, await submit(form, "admin")]).size).toBe(3);
  });

  it("stays for Back, in a page with two forms of the function, and is used once", async () => {
    const first = await submit(await openForm(), "a", REDIRECT);
    goBack();
    const [one, two] = [await openForm(), await openForm()];
    expect(await submit(two, "b")).not.toBe(first);
    expect(await submit(one, "a")).toBe(first);
    expect(await submit(await openForm(), "a")).not.toBe(first);
  });

  it("is in the history before a page with live updates has received its messages", async () => {
    const form = await openForm();
    const { landing } = await import("./landing.ts");
    landing.wait = () => new Promise(() => {});
    const key = await submit(form, "a", REDIRECT);
    expect(entry.state).toEqual({ "tsweb-forms": { "save ": key } });
  });

  it("is not in the history if the form has a password", async () => {
    const form = await openForm();
    form.state.element = {} as HTMLFormElement;
    const methods = { reset: () => {}, querySelector: (selector: string) => /password/.test(selector) };
    for (const name of ["Element", "HTMLFormElement"]) {
      vi.stubGlobal(
        name,
        Object.assign(() => {}, { prototype: methods }),
      );
    }
    vi.stubGlobal("CSS", { escape: (name: string) => name });
    Object.assign(document, { querySelectorAll: () => [] });
    await submit(form, "a", REDIRECT);
    expect(entry.state).toBeNull();
  });

  it("stays for the same fields as soon as Back shows the page, which was left before the body had arrived", async () => {
    const listeners: (() => void)[] = [];
    vi.stubGlobal("addEventListener", (type: string, listener: () => void) => {
      if (type === "pageshow") listeners.push(listener);
    });
    const form = await openForm();
    const headers = { "x-redirect": "/next" };
    vi.stubGlobal("fetch", async () => new Response(new ReadableStream(), { headers })); // the body never ends
    const sending = form.send("a");
    await expect.poll(() => listeners).toHaveLength(1);
    for (const listener of listeners) listener();
    await sending;
    expect([form.state.pending, form.outcomes.map(({ error }) => error)]).toEqual([false, [undefined]]);
  });

  it("does not stop the form if the browser refuses a change of the history, as Safari does", async () => {
    const reported = vi.fn();
    vi.stubGlobal("reportError", reported);
    const refused = new DOMException("More than 100 calls", "SecurityError");
    entry.replaceState = () => {
      throw refused;
    };
    const form = await openForm();
    const first = await submit(form, "a", REDIRECT);
    expect(reported).toHaveBeenCalledWith(refused);
    expect(form.outcomes).toHaveLength(1);
    expect(await submit(form, "a")).toBe(first);
  });
});
