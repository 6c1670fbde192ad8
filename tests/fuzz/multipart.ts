/**
 * Sends hostile multipart bodies to an application: malformed, cut off, with too much of everything. Each gets a response
 * of docs/protocol.md and leaves no file. What can be read is the same, whatever the chunks in which it arrives.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { compiledServer, createTestApp } from "#test/compiled-app";
import type { FuzzFailure, FuzzOptions, FuzzResult } from "./in-process.ts";
import { FuzzRandom } from "./random.ts";

const MAX_BODY_BYTES = 300_000;
const STATUSES = new Set([200, 400, 408, 413, 415, 422]);

/** How long a response may take. */
const TIMEOUT_MS = 2_000;

/** Creates the application that receives the bodies, with a folder of its own for uploads. */
function createUploadApp(folder: string) {
  const one = { type: "any", files: "one", optional: true } as const;
  const describe = (file: File | undefined) => file && [file.name, file.type, file.size];
  const upload = compiledServer(
    "upload",
    async (text?: string, file?: File, files?: readonly File[], n?: number) => [
      text?.length,
      describe(file),
      await file?.text(),
      files?.map(describe),
      n,
    ],
    {
      params: {
        text: { type: "any", optional: true },
        file: one,
        files: { type: "any", files: "many", optional: true },
        n: { type: "int", optional: true },
      },
      options: { max_body: MAX_BODY_BYTES },
    },
  );
  return createTestApp({ upload }, { rate: false, env: { WEB_UPLOAD_DIR: folder } });
}

/** Sends the bodies of a seed. Stops after 10 failures. */
export async function fuzzMultipart({ seed, from = 0, runs }: FuzzOptions): Promise<FuzzResult> {
  const folder = mkdtempSync(join(tmpdir(), "tsweb-fuzz-"));
  const app = createUploadApp(folder);
  const statuses: Record<string, number> = {};
  const failures: FuzzFailure[] = [];
  try {
    for (let number = from; number < from + runs && failures.length < 10; number++) {
      const random = new FuzzRandom(seed, number);
      const { contentType, body } = hostileForm(random);
      const fail = (reason: string) =>
        failures.push({ number, request: `${contentType}\n${body.subarray(0, 500).toString("latin1")}`, reason });
      const send = (chunks: readonly Buffer[]) => sendForm(app, contentType, chunks);
      const whole = await send([body]);
      const split = await send(splitRandomly(body, random));
      statuses[whole.status] = (statuses[whole.status] ?? 0) + 1;
      for (const { status, text } of [whole, split]) if (!STATUSES.has(status)) fail(`status ${status}: ${text}`);
      // Whether a malformed part is skipped or refused may depend on the chunks.
      const isReadable = whole.status !== 400 && split.status !== 400;
      if (isReadable && (whole.status !== split.status || withoutIds(whole.text) !== withoutIds(split.text))) {
        fail(`in one chunk ${whole.status} ${whole.text}\nin several ${split.status} ${split.text}`);
      }
      if (!(await isEmptied(folder))) fail("left a file");
    }
  } finally {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return { statuses, failures };
}

interface FormResponse {
  readonly status: number;
  readonly text: string;
}

async function sendForm(
  app: { fetch(request: Request): Promise<Response> },
  contentType: string,
  chunks: readonly Buffer[],
): Promise<FormResponse> {
  const iterator = chunks[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = iterator.next();
      if (done) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
  });
  // Node requires `duplex` for a stream; its types do not declare it.
  const init: RequestInit & { duplex: "half" } = {
    method: "POST",
    headers: { origin: "http://localhost", "content-type": contentType },
    body,
    duplex: "half",
  };
  const response = app.fetch(new Request("http://localhost/__web/form/upload", init));
  const timeout = sleep(TIMEOUT_MS, null, { ref: false });
  const received = await Promise.race([response, timeout]);
  return received ? { status: received.status, text: await received.text() } : { status: 0, text: "no response" };
}

const withoutIds = (text: string) => text.replace(/[0-9a-f]{32}/g, "id");

/** Resolves with whether no file is left, soon after the response. */
async function isEmptied(folder: string): Promise<boolean> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    if (files.length === 0) return true;
    await sleep(10);
  }
  return false;
}

