import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "#test/any-text";
import {
  BUILT,
  configErrorOf,
  DEV,
  invalidVariables,
  loadDevelopment,
  SECRET,
  SECRET_2,
  SECRET_3,
} from "#test/environment";
import { ConfigError } from "./config-error.ts";
import { loadConfig } from "./index.ts";

describe("loadConfig", () => {
  it("requires no variable in development", () => {
    expect(loadDevelopment()).toEqual({
      production: false,
      secret: expect.any(Uint8Array),
      previousSecrets: [],
      realm: "tsweb",
      cookieSecure: false,
      sessionCookie: "web_session",
      origins: [],
      trustProxy: 0,
      maxStreamsPerClient: 100,
      maxUploadBytes: 4 * 1024 ** 3,
      maxUploadBytesPerClient: 2 * 1024 ** 3,
      busNamespace: "tsweb",
      compress: true,
      logLevel: "info",
      accessLog: false,
      host: "127.0.0.1",
      isDefaultHost: true,
      port: 3000,
      workers: 1,
      drainSeconds: 0,
      stopSeconds: 30,
    });
  });

  it("requires a secret in production, and listens on all interfaces there", () => {
    expect(loadConfig({ WEB_AUTH_SECRET: SECRET }, BUILT)).toEqual({
      ...loadDevelopment(),
      production: true,
      secret: new Uint8Array(Buffer.from(SECRET, "hex")),
      host: "0.0.0.0",
      drainSeconds: 2,
    });
  });

  it("reads every variable", () => {
    const env = {
      WEB_ENV: "production",
      WEB_AUTH_SECRET: SECRET,
      WEB_AUTH_SECRET_PREVIOUS: SECRET_2,
      WEB_COOKIE_SECURE: "1",
      WEB_CSRF_SECRET: SECRET_3,
      WEB_REALM: "@acme/shop",
      WEB_SESSION_COOKIE: "shop_session",
      WEB_ORIGIN: "https://shop.example",
      WEB_TRUST_PROXY: "2",
      WEB_BUS_URL: "redis://:password@bus.internal:6379/1?namespace=shop",
      WEB_MAX_STREAMS_PER_CLIENT: "7",
      WEB_UPLOAD_DIR: "/var/uploads",
      WEB_MAX_UPLOAD_BYTES: "20000000",
      WEB_MAX_UPLOAD_BYTES_PER_CLIENT: "3000000",
      WEB_COMPRESS: "0",
      WEB_LOG_LEVEL: "warn",
      WEB_ACCESS_LOG: "1",
      WEB_METRICS_PATH: "/metrics",
      WEB_METRICS_TOKEN: "t".repeat(32),
      WEB_METRICS_PORT: "9100",
      HOST: "::",
      PORT: "8080",
      WEB_WORKERS: "4",
      WEB_DRAIN_SECONDS: "5",
      WEB_STOP_SECONDS: "60",
    };
    expect(loadConfig(env, DEV)).toEqual({
      production: true,
      secret: new Uint8Array(Buffer.from(SECRET, "hex")),
      previousSecrets: [new Uint8Array(Buffer.from(SECRET_2, "hex"))],
      realm: "@acme/shop",
      cookieSecure: true,
      sessionCookie: "__Host-shop_session",
      csrfSecret: new Uint8Array(Buffer.from(SECRET_3, "hex")),
      origins: ["https://shop.example"],
      trustProxy: 2,
      busUrl: "redis://:password@bus.internal:6379/1",
      busNamespace: "shop",
      maxStreamsPerClient: 7,
      uploadDir: "/var/uploads",
      maxUploadBytes: 20_000_000,
      maxUploadBytesPerClient: 3_000_000,
      compress: false,
      logLevel: "warn",
      accessLog: true,
      metricsPath: "/metrics",
      metricsToken: "t".repeat(32),
      metricsPort: 9100,
      host: "::",
      isDefaultHost: false,
      port: 8080,
      workers: 4,
      drainSeconds: 5,
      stopSeconds: 60,
    });
  });

  it("treats an empty variable as not set", () => {
    const names = ["WEB_ENV", "WEB_AUTH_SECRET", "WEB_AUTH_SECRET_PREVIOUS", "WEB_COOKIE_SECURE", "WEB_CSRF_SECRET"];
    names.push("WEB_ORIGIN", "WEB_TRUST_PROXY", "WEB_BUS_URL", "WEB_MAX_STREAMS_PER_CLIENT", "WEB_METRICS_PATH");
    names.push(
      "WEB_UPLOAD_DIR",
      "WEB_MAX_UPLOAD_BYTES",
      "WEB_MAX_UPLOAD_BYTES_PER_CLIENT",
      "WEB_SESSION_COOKIE",
      "HOST",
      "PORT",
      "WEB_WORKERS",
      "WEB_DRAIN_SECONDS",
      "WEB_STOP_SECONDS",
    );
    expect(loadDevelopment(Object.fromEntries(names.map((name) => [name, ""])))).toEqual(loadDevelopment());
  });

  it("omits absent values instead of setting them to undefined", () => {
    expect(Object.keys(loadDevelopment())).not.toEqual(expect.arrayContaining(["csrfSecret"]));
    expect(Object.values(loadDevelopment())).not.toContain(undefined);
  });

  it("returns a frozen configuration", () => {
    expect(Object.isFrozen(loadDevelopment())).toBe(true);
  });

  it("lists all invalid variables at once, each with its fix", () => {
    const error = configErrorOf({ WEB_COOKIE_SECURE: "yes", PORT: "http", WEB_WORKERS: "2" }, BUILT);
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe("ConfigError");
    expect(error.problems.map(({ variable }) => variable).sort()).toEqual([
      "PORT",
      "WEB_AUTH_SECRET",
      "WEB_COOKIE_SECURE",
      "WEB_WORKERS",
    ]);
    for (const { variable, problem, fix } of error.problems) {
      expect(error.message).toContain(`${variable} ${problem}\n  ${fix}`);
      expect(fix).not.toBe("");
    }
  });
});

