import { afterEach, describe, expect, it, vi } from "vitest";
import { disposition, post, postParts, testUploadStore } from "#test/form-requests";
import { recordedLog } from "#test/recorded-log";
import { requestContextOf } from "#test/request-context";
import { ContextValues } from "../http/index.ts";
import {
  MAX_FIELD_BYTES,
  MAX_FIELDS,
  MAX_FILES,
  MAX_PART_HEADER_BYTES,
  MAX_PART_HEADERS,
  MAX_PARTS,
} from "./multipart.ts";
import { type FormReadOptions, type FormValue, formTypeOf, readForm } from "./read-form.ts";
import { UPLOADS, UploadStore } from "./upload-store.ts";

afterEach(() => vi.unstubAllGlobals());

const TAKES_FILES: FormReadOptions = { takesFile: () => true };

function read(request: Request, options?: FormReadOptions) {
  return readForm(
    requestContextOf(request, undefined, { provided: new ContextValues().set(UPLOADS, testUploadStore()) }),
    options,
  );
}

async function readFields(request: Request, options?: FormReadOptions): Promise<Record<string, readonly FormValue[]>> {
  return Object.fromEntries((await read(request, options)).fields);
}

async function statusOf(request: Request, options?: FormReadOptions): Promise<unknown> {
  return read(request, options).then(
    () => "no error",
    (error: { status?: number }) => error.status,
  );
}

