import { describe, expect, it } from "vitest";
import { developmentPolicy, parsePolicy } from "./development-policy.ts";

const access = { nonce: "abc", reportPath: "/reports" };
const REPORT = "report-uri /reports";

describe("the policy of the development server", () => {
  it.each([
    ["style-src 'self'", `style-src 'self'; style-src-elem 'self' 'nonce-abc'; ${REPORT}`],
    ["style-src 'none'", `style-src 'none'; style-src-elem 'nonce-abc'; ${REPORT}`],
    ["style-src", `style-src; style-src-elem 'nonce-abc'; ${REPORT}`],
    ["style-src-elem https://a.example", `style-src-elem https://a.example 'nonce-abc'; ${REPORT}`],
    ["script-src 'self'", `script-src 'self'; script-src-elem 'self' 'nonce-abc'; ${REPORT}`],
    ["default-src 'none'", `default-src 'none'; script-src-elem 'nonce-abc'; style-src-elem 'nonce-abc'; ${REPORT}`],
    [
      "default-src 'self'; style-src-elem 'sha256-x'",
      `default-src 'self'; style-src-elem 'sha256-x' 'nonce-abc'; script-src-elem 'self' 'nonce-abc'; ${REPORT}`,
    ],
  ])("of %j has only the nonce for elements and the path for reports in addition", (policy, expected) => {
    expect(developmentPolicy(policy, access)).toBe(expected);
  });

  it.each(["img-src 'self'", "frame-ancestors 'self'", ""])(
    "of %j has no nonce, because it restricts neither scripts nor styles",
    (policy) => {
      expect(developmentPolicy(policy, access)).not.toContain("nonce");
    },
  );

  it("keeps 'unsafe-inline' of the application, which a nonce would disable", () => {
    expect(developmentPolicy("style-src 'self' 'unsafe-inline'", access)).toBe(
      `style-src 'self' 'unsafe-inline'; ${REPORT}`,
    );
  });

  it("never has 'unsafe-inline', 'unsafe-eval', blob: or data: that the application's policy does not have [DEV-22]", () => {
    for (const policy of ["default-src 'self'", "default-src 'none'; connect-src 'self'", "script-src 'self'"]) {
      expect(developmentPolicy(policy, access)).not.toMatch(/unsafe|blob:|data:/);
    }
  });

  it("sends reports to the development server, and not to the endpoint of production", () => {
    expect(developmentPolicy("report-to main; report-uri https://r.example/", access)).toBe(REPORT);
  });

  it("is added to each of several policies", () => {
    expect(developmentPolicy("style-src 'self', style-src a.example", access)).toBe(
      `style-src 'self'; style-src-elem 'self' 'nonce-abc'; ${REPORT}, ` +
        `style-src a.example; style-src-elem a.example 'nonce-abc'; ${REPORT}`,
    );
  });
});

it("of two directives with one name, the first applies, regardless of its case", () => {
  expect([...parsePolicy(" Img-Src a  b ;; img-src c;object-src")]).toEqual([
    ["img-src", ["a", "b"]],
    ["object-src", []],
  ]);
});
