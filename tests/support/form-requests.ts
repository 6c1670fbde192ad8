/**
 * Requests with forms, written out or built by the platform.
 */
import { UploadStore } from "../../src/bodies/index.ts";
import { recordedLog } from "./recorded-log.ts";

/** Returns a request that posts a body. */
export function post(body: BodyInit, headers: Readonly<Record<string, string>> = {}): Request {
  // A stream as a body requires `duplex`, which the type lacks.
  const init: RequestInit & { duplex: "half" } = { method: "POST", body, headers, duplex: "half" };
  return new Request("http://localhost/", init);
}

/** A part of a multipart body: its headers and its content. */
export type Part = readonly [headers: string, content: string];

/** Returns a request with a multipart body of these parts. */
export function postParts(...parts: readonly Part[]): Request {
  const lines = parts.map(([headers, content]) => `--XX\r\n${headers}\r\n\r\n${content}\r\n`);
  return post(`${lines.join("")}--XX--\r\n`, { "content-type": "multipart/form-data; boundary=XX" });
}

/** Returns the header of a part: `disposition('name="a"')`. */
export function disposition(parameters: string): string {
  return `Content-Disposition: form-data; ${parameters}`;
}

/** Returns a store for uploads with large bounds, whose log is discarded. */
export function testUploadStore(dir?: string): UploadStore {
  return new UploadStore({ dir, maxBytes: 2 ** 40, maxBytesPerClient: 2 ** 40, keyOf: String, log: recordedLog().log });
}
