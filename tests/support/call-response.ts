/**
 * Reads responses of calls and checks their format.
 *
 * @see docs/protocol.md 3.3 and 5.2
 */
import { expect } from "vitest";

/** Returns the status, the headers and the parsed body of a call's response. */
export async function readCallResponse(response: Response | Promise<Response>) {
  const { status, headers, ...rest } = await response;
  const json = JSON.parse(await (await response).text());
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("cache-control")).toBe("private, no-cache");
  return { ...rest, status, headers, json };
}

/** Reads the response of a failed call, which must have this status and this code. */
export async function expectCallError(response: Response | Promise<Response>, status: number, code: string) {
  const failure = await readCallResponse(response);
  expect(failure).toMatchObject({ status, json: { error: { code } } });
  expect(Object.keys(failure.json)).toEqual(["error"]);
  expect(Object.keys(failure.json.error)).toEqual(["code", "message", "details"]);
  expect(failure.json.error.message).not.toBe("");
  expect(failure.json.error.details).toBeTypeOf("object");
  return failure;
}
