/**
 * What a call answers, held to the interface's shapes.
 */
import { expect } from "vitest";

/** An answer of the interface's shapes: the status, and the body as JSON. */
export async function readCallResponse(response: Response | Promise<Response>) {
  const { status, headers, ...rest } = await response;
  const json = JSON.parse(await (await response).text());
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("cache-control")).toBe("private, no-store");
  return { ...rest, status, headers, json };
}

/** The same of a refusal, with the status and the code that it must have. */
export async function expectCallError(response: Response | Promise<Response>, status: number, code: string) {
  const refusal = await readCallResponse(response);
  expect(refusal).toMatchObject({ status, json: { error: { code } } });
  expect(Object.keys(refusal.json)).toEqual(["error"]);
  expect(Object.keys(refusal.json.error)).toEqual(["code", "message", "details"]);
  expect(refusal.json.error.message).not.toBe("");
  expect(refusal.json.error.details).toBeTypeOf("object");
  return refusal;
}
