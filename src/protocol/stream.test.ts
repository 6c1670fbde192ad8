import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "#test/any-text";
import { readLines } from "./stream.ts";

function bodyOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const waiting = [...chunks];
  return new ReadableStream({
    pull(controller) {
      const chunk = waiting.shift();
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
  });
}

async function linesOf(...chunks: readonly (string | Uint8Array)[]): Promise<string[]> {
  const bytes = chunks.map((chunk) => (typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk));
  const lines: string[] = [];
  for await (const arrived of readLines(bodyOf(bytes))) lines.push(...arrived);
  return lines;
}

test("readLines yields the lines of chunks with one line, several lines, and a part of a line", async () => {
  expect(await linesOf("a\n", "b\nc\n", "d", "e", "f\ng", "\n")).toEqual(["a", "b", "c", "def", "g"]);
});

test("readLines yields empty lines, and the text after the last line break if there is any", async () => {
  expect(await linesOf("a\n\n\nb")).toEqual(["a", "", "", "b"]);
  expect(await linesOf("a\n")).toEqual(["a"]);
  expect(await linesOf("\n")).toEqual([""]);
  expect(await linesOf()).toEqual([]);
});

test("readLines joins characters that are split between chunks", async () => {
  const bytes = new TextEncoder().encode("é€😀\n日本\n");
  const single = Array.from(bytes, (byte) => new Uint8Array([byte]));
  expect(await linesOf(...single)).toEqual(["é€😀", "日本"]);
});

test("readLines yields an incomplete character at the end as a replacement character", async () => {
  expect(await linesOf(new Uint8Array([0x61, 0xe2, 0x82]))).toEqual(["a\ufffd"]);
});

test("readLines yields the same lines, however a body is split", async () => {
  const text = fc.array(fc.oneof(anyText(), fc.constant("")).map((line) => line.replaceAll("\n", " ")));
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(40)), async (lines, cuts) => {
      const whole = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
      const chunks: Uint8Array[] = [];
      let from = 0;
      for (const cut of cuts) {
        chunks.push(whole.subarray(from, from + cut));
        from += cut;
      }
      chunks.push(whole.subarray(from));
      const expected = new TextDecoder("utf-8", { ignoreBOM: false }).decode(whole).split("\n").slice(0, -1);
      expect(await linesOf(...chunks)).toEqual(expected);
    }),
  );
});

test("readLines yields all complete lines of a chunk together", async () => {
  const chunks = ["a\nb\nc", "d", "\n\ne"].map((chunk) => new TextEncoder().encode(chunk));
  const arrived: (readonly string[])[] = [];
  for await (const lines of readLines(bodyOf(chunks))) arrived.push(lines);
  expect(arrived.filter((lines) => lines.length > 0)).toEqual([["a", "b"], ["cd", ""], ["e"]]);
});

test("readLines yields lines when they arrive, not when the body ends", async () => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const lines = readLines(
    new ReadableStream({
      start(streamController) {
        controller = streamController;
      },
    }),
  );
  const first = lines.next();
  controller?.enqueue(new TextEncoder().encode("one\ntw"));
  expect(await first).toEqual({ done: false, value: ["one"] });
  const second = lines.next();
  controller?.enqueue(new TextEncoder().encode("o\n"));
  expect(await second).toEqual({ done: false, value: ["two"] });
});

test("readLines reads no chunk before the loop requests it", async () => {
  let pulls = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(new TextEncoder().encode(`${++pulls}\n`));
      },
    },
    { highWaterMark: 0 },
  );
  const lines = readLines(body);
  expect(pulls).toBe(0);
  await lines.next();
  await lines.next();
  expect(pulls).toBe(2);
});

test("readLines throws an error of the body after the lines before it", async () => {
  const broken = new Error("connection lost");
  const chunks = [new TextEncoder().encode("a\nb")];
  const lines = readLines(
    new ReadableStream({
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk) controller.enqueue(chunk);
        else controller.error(broken);
      },
    }),
  );
  expect(await lines.next()).toEqual({ done: false, value: ["a"] });
  await expect(lines.next()).rejects.toBe(broken);
});
