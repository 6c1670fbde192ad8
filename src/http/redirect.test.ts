import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "#test/any-text";
import { isSitePath, redirect, redirectTarget } from "./redirect.ts";

describe("redirect", () => {
  it("says what it is and how to redirect, to the code that has caught it", () => {
    const caught: unknown = redirect("/users?id=1");
    const text =
      'redirect("/users?id=1") was caught and has no effect. Write `return redirect(…)`, which no catch receives, or throw ' +
      "it outside of the try block.";
    expect(`Failed: ${caught}`).toBe(`Failed: ${text}`);
    expect(caught).toHaveProperty("message", text);
  });

  it.each([
    ["/", "/"],
    ["/account", "/account"],
    ["/a?b=c&d=//e#f", "/a?b=c&d=//e#f"],
    ["/é ü", "/%C3%A9%20%C3%BC"],
    ["/a/../b", "/b"],
    ["/a//b", "/a//b"],
  ])("accepts %s", (path, location) => {
    expect(redirect(path)).toMatchObject({ location, internal: true });
  });

  it.each([
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/a\r\nSet-Cookie: a=b",
    "/..//evil.example",
    "/.//evil.example",
    "/%2e//evil.example",
    "https://evil.example",
    "javascript:alert(1)",
    "evil",
    "",
    " /a",
    "\\\\evil.example",
    "/a\\b",
    "/\u0000",
  ])("rejects %j", (path) => {
    expect(() => redirect(path)).toThrow(TypeError);
  });

  it("uses the fallback for a path outside the site, if the fallback is a path of the site", () => {
    expect(redirect("/a", { or: "/b" })).toMatchObject({ location: "/a", internal: true });
    for (const path of ["//evil.example", "https://evil.example", "/\\evil.example", "", "evil"]) {
      expect(redirect(path, { or: "/b?c=d" })).toMatchObject({ location: "/b?c=d", internal: true });
      expect(() => redirect(path, { or: "//evil.example" })).toThrow(TypeError);
    }
  });

  it("uses the fallback if there is no path", () => {
    expect(redirect(undefined, { or: "/b" })).toMatchObject({ location: "/b", internal: true });
  });

  it("stays on the site for every path that isSitePath accepts, as a browser resolves it [SITE-34]", () => {
    const piece = fc.constantFrom("/", "\\", "..", ".", "%2e", "\t", "\n", "a", "@", ":", "?", "#", "evil.example");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = `/${pieces.join("")}`;
        if (!isSitePath(path)) return;
        const { location } = redirect(path);
        expect(new URL(location, "https://shop.example/x/y").host).toBe("shop.example");
      }),
      { numRuns: 5000 },
    );
  });

  it("accepts an http or https URL of another site with external, and no other scheme", () => {
    expect(redirect("https://id.example/login?a=b", { external: true })).toMatchObject({
      location: "https://id.example/login?a=b",
      internal: false,
    });
    for (const url of ["javascript:alert(1)", "/a", "//a", "data:text/html,x", ""]) {
      expect(() => redirect(url, { external: true })).toThrow(TypeError);
    }
  });
});

describe("redirectTarget", () => {
  it("prepends the base to a path of this site, and to no other URL", () => {
    expect(redirectTarget(redirect("/a?b#c"), "/shop")).toEqual({ location: "/shop/a?b#c", isExternal: false });
    const external = redirect("https://id.example/a", { external: true });
    expect(redirectTarget(external, "/shop")).toEqual({ location: "https://id.example/a", isExternal: true });
  });

  it.each([undefined, null, "/a", { location: "/a", internal: true }, new Error("/a")])("is null for %o", (value) => {
    expect(redirectTarget(value, "")).toBeNull();
  });

  it("has a location that can be the value of a header, for every redirect", () => {
    fc.assert(
      fc.property(anyText({ maxLength: 12 }), fc.boolean(), (text, external) => {
        const path = external ? `https://id.example/${text}` : `/${text}`;
        if (!external && !isSitePath(path)) return;
        const { location } = redirectTarget(redirect(path, { external }), "/shop");
        expect(location).toMatch(/^[\x21-\x7e]+$/);
      }),
      { numRuns: 2000 },
    );
  });
});