function splitRandomly(body: Buffer, random: FuzzRandom): Buffer[] {
  const maxLength = random.pick([1, 3, 100, 20_000]);
  const chunks: Buffer[] = [];
  // A large body is not split into single bytes, which would take seconds.
  const length = body.length > 20_000 ? 20_000 : maxLength;
  for (let at = 0; at < body.length; ) {
    const end = at + 1 + random.below(length);
    chunks.push(body.subarray(at, end));
    at = end;
  }
  return chunks;
}

function hostileForm(random: FuzzRandom): { contentType: string; body: Buffer } {
  const boundary = random.pick([
    "XX",
    "----WebKitFormBoundary7MA4YWxk",
    "-",
    "a'()+_,./:=?b",
    "x".repeat(70),
    "\\",
    "0 1",
  ]);
  const count = random.pick([0, 1, 1, 2, 3, 5, 101, 1001]);
  const parts = Array.from({ length: count }, () => part(boundary, random, count > 10));
  const end = random.pick(["--\r\n", "--\r\n", "--", "", "-", "--\r\nepilogue", "\r\n", `--\r\n--${boundary}--`]);
  const preamble = random.pick(["", "", "", "preamble\r\n", "\r\n", "--"]);
  let body = Buffer.concat([Buffer.from(preamble), ...parts, Buffer.from(`--${boundary}${end}`)]);
  if (random.below(4) === 0) body = body.subarray(0, random.below(body.length + 1));
  if (random.below(4) === 0 && body.length > 0) body[random.below(body.length)] = random.below(256);
  const contentType = random.pick([
    `multipart/form-data; boundary=${boundary}`,
    `multipart/form-data; boundary="${boundary}"`,
    `multipart/form-data; boundary="${boundary}"`,
    `Multipart/Form-Data; charset=utf-8; boundary="${boundary}"`,
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "multipart/form-data; boundary=other",
  ]);
  return { contentType, body };
}

function part(boundary: string, random: FuzzRandom, isSmall: boolean): Buffer {
  const name = random.pick([
    "text",
    "file",
    "files",
    "n",
    "__args",
    "__csrf",
    "__key",
    "__proto__",
    "",
    "a".repeat(5000),
    "öä😀",
    "a%0D%0Ab",
    "constructor.prototype.x",
  ]);
  const fileName = random.pick([
    null,
    null,
    "",
    "a.txt",
    "../../etc/passwd",
    "C:\\a",
    "..",
    "\0",
    "😀".repeat(200),
    'a"b',
    "a\\",
  ]);
  const disposition = random.pick([
    `Content-Disposition: form-data; name="${name}"${fileName === null ? "" : `; filename="${fileName}"`}`,
    `content-disposition:form-data;name=${name}`,
    `Content-Disposition: form-data; name="${name}"; name="other"; filename*=UTF-8''%zz`,
    "Content-Disposition: form-data",
    `Content-Disposition: attachment; name="${name}"`,
    `Content-Disposition: form-data; name="${name}\r\nX: y"`,
    "",
  ]);
  const type = random.pick([
    "",
    "Content-Type: text/plain; charset=utf-16\r\n",
    "Content-Type: application/octet-stream\r\n",
    "Content-Type: multipart/mixed; boundary=YY\r\n",
    "Content-Transfer-Encoding: base64\r\n",
    `X: ${"y".repeat(20_000)}\r\n`,
    "X: y\r\n".repeat(100),
    ": :\r\n",
    "X\r\n",
  ]);
  const content = random.pick([
    () => Buffer.from(""),
    () => Buffer.from("42"),
    () => Buffer.from('{"n":1}'),
    () => Buffer.from(`\r\n--${boundary.slice(0, -1)}`),
    () => Buffer.from("\r\n\r\n--\r\n"),
    () => random.bytes(random.below(300)),
    () => Buffer.alloc(isSmall ? 10 : random.pick([65_536, 65_537, 100_000, MAX_BODY_BYTES]), "x"),
  ])();
  const lineEnd = random.pick(["\r\n", "\r\n", "\r\n", "\n", ""]);
  return Buffer.concat([
    Buffer.from(`--${boundary}${lineEnd}${disposition}\r\n${type}\r\n`),
    content,
    Buffer.from(random.pick(["\r\n", "\r\n", "\r\n", "\n", ""])),
  ]);
}
