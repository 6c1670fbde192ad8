/**
 * Pages with parts in a test, and the chunks in which they are sent.
 */
import { h } from "preact";
import type { AppOptions } from "../../src/app.ts";
import { Later } from "../../src/pages/later.ts";
import type { PageOptions } from "../../src/pages/page.ts";
import type { Markup } from "../../src/protocol/index.ts";
import { compiledPage, createTestApp, getPage } from "./compiled-app.ts";

export type PartFunction = () => Markup | Promise<Markup>;

/** Returns the markup of a part. */
export const later = (children: PartFunction, fallback: Markup = null) => h(Later, { fallback, children });

export const pause = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms));

/** A promise and the function that resolves it. */
export function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** Serves a page, and records the log. */
export function servePage(
  render: () => Markup,
  { page = {}, ...options }: Partial<AppOptions> & { page?: PageOptions } = {},
) {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const write = (level: string) => (fields: object, message?: string) => {
    lines.push({ level, fields: fields as Record<string, unknown>, message: message ?? "" });
  };
  const log = { error: write("error"), warn: write("warn"), info: write("info"), debug: write("debug") };
  const app = createTestApp({ home: compiledPage("/", render, page) }, { log, ...options } as Partial<AppOptions>);
  const errors = () => lines.filter(({ level }) => level === "error");
  const whole = async (init: RequestInit = {}, path = "/") => (await getPage(app, path, init)).text();
  const navigate = (init: RequestInit = {}, path = "/") =>
    getPage(app, path, { ...init, headers: { "sec-fetch-mode": "navigate", ...init.headers } });
  return { app, lines, errors, whole, navigate };
}

/** Reads the chunks of a response, as texts. */
export async function* chunksOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) yield decoder.decode(chunk);
}

/** Returns the next of these chunks; an empty text after the last one. */
export async function next(chunks: AsyncGenerator<string>): Promise<string> {
  const { value } = await chunks.next();
  return value ?? "";
}

/** Returns the content of the first part in HTML. */
export const partOf = (html: string) => /<template for="[0-9a-f]{12}-\d+">(.*)<\/template>/s.exec(html)?.[1];
