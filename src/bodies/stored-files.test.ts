import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { disposition, post, postParts } from "#test/form-requests";
import { recordedLog } from "#test/recorded-log";
import { requestContextOf } from "#test/request-context";
import { TemporaryFolder } from "#test/temporary-folder";
import { ContextValues } from "../http/index.ts";
import { type FormReadOptions, MAX_MEMORY_BYTES, MAX_MEMORY_FILE_BYTES, readForm } from "./read-form.ts";
import { removeLeftovers, uploadDirectory } from "./upload-directory.ts";
import { UPLOADS, UploadStore } from "./upload-store.ts";

const folder = new TemporaryFolder("uploads");
afterAll(() => folder.remove());

let base: string;
let count = 0;
beforeEach(() => {
  base = join(folder.path, String(count++));
});

const LARGE = MAX_MEMORY_FILE_BYTES + 1;
const OPTIONS: FormReadOptions = { maxBody: 2 ** 30, takesFile: () => true };

function createStore(bounds: { maxBytes?: number; maxBytesPerClient?: number; dir?: string } = {}) {
  const { log, lines } = recordedLog();
  const options = { dir: base, maxBytes: 2 ** 30, maxBytesPerClient: 2 ** 30, keyOf: String, log, ...bounds };
  return { store: new UploadStore(options), lines };
}

/** The paths of the files that are stored below a folder. */
function storedFiles(path = base): string[] {
  // `recursive` follows links since Node 24.
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const child = join(path, entry.name);
    return entry.isDirectory() ? storedFiles(child) : entry.isFile() ? [child] : [];
  });
}

function formWith(...sizes: readonly number[]): FormData {
  const form = new FormData();
  for (const size of sizes) form.append("file", new File(["x".repeat(size)], "x.txt", { type: "text/plain" }));
  return form;
}

/** Reads a form and resolves with its files and its context, which has not ended. */
async function read(request: Request, uploads: UploadStore, address = "::1") {
  const context = requestContextOf(request, undefined, {
    provided: new ContextValues().set(UPLOADS, uploads),
    address,
  });
  const form = readForm(context, OPTIONS).finally(() => undefined);
  const { fields } = await form.catch((error) => {
    context.releaseBody(); // as the pipeline does
    throw error;
  });
  const files = (fields.get("file") ?? []).filter((value) => value instanceof File);
  return { context, files };
}

async function statusOf(request: Request, store: UploadStore, address?: string): Promise<unknown> {
  return read(request, store, address).then(
    () => "no error",
    (error) => error.status ?? error,
  );
}

/** Resolves when nothing is stored any more. */
function untilRemoved(store: UploadStore) {
  return vi.waitFor(() => expect([storedFiles(), store.limit.bytes, store.limit.clients]).toEqual([[], 0, 0]), 30_000);
}

