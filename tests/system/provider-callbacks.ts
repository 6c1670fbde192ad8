/**
 * The start and the end of "Continue with …": the link to the provider and the callback, and attacks on them.
 */
import { describe, expect, it, vi } from "vitest";
import { issue_magic_token } from "../../src/auth/index.ts";
import { app, COOKIE, expectRefused, FAILED, provider, SECRET, User } from "./providers-app.ts";

/** Declares the tests, which run with the providers of the file. */
export function describeCallbacks(): void {
  describe("a callback", () => {
    it("is refused in a browser that has not started the sign-in (login CSRF)", async () => {
      const [mallory, ada] = [new User(), new User()];
      const callback = await mallory.callbackOf(await mallory.start("oidc"));
      await expectRefused(ada, await ada.get(callback), "expired"); // without a cookie
      await ada.start("oidc");
      await expectRefused(ada, await ada.get(callback), "expired"); // with the state of another sign-in
    });

    it("of another site does not end the sign-in that the user has started", async () => {
      const [mallory, ada] = [new User(), new User()];
      const callback = await ada.callbackOf(await ada.start("oidc"));
      await ada.get(await mallory.callbackOf(await mallory.start("oidc")));
      expect(await ada.get(callback)).toMatchObject({ location: "/account" });
    });

    it("is refused when it is used again, also with the cookie of before", async () => {
      const ada = new User();
      const callback = await ada.callbackOf(await ada.start("oidc"));
      const cookie = ada.cookies.get(COOKIE) ?? "";
      expect(await ada.get(callback)).toMatchObject({ location: "/account" });
      ada.cookies.clear();
      await expectRefused(ada, await ada.get(callback), "expired");
      ada.cookies.set(COOKIE, cookie);
      await expectRefused(ada, await ada.get(callback), "expired");
    });

    it("signs in once if it is opened several times at once", async () => {
      const ada = new User();
      const callback = await ada.callbackOf(await ada.start("oidc"));
      const cookie = `${COOKIE}=${ada.cookies.get(COOKIE)}`;
      const open = () => fetch(app.address + callback, { redirect: "manual", headers: { ...ada.headers, cookie } });
      const responses = await Promise.all(Array.from({ length: 5 }, open));
      const locations = responses.map(({ headers }) => headers.get("location")).sort();
      expect(locations).toEqual(["/account", ...Array(4).fill(`${FAILED}expired`)]);
    });

    it.each([
      ["without a nonce", (url: URL) => url.searchParams.delete("nonce")],
      ["with another nonce", (url: URL) => url.searchParams.set("nonce", "A".repeat(43))],
      ["with another challenge", (url: URL) => url.searchParams.set("code_challenge", "A".repeat(43))],
    ])("is refused if the sign-in at the provider was made %s", async (_, change) => {
      const ada = new User();
      const url = await ada.start("oidc");
      change(url);
      await expectRefused(ada, await ada.get(await ada.callbackOf(url)), "unreachable");
    });

    it("is refused with the code of another user, which was injected into it", async () => {
      const [ada, mallory] = [new User(), new User()];
      const stolen = new URL(await ada.callbackOf(await ada.start("oidc")), app.address).searchParams.get("code") ?? "";
      const callback = new URL(await mallory.callbackOf(await mallory.start("oidc")), app.address);
      callback.searchParams.set("code", stolen);
      await expectRefused(mallory, await mallory.get(callback.pathname + callback.search), "unreachable");
    });

    it("is refused at another provider than the one that the sign-in was started with (mix-up)", async () => {
      const ada = new User();
      const callback = await ada.callbackOf(await ada.start("oidc"));
      await expectRefused(ada, await ada.get(callback.replace("/oidc/", "/github/")), "expired");
      const other = new URL(callback, app.address);
      other.searchParams.set("iss", "https://evil.example");
      await expectRefused(ada, await ada.get(other.pathname + other.search), "unreachable");
    });

    it.each(["access_denied", "server_error", "<script>"])(
      "with the error %s of the provider signs nobody in, and shows nothing of it",
      async (error) => {
        const ada = new User();
        const state = (await ada.start("oidc")).searchParams.get("state") ?? "";
        const query = new URLSearchParams({ error, error_description: "line\nbreak", state, iss: provider.issuer });
        const response = await ada.get(`/sign-in/oidc/callback?${query}`);
        await expectRefused(ada, response, error === "access_denied" ? "denied" : "unreachable");
        for (const text of ["line\nbreak", "<script>"]) expect(app.output()).not.toContain(text);
        if (error === "server_error") {
          expect(app.output()).toMatch(/The sign-in with oidc failed: AuthorizationResponseError, \w+, server_error\n/);
        }
      },
    );

    it("with an error is believed only with the state of the browser", async () => {
      const ada = new User();
      const callback = await ada.callbackOf(await ada.start("oidc"));
      await expectRefused(ada, await ada.get("/sign-in/oidc/callback?error=access_denied&state=x"), "expired");
      expect(await ada.get(callback)).toMatchObject({ location: "/account" });
    });

    it.each(["", "?state=", "?code=x", "?state=x&code=x&iss=x"])(
      "without a started sign-in is refused: %s",
      async (query) => {
        const ada = new User();
        await expectRefused(ada, await ada.get(`/sign-in/oidc/callback${query}`), "expired");
      },
    );

    it("is refused with a cookie that was forged, changed, has expired, or is for another purpose", async () => {
      vi.stubEnv("WEB_REALM", "accounts"); // of the built application
      const ada = new User();
      const callback = await ada.callbackOf(await ada.start("oidc"));
      const cookie = ada.cookies.get(COOKIE) ?? "";
      const state = new URL(callback, app.address).searchParams.get("state") ?? "";
      const fields = `oidc ${state} ${"n".repeat(43)} ${"v".repeat(43)} `;
      for (const value of [
        "x",
        `${cookie}x`,
        cookie.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
        issue_magic_token(SECRET, `sign-in ${fields}`, { ttl: 60 }),
        issue_magic_token(SECRET, `provider ${fields}`, { ttl: 0 }),
        issue_magic_token("f".repeat(64), `provider ${fields}`, { ttl: 60 }),
      ]) {
        ada.cookies.set(COOKIE, value);
        await expectRefused(ada, await ada.get(callback), "expired");
      }
      vi.unstubAllEnvs();
      ada.cookies.set(COOKIE, cookie);
      expect(await ada.get(callback)).toMatchObject({ location: "/account" });
    });
  });

  describe("the start of a sign-in", () => {
    it.each(["cross-site", "same-site"])("by a %s page leads to the sign-in page", async (site) => {
      const ada = new User();
      expect(await ada.get("/sign-in/oidc", { "sec-fetch-site": site })).toMatchObject({ status: 303, location: "/" });
      expect(ada.cookies.size).toBe(0);
      const own = await ada.get("/sign-in/oidc", { "sec-fetch-site": "same-origin" });
      expect(own.location).toContain(provider.issuer);
    });

    it("by a signed-in user leads to the account", async () => {
      const ada = new User();
      await ada.register();
      expect(await ada.get("/sign-in/oidc")).toMatchObject({ location: "/account" });
    });

    it.each(["/sign-in/other", "/sign-in/other/callback", "/sign-in/__proto__", "/sign-in/constructor/callback"])(
      "with an unknown provider is not found: %s",
      async (path) => {
        expect(await new User().get(path)).toMatchObject({ status: 404 });
      },
    );
  });
}
