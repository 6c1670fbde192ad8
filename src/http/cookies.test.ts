import { describe, expect, it } from "vitest";
import { isSessionCookie, sessionCookieName } from "./cookies.ts";

describe("the session cookie's name", () => {
  it("has the prefix __Host-, which sibling sites cannot set, if cookies are secure", () => {
    expect(sessionCookieName(false)).toBe("web_session");
    expect(sessionCookieName(true)).toBe("__Host-web_session");
  });

  it.each([
    ["web_session", true],
    ["__Host-web_session", true],
    ["web_session2", false],
    ["Web_Session", false],
    ["__Secure-web_session", false],
    [" web_session", false],
    ["", false],
  ])("is reserved, %j: %s", (name, isReserved) => {
    expect(isSessionCookie(name)).toBe(isReserved);
  });
});