describe("a file of a form", () => {
  it("is kept in memory up to 64 KiB, and stored on disk above", async () => {
    const { store } = createStore();
    const small = await read(post(formWith(MAX_MEMORY_FILE_BYTES)), store);
    expect(storedFiles(folder.path)).toEqual([]);
    const large = await read(post(formWith(LARGE)), store);
    expect(storedFiles()).toHaveLength(1);
    expect([small.files[0]?.size, large.files[0]?.size]).toEqual([MAX_MEMORY_FILE_BYTES, LARGE]);
    small.context.releaseBody();
    large.context.releaseBody();
    await untilRemoved(store);
  });

  it("is stored on disk when the small files of the form fill 1 MiB of memory", async () => {
    const { store } = createStore();
    const inMemory = MAX_MEMORY_BYTES / MAX_MEMORY_FILE_BYTES;
    const { context, files } = await read(post(formWith(...Array(inMemory + 2).fill(MAX_MEMORY_FILE_BYTES))), store);
    expect(storedFiles()).toHaveLength(2);
    expect(new Set(files.map((file) => file.size))).toEqual(new Set([MAX_MEMORY_FILE_BYTES]));
    context.releaseBody();
    await untilRemoved(store);
  });

  it("on disk has its size, can be read again and again, and in parts", async () => {
    const { store } = createStore();
    const content = Array.from({ length: 50_000 }, (_, index) => `${index}\n`).join("");
    const form = new FormData();
    form.append("file", new File([content], "numbers.txt", { type: "text/plain" }));
    const { context, files } = await read(post(form), store);
    const [file] = files;
    if (!file) throw new Error("no file");
    expect([file.name, file.type, file.size]).toEqual(["numbers.txt", "text/plain", content.length]);
    expect(await file.text()).toBe(content);
    expect(await new Response(file.stream()).text()).toBe(content);
    expect(await file.slice(10, 20).text()).toBe(content.slice(10, 20));
    context.releaseBody();
    await untilRemoved(store);
  });

  it("on disk can be read by nobody else: directory 0700, file 0600 [REQUEST-22]", async () => {
    const { store } = createStore();
    const { context } = await read(post(formWith(LARGE)), store);
    const [path = ""] = storedFiles();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect(statSync(base).mode & 0o777).toBe(0o700);
    context.releaseBody();
    await untilRemoved(store);
  });

  it("is stored in a new directory after somebody has removed the one of the process", async () => {
    const { store } = createStore();
    const first = await read(post(formWith(LARGE)), store);
    first.context.releaseBody();
    await untilRemoved(store);
    const [removed = ""] = readdirSync(base);
    rmSync(join(base, removed), { recursive: true });
    const uploads = await Promise.all([1, 2, 3].map(() => read(post(formWith(LARGE)), store)));
    expect(storedFiles()).toHaveLength(3);
    expect(readdirSync(base)).toEqual([expect.not.stringContaining(removed)]);
    expect(statSync(join(base, readdirSync(base)[0] ?? "")).mode & 0o777).toBe(0o700);
    for (const { context } of uploads) context.releaseBody();
    await untilRemoved(store);
  });

  it("has nothing of the client's name in its path [REQUEST-21]", async () => {
    const { store } = createStore();
    const part = [disposition('name="file"; filename="../../../../tmp/evil"'), "x".repeat(LARGE)] as const;
    const { context, files } = await read(postParts(part), store);
    expect(files[0]?.name).toBe("evil");
    expect(storedFiles().every((path) => /\/tsweb-upload-[0-9a-f]{12}-\d+-\w{6}\/\d+$/.test(path))).toBe(true);
    context.releaseBody();
    await untilRemoved(store);
  });
});

describe("a stored file is removed", () => {
  it("when the request ends, and not before", async () => {
    const { store } = createStore();
    const { context, files } = await read(post(formWith(LARGE, LARGE)), store);
    expect(storedFiles()).toHaveLength(2);
    expect(store.limit.bytes).toBe(2 * LARGE);
    context.releaseBody();
    await untilRemoved(store);
    await expect(files[0]?.text()).rejects.toThrow();
  });

  it("when the body is malformed, too large, or ends early", async () => {
    const { store } = createStore();
    const head = `--XX\r\n${disposition('name="file"; filename="a"')}\r\n\r\n${"x".repeat(LARGE)}`;
    const type = { "content-type": "multipart/form-data; boundary=XX" };
    expect(await statusOf(post(head, type), store)).toBe(400);
    await untilRemoved(store);
    const failing = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(head)),
      pull: (controller) => controller.error(new Error("reset")),
    });
    expect(await statusOf(post(failing, type), store)).toBe(400);
    await untilRemoved(store);
    const tooManyFields = Array.from({ length: 1001 }, () => [disposition('name="a"'), ""] as const);
    expect(
      await statusOf(postParts([disposition('name="file"; filename="a"'), "x".repeat(LARGE)], ...tooManyFields), store),
    ).toBe(413);
    await untilRemoved(store);
  });
});

