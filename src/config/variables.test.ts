import { describe, expect, it } from "vitest";
import { configErrorOf, invalidVariables, loadDevelopment } from "#test/environment";

describe("WEB_ORIGIN", () => {
  it.each([
    ["https://shop.example", ["https://shop.example"]],
    ["https://shop.example/", ["https://shop.example"]],
    ["HTTPS://Shop.Example", ["https://shop.example"]],
    ["https://shop.example:443", ["https://shop.example"]],
    ["http://shop.example:80", ["http://shop.example"]],
    ["http://shop.example:443", ["http://shop.example:443"]],
    ["http://localhost:3000", ["http://localhost:3000"]],
    ["http://127.0.0.1:3000", ["http://127.0.0.1:3000"]],
    ["http://[::1]:3000", ["http://[::1]:3000"]],
    ["https://bücher.example", ["https://xn--bcher-kva.example"]],
    ["https://a.example,https://b.example", ["https://a.example", "https://b.example"]],
    [" https://a.example , https://b.example ", ["https://a.example", "https://b.example"]],
    ["https://a.example,https://A.example:443/", ["https://a.example"]],
  ])("accepts %s as %j", (WEB_ORIGIN, origins) => {
    expect(loadDevelopment({ WEB_ORIGIN }).origins).toEqual(origins);
  });

  it.each([
    "shop.example",
    "//shop.example",
    "https:shop.example",
    "https:/shop.example",
    "https:\\\\shop.example",
    "https://",
    "https:///shop.example/path",
    "https://shop.example/path",
    "https://shop.example//",
    "https://shop.example?",
    "https://shop.example/?a=b",
    "https://shop.example#",
    "https://shop.example/#a",
    "https://*.shop.example",
    "https://*",
    "*",
    "null",
    "ws://shop.example",
    "ftp://shop.example",
    "file:///etc/passwd",
    "data:text/html,x",
    "javascript:alert(1)",
    "https://shop.example:99999",
    "https://shop example",
    "https://shop\t.example",
    "https://shop.example\nhttps://b.example",
    "https://shop.example\\@evil.example",
    "https://a.example,",
    ",https://a.example",
    "https://a.example,,https://b.example",
    "https://a.example;https://b.example",
    "https://a.example https://b.example",
  ])("refuses %j", (WEB_ORIGIN) => {
    expect(invalidVariables({ WEB_ORIGIN })).toEqual(["WEB_ORIGIN"]);
  });

  it("refuses an origin with a user name or password, and does not show it [RESPONSE-17]", () => {
    const error = configErrorOf({ WEB_ORIGIN: "https://ada:hunter2@shop.example" });
    expect(error.message).toContain("WEB_ORIGIN contains a user name or password");
    expect(error.message).not.toMatch(/ada|hunter2/);
  });
});

describe("WEB_BUS_URL", () => {
  it.each([
    "redis://localhost",
    "redis://localhost:6379",
    "redis://:password@bus:6379/2",
    "rediss://user:password@bus.example:6380",
    "nats://localhost:4222",
    "nats://token@localhost:4222",
    "tls://bus.example:4222",
    "redis://[::1]:6379",
  ])("accepts %s unchanged", (WEB_BUS_URL) => {
    expect(loadDevelopment({ WEB_BUS_URL }).busUrl).toBe(WEB_BUS_URL);
  });

  it("reads the namespace, which is not a part of the URL that is used", () => {
    const config = loadDevelopment({ WEB_BUS_URL: "redis://:password@bus:6379/2?namespace=shop_1-a" });
    expect([config.busUrl, config.busNamespace]).toEqual(["redis://:password@bus:6379/2", "shop_1-a"]);
    expect(loadDevelopment({ WEB_BUS_URL: "nats://bus?namespace=b" }).busNamespace).toBe("b");
    expect(loadDevelopment({ WEB_BUS_URL: "nats://bus/" }).busNamespace).toBe("tsweb");
  });

  it.each(["", "a.b", "a b", "a".repeat(65)])("refuses the namespace %j, with the fix", (namespace) => {
    const url = `redis://hunter2@bus?namespace=${encodeURIComponent(namespace)}`;
    const error = configErrorOf({ WEB_BUS_URL: url });
    expect(error.message).toContain("which is not 1 to 64 letters, digits, - and _");
    expect(error.message).toContain("redis://host:6379?namespace=shop");
    expect(error.message).not.toContain("hunter2");
  });

  it("refuses a path in a URL of NATS, which would not separate applications", () => {
    const error = configErrorOf({ WEB_BUS_URL: "nats://hunter2@bus:4222/shop" });
    expect(error.message).toContain("has a path, which NATS does not have");
    expect(error.message).toContain("nats://host:4222?namespace=shop");
    expect(error.message).not.toContain("hunter2");
  });

  it.each([
    "hunter2",
    "localhost:6379",
    "redis:hunter2",
    "redis://",
    "redis:///hunter2",
    "redis://:hunter2@",
    "http://hunter2@bus",
    "https://hunter2@bus",
    "amqp://hunter2@bus",
    "REDIS://hunter2@bus",
    "redis://:hunter2@bus:port",
    "redis://:hunter2@bus:99999",
    "redis://:hunter2@bus one",
    " redis://:hunter2@bus",
    "redis://:hunter2@bus\n",
    "nats://hunter2@a:4222,nats://b:4222",
    "unix:///hunter2.sock",
  ])("refuses %j, and does not show it", (WEB_BUS_URL) => {
    expect(invalidVariables({ WEB_BUS_URL })).toEqual(["WEB_BUS_URL"]);
    expect(JSON.stringify(configErrorOf({ WEB_BUS_URL }).problems)).not.toContain("hunter2");
  });
});

