import { describe, expect, it, vi } from "vitest";
import { requestContext } from "#test/request-context";
import { completeResponse } from "./complete-response.ts";

/** A response as files are answered with: to ask for its body is to begin to read the file. */
function fileAnswer() {
  const body = vi.fn(() => null);
  const given = new Response(null, { headers: { "content-type": "image/png" } });
  Object.defineProperty(given, "_toNodeResponse", { value: () => ({ status: 200, headers: [], body: null }) });
  Object.defineProperty(given, "body", { get: body });
  return { given, body };
}

describe("a file's answer", () => {
  it("is completed without a look at its body, which would begin to read the file", () => {
    const { given, body } = fileAnswer();
    const outgoing = completeResponse(given, requestContext(), [["x-frame-options", "DENY"]]);
    expect(outgoing).toBe(given);
    expect(given.headers.get("x-frame-options")).toBe("DENY");
    expect(body).not.toHaveBeenCalled();
  });
});
