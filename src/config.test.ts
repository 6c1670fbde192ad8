import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Config, ConfigError, type ConfigOptions, type Environment, loadConfig } from "./config.ts";

const SECRET = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const OTHER = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";
const THIRD = "fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13";

const DEV: ConfigOptions = { built: false, projectDir: "/srv/app" };
const BUILT: ConfigOptions = { built: true, projectDir: "/srv/app" };

function hex(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString("hex");
}

/** Reads a development environment. */
function dev(env: Environment = {}): Config {
  return loadConfig(env, DEV);
}

/** Reads an environment that cannot be used, and gives the error. */
function errorOf(env: Environment, options: ConfigOptions = DEV): ConfigError {
  try {
    loadConfig(env, options);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("It was taken.");
}

/** The variables that are complained of. */
function refused(env: Environment, options: ConfigOptions = DEV): string[] {
  return errorOf(env, options).problems.map(({ variable }) => variable);
}

describe("loadConfig", () => {
  it("needs nothing in development", () => {
    expect(dev()).toEqual({
      production: false,
      secret: expect.any(Uint8Array),
      previousSecrets: [],
      cookieSecure: false,
      origins: [],
      trustProxy: 0,
      maxStreamsPerClient: 100,
      host: "127.0.0.1",
      port: 3000,
      workers: 1,
    });
  });

  it("needs a secret in production, and listens for everyone there", () => {
    expect(loadConfig({ WEB_AUTH_SECRET: SECRET }, BUILT)).toEqual({
      ...dev(),
      production: true,
      secret: new Uint8Array(Buffer.from(SECRET, "hex")),
      host: "0.0.0.0",
    });
  });

  it("reads everything", () => {
    const env = {
      WEB_ENV: "production",
      WEB_AUTH_SECRET: SECRET,
      WEB_AUTH_SECRET_PREVIOUS: OTHER,
      WEB_COOKIE_SECURE: "1",
      WEB_CSRF_SECRET: THIRD,
      WEB_ORIGIN: "https://shop.example",
      WEB_TRUST_PROXY: "2",
      WEB_BUS_URL: "redis://:password@bus.internal:6379/1",
      WEB_MAX_STREAMS_PER_CLIENT: "7",
      WEB_METRICS_PATH: "/metrics",
      HOST: "::",
      PORT: "8080",
      WEB_WORKERS: "4",
    };
    expect(loadConfig(env, DEV)).toEqual({
      production: true,
      secret: new Uint8Array(Buffer.from(SECRET, "hex")),
      previousSecrets: [new Uint8Array(Buffer.from(OTHER, "hex"))],
      cookieSecure: true,
      csrfSecret: new Uint8Array(Buffer.from(THIRD, "hex")),
      origins: ["https://shop.example"],
      trustProxy: 2,
      busUrl: "redis://:password@bus.internal:6379/1",
      maxStreamsPerClient: 7,
      metricsPath: "/metrics",
      host: "::",
      port: 8080,
      workers: 4,
    });
  });

  it("takes a variable that is set to nothing for one that is not set", () => {
    const names = ["WEB_ENV", "WEB_AUTH_SECRET", "WEB_AUTH_SECRET_PREVIOUS", "WEB_COOKIE_SECURE", "WEB_CSRF_SECRET"];
    names.push("WEB_ORIGIN", "WEB_TRUST_PROXY", "WEB_BUS_URL", "WEB_MAX_STREAMS_PER_CLIENT", "WEB_METRICS_PATH");
    names.push("HOST", "PORT", "WEB_WORKERS");
    expect(dev(Object.fromEntries(names.map((name) => [name, ""])))).toEqual(dev());
  });

  it("leaves what is absent out, rather than set to undefined", () => {
    expect(Object.keys(dev())).not.toEqual(expect.arrayContaining(["csrfSecret"]));
    expect(Object.values(dev())).not.toContain(undefined);
  });

  it("cannot be changed afterwards", () => {
    expect(Object.isFrozen(dev())).toBe(true);
  });

  it("names everything that is wrong at once, each with its mend", () => {
    const error = errorOf({ WEB_COOKIE_SECURE: "yes", PORT: "http", WEB_WORKERS: "2" }, BUILT);
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe("ConfigError");
    expect(error.problems.map(({ variable }) => variable).sort()).toEqual([
      "PORT",
      "WEB_AUTH_SECRET",
      "WEB_COOKIE_SECURE",
      "WEB_WORKERS",
    ]);
    for (const { variable, problem, mend } of error.problems) {
      expect(error.message).toContain(`${variable} ${problem}\n  ${mend}`);
      expect(mend).not.toBe("");
    }
  });
});

describe("production", () => {
  it.each([
    // WEB_ENV, built, production
    [undefined, false, false],
    [undefined, true, true],
    ["", false, false],
    ["", true, true],
    ["development", false, false],
    ["development", true, false],
    ["production", false, true],
    ["production", true, true],
  ])("WEB_ENV %j, built %s: %s", (WEB_ENV, built, production) => {
    expect(loadConfig({ WEB_ENV, WEB_AUTH_SECRET: SECRET }, { ...DEV, built }).production).toBe(production);
  });

  it.each(["Production", "PRODUCTION", "prod", "production ", " production", "dev", "test", "staging", "1", "0"])(
    "WEB_ENV=%j is refused",
    (WEB_ENV) => {
      for (const options of [DEV, BUILT]) {
        expect(refused({ WEB_ENV, WEB_AUTH_SECRET: SECRET }, options)).toEqual(["WEB_ENV"]);
      }
    },
  );

  it("does not start without a secret, and says how to make one", () => {
    for (const [env, options] of [
      [{ WEB_ENV: "production" }, DEV],
      [{ WEB_ENV: "production", WEB_AUTH_SECRET: "" }, DEV],
      [{}, BUILT],
      [{ WEB_ENV: "", WEB_AUTH_SECRET_PREVIOUS: SECRET, WEB_CSRF_SECRET: SECRET }, BUILT],
    ] as const) {
      expect(refused(env, options)).toEqual(["WEB_AUTH_SECRET"]);
      expect(errorOf(env, options).message).toContain("randomBytes(32).toString('hex')");
    }
  });

  it("says why it is production when nobody said so", () => {
    expect(errorOf({}, BUILT).message).toContain("unless WEB_ENV=development");
    expect(errorOf({ WEB_ENV: "production" }, BUILT).message).not.toContain("unless WEB_ENV=development");
  });

  it("when nobody can say which it is, the strict side is taken", () => {
    expect(refused({ WEB_ENV: "prod" }, DEV)).toEqual(["WEB_ENV", "WEB_AUTH_SECRET"]);
    expect(refused({ WEB_ENV: "prod", WEB_AUTH_SECRET: "00".repeat(32) }, DEV)).toEqual(["WEB_ENV", "WEB_AUTH_SECRET"]);
  });
});

describe("secrets", () => {
  const names = ["WEB_AUTH_SECRET", "WEB_CSRF_SECRET", "WEB_AUTH_SECRET_PREVIOUS"];

  it("are used in development as well", () => {
    const config = dev({ WEB_AUTH_SECRET: SECRET, WEB_CSRF_SECRET: OTHER, WEB_AUTH_SECRET_PREVIOUS: THIRD });
    expect([hex(config.secret), hex(config.csrfSecret), config.previousSecrets.map(hex)]).toEqual([
      SECRET,
      OTHER,
      [THIRD],
    ]);
  });

  it("are the same in either case of their digits", () => {
    expect(hex(dev({ WEB_AUTH_SECRET: SECRET.toUpperCase() }).secret)).toBe(SECRET);
  });

  it.each([
    ["a digit short", SECRET.slice(1), "63"],
    ["a digit long", `${SECRET}0`, "65"],
    ["half as long", SECRET.slice(32), "32"],
    ["twice as long", SECRET + SECRET, "128"],
    ["one digit", "a", "1"],
    ["with a letter that is no digit", `${SECRET.slice(1)}g`, "not a hexadecimal digit"],
    ["in quotes", `"${SECRET}"`, "not a hexadecimal digit"],
    ["with 0x", `0x${SECRET}`, "not a hexadecimal digit"],
    ["in base64", Buffer.from(SECRET, "hex").toString("base64"), "not a hexadecimal digit"],
    ["in wide digits", "１".repeat(64), "not a hexadecimal digit"],
    ["a word", "changeme", "not a hexadecimal digit"],
  ])("%s are refused everywhere, without being shown", (_what, value, why) => {
    for (const name of names) {
      for (const options of [DEV, BUILT]) {
        const error = errorOf({ WEB_AUTH_SECRET: SECRET, [name]: value }, options);
        expect(error.problems.map(({ variable }) => variable)).toEqual([name]);
        expect(error.message).toContain(why);
        if (value.length > 2) expect(JSON.stringify(error.problems)).not.toContain(value.trim());
      }
    }
  });

  it("with white space around them are refused, which a file read whole would have", () => {
    for (const value of [`${SECRET}\n`, ` ${SECRET}`]) {
      expect(refused({ WEB_AUTH_SECRET: value, WEB_CSRF_SECRET: value })).toEqual([
        "WEB_AUTH_SECRET",
        "WEB_CSRF_SECRET",
      ]);
    }
  });

  it.each([
    ["noughts", "00".repeat(32)],
    ["one byte over and over", "ab".repeat(32)],
    ["one digit over and over", "f".repeat(64)],
    ["two bytes in turn", "01ff".repeat(16)],
    ["a word over and over", "deadbeef".repeat(8)],
    ["all digits, four times", "0123456789abcdef".repeat(4)],
    ["sixteen bytes twice", SECRET.slice(0, 32).repeat(2)],
    ["a row that counts up", Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString("hex")],
    ["a row that counts down", Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i)).toString("hex")],
    ["a row that counts in steps", Buffer.from(Array.from({ length: 32 }, (_, i) => i * 11)).toString("hex")],
    ["a single odd byte among noughts", `${"00".repeat(31)}01`],
  ])("%s are refused in production, and taken in development", (_what, value) => {
    for (const name of names) {
      expect(refused({ WEB_AUTH_SECRET: SECRET, [name]: value }, BUILT)).toEqual([name]);
      expect(() => dev({ [name]: value })).not.toThrow();
    }
  });

  it("that are random are taken", () => {
    for (let i = 0; i < 1000; i++) {
      const secret = randomBytes(32).toString("hex");
      expect(hex(loadConfig({ WEB_AUTH_SECRET: secret }, BUILT).secret)).toBe(secret);
    }
  });

  describe("that were", () => {
    it.each([
      [SECRET, [SECRET]],
      [`${SECRET},${OTHER}`, [SECRET, OTHER]],
      [` ${SECRET} , ${OTHER} `, [SECRET, OTHER]],
    ])("%s", (WEB_AUTH_SECRET_PREVIOUS, secrets) => {
      expect(dev({ WEB_AUTH_SECRET_PREVIOUS }).previousSecrets.map(hex)).toEqual(secrets);
    });

    it.each([
      [`${SECRET},`, "(secret 2 of 2)"],
      [`,${SECRET}`, "(secret 1 of 2)"],
      [`${SECRET},,${OTHER}`, "(secret 2 of 3)"],
      [`${SECRET};${OTHER}`, "(secret 1 of 1)"],
      [`${SECRET} ${OTHER}`, "(secret 1 of 1)"],
      [",", "(secret 1 of 2)"],
      [Array(9).fill(SECRET).join(","), "lists 9 secrets"],
    ])("%s: refused, and it is said which", (WEB_AUTH_SECRET_PREVIOUS, which) => {
      expect(refused({ WEB_AUTH_SECRET_PREVIOUS })).toEqual(["WEB_AUTH_SECRET_PREVIOUS"]);
      expect(errorOf({ WEB_AUTH_SECRET_PREVIOUS }).message).toContain(which);
      expect(errorOf({ WEB_AUTH_SECRET_PREVIOUS }).message).not.toContain(SECRET);
    });
  });
});