describe("the text fields of a form", () => {
  it("are read from a multipart body, with several values in their order", async () => {
    const form = new FormData();
    form.append("name", "Ada");
    form.append("tag", "a");
    form.append("tag", "b\nc");
    expect(await readFields(post(form))).toEqual({ name: ["Ada"], tag: ["a", "b\r\nc"] });
  });

  it("are read from an urlencoded body", async () => {
    const body = new URLSearchParams([
      ["name", "Ada Ö"],
      ["tag", "a&b"],
      ["tag", ""],
    ]); // prettier-ignore
    expect(await readFields(post(body))).toEqual({ name: ["Ada Ö"], tag: ["a&b", ""] });
  });

  it("keep names and values of any language, quotes and line breaks in names included", async () => {
    const form = new FormData();
    form.append('Größe "in" cm', "ünïcödé 😀");
    form.append("a\r\nb", "1");
    form.append("__proto__", "2");
    const { fields } = await read(post(form));
    expect([...fields]).toEqual([
      ['Größe "in" cm', ["ünïcödé 😀"]],
      ["a\r\nb", ["1"]],
      ["__proto__", ["2"]],
    ]);
  });

  it("are bounded in number, in both encodings", async () => {
    const ofCount = (count: number) => Array.from({ length: count }, (_, index) => [`f${index}`, ""] as const);
    const asForm = (count: number) =>
      postParts(...ofCount(count).map(([name]) => [disposition(`name="${name}"`), ""] as const));
    const asText = (count: number) => post(new URLSearchParams(ofCount(count).map((pair) => [...pair])));
    expect(Object.keys(await readFields(asForm(MAX_FIELDS)))).toHaveLength(MAX_FIELDS);
    expect(Object.keys(await readFields(asText(MAX_FIELDS)))).toHaveLength(MAX_FIELDS);
    expect(await statusOf(asForm(MAX_FIELDS + 1))).toBe(413);
    expect(await statusOf(asText(MAX_FIELDS + 1))).toBe(413);
  });

  it("are refused without being parsed if an urlencoded body has more than 1,000 separators [REQUEST-51]", async () => {
    const encoded = (text: string) => post(text, { "content-type": "application/x-www-form-urlencoded" });
    const parse = vi.fn();
    class Parser extends URLSearchParams {
      constructor(text: string) {
        parse(text.length);
        super(text);
      }
    }
    vi.stubGlobal("URLSearchParams", Parser);
    for (const text of ["a&".repeat(MAX_FIELDS + 1), "&".repeat(MAX_FIELDS + 1), "a&".repeat(MAX_FIELD_BYTES / 2)]) {
      expect(await statusOf(encoded(text))).toBe(413);
    }
    expect(parse).not.toHaveBeenCalled();
    const values = async (text: string) => (await readFields(encoded(text))).a?.length;
    expect(await values("a&".repeat(MAX_FIELDS - 1))).toBe(MAX_FIELDS - 1);
    expect(await values(`${"a&".repeat(MAX_FIELDS - 1)}a`)).toBe(MAX_FIELDS);
    expect(await values("a&".repeat(MAX_FIELDS))).toBe(MAX_FIELDS);
    expect(await statusOf(encoded(`${"a&".repeat(MAX_FIELDS)}a`))).toBe(413);
  });

  it("have spaces for the pluses of an urlencoded body, which the parser never receives, as it is slow for them", async () => {
    const parse = vi.fn();
    class Parser extends URLSearchParams {
      constructor(text: string) {
        parse(text);
        super(text);
      }
    }
    vi.stubGlobal("URLSearchParams", Parser);
    const body = new TextEncoder().encode("a+b=+1+%2B+1+Ö+%C3%96+&c+=");
    const parts = new ReadableStream({
      start(controller) {
        for (let at = 0; at < body.length; at++) controller.enqueue(body.subarray(at, at + 1));
        controller.close();
      },
    });
    const fields = await readFields(post(parts, { "content-type": "application/x-www-form-urlencoded" }));
    expect(fields).toEqual({ "a b": [" 1 + 1 Ö Ö "], "c ": [""] });
    expect(parse.mock.calls).toEqual([[expect.not.stringContaining("+")]]);
    expect(new TextDecoder().decode(body)).toContain("+"); // the chunks of the host stay as they are
  });

  it("are ignored if their name is behind 20 header lines or 8 KiB of them, so that headers are bounded", async () => {
    const named = (...before: readonly string[]) => {
      const lines = [...before, 'Content-Disposition: form-data; name="a"'].join("\r\n");
      const body = `--XX\r\n${lines}\r\n\r\n1\r\n--XX--\r\n`;
      return readFields(post(body, { "content-type": "multipart/form-data; boundary=XX" }));
    };
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: x`);
    expect(await named(...lines(MAX_PART_HEADERS - 1))).toEqual({ a: ["1"] });
    expect(await named(...lines(MAX_PART_HEADERS))).toEqual({});
    expect(await named(`X-Long: ${"x".repeat(MAX_PART_HEADER_BYTES - 100)}`)).toEqual({ a: ["1"] });
    expect(await named(`X-Long: ${"x".repeat(MAX_PART_HEADER_BYTES)}`)).toEqual({});
  });

  it("have no unpaired surrogates, whatever character set a part claims", async () => {
    const body = Buffer.concat([
      Buffer.from("--XX\r\nContent-Disposition: form-data; name*=utf-16le''a%00%00%D8\r\n\r\nx\r\n"),
      Buffer.from(
        '--XX\r\nContent-Disposition: form-data; name="b"\r\nContent-Type: text/plain; charset=utf-16le\r\n\r\n',
      ),
      Buffer.from([0x61, 0x00, 0x00, 0xd8]),
      Buffer.from("\r\n--XX--\r\n"),
    ]);
    const request = post(body, { "content-type": "multipart/form-data; boundary=XX" });
    expect(await readFields(request)).toEqual({ "a\ufffd": ["x"], b: ["a\ufffd"] });
  });

  it("are bounded together with the parts that are no field", async () => {
    const ofCount = (count: number) => postParts(...Array.from({ length: count }, () => ["X-Header: x", ""] as const));
    expect(await statusOf(ofCount(MAX_PARTS))).toBe("no error");
    expect(await statusOf(ofCount(MAX_PARTS + 1))).toBe(413);
  });

  it("are bounded in bytes, also when the body may be larger", async () => {
    const half = "x".repeat(MAX_FIELD_BYTES / 2);
    const fits = [disposition('name="a"'), half.slice(1)] as const;
    const tooMuch = [disposition('name="b"'), half] as const;
    const options = { maxBody: 10 * MAX_FIELD_BYTES };
    expect(await statusOf(postParts(fits, [disposition('name="b"'), half.slice(1)]), options)).toBe("no error");
    expect(await statusOf(postParts(fits, tooMuch), options)).toBe(413);
    expect(await statusOf(postParts([disposition('name="a"'), `${half + half}x`]), options)).toBe(413);
    expect(await statusOf(post(new URLSearchParams({ a: half + half })), options)).toBe(413);
  });
});

describe("the files of a form", () => {
  it("have the content, the name and the type that the client sent", async () => {
    const form = new FormData();
    form.append("photo", new File(["data"], "Ünï 😀.PNG", { type: "image/png" }));
    const { photo } = await readFields(post(form), TAKES_FILES);
    const [file] = photo ?? [];
    if (!(file instanceof File)) throw new Error("no file");
    expect([file.name, file.type, file.size, await file.text()]).toEqual(["Ünï 😀.PNG", "image/png", 4, "data"]);
  });

  it("keep their order among the values of a field", async () => {
    const form = new FormData();
    for (const name of ["a", "b", "c"]) form.append("files", new File([name.repeat(100_000)], name));
    form.append("files", "text");
    const { files } = await readFields(post(form), TAKES_FILES);
    expect(files?.map((value) => (value instanceof File ? value.name : value))).toEqual(["a", "b", "c", "text"]);
  });

  it("are absent where no file was selected, and present when an empty one was", async () => {
    const type = "\r\nContent-Type: application/octet-stream";
    const form = postParts(
      [disposition('name="none"; filename=""') + type, ""],
      [disposition('name="empty"; filename="empty.txt"') + type, ""],
    );
    const fields = await readFields(form, TAKES_FILES);
    expect(Object.keys(fields)).toEqual(["empty"]);
  });

  it("are discarded in a field that takes none, which is reported [REQUEST-41]", async () => {
    const form = new FormData();
    form.append("a", new File(["x"], "x"));
    form.append("b", "text");
    const { fields, discardedFiles } = await read(post(form), { takesFile: (name) => name === "b" });
    expect([...fields.keys()]).toEqual(["b"]);
    expect([...discardedFiles]).toEqual(["a"]);
  });

  it("are bounded in number", async () => {
    const ofCount = (count: number) =>
      postParts(...Array.from({ length: count }, () => [disposition('name="f"; filename="f"'), "x"] as const));
    expect((await readFields(ofCount(MAX_FILES), TAKES_FILES)).f).toHaveLength(MAX_FILES);
    expect(await statusOf(ofCount(MAX_FILES + 1), TAKES_FILES)).toBe(413);
  });
});

describe("the check before the files", () => {
  it("receives the fields up to the first file, once, before the file is stored", async () => {
    const form = new FormData();
    form.append("token", "t");
    form.append("file", new File(["x"], "x"));
    form.append("later", "l");
    const calls: unknown[] = [];
    await read(post(form), { ...TAKES_FILES, beforeFiles: (fields) => calls.push([...fields]) });
    expect(calls).toEqual([[["token", ["t"]]]]);
  });

  it("is also made for a form without files, in both encodings", async () => {
    const form = new FormData();
    form.append("a", "1");
    for (const body of [form, new URLSearchParams({ a: "1" })]) {
      const calls: unknown[] = [];
      await read(post(body), { beforeFiles: (fields) => calls.push([...fields]) });
      expect(calls).toEqual([[["a", ["1"]]]]);
    }
  });

  it("ends the reading with the error that it throws", async () => {
    const form = new FormData();
    form.append("file", new File(["x"], "x"));
    const error = new Error("no token");
    const beforeFiles = () => {
      throw error;
    };
    await expect(read(post(form), { ...TAKES_FILES, beforeFiles })).rejects.toBe(error);
    await expect(read(post(new URLSearchParams()), { beforeFiles })).rejects.toBe(error);
  });
});

describe("a form while there is no room for uploads", () => {
  const full = () => new UploadStore({ maxBytes: 0, maxBytesPerClient: 0, keyOf: String, log: recordedLog().log });
  const status = (request: Request, options?: FormReadOptions) =>
    readForm(
      requestContextOf(request, undefined, { provided: new ContextValues().set(UPLOADS, full()) }),
      options,
    ).then(
      ({ fields }) => Object.fromEntries(fields),
      (error) => error.status,
    );
  const text = "name=ada&password=secret";
  const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": String(text.length) };
  const fields = { name: ["ada"], password: ["secret"] };
  const multipart = () => {
    const body = `--XX\r\n${disposition('name="name"')}\r\n\r\nada\r\n--XX--\r\n`;
    return post(body, {
      "content-type": "multipart/form-data; boundary=XX",
      "content-length": String(body.length),
    });
  };

  it("is accepted if it is urlencoded [REQUEST-29]", async () => {
    expect(await status(post(text, headers))).toEqual(fields);
    expect(await status(post(text, headers), TAKES_FILES)).toEqual(fields);
  });

  it("is accepted if its function takes no files [REQUEST-30]", async () => {
    expect(await status(multipart())).toEqual({ name: ["ada"] });
  });

  it("is refused with 503 if its function takes files, before anything of it is read", async () => {
    expect(await status(multipart(), TAKES_FILES)).toBe(503);
  });
});

describe("a body that cannot be read", () => {
  it.each([
    ["is not multipart", "hello", "multipart/form-data; boundary=XX", 400],
    [
      "ends in a part",
      '--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\nhal',
      "multipart/form-data; boundary=XX",
      400,
    ],
    ["ends in a header", "--XX\r\nContent-Dispo", "multipart/form-data; boundary=XX", 400],
    ["has no boundary", "--XX--", "multipart/form-data", 400],
    ["is JSON", "{}", "application/json", 415],
    ["has no type", "", "", 415],
  ])("is refused if it %s", async (_, body, type, status) => {
    expect(await statusOf(post(body, { "content-type": type }), TAKES_FILES)).toBe(status);
  });

  it("is refused above its maximum, declared or counted", async () => {
    const chunked = (size: number) =>
      post(new Blob(["x".repeat(size)]).stream(), { "content-type": "application/x-www-form-urlencoded" });
    const declared = (size: number) =>
      post("x".repeat(size), { "content-type": "application/x-www-form-urlencoded", "content-length": String(size) });
    for (const request of [chunked, declared]) {
      expect(await statusOf(request(1000), { maxBody: 1000 })).toBe("no error");
      expect(await statusOf(request(1001), { maxBody: 1000 })).toBe(413);
    }
  });
});

describe("formTypeOf", () => {
  it.each([
    ["multipart/form-data; boundary=x", "multipart"],
    ["Multipart/Form-Data;boundary=x", "multipart"],
    ["application/x-www-form-urlencoded", "urlencoded"],
    ["application/x-www-form-urlencoded; charset=utf-8", "urlencoded"],
    ["multipart/mixed; boundary=x", null],
    ["multipart/form-data-x", null],
    ["application/json", null],
    ["", null],
    [null, null],
  ])("reads %j as %s", (contentType, expected) => expect(formTypeOf(contentType)).toBe(expected));
});
