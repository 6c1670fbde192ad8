import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { listen } from "#test/listen";
import { node } from "../adapters/index.ts";
import { client } from "../client/index.ts";
import { request } from "../http/index.ts";
import { session } from "../session/index.ts";
import { visitor } from "./index.ts";

const uploads = mkdtempSync(join(tmpdir(), "tsweb-files-"));
afterAll(() => rmSync(uploads, { recursive: true }));
const storedFiles = () =>
  readdirSync(uploads, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

const one = { type: "any", files: "one" } as const;
const module = {
  describe_file: compiledServer(
    "describe_file",
    async (title: string, file: File) => [title, file.name, file.type, (await file.text()).length],
    { params: { title: "any", file: one }, options: { max_body: 1_000_000 } },
  ),
  count: compiledServer("count", (files?: File[], n?: number) => [files?.length ?? null, n ?? null], {
    params: { files: { type: "any", files: "many", optional: true }, n: { type: "int", optional: true } },
  }),
  keep: compiledServer("keep", async ({ file }: { file: File }) => file.size, { keyed: true, params: { file: one } }),
  fail: compiledServer(
    "fail",
    (_file: File) => {
      throw new Error("broken");
    },
    { params: { file: one }, options: { max_body: 1_000_000 } },
  ),
  hang: compiledServer("hang", (_file: File) => new Promise(() => {}), {
    params: { file: one },
    options: { max_body: 1_000_000, rpc_timeout: 0.05 },
  }),
  wait: compiledServer(
    "wait",
    (_file: File) =>
      new Promise<void>((resolve) => {
        const { signal } = request;
        if (signal.aborted) resolve(); // before the function has started
        signal.addEventListener("abort", () => resolve());
      }),
    { params: { file: one }, options: { max_body: 1_000_000 } },
  ),
  sign_in: compiledServer("sign_in", () => session.login("ada")),
  mine: compiledServer("mine", (file: File) => file.name, { params: { file: one }, options: { auth_required: true } }),
  text: compiledServer("text", (a: unknown) => typeof a, { params: { a: "any" } }),
};
const app = createTestApp(module, {
  rate: false,
  env: { WEB_UPLOAD_DIR: uploads, WEB_CSRF_SECRET: "3f".repeat(32) },
});

const small = new File(["hello"], "hello.txt", { type: "text/plain" });
const large = new File(["x".repeat(200_000)], "large.bin", { type: "application/octet-stream" });

const server = await listen(node(app));
afterAll(() => server.close());

/** The client of a visitor takes no signal: it is one of its `fetch`. */
function clientInProcess(signal?: AbortSignal) {
  const user = visitor(app);
  const fetch = (url: string, init: RequestInit) => user.fetch(new URL(url).pathname, init);
  return signal ? client<typeof module>("http://localhost", { fetch, signal }) : user.client<typeof module>();
}

describe.each([
  ["tsweb/testing", clientInProcess],
  ["tsweb/client", (signal?: AbortSignal) => client<typeof module>(server.address, signal ? { signal } : {})],
])("a call with files by %s", (_, connect) => {
  it("passes them, small ones and stored ones, with the other arguments", async () => {
    const api = connect();
    expect(await api.describe_file("a", small)).toEqual(["a", "hello.txt", "text/plain", 5]);
    expect(await api.describe_file("b", large)).toEqual(["b", "large.bin", "application/octet-stream", 200_000]);
    expect(await api.describe_file.named({ title: "c", file: new Blob(["xy"]) })).toEqual([
      "c",
      "blob",
      "application/octet-stream",
      2,
    ]);
    expect(await api.keep({ file: small })).toBe(5);
  });

  it("passes lists of files, also empty and absent ones", async () => {
    const api = connect();
    expect(await api.count([small, small], 3)).toEqual([2, 3]);
    expect(await api.count([])).toEqual([0, null]);
    expect(await api.count(undefined, 4)).toEqual([null, 4]);
    expect(await api.count()).toEqual([null, null]);
  });

  it("checks the arguments as any call does", async () => {
    const api = connect();
    await expect(api.count([small], "x" as never)).rejects.toMatchObject({
      code: "validation_error",
      details: { parameter: "n" },
    });
    await expect(api.keep({ file: "text" } as never)).rejects.toThrow("file: expected file");
    await expect(api.text(small)).rejects.toMatchObject({ code: "validation_error" });
  });

  it("requires a sign-in and the CSRF token where they are required", async () => {
    const api = connect();
    await expect(api.mine(small)).rejects.toMatchObject({ code: "unauthenticated" });
    await api.sign_in();
    expect(await api.mine(small)).toBe("hello.txt");
  });

  it("is refused above the maximum of the function", async () => {
    const tooLarge = new File(["x".repeat(1_000_001)], "x");
    await expect(connect().describe_file("x", tooLarge)).rejects.toMatchObject({ code: "validation_error" });
  });

  it("leaves no file when the caller aborts it [REQUEST-33]", async () => {
    const abort = new AbortController();
    const call = connect(abort.signal).wait(large);
    await expect.poll(() => storedFiles()).toHaveLength(1);
    abort.abort();
    await expect(call).rejects.toThrow();
    await expect.poll(() => storedFiles()).toEqual([]);
  });

  it.each(["describe_file", "fail", "hang"] as const)(
    "leaves no file when it has ended: %s [REQUEST-32]",
    async (name) => {
      await connect()
        [name].named({ title: "x", file: large })
        .catch(() => undefined);
      await expect.poll(() => storedFiles()).toEqual([]);
    },
  );
});