describe("WEB_METRICS_TOKEN", () => {
  it.each(["a".repeat(32), "a-b._~+/".repeat(25), `${"a".repeat(32)}==`])("accepts %s", (WEB_METRICS_TOKEN) => {
    expect(loadDevelopment({ WEB_METRICS_TOKEN }).metricsToken).toBe(WEB_METRICS_TOKEN);
  });

  it.each(["hunter2", "hunter2".repeat(40), `hunter2 ${"a".repeat(32)}`, `hunter2${"a".repeat(32)}\n`])(
    "refuses %j alone, and does not show it",
    (WEB_METRICS_TOKEN) => {
      const env = { WEB_METRICS_TOKEN, WEB_METRICS_PATH: "/metrics" };
      expect(invalidVariables(env)).toEqual(["WEB_METRICS_TOKEN"]);
      expect(JSON.stringify(configErrorOf(env).problems)).not.toContain("hunter2");
    },
  );
});

describe("WEB_METRICS_PATH", () => {
  it.each(["/metrics", "/internal/metrics", "/a-b_c~d.e/f", "/healthz2", "/__webs"])("accepts the path %s", (path) => {
    expect(loadDevelopment({ WEB_METRICS_PATH: path, WEB_METRICS_PORT: "9100" }).metricsPath).toBe(path);
  });

  it("is refused without a token and without a port, and is /metrics by default with one of them", () => {
    expect(invalidVariables({ WEB_METRICS_PATH: "/metrics" })).toEqual(["WEB_METRICS_PATH"]);
    expect(loadDevelopment({ WEB_METRICS_PORT: "9100" }).metricsPath).toBe("/metrics");
    expect(loadDevelopment({ WEB_METRICS_TOKEN: "t".repeat(32) }).metricsPath).toBe("/metrics");
    expect(invalidVariables({ WEB_METRICS_TOKEN: "hunter2" })).toEqual(["WEB_METRICS_TOKEN"]);
    expect(loadDevelopment({}).metricsPath).toBeUndefined();
  });

  it.each([
    "metrics",
    "/",
    "//metrics",
    "/metrics/",
    "/a//b",
    "/../metrics",
    "/a/../b",
    "/.metrics",
    "/metrics?x",
    "/metrics#x",
    "/met rics",
    "/m%65trics",
    "/é",
    "\\metrics",
    "https://shop.example/metrics",
    "/metrics\n",
    `/${"x".repeat(200)}`,
    "/healthz",
    "/readyz",
    "/__web",
    "/__web/metrics",
  ])("refuses the path %j", (path) => {
    expect(invalidVariables({ WEB_METRICS_PATH: path })).toEqual(["WEB_METRICS_PATH"]);
  });
});

describe("HOST", () => {
  it.each(["0.0.0.0", "127.0.0.1", "::", "::1", "fe80::1", "localhost", "web-1", "a.b.example", "a1"])(
    "accepts the host %s",
    (HOST) => {
      expect(loadDevelopment({ HOST }).host).toBe(HOST);
    },
  );

  it.each([
    "[::1]",
    "localhost:3000",
    "http://localhost",
    "127.0.0.1/8",
    "127.0.0",
    "256.0.0.1",
    "1.2.3.4.5",
    "12345",
    " localhost",
    "local host",
    "-a",
    "a-",
    "a..b",
    ".a",
    "a.",
    "a_b",
    "*",
    "é",
    "x".repeat(64),
    Array(64).fill("abcd").join("."),
  ])("refuses the host %j", (HOST) => {
    expect(invalidVariables({ HOST })).toEqual(["HOST"]);
  });
});
