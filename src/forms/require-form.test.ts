import { describe, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { requestContextOf } from "#test/request-context";
import { requireForm } from "./receive-form.ts";

/** Returns the log lines of a form with these headers, and the message of its error. */
function check(headers: Readonly<Record<string, string>>): { readonly log: string[]; readonly error: string } {
  const { log, lines } = recordedLog();
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const request = new Request("http://localhost/", { method: "POST", body: "", headers: { ...type, ...headers } });
  let error = "";
  try {
    requireForm(requestContextOf(request), log);
  } catch (thrown) {
    error = String(thrown);
  }
  return { log: lines.map(({ message }) => message), error };
}

describe("the log line of a form that is refused", () => {
  it("advises same-origin for the origin null, which browsers send with no-referrer", () => {
    expect(check({ origin: "null" })).toEqual({
      log: [
        "Rejected a cross-origin form. Browsers send Origin: null for a form of a page with Referrer-Policy: no-referrer. " +
          "Set the header to same-origin",
      ],
      error: "Forms from another site are not allowed.",
    });
  });

  it("advises a script without an origin to send it", () => {
    expect(check({})).toEqual({
      log: ["Rejected a form without Origin. A script must set the header to the origin of the site"],
      error: "A form must be sent with the header Origin, as browsers send it.",
    });
  });

  it("names the variables of the origin for another one", () => {
    expect(check({ origin: "https://shop.example" }).log.join()).toMatch(/set WEB_ORIGIN to it, or WEB_TRUST_PROXY/);
  });

  it("does not exist for a form of this site [SITE-11]", () => {
    expect(check({ origin: "http://localhost" })).toEqual({ log: [], error: "" });
    expect(check({ "sec-fetch-site": "same-origin" })).toEqual({ log: [], error: "" });
  });
});