describe("the bytes that are stored", () => {
  it("are bounded for one client, with 503, up to the exact byte [REQUEST-24]", async () => {
    const { store } = createStore({ maxBytesPerClient: 2 * LARGE });
    const first = await read(post(formWith(LARGE)), store);
    expect(await statusOf(post(formWith(LARGE + 1)), store)).toBe(503);
    await expect.poll(() => store.limit.bytes).toBe(LARGE);
    const second = await read(post(formWith(LARGE)), store);
    const other = await read(post(formWith(LARGE)), store, "::2");
    for (const { context } of [first, second, other]) context.releaseBody();
    await untilRemoved(store);
  });

  it("are bounded for all clients together, with 503 and a warning [REQUEST-25]", async () => {
    const { store, lines } = createStore({ maxBytes: LARGE });
    const first = await read(post(formWith(LARGE)), store);
    expect(await statusOf(post(formWith(LARGE)), store, "::2")).toBe(503);
    expect(lines.map(({ message }) => message)).toEqual(["Uploads are refused: WEB_MAX_UPLOAD_BYTES is reached"]);
    first.context.releaseBody();
    await untilRemoved(store);
  });

  it("are refused by the declared length, before anything is read", async () => {
    const { store } = createStore({ maxBytes: LARGE });
    const body = new ReadableStream({ pull: () => expect.unreachable("the body was read") }, { highWaterMark: 0 });
    const headers = { "content-type": "multipart/form-data; boundary=XX", "content-length": String(LARGE + 1) };
    expect(await statusOf(post(body, headers), store)).toBe(503);
  });

  it("are refused with 503 and a log line if they cannot be written", async () => {
    writeFileSync(base, "a file in place of the folder");
    const { store, lines } = createStore();
    expect(await statusOf(post(formWith(LARGE)), store)).toBe(503);
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ["error", "An upload could not be stored. Set WEB_UPLOAD_DIR to a folder with room"],
    ]);
  });
});

describe("the directories that killed processes have left", () => {
  const leftover = (name: string) => {
    const path = join(base, name);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "1"), "private");
    return path;
  };
  /** The name that this process would have for a process of the same host. */
  const nameFor = async (pid: number) => {
    const own = (await uploadDirectory(base)).split("/").at(-1) ?? "";
    return own.replace(/-\d+-\w+$/, `-${pid}-abcdef`);
  };
  afterEach(() => vi.restoreAllMocks());

  it("are removed at start, and those of running processes stay", async () => {
    const dead = await nameFor(2 ** 22 + 1); // above the largest process id of Linux
    const alive = await nameFor(process.ppid);
    leftover(dead);
    leftover(alive);
    const { store, lines } = createStore();
    await store.start();
    expect(lines.map(({ fields }) => fields)).toEqual([{ removed: [dead] }]);
    expect(storedFiles()).toEqual([join(base, alive, "1")]);
  });

  it("of other hosts and containers are removed when they have not been marked for ten minutes", async () => {
    const name = "tsweb-upload-0123456789ab-1-abcdef";
    const path = leftover(name);
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    utimesSync(path, minutesAgo(9), minutesAgo(9));
    expect(await removeLeftovers(base)).toEqual([]);
    utimesSync(path, minutesAgo(11), minutesAgo(11));
    expect(await removeLeftovers(base)).toEqual([name]);
  });

  it("are never followed through a link, and nothing else in the folder is touched [REQUEST-23]", async () => {
    const dead = await nameFor(2 ** 22 + 1);
    const target = join(folder.path, "target");
    mkdirSync(target);
    writeFileSync(join(target, "keep"), "kept");
    symlinkSync(target, join(base, dead));
    leftover("tsweb-upload-mine");
    leftover("other");
    expect(await removeLeftovers(base)).toEqual([]);
    expect(readFileSync(join(target, "keep"), "utf8")).toBe("kept");
    expect(storedFiles()).toHaveLength(2);
  });

  it("of another user stay", async () => {
    leftover(await nameFor(2 ** 22 + 1));
    vi.spyOn(process, "getuid").mockReturnValue(12_345);
    expect(await removeLeftovers(base)).toEqual([]);
  });

  it("of this process stay, also when it starts another application", async () => {
    const { store } = createStore();
    const { context, files } = await read(post(formWith(LARGE)), store);
    await createStore().store.start();
    expect(await files[0]?.text()).toHaveLength(LARGE);
    context.releaseBody();
    await untilRemoved(store);
  });
});