describe("the mode", () => {
  it.each([
    // WEB_ENV, whether the application is built, whether the mode is production
    [undefined, false, false],
    [undefined, true, true],
    ["", false, false],
    ["", true, true],
    ["development", false, false],
    ["development", true, false],
    ["production", false, true],
    ["production", true, true],
  ])("with WEB_ENV %j in an application with built %s is production: %s", (WEB_ENV, built, production) => {
    expect(loadConfig({ WEB_ENV, WEB_AUTH_SECRET: SECRET }, { ...DEV, built }).production).toBe(production);
  });

  it.each(["Production", "PRODUCTION", "prod", "production ", " production", "dev", "test", "staging", "1", "0"])(
    "refuses WEB_ENV=%j",
    (WEB_ENV) => {
      for (const options of [DEV, BUILT]) {
        expect(invalidVariables({ WEB_ENV, WEB_AUTH_SECRET: SECRET }, options)).toEqual(["WEB_ENV"]);
      }
    },
  );

  it("refuses production without a secret, with the command that creates one", () => {
    for (const [env, options] of [
      [{ WEB_ENV: "production" }, DEV],
      [{ WEB_ENV: "production", WEB_AUTH_SECRET: "" }, DEV],
      [{}, BUILT],
      [{ WEB_ENV: "", WEB_AUTH_SECRET_PREVIOUS: SECRET, WEB_CSRF_SECRET: SECRET }, BUILT],
    ] as const) {
      expect(invalidVariables(env, options)).toEqual(["WEB_AUTH_SECRET"]);
      expect(configErrorOf(env, options).message).toContain("randomBytes(32).toString('hex')");
    }
  });

  it("explains why the mode is production if WEB_ENV is not set", () => {
    expect(configErrorOf({}, BUILT).message).toContain("unless WEB_ENV=development");
    expect(configErrorOf({ WEB_ENV: "production" }, BUILT).message).not.toContain("unless WEB_ENV=development");
  });

  it("applies the rules of production if WEB_ENV is invalid", () => {
    expect(invalidVariables({ WEB_ENV: "prod" }, DEV)).toEqual(["WEB_ENV", "WEB_AUTH_SECRET"]);
    expect(invalidVariables({ WEB_ENV: "prod", WEB_AUTH_SECRET: "00".repeat(32) }, DEV)).toEqual([
      "WEB_ENV",
      "WEB_AUTH_SECRET",
    ]);
  });
});

describe("WEB_COOKIE_SECURE", () => {
  it.each([
    ["1", true],
    ["0", false],
    ["", false],
    [undefined, false],
  ])("accepts %j as %s", (WEB_COOKIE_SECURE, secure) => {
    expect(loadDevelopment({ WEB_COOKIE_SECURE }).cookieSecure).toBe(secure);
  });

  it.each(["true", "false", "yes", "no", "on", "off", "2", "-1", "01", " 1", "1 ", "TRUE"])("refuses %j", (value) => {
    expect(invalidVariables({ WEB_COOKIE_SECURE: value })).toEqual(["WEB_COOKIE_SECURE"]);
  });
});

