import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "#test/any-text";
import { REDACTED, secretsOfUrl, secretValues, withoutSecrets } from "./redact.ts";

const circular: Record<string, unknown> = { password: "hunter2" };
circular.self = circular;

const throwing = Object.defineProperty({}, "password", {
  enumerable: true,
  get() {
    throw new Error("no value");
  },
});

describe("the secrets in a value", () => {
  it.each<[string, unknown, string, string[]]>([
    ["none", { name: "Ada" }, "user", []],
    ["a text with the name of a secret", "hunter2", "password", ["hunter2"]],
    ["a number", 1234, "pin", ["1234"]],
    ["a bigint", 12345n, "otp", ["12345"]],
    ["those of members", { a: { token: "abc" }, b: [{ pin: 1234 }] }, "user", ["abc", "1234"]],
    ["all texts in a secret", { credentials: { user: "ada", list: ["one", 222] } }, "user", ["ada", "one", "222"]],
    ["those that another member names", [{ name: "password", value: "hunter2" }], "fields", ["hunter2"]],
    ["those of pairs", [["token", "abcdef"]], "headers", ["token", "abcdef"]],
    ["those of maps and sets", new Map<string, unknown>([["codes", new Set(["c1-2-3"])]]), "user", ["c1-2-3"]],
    ["no text that is too short", { password: "ab", pin: 12, token: "  a " }, "user", []],
    ["no value that is missing", { password: null, token: undefined, pin: true }, "user", []],
    ["each once", { password: "hunter2", repeated: { password: "hunter2" } }, "user", ["hunter2"]],
    ["those of an object that contains itself", circular, "user", ["hunter2"]],
    ["none of a getter that throws", throwing, "user", []],
  ])("are %s", (_, value, name, secrets) => expect(secretValues(value, name)).toEqual(secrets));

  it("are found in a large value without delay", () => {
    expect(secretValues({ password: Array.from({ length: 100_000 }, (_, n) => `text ${n}`) }).length).toBeLessThan(
      2_001,
    );
  });
});

describe("the secrets in a URL", () => {
  it.each<[string, string, string[]]>([
    ["http://localhost/orders/7?q=tea", "/orders/7?q=tea", []],
    ["http://localhost/?token=a%20b&q=tea", `/?token=${REDACTED}&q=tea`, ["a b"]],
    ["http://localhost/reset/a%20bc", `/reset/${REDACTED}`, ["a%20bc", "a bc"]],
    ["http://localhost/reset/%zz1", `/reset/${REDACTED}`, ["%zz1", "%zz1"]],
  ])("%s, shown as %s, are %j", (url, shown, secrets) => {
    expect(secretsOfUrl(new URL(url), shown)).toEqual(secrets);
  });
});

describe("a text without secrets", () => {
  it.each<[string, string[], string]>([
    ["Wrong password hunter2.", ["hunter2"], `Wrong password ${REDACTED}.`],
    ["hunter2 hunter2", ["hunter2"], `${REDACTED} ${REDACTED}`],
    ["hunter22", ["hunter2", "hunter22"], REDACTED],
    ['Invalid {"a":"x\\"y\\n"}', ['x"y\n'], `Invalid {"a":"${REDACTED}"}`],
    ["GET /?a=x%26y", ["x&y"], `GET /?a=${REDACTED}`],
    ["a $& b", ["$&"], `a ${REDACTED} b`],
    ["a", [], "a"],
  ])("%s without %j is %s", (text, secrets, shown) => expect(withoutSecrets(text, secrets)).toBe(shown));

  it("never contains one of them [DEV-14]", () => {
    const secret = anyText({ minLength: 3 }).filter((text) => !REDACTED.includes(text));
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (text, before, after) => {
        expect(withoutSecrets(before + text + after, [text])).not.toContain(text);
      }),
    );
  });
});
