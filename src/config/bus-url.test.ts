import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defaultNamespace, formatServerUrl, namespaceOf, parseServerUrl, resolveBusOptions } from "./bus-url.ts";

describe("the URL of a bus", () => {
  it.each([
    ["redis://a", ["a"]],
    ["redis://u:p%40ss@a:1,b:2/1?family=6", ["a:1", "b:2"]],
    ["redis://:p,q@a:1,b:2", ["a:1", "b:2"]],
    ["rediss://a,[::1]:6380,c:3?sentinel=main", ["a", "[::1]:6380", "c:3"]],
    ["nats://a:4222,b:4222,c:4222", ["a:4222", "b:4222", "c:4222"]],
    ["tls://token@a,b", ["a", "b"]],
  ])("%s has the hosts %j, and is the same when it is formatted", (text, hosts) => {
    const server = parseServerUrl(text);
    expect(server?.hosts).toEqual(hosts);
    expect(server?.url.host).toBe(hosts[0]);
    expect(server && formatServerUrl(server)).toBe(text);
  });

  it.each([
    "",
    "redis://",
    "redis://a,",
    "redis://,a",
    "redis://a:x",
    "redis://a,b:x",
    "redis://a b",
    "http://a",
    "a:1",
  ])("is not %j", (text) => {
    expect(parseServerUrl(text)).toBeUndefined();
  });

  it("has a password with the characters / ? # @ only if they are percent-encoded", () => {
    expect(parseServerUrl("redis://:a%2Fb%3Fc%23d%40e@h")?.url.password).toBe("a%2Fb%3Fc%23d%40e");
    expect(parseServerUrl("redis://:a/b@h")).toBeUndefined();
  });

  it.each(["nats://ada:100%@h", "redis://:%zz@h", "tls://a%b:c@h"])(
    "has no % in its credentials that encodes nothing: %s",
    (text) => {
      expect(parseServerUrl(text)).toBeUndefined();
      expect(parseServerUrl(text.replace("%", "%25"))).toBeDefined();
    },
  );
});

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tsweb-namespace-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Creates a folder with a package.json. */
function createProject(name: string, packageJson: string): string {
  const dir = join(folder, name);
  mkdirSync(join(dir, "src"), { recursive: true });
  writeFileSync(join(dir, "package.json"), packageJson);
  return dir;
}

describe("the default namespace", () => {
  it("is the name in the nearest package.json, also in a folder below it", () => {
    const dir = createProject("shop", '{ "name": "shop" }');
    expect([defaultNamespace(dir), defaultNamespace(join(dir, "src"))]).toEqual(["shop", "shop"]);
  });

  it.each([["{}"], ['{ "name": 1 }'], ['{ "name": "" }'], ["null"], ["not JSON"]])(
    "is tsweb with the package.json %s",
    (text) => {
      expect(defaultNamespace(createProject("unnamed", text))).toBe("tsweb");
    },
  );
});

describe("a package name as a namespace", () => {
  const long = "a".repeat(65);
  it.each([
    ["shop", "shop"],
    ["shop-2_b", "shop-2_b"],
    ["@acme/shop", "acme__shop"],
    ["my.shop", "my_shop"],
    ["{a}:b *>", "_a__b___"],
    ["a".repeat(64), "a".repeat(64)],
  ])("turns %s into %s", (name, namespace) => {
    expect(namespaceOf(name)).toBe(namespace);
  });

  it("has at most 64 characters, and differs for long names with the same start", () => {
    const namespaces = [namespaceOf(`${long}b`), namespaceOf(`${long}c`)];
    for (const namespace of namespaces) expect(namespace).toMatch(/^a{51}-[0-9a-f]{12}$/);
    expect(namespaces[0]).not.toBe(namespaces[1]);
  });
});

describe("the options of a bus", () => {
  it("takes the namespace from the option, then from the URL, then from package.json", () => {
    const url = "redis://localhost:6379/1?namespace=shop";
    expect(resolveBusOptions({ url, namespace: "blog" }, "redis").namespace).toBe("blog");
    expect(resolveBusOptions({ url }, "redis")).toEqual({ url: "redis://localhost:6379/1", namespace: "shop" });
    expect(resolveBusOptions({ url: "redis://localhost" }, "redis").namespace).toBe("tsweb");
  });

  it("keeps the other parameters of the URL", () => {
    const { url } = resolveBusOptions({ url: "redis://:a%2Fb@h?family=6&namespace=shop" }, "redis");
    expect(url).toBe("redis://:a%2Fb@h?family=6");
  });

  it.each(["", "a b", "a.b", "a:b", "{a}", "é", "a".repeat(65)])(
    "refuses the namespace %j, with the fix",
    (namespace) => {
      const message = `Invalid namespace ${JSON.stringify(namespace.length > 60 ? `${"a".repeat(60)}…` : namespace)} in nats(…). Use 1 to 64 letters, digits, - and _.`;
      expect(() => resolveBusOptions({ url: "nats://localhost", namespace }, "nats")).toThrow(new TypeError(message));
      const url = `nats://localhost?namespace=${encodeURIComponent(namespace)}`;
      expect(() => resolveBusOptions({ url }, "nats")).toThrow(TypeError);
    },
  );

  it("refuses a path in the URL of NATS, which would not separate applications", () => {
    expect(() => resolveBusOptions({ url: "nats://localhost/shop" }, "nats")).toThrow(
      "The URL in nats(…) has a path, which NATS does not have. To separate applications, use a namespace: " +
        'nats({ url, namespace: "shop" }).',
    );
  });
});