describe("a whole number", () => {
  it.each([
    ["PORT", "0", "port", 0],
    ["PORT", "1", "port", 1],
    ["PORT", "65535", "port", 65_535],
    ["WEB_TRUST_PROXY", "0", "trustProxy", 0],
    ["WEB_TRUST_PROXY", "16", "trustProxy", 16],
    ["WEB_MAX_STREAMS_PER_CLIENT", "1", "maxStreamsPerClient", 1],
    ["WEB_MAX_STREAMS_PER_CLIENT", "1000000", "maxStreamsPerClient", 1_000_000],
    ["WEB_MAX_UPLOAD_BYTES", "1048576", "maxUploadBytes", 1_048_576],
    ["WEB_MAX_UPLOAD_BYTES", "3000000", "maxUploadBytesPerClient", 1_500_000],
    ["WEB_MAX_UPLOAD_BYTES_PER_CLIENT", "1048576", "maxUploadBytesPerClient", 1_048_576],
    ["WEB_MAX_UPLOAD_BYTES_PER_CLIENT", String(4 * 1024 ** 3), "maxUploadBytesPerClient", 4 * 1024 ** 3],
    ["WEB_WORKERS", "1", "workers", 1],
    ["WEB_WORKERS", "256", "workers", 256],
    ["WEB_DRAIN_SECONDS", "0", "drainSeconds", 0],
    ["WEB_DRAIN_SECONDS", "3600", "drainSeconds", 3600],
    ["WEB_STOP_SECONDS", "0", "stopSeconds", 0],
    ["WEB_STOP_SECONDS", "3600", "stopSeconds", 3600],
  ] as const)("is accepted: %s=%s", (variable, text, field, value) => {
    expect(loadDevelopment({ WEB_BUS_URL: "redis://bus", [variable]: text })[field]).toBe(value);
  });

  it.each([
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["WEB_TRUST_PROXY", "17"],
    ["WEB_TRUST_PROXY", "true"],
    ["WEB_TRUST_PROXY", "loopback"],
    ["WEB_MAX_STREAMS_PER_CLIENT", "0"],
    ["WEB_MAX_STREAMS_PER_CLIENT", "1000001"],
    ["WEB_MAX_UPLOAD_BYTES", "1048575"],
    ["WEB_MAX_UPLOAD_BYTES_PER_CLIENT", "1048575"],
    ["WEB_MAX_UPLOAD_BYTES_PER_CLIENT", String(4 * 1024 ** 3 + 1)],
    ["WEB_WORKERS", "0"],
    ["WEB_WORKERS", "257"],
    ["WEB_WORKERS", "auto"],
    ["WEB_DRAIN_SECONDS", "3601"],
    ["WEB_DRAIN_SECONDS", "-1"],
    ["WEB_DRAIN_SECONDS", "2s"],
    ["WEB_STOP_SECONDS", "3601"],
    ["WEB_STOP_SECONDS", "-1"],
    ...[
      "WEB_DRAIN_SECONDS",
      "WEB_STOP_SECONDS",
      "PORT",
      "WEB_TRUST_PROXY",
      "WEB_MAX_STREAMS_PER_CLIENT",
      "WEB_WORKERS",
      "WEB_MAX_UPLOAD_BYTES",
    ].flatMap((variable) =>
      ["1.5", "1e1", "0x10", "+1", "01", " 1", "1 ", "1,0", "NaN", "Infinity", "१", "9".repeat(40), "/tmp/socket"].map(
        (text) => [variable, text],
      ),
    ),
  ])("is refused: %s=%j", (variable = "", text) => {
    expect(invalidVariables({ WEB_BUS_URL: "redis://bus", [variable]: text })).toEqual([variable]);
  });
});

describe("WEB_WORKERS", () => {
  it("refuses more than one process without a shared bus", () => {
    expect(invalidVariables({ WEB_WORKERS: "2" })).toEqual(["WEB_WORKERS"]);
    expect(configErrorOf({ WEB_WORKERS: "2" }).message).toContain("Set WEB_BUS_URL");
    expect(configErrorOf({ WEB_WORKERS: "2" }).message).toContain("realtime.use_bus at the top of src/app.ts");
    expect(loadConfig({ WEB_WORKERS: "2" }, { ...DEV, hasSharedBus: true }).workers).toBe(2);
    expect(loadDevelopment({ WEB_WORKERS: "1" }).workers).toBe(1);
    expect(loadDevelopment({ WEB_WORKERS: "2", WEB_BUS_URL: "nats://bus" }).workers).toBe(2);
  });

  it("reports only WEB_BUS_URL if that is invalid", () => {
    expect(invalidVariables({ WEB_WORKERS: "2", WEB_BUS_URL: "bus" })).toEqual(["WEB_BUS_URL"]);
  });
});

describe("an arbitrary environment", () => {
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
  const text = fc.oneof(anyText(), fc.webUrl(), fc.integer().map(String), fc.ipV6(), fc.domain());

  it("is read, or refused with a ConfigError that names a variable that was set", () => {
    fc.assert(
      fc.property(fc.dictionary(names, text), fc.boolean(), (env, built) => {
        try {
          loadConfig(env, { ...DEV, built });
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          for (const { variable } of error.problems) {
            expect(variable in env || variable === "WEB_AUTH_SECRET").toBe(true);
          }
        }
      }),
    );
  });

  it("leads to messages without control characters, of limited length", () => {
    const variables = ["WEB_ENV", "WEB_COOKIE_SECURE", "WEB_ORIGIN", "WEB_METRICS_PATH", "HOST", "PORT"];
    for (const variable of variables) {
      const { message } = configErrorOf({ [variable]: `\u001b[2J\r\n\0${"x".repeat(10_000)}` });
      expect(message.length).toBeLessThan(600);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be absent
      expect(message).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    }
  });
});