describe("the development key", () => {
  it("is 32 bytes, and the same after a restart", () => {
    expect(dev().secret).toHaveLength(32);
    expect(hex(dev().secret)).toBe(hex(dev().secret));
  });

  it("is another in every project", () => {
    const keys = ["/srv/app", "/srv/app2", "/srv", "/"].map((projectDir) =>
      hex(loadConfig({}, { ...DEV, projectDir }).secret),
    );
    expect(new Set(keys).size).toBe(4);
  });

  it("is that of a directory, however its path is written", () => {
    const dir = mkdtempSync(join(tmpdir(), "config-"));
    try {
      const keys = [dir, `${dir}/`, `${dir}/./x/..`].map((projectDir) =>
        hex(loadConfig({}, { ...DEV, projectDir }).secret),
      );
      expect(new Set(keys).size).toBe(1);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it("holds in what is built only when development is asked for", () => {
    expect(hex(loadConfig({ WEB_ENV: "development" }, BUILT).secret)).toBe(hex(dev().secret));
  });
});

describe("WEB_COOKIE_SECURE", () => {
  it.each([
    ["1", true],
    ["0", false],
    ["", false],
    [undefined, false],
  ])("%j is %s", (WEB_COOKIE_SECURE, secure) => {
    expect(dev({ WEB_COOKIE_SECURE }).cookieSecure).toBe(secure);
  });

  it.each(["true", "false", "yes", "no", "on", "off", "2", "-1", "01", " 1", "1 ", "TRUE"])(
    "%j is refused",
    (value) => {
      expect(refused({ WEB_COOKIE_SECURE: value })).toEqual(["WEB_COOKIE_SECURE"]);
    },
  );
});

describe("whole numbers", () => {
  it.each([
    ["PORT", "0", "port", 0],
    ["PORT", "1", "port", 1],
    ["PORT", "65535", "port", 65_535],
    ["WEB_TRUST_PROXY", "0", "trustProxy", 0],
    ["WEB_TRUST_PROXY", "16", "trustProxy", 16],
    ["WEB_MAX_STREAMS_PER_CLIENT", "1", "maxStreamsPerClient", 1],
    ["WEB_MAX_STREAMS_PER_CLIENT", "1000000", "maxStreamsPerClient", 1_000_000],
    ["WEB_WORKERS", "1", "workers", 1],
    ["WEB_WORKERS", "256", "workers", 256],
  ] as const)("%s=%s is taken", (variable, text, field, value) => {
    expect(dev({ WEB_BUS_URL: "redis://bus", [variable]: text })[field]).toBe(value);
  });

  it.each([
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["WEB_TRUST_PROXY", "17"],
    ["WEB_TRUST_PROXY", "true"],
    ["WEB_TRUST_PROXY", "loopback"],
    ["WEB_MAX_STREAMS_PER_CLIENT", "0"],
    ["WEB_MAX_STREAMS_PER_CLIENT", "1000001"],
    ["WEB_WORKERS", "0"],
    ["WEB_WORKERS", "257"],
    ["WEB_WORKERS", "auto"],
    ...["PORT", "WEB_TRUST_PROXY", "WEB_MAX_STREAMS_PER_CLIENT", "WEB_WORKERS"].flatMap((variable) =>
      ["1.5", "1e1", "0x10", "+1", "01", " 1", "1 ", "1,0", "NaN", "Infinity", "१", "9".repeat(40), "/tmp/socket"].map(
        (text) => [variable, text],
      ),
    ),
  ])("%s=%j is refused", (variable = "", text) => {
    expect(refused({ WEB_BUS_URL: "redis://bus", [variable]: text })).toEqual([variable]);
  });
});

describe("WEB_WORKERS", () => {
  it("is refused beyond one without a shared bus", () => {
    expect(refused({ WEB_WORKERS: "2" })).toEqual(["WEB_WORKERS"]);
    expect(errorOf({ WEB_WORKERS: "2" }).message).toContain("Set WEB_BUS_URL");
    expect(dev({ WEB_WORKERS: "1" }).workers).toBe(1);
    expect(dev({ WEB_WORKERS: "2", WEB_BUS_URL: "nats://bus" }).workers).toBe(2);
  });

  it("does not complain of a bus that is there and wrong", () => {
    expect(refused({ WEB_WORKERS: "2", WEB_BUS_URL: "bus" })).toEqual(["WEB_BUS_URL"]);
  });
});

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
  ])("%s is %j", (WEB_ORIGIN, origins) => {
    expect(dev({ WEB_ORIGIN }).origins).toEqual(origins);
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
  ])("%j is refused", (WEB_ORIGIN) => {
    expect(refused({ WEB_ORIGIN })).toEqual(["WEB_ORIGIN"]);
  });

  it("with a name or password is refused and not shown", () => {
    const error = errorOf({ WEB_ORIGIN: "https://ada:hunter2@shop.example" });
    expect(error.message).toContain("WEB_ORIGIN holds a name or password");
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
  ])("%s is taken as it is", (WEB_BUS_URL) => {
    expect(dev({ WEB_BUS_URL }).busUrl).toBe(WEB_BUS_URL);
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
  ])("%j is refused and not shown", (WEB_BUS_URL) => {
    expect(refused({ WEB_BUS_URL })).toEqual(["WEB_BUS_URL"]);
    expect(JSON.stringify(errorOf({ WEB_BUS_URL }).problems)).not.toContain("hunter2");
  });
});

