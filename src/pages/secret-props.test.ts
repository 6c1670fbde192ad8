import { h } from "preact";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Hello, renderPage } from "#test/render-page";
import { checkSecretProps } from "./secret-props.ts";

const ENV = {
  STRIPE_SECRET_KEY: "sk_live_51Habcdef",
  WEB_AUTH_SECRET_PREVIOUS: "0a1b2c3d4e5f60718293",
  DB_PASSWORD: "tr0ub4dor",
  DATABASE_URL: "postgres://shop:hunter2@db.example/shop",
  MAIL_TOKEN: "mail-1234-5678",
  STRIPE_PUBLISHABLE_KEY: "pk_live_51Habcdef",
  GOOGLE_MAPS_API_KEY: "AIza-1234-5678",
  ADMIN_PASSWORD: "password",
  SHORT_SECRET: "abc123",
  PASSWORD_RESET_FROM: "shop@shop.example",
  HOME_URL: "https://shop.example/",
};

const HASH = "$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW";

const check = (props: object) => {
  const warn = vi.fn();
  const location = { fileName: `${process.cwd()}/src/pages.server.tsx`, lineNumber: 3, columnNumber: 7 };
  checkSecretProps("Profile", props, { warn, location }, ENV);
  return warn.mock.calls.flat();
};

describe("the props of a view", () => {
  it.each<[object, string]>([
    [
      { user: { name: "Ada", key: ENV.STRIPE_SECRET_KEY } },
      "the value of the environment variable STRIPE_SECRET_KEY as the prop user.key",
    ],
    [
      { list: [1, [ENV.WEB_AUTH_SECRET_PREVIOUS]] },
      "the value of the environment variable WEB_AUTH_SECRET_PREVIOUS as the prop list[1][0]",
    ],
    [{ a: ENV.DB_PASSWORD }, "the value of the environment variable DB_PASSWORD as the prop a"],
    [{ url: ENV.DATABASE_URL }, "the URL with a password of the environment variable DATABASE_URL as the prop url"],
    [{ user: { password_hash: HASH } }, "a password hash as the prop user.password_hash"],
    [
      { users: [{ passwordHash: `pbkdf2_sha256$600000$salt$${"a".repeat(43)}=` }] },
      "a password hash as the prop users[0].passwordHash",
    ],
  ])("cannot contain a secret, and the error names the prop without the value: %#", (props, message) => {
    let error: unknown;
    try {
      check(props);
    } catch (thrown) {
      error = thrown;
    }
    const text = String(error);
    expect(text).toContain(`The view Profile receives ${message}. Props are sent to browsers`);
    for (const value of [...Object.values(ENV), HASH]) {
      if (value.length > 8) expect(text).not.toContain(value);
    }
  });

  it("may contain a key or token, with a warning, because some are made for browsers", () => {
    expect(check({ token: ENV.MAIL_TOKEN })).toEqual([
      "The view Profile (src/pages.server.tsx:3:7) receives the value of the environment variable MAIL_TOKEN as the prop token, " +
        "which is sent to browsers. If it is a secret, use it on the server only. If browsers may have it, name it PUBLIC_MAIL_TOKEN.",
    ]);
  });

  it("may contain everything else", () => {
    const { STRIPE_PUBLISHABLE_KEY, GOOGLE_MAPS_API_KEY, SHORT_SECRET, PASSWORD_RESET_FROM, HOME_URL } = ENV;
    const values = [STRIPE_PUBLISHABLE_KEY, GOOGLE_MAPS_API_KEY, SHORT_SECRET, PASSWORD_RESET_FROM, HOME_URL];
    expect(check({ values, type: "password", password: "", secret: "x1y2z3a4", n: 1, none: null, on: true })).toEqual(
      [],
    );
    expect(check({ example: HASH, hash: "9f86d081884c7d659a2feaa0c55ad015", password_hash: null })).toEqual([]);
  });

  describe("in a page", () => {
    afterEach(() => vi.unstubAllEnvs());

    it("are checked in development only", async () => {
      vi.stubEnv("STRIPE_SECRET_KEY", ENV.STRIPE_SECRET_KEY);
      const page = () => h(Hello, { name: ENV.STRIPE_SECRET_KEY });
      const { status, logged } = await renderPage(page, {}, { development: true });
      expect([status, JSON.stringify(logged)]).toEqual([500, expect.stringContaining("as the prop name")]);
      expect((await renderPage(page)).status).toBe(200);
    });
  });
});
