import { describe, expect, it } from "vitest";
import { testConfig } from "#test/request-context";
import { isSessionCookie } from "./cookies.ts";

describe("the name of a cookie", () => {
  it.each([
    ["web_session", true],
    ["__Host-web_session", true],
    ["shop", true],
    ["__Host-shop", true],
    ["web_session2", false],
    ["shop2", false],
    ["Web_Session", false],
    ["__Secure-web_session", false],
    [" web_session", false],
    ["", false],
  ])("is reserved for the session if it is that of the configuration or of production, %j: %s", (name, isReserved) => {
    for (const WEB_COOKIE_SECURE of ["0", "1"]) {
      expect(isSessionCookie(name, testConfig({ WEB_COOKIE_SECURE, WEB_SESSION_COOKIE: "shop" }))).toBe(isReserved);
    }
  });
});