describe("WEB_METRICS_PATH", () => {
  it.each(["/metrics", "/internal/metrics", "/a-b_c~d.e/f", "/healthz2", "/__webs"])("%s is taken", (path) => {
    expect(dev({ WEB_METRICS_PATH: path }).metricsPath).toBe(path);
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
  ])("%j is refused", (path) => {
    expect(refused({ WEB_METRICS_PATH: path })).toEqual(["WEB_METRICS_PATH"]);
  });
});

describe("HOST", () => {
  it.each(["0.0.0.0", "127.0.0.1", "::", "::1", "fe80::1", "localhost", "web-1", "a.b.example", "a1"])(
    "%s is taken",
    (HOST) => {
      expect(dev({ HOST }).host).toBe(HOST);
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
  ])("%j is refused", (HOST) => {
    expect(refused({ HOST })).toEqual(["HOST"]);
  });
});

describe("whatever the environment holds", () => {
  const names = fc.constantFrom(
    ...["WEB_ENV", "WEB_AUTH_SECRET", "WEB_AUTH_SECRET_PREVIOUS", "WEB_COOKIE_SECURE", "WEB_CSRF_SECRET", "WEB_ORIGIN"],
    ...[
      "WEB_TRUST_PROXY",
      "WEB_BUS_URL",
      "WEB_MAX_STREAMS_PER_CLIENT",
      "WEB_METRICS_PATH",
      "HOST",
      "PORT",
      "WEB_WORKERS",
    ],
  );
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.webUrl(), fc.integer().map(String), fc.ipV6(), fc.domain());

  it("it is read, or refused with a ConfigError that names what was set", () => {
    fc.assert(
      fc.property(fc.dictionary(names, text), fc.boolean(), (env, built) => {
        try {
          loadConfig(env, { ...DEV, built });
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
          for (const { variable } of (error as ConfigError).problems) {
            expect(variable in env || variable === "WEB_AUTH_SECRET").toBe(true);
          }
        }
      }),
    );
  });

  it("a message is one that a terminal can show", () => {
    const all = ["WEB_ENV", "WEB_COOKIE_SECURE", "WEB_ORIGIN", "WEB_METRICS_PATH", "HOST", "PORT"];
    for (const variable of all) {
      const { message } = errorOf({ [variable]: `\u001b[2J\r\n\0${"x".repeat(10_000)}` });
      expect(message.length).toBeLessThan(600);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
      expect(message).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    }
  });
});
