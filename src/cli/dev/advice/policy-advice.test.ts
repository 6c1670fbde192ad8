import { describe, expect, it } from "vitest";
import { describeViolation, readViolation } from "./policy-violations.ts";

const DEFAULT =
  "default-src 'self'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: https:; " +
  "script-src-elem 'self' 'nonce-abc'; style-src-elem 'self' 'nonce-abc'; report-uri /reports";

const reportOf = (members: Record<string, unknown>) =>
  JSON.stringify({
    "csp-report": {
      "document-uri": "http://localhost:3000/map?token=secret",
      "original-policy": DEFAULT,
      ...members,
    },
  });

const advice = (directive: string, blocked: string, policy = DEFAULT) => {
  const violation = readViolation(
    reportOf({ "effective-directive": directive, "blocked-uri": blocked, "original-policy": policy }),
  );
  if (!violation) throw new Error("The report could not be read.");
  return describeViolation(violation, "abc");
};

describe("the message for a violation", () => {
  it.each([
    ["img-src", "http://tiles.example/1.png", `"img-src": "'self' data: https: http://tiles.example"`],
    ["font-src", "https://fonts.example/a.woff2", `"font-src": "'self' https://fonts.example"`],
    ["connect-src", "wss://live.example/x", `"connect-src": "'self' wss://live.example"`],
    ["script-src-elem", "https://cdn.example:8443/a.js", `"script-src": "'self' https://cdn.example:8443"`],
    ["style-src-elem", "inline", `"style-src": "'self' 'unsafe-inline'"`],
    ["worker-src", "blob", `"worker-src": "'self' blob:"`],
    ["media-src", "data", `"media-src": "'self' data:"`],
    ["script-src", "eval", `"script-src": "'self' 'unsafe-eval'"`],
    ["script-src", "wasm-eval", `"script-src": "'self' 'wasm-unsafe-eval'"`],
    ["form-action", "https://pay.example/", `"form-action": "https://pay.example"`],
    ["script-src-attr", "inline", `"script-src-attr": "'unsafe-inline'"`],
  ])("of %s by %s names the option that allows it: %s", (directive, blocked, option) => {
    expect(advice(directive, blocked)).toContain(`new App({ policy: { ${option} } })`);
  });

  it.each([
    ["style-src-attr", "inline", "style-src 'self'", `"style-src-attr": "'unsafe-inline'"`],
    ["img-src", "https://a.example/1.png", "img-src 'none'", `"img-src": "https://a.example"`],
    [
      "style-src-elem",
      "https://a.example/1.css",
      "style-src 'none'; style-src-elem 'nonce-abc'",
      `"style-src": "https://a.example"`,
    ],
    [
      "style-src-elem",
      "https://a.example/1.css",
      "style-src a; style-src-elem b 'nonce-abc'",
      `"style-src-elem": "b https://a.example"`,
    ],
    [
      "script-src-elem",
      "https://a.example/1.js",
      "script-src 'unsafe-inline'",
      `"script-src": "'unsafe-inline' https://a.example"`,
    ],
    ["frame-src", "https://a.example/", "child-src b; default-src c", `"frame-src": "b https://a.example"`],
  ])("of %s by %s with the policy %s: %s", (directive, blocked, policy, option) => {
    expect(advice(directive, blocked, policy)).toContain(`{ ${option} }`);
  });

  it("describes what was blocked, on which page, and that production blocks it too", () => {
    expect(advice("img-src", "http://tiles.example/1.png")).toBe(
      "The content security policy blocked http://tiles.example/1.png on the page /map (img-src). Production blocks it too.\n" +
        '  To allow it: new App({ policy: { "img-src": "\'self\' data: https: http://tiles.example" } }), or the option policy of the page.',
    );
    expect(advice("style-src-attr", "inline")).toContain("blocked a style attribute on the page /map");
    expect(advice("style-src-attr", "inline")).toContain("\n  Better: set a class");
    expect(advice("script-src", "eval")).toContain("blocked eval() on the page /map");
  });

  it("names the module of the project that caused it", () => {
    const violation = readViolation(
      reportOf({
        "effective-directive": "connect-src",
        "blocked-uri": "https://api.example/",
        "source-file": "http://localhost:3000/__web/dev/src/map.tsx?t=1",
      }),
    );
    expect(violation && describeViolation(violation, "abc")).toContain(
      "on the page /map for src/map.tsx (connect-src)",
    );
  });

  it("for the WebSocket of edits states the effect, and that production is not affected", () => {
    const text = advice("connect-src", "ws://localhost:3000/__web/dev/?token=x", "connect-src 'none'");
    expect(text).toContain("The page /map is not updated after edits");
    expect(text).toContain("Production is not affected");
  });

  it("contains neither the nonce of the build tool nor the query of the page", () => {
    for (const blocked of ["inline", "https://a.example/x"]) {
      expect(advice("style-src-elem", blocked)).not.toMatch(/nonce|secret/);
    }
  });
});

describe("a report", () => {
  it.each([
    ["no JSON", "{"],
    ["a list", "[]"],
    ["null", "null"],
    ["no report", "{}"],
    ["a report that is a text", '{"csp-report":"x"}'],
    ["no page", JSON.stringify({ "csp-report": { "effective-directive": "img-src" } })],
    ["no directive", reportOf({})],
    ["a directive that is a URL", reportOf({ "effective-directive": "https://a.example" })],
  ])("with %s is not read", (_what, body) => {
    expect(readViolation(body)).toBeUndefined();
  });

  it("has no control character that a terminal would execute, and is shortened [DEV-25]", () => {
    const violation = readViolation(
      reportOf({
        "effective-directive": "img-src",
        "blocked-uri": `https://a.example/\u001b]0;x\u0007\r\n\u009b${"y".repeat(1e6)}`,
      }),
    );
    const text = violation ? describeViolation(violation, "abc") : "";
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not occur
    expect(text.replaceAll("\n  ", "")).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
    expect(text.length).toBeLessThan(600);
  });

  it("of a browser without effective-directive has the directive that was violated", () => {
    const violation = readViolation(reportOf({ "violated-directive": "img-src 'self'", "blocked-uri": "data" }));
    expect(violation?.directive).toBe("img-src");
  });
});
