/**
 * The application of docs/signing-in.md: its types, "Continue with …" at a certified provider, its links, and the test of its rows,
 * which every forgotten check turns red.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccountsUser } from "#test/accounts-user";
import { fasterHashing } from "#test/faster-hashing";
import { freePort } from "#test/free-port";
import { type RunningProvider, startIdentityProvider } from "#test/identity-provider";
import { build, type RunningServer, startBuilt } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import {
  createDocumentProject,
  SIGNING_IN_EDITS,
  testResultsOf,
  typeErrorsOf,
  UNLISTED_FUNCTION,
} from "./document-projects.ts";

let project: TestProject;
let provider: RunningProvider;
let app: RunningServer;
let numUsers = 0;

beforeAll(async () => {
  project = createDocumentProject("signing-in");
  const port = await freePort();
  provider = await startIdentityProvider({ redirect: `http://localhost:${port}/sign-in/callback` });
  await build(project.dir);
  app = await startBuilt(project.dir, {
    ...fasterHashing(),
    PORT: String(port),
    WEB_ORIGIN: `http://localhost:${port}`,
    WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
    WEB_TRUST_PROXY: "1",
    WEB_DATA_DIR: "data",
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.client.id,
    OIDC_CLIENT_SECRET: provider.client.secret,
  });
});

afterAll(async () => {
  await app?.stop();
  await provider?.close();
  project?.remove();
});

/** A user of the application and of the provider. */
class User extends AccountsUser {
  constructor() {
    super(app.address, ++numUsers);
    this.setProfile({});
  }

  setProfile(claims: object): void {
    provider.profiles.set(this.email, { email: this.email, email_verified: true, name: "Ada", ...claims });
  }

  /** Signs in at the provider, and returns the path of the callback. */
  async callbackPath(query = ""): Promise<string> {
    const { location } = await this.get(`/sign-in${query}`);
    const { pathname, search } = new URL(await provider.signIn(location ?? "", this.email));
    return pathname + search;
  }

  async isSignedIn(): Promise<boolean> {
    return (await this.get("/")).text.includes(this.email);
  }

  /** Returns the token of the latest mail with a subject. */
  async token(subject: string): Promise<string> {
    const mail = new RegExp(`Mail to ${this.email}: ${subject}\n\\S+token=(\\S+)`);
    await expect.poll(() => app.output()).toMatch(mail);
    return mail.exec(app.output())?.[1] ?? "";
  }
}

describe("the application of docs/signing-in.md", () => {
  it("has no type errors", async () => {
    expect(await typeErrorsOf("signing-in")).toBe("");
  });

  it("signs in with the provider, and returns to the page of before", async () => {
    const ada = new User();
    const response = await ada.get(await ada.callbackPath("?next=%2Fpassword%2Fsent"));
    expect(response).toMatchObject({ status: 303, location: "/password/sent" });
    expect(await ada.isSignedIn()).toBe(true);
    const grace = new User();
    expect(await grace.get(await grace.callbackPath("?next=//evil.example"))).toMatchObject({ location: "/" });
  });

  it("refuses a callback of another browser, without a cookie, with another nonce, and the start by another site", async () => {
    const [ada, mallory] = [new User(), new User()];
    const path = await mallory.callbackPath();
    expect((await ada.get(path)).text).toContain("That took too long");
    const { location } = await ada.get("/sign-in");
    expect((await ada.get(path)).text).toContain("was started elsewhere");
    const url = new URL(location ?? "");
    url.searchParams.set("nonce", "x");
    const { pathname, search } = new URL(await provider.signIn(url.href, ada.email));
    expect((await ada.get(pathname + search)).text).toContain("does not respond as it should");
    expect(await ada.isSignedIn()).toBe(false);
    expect(await ada.get("/sign-in", { "sec-fetch-site": "cross-site" })).toMatchObject({ location: "/" });
  });

  it("links by a verified address only, and ends what somebody else has registered with it", async () => {
    const [ada, mallory] = [new User(), new User()];
    await mallory.call("register", { email: ada.email, password: "analytical engine" });
    ada.setProfile({ email_verified: false });
    expect((await ada.get(await ada.callbackPath())).text).toContain("not verified there");
    ada.setProfile({});
    await ada.get(await ada.callbackPath());
    expect(await ada.isSignedIn()).toBe(true);
    expect((await mallory.get("/")).text).toContain("Forgotten password");
    const login = { email: ada.email, password: "analytical engine" };
    expect(await mallory.call("login", login)).toMatchObject({ body: { result: false } });
    const successor = new User();
    successor.setProfile({ email: ada.email });
    expect((await successor.get(await successor.callbackPath())).text).toContain("belongs to another account");
  });

  it("replaces a forgotten password once, by forms without script, and ends the sessions", async () => {
    const ada = new User();
    await ada.call("register", { email: ada.email, password: "analytical engine" });
    expect(await ada.send("forgot_password", "/password", { email: ada.email })).toMatchObject({
      path: "/password/sent",
    });
    const token = await ada.token("Choose a new password");
    const fields = { token, password: "difference engine" };
    const page = `/password/new?token=${token}`;
    expect(await ada.send("reset_password", page, fields)).toMatchObject({ path: "/", status: 200 });
    expect(await ada.isSignedIn()).toBe(false);
    const login = { email: ada.email, password: "difference engine" };
    expect(await ada.call("login", login)).toMatchObject({ body: { result: true } });
    expect((await ada.send("reset_password", page, fields)).text).toContain("expired, or was used before");
    expect(await ada.call("forgot_password", { email: "nobody@example.com" })).toMatchObject({ status: 200 });
    expect(app.output()).not.toContain("Mail to nobody");
  });

  it("confirms an address with its link and the session of its user, and not with another token", async () => {
    const [ada, mallory] = [new User(), new User()];
    for (const user of [ada, mallory])
      await user.call("register", { email: user.email, password: "analytical engine" });
    await ada.call("send_confirmation", {});
    const token = await ada.token("Confirm your address");
    expect(await mallory.call("confirm_address", { token })).toMatchObject({ status: 422 });
    expect(await mallory.call("reset_password", { token, password: "third engine" })).toMatchObject({ status: 401 });
    expect(await ada.call("confirm_address", { token })).toMatchObject({ status: 200 });
    // From now on, a sign-in with the provider keeps the password.
    ada.cookies.clear();
    await ada.get(await ada.callbackPath());
    expect(await ada.isSignedIn()).toBe(true);
    const login = { email: ada.email, password: "analytical engine" };
    expect(await ada.call("login", login)).toMatchObject({ body: { result: true } });
  });
});

describe("the test of the rows in docs/signing-in.md", () => {
  it("passes", async () => {
    expect(await testResultsOf("signing-in")).toEqual({ numPassed: 5, failed: [], message: "" });
  });

  it.each(SIGNING_IN_EDITS)("fails for $name without its check", async ({ name }) => {
    const results = await testResultsOf("signing-in", name);
    expect(results?.failed.some((title) => title.startsWith(name))).toBe(true);
  });

  it("fails for a function that is added and not listed", async () => {
    const results = await testResultsOf("signing-in", UNLISTED_FUNCTION.name);
    expect(results?.failed).toEqual(["every function and every page is listed above"]);
  });
});
