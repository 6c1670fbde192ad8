/**
 * The application of docs/signing-in.md: its types, "Continue with …" at a certified provider, its links, and the test of its rows,
 * which every forgotten check turns red.
 */
import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccountsUser } from "#test/accounts-user";
import { repository } from "#test/copy-example";
import { documentedFiles } from "#test/documented-files";
import { freePort } from "#test/free-port";
import { type RunningProvider, startIdentityProvider } from "#test/identity-provider";
import { build, type RunningServer, startBuilt } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const DOCUMENT = "docs/signing-in.md";
const COMPILER = join(repository, "node_modules/typescript/bin/tsc");
const PACKAGES = ["openid-client", "preact", "vitest", "vite", "@types"];

let project: TestProject;
let provider: RunningProvider;
let app: RunningServer;
let numUsers = 0;

beforeAll(async () => {
  project = TestProject.fromFiles({
    ...documentedFiles(DOCUMENT),
    "tsconfig.json": readFileSync(join(repository, "template/tsconfig.json"), "utf8"),
    "vitest.config.ts": readFileSync(join(repository, "template/vitest.config.ts"), "utf8"),
  });
  project.linkPackages(repository, PACKAGES);
  const port = await freePort();
  provider = await startIdentityProvider({ redirect: `http://localhost:${port}/sign-in/callback` });
  await build(project.dir);
  app = await startBuilt(project.dir, {
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
  it("has no type errors", () => {
    execFileSync(process.execPath, [COMPILER, "--noEmit", "-p", project.file("tsconfig.json")], { encoding: "utf8" });
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
  /** A check is forgotten, or a function is added: an edit of the notes, and the row whose test fails then. */
  const EDITS = [
    ["read_note", "own_note(id).text);", 'notes.get(id)?.text ?? "");'],
    ["change_note", "own_note(id).text = text;", "const note = notes.get(id); if (note) note.text = text;"],
    ["remove_note", "  own_note(id);\n", ""],
    ["/notes/:id", "if (notes.get(id)?.owner !== session.require().sub)", "if (!notes.has(id))"],
  ] as const;
  const UNLISTED = [
    "export const read_note",
    "export const count_notes = server(async () => notes.size);\nexport const read_note",
  ] as const;

  /** The titles of the tests that have failed, and the number of those that have passed, by the copy of the application. */
  let results: ReadonlyMap<string, { readonly failed: readonly string[]; readonly numPassed: number }>;

  // One process of the test runner tests all copies.
  beforeAll(async () => {
    addCopy("unchanged");
    for (const [name, from, to] of EDITS) addCopy(name, from, to);
    addCopy("unlisted", ...UNLISTED);
    const { NODE_ENV: _env, VITEST: _vitest, ...env } = process.env; // of the test runner
    const args = [join(repository, "node_modules/vitest/vitest.mjs"), "run", "--reporter=json", "copies"];
    const run = promisify(execFile)(process.execPath, args, { cwd: project.dir, env });
    const { stdout } = await run.catch((error: { stdout: string }) => error);
    const { testResults } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
      testResults: { name: string; assertionResults: { title: string; status: string }[] }[];
    };
    results = new Map(
      testResults.map(({ name, assertionResults }) => {
        const failed = assertionResults.filter(({ status }) => status !== "passed").map(({ title }) => title);
        const copy = /copies\/([^/]+)\//.exec(name)?.[1] ?? "";
        return [decodeURIComponent(copy), { failed, numPassed: assertionResults.length - failed.length }];
      }),
    );
  });

  /** Copies the application and its test into a folder of the project, with an edit of the notes. */
  function addCopy(name: string, from = "", to = ""): void {
    const folder = `copies/${encodeURIComponent(name)}`;
    for (const part of ["src", "tests"]) {
      cpSync(project.file(part), project.file(`${folder}/${part}`), { recursive: true });
    }
    project.edit(`${folder}/src/notes.server.ts`, from, to);
  }

  it("passes", () => {
    expect(results.get("unchanged")).toEqual({ failed: [], numPassed: 5 });
  });

  it.each(EDITS)("fails for %s without its check", (name) => {
    expect(results.get(name)?.failed.some((title) => title.startsWith(name))).toBe(true);
  });

  it("fails for a function that is added and not listed", () => {
    expect(results.get("unlisted")?.failed).toEqual(["every function and every page is listed above"]);
  });
});
