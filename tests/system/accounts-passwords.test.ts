/**
 * Forgotten passwords and confirmed addresses of the accounts example, built, and attacks on them.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { AccountsUser } from "#test/accounts-user";
import type { ExampleCopy } from "#test/copy-example";
import { fasterHashing } from "#test/faster-hashing";
import { type RunningServer, runScript, startBuilt } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import { issue_magic_token } from "../../src/auth/index.ts";
import { copyAccounts, serveAccounts } from "../browser/accounts-app.ts";

const SECRET = randomBytes(32).toString("hex");
const PASSWORD = "analytical engine";
const EXPIRED = { status: 401, body: { error: { message: expect.stringContaining("expired, or was used before") } } };

let copy: ExampleCopy;
let app: RunningServer;
let numUsers = 0;

beforeAll(async () => {
  copy = copyAccounts();
  app = await serveAccounts(copy, {
    WEB_AUTH_SECRET: SECRET,
    WEB_TRUST_PROXY: "1",
    WEB_DATA_DIR: join(copy.dir, "data"),
  });
});

afterAll(async () => {
  await app?.stop();
  copy?.remove();
});

/** A user with an account. */
class User extends AccountsUser {
  static async register(): Promise<User> {
    const user = new User(app.address, ++numUsers);
    expect(await user.call("register", { email: user.email, name: "Ada", password: PASSWORD })).toMatchObject({
      body: { result: true },
    });
    return user;
  }

  /** Returns the same user in another browser. */
  elsewhere(): User {
    return new User(app.address, Number(/\d+/.exec(this.email)?.[0]));
  }

  /** Returns the links in the mails to the user with a subject, oldest first. */
  links(subject: string): string[] {
    const mails = app.output().matchAll(new RegExp(`Mail to ${this.email}: ${subject}\n\n.*\n(http\\S+)`, "g"));
    return [...mails].map(([, link = ""]) => link);
  }

  /** Requests a link to choose a new password, and returns its token. */
  async requestReset(): Promise<string> {
    const before = this.links("Choose a new password").length;
    expect(await this.call("forgot_password", { email: this.email })).toMatchObject({ status: 200 });
    await expect.poll(() => this.links("Choose a new password").length).toBe(before + 1);
    return tokenOf(this.links("Choose a new password").at(-1));
  }

  /** Requests a link that confirms the address, and returns its token. */
  async requestConfirmation(): Promise<string> {
    const before = this.links("Confirm your address").length;
    expect(await this.call("send_confirmation", {})).toMatchObject({ body: { result: true } });
    await expect.poll(() => this.links("Confirm your address").length).toBe(before + 1);
    return tokenOf(this.links("Confirm your address").at(-1));
  }

  reset(token: string, password = "difference engine") {
    return this.call("reset_password", { token, password });
  }

  async confirm(): Promise<void> {
    expect(await this.call("confirm_address", { token: await this.requestConfirmation() })).toMatchObject({
      status: 200,
    });
  }

  signIn(password: string) {
    return this.call("login", { email: this.email, password });
  }

  async isSignedIn(): Promise<boolean> {
    return (await this.get("/account")).status === 200;
  }

  async isConfirmed(): Promise<boolean> {
    return /<span class="hint">Confirmed</.test((await this.get("/account")).text);
  }
}

/** Adds a passkey for each user, and switches their one-time codes on. */
async function addCredentials(...users: User[]): Promise<void> {
  for (const user of users) expect(await user.call("set_up_codes", {})).toMatchObject({ status: 200 });
  await runInDatabase(`
    const { activate } = await import("./src/codes/store.server.ts");
    const { add } = await import("./src/passkeys/store.server.ts");
    for (const email of ${JSON.stringify(users.map(({ email }) => email))}) {
      await activate(email);
      await add({ id: "id of " + email, email, handle: "x", point: new Uint8Array(65), signCount: 0, backedUp: false });
    }`);
}

/** Returns, by address, the number of passkeys of each user, and whether codes are required. */
async function readCredentials(...users: User[]): Promise<Record<string, unknown>> {
  const output = await runInDatabase(`
    const { listPasskeys } = await import("./src/passkeys/store.server.ts");
    const { requiresCode } = await import("./src/codes/store.server.ts");
    const emails = ${JSON.stringify(users.map(({ email }) => email))};
    const read = async (email) => [email, [(await listPasskeys(email)).length, await requiresCode(email)]];
    console.log(JSON.stringify(Object.fromEntries(await Promise.all(emails.map(read)))));`);
  return JSON.parse(output);
}

/** Runs code with the database of the application, and returns what it prints. */
function runInDatabase(code: string): Promise<string> {
  const script = `${code}\nawait (await import("./src/shared/database.server.ts")).close();`;
  const url = { ACCOUNTS_DATABASE_URL: `file:${join(copy.dir, "users.db")}` };
  return runScript(copy.dir, ["--input-type=module", "-e", script], url);
}

function tokenOf(link: string | undefined): string {
  return new URL(link ?? "").searchParams.get("token") ?? "";
}

/** Issues a token as the application does. */
function tokenFor(subject: string, { ttl = 60, secret = SECRET } = {}): string {
  vi.stubEnv("WEB_REALM", "accounts"); // of the built application
  onTestFinished(() => void vi.unstubAllEnvs());
  return issue_magic_token(secret, subject, { ttl });
}

describe("a forgotten password", () => {
  it("is replaced with the link of a mail, which ends all sessions and every earlier link", async () => {
    const ada = await User.register();
    const phone = new AccountsUser(app.address, ++numUsers);
    await phone.call("login", { email: ada.email, password: PASSWORD });
    const earlier = await ada.requestReset();
    const token = await ada.requestReset();
    expect(await ada.reset(token)).toMatchObject({ status: 200 });
    expect([await ada.isSignedIn(), (await phone.get("/account")).status]).toEqual([false, 303]);
    expect(await ada.signIn(PASSWORD)).toMatchObject({ body: { result: false } });
    expect(await ada.signIn("difference engine")).toMatchObject({ body: { result: true } });
    for (const used of [token, earlier]) expect(await ada.reset(used, "third engine")).toMatchObject(EXPIRED);
    expect(await ada.isSignedIn()).toBe(true);
  });

  it("is replaced by forms without script; opening the link, as mail scanners do, does not use it up", async () => {
    const ada = await User.register();
    await ada.call("logout", {});
    const wrong = await ada.send("login", "/", { email: ada.email, password: "wrong engine" });
    expect(wrong.text).toContain('<a href="/password">Choose a new one</a>');
    expect(await ada.send("forgot_password", "/password", { email: ada.email })).toMatchObject({
      path: "/password/sent",
    });
    await expect.poll(() => ada.links("Choose a new password")).toHaveLength(1);
    const link = ada.links("Choose a new password")[0] ?? "";
    expect(link.startsWith(`${app.address}/password/new?token=`)).toBe(true);
    const path = link.slice(app.address.length);
    for (let n = 0; n < 3; n++) expect(await ada.get(path)).toMatchObject({ status: 200 });
    const fields = { token: tokenOf(link), password: "difference engine" };
    expect(await ada.send("reset_password", path, fields)).toMatchObject({ path: "/password/changed", status: 200 });
    expect(await ada.signIn("difference engine")).toMatchObject({ body: { result: true } });
  });

  it("has the same response for addresses that are and are not registered", async () => {
    const ada = await User.register();
    const ask = async (email: string) => {
      const headers = { "content-type": "application/json", "x-forwarded-for": `203.0.113.${++numUsers}` };
      const body = JSON.stringify({ args: { email } });
      const response = await fetch(`${app.address}/__web/rpc/forgot_password`, { method: "POST", headers, body });
      const names = [...response.headers.keys()];
      return [response.status, response.headers.get("x-redirect"), names, await response.text()];
    };
    expect(await ask(ada.email)).toEqual(await ask("nobody@example.com"));
    expect((await ask(ada.email)).slice(0, 2)).toEqual([200, "/password/sent"]);
    expect(app.output()).not.toContain("Mail to nobody@example.com");
  });

  it("of an account is mailed at most ten times in five minutes, whether or not it exists", async () => {
    const ada = await User.register();
    const limited = { status: 429, body: { error: { code: "rate_limited" } } };
    for (const email of [ada.email, "flooded-nobody@example.com"]) {
      for (let n = 0; n < 10; n++) expect(await ada.call("forgot_password", { email })).toMatchObject({ status: 200 });
      expect(await ada.call("forgot_password", { email: ` ${email.toUpperCase()}` })).toMatchObject(limited);
    }
    expect(ada.links("Choose a new password")).toHaveLength(10);
  });

  it("is not replaced with a token that is forged, expired, of an earlier password or for another purpose", async () => {
    const ada = await User.register();
    const [mallory, token] = [await User.register(), await ada.requestReset()];
    const [fingerprint] =
      Buffer.from(token.split(".")[0] ?? "", "base64url")
        .toString()
        .match(/[\w-]{43}/) ?? [];
    expect(fingerprint).toBeDefined();
    for (const invalid of [
      "",
      "x",
      `${token}x`,
      tokenFor(ada.email),
      tokenFor(`reset ${ada.email}`),
      tokenFor(`reset ${"A".repeat(43)} ${ada.email}`),
      tokenFor(`reset ${fingerprint} ${mallory.email}`), // of another user's password
      tokenFor(`reset ${fingerprint} nobody`),
      tokenFor(`sign-in ${fingerprint} ${ada.email}`),
      tokenFor(`confirm ${ada.email}`),
      tokenFor(`reset ${fingerprint} ${ada.email}`, { ttl: 0 }),
      tokenFor(`reset ${fingerprint} ${ada.email}`, { secret: randomBytes(32).toString("hex") }),
    ]) {
      expect(await mallory.reset(invalid)).toMatchObject(EXPIRED);
    }
    expect([await ada.isSignedIn(), await mallory.isSignedIn()]).toEqual([true, true]);
    expect(await mallory.call("open_link", { token })).toMatchObject({ status: 401 });
    expect(await ada.reset(tokenFor(`reset ${fingerprint} ${ada.email}`))).toMatchObject({ status: 200 }); // the right one
  });

  it("is replaced once by concurrent uses of one link, and not by a password that is too short", async () => {
    const ada = await User.register();
    const token = await ada.requestReset();
    expect(await ada.reset(token, "1234567")).toMatchObject({ status: 422 });
    const passwords = Array.from({ length: 5 }, (_, n) => `engine number ${n}`);
    const responses = await Promise.all(passwords.map((password) => ada.reset(token, password)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
    const isCorrect = async (password: string) => (await ada.signIn(password)).body;
    const results = [];
    for (const password of passwords) results.push(await isCorrect(password));
    expect(results).toEqual(responses.map(({ status }) => ({ result: status === 200 })));
  });

  it("can be replaced by a user whose password others have tried ten times, who then signs in with it", async () => {
    const ada = await User.register();
    const mallory = new AccountsUser(app.address, ++numUsers);
    for (let n = 0; n < 10; n++) await mallory.call("login", { email: ada.email, password: `guess ${n}` });
    expect(await ada.signIn(PASSWORD)).toMatchObject({ status: 429 });
    await ada.reset(await ada.requestReset());
    expect(await ada.signIn("difference engine")).toMatchObject({ body: { result: true } });
  });

  it("of a confirmed account keeps its passkeys and codes, and otherwise gives it to the owner of the address without them", async () => {
    const [ada, mallory] = [await User.register(), await User.register()]; // Mallory with the address of somebody else
    await ada.confirm();
    await addCredentials(ada, mallory);
    await ada.reset(await ada.requestReset());
    const token = await mallory.requestReset(); // which the owner of the address receives
    expect(await mallory.reset(token)).toMatchObject({ status: 200 });
    const credentials = await readCredentials(ada, mallory);

    expect(credentials[ada.email]).toEqual([1, true]);
    expect(await ada.signIn("difference engine")).toMatchObject({ body: { result: null } }); // redirects to the code
    expect(await ada.isSignedIn()).toBe(false);

    expect(credentials[mallory.email]).toEqual([0, false]);
    expect(await mallory.isSignedIn()).toBe(false);
    expect(await mallory.signIn("difference engine")).toMatchObject({ body: { result: true } });
    expect(await mallory.isConfirmed()).toBe(true);
  });
});

describe("an address", () => {
  it("is confirmed with the button of a link, by its user, once; opening the link does not confirm it", async () => {
    const ada = await User.register();
    expect(await ada.isConfirmed()).toBe(false);
    expect((await ada.send("send_confirmation", "/account/address", {})).text).toContain("A link is on its way");
    await expect.poll(() => ada.links("Confirm your address")).toHaveLength(1);
    const link = ada.links("Confirm your address")[0] ?? "";
    const path = link.slice(app.address.length);
    expect(await ada.get(path)).toMatchObject({ status: 200 });
    expect(await ada.isConfirmed()).toBe(false);
    const sent = await ada.send("confirm_address", path, { token: tokenOf(link) });
    expect(sent.text).toContain("Your address is confirmed");
    expect(await ada.isConfirmed()).toBe(true);
    expect(await ada.call("confirm_address", { token: tokenOf(link) })).toMatchObject({ status: 422 });
    expect((await ada.get("/account/address")).text).toContain("Confirmed");
  });

  it("is not confirmed by somebody who has only the link: neither signed out, nor as another user", async () => {
    // Mallory has registered the address of Ada, who opens the link of the mail that she receives.
    const [mallory, ada] = [await User.register(), await User.register()];
    const token = await mallory.requestConfirmation();
    expect(await ada.call("confirm_address", { token })).toMatchObject({ status: 422 });
    ada.cookies.clear();
    expect(await ada.call("confirm_address", { token })).toMatchObject({ status: 401 });
    const { status, location } = await ada.get(`/account/address/open?token=${token}`);
    expect([status, location]).toEqual([303, `/?next=${encodeURIComponent(`/account/address/open?token=${token}`)}`]);
    expect(await mallory.isConfirmed()).toBe(false);
    expect(await ada.call("send_confirmation", {})).toMatchObject({ status: 401 });
  });

  it("is not confirmed by its owner in a session of a sign-in link: the password may be that of somebody else", async () => {
    const mallory = await User.register(); // with the address of the owner
    const owner = mallory.elsewhere();
    expect(await owner.call("send_link", { email: mallory.email })).toMatchObject({ status: 200 });
    await expect.poll(() => owner.links("Sign in").length).toBe(1);
    expect(await owner.call("open_link", { token: tokenOf(owner.links("Sign in")[0]) })).toMatchObject({
      body: { result: true },
    });
    const token = await owner.requestConfirmation();
    expect(await owner.call("confirm_address", { token })).toMatchObject({ status: 403 });
    expect(await owner.isConfirmed()).toBe(false);
    // A new password proves that the account is theirs, and ends what Mallory has.
    expect(await owner.reset(await owner.requestReset())).toMatchObject({ status: 200 });
    expect(await mallory.isSignedIn()).toBe(false);
    expect(await owner.signIn("difference engine")).toMatchObject({ body: { result: true } });
    expect(await owner.isConfirmed()).toBe(true);
  });

  it("is not confirmed with a token that is forged, has expired, or is for another purpose or address", async () => {
    const ada = await User.register();
    for (const token of [
      "",
      "x",
      tokenFor(ada.email),
      tokenFor("confirm ada@example.com"),
      tokenFor(`sign-in ${ada.email}`),
      tokenFor(`confirm ${ada.email}`, { ttl: 0 }),
      tokenFor(`confirm ${ada.email}`, { secret: randomBytes(32).toString("hex") }),
    ]) {
      expect(await ada.call("confirm_address", { token })).toMatchObject({ status: 422 });
    }
    expect(await ada.isConfirmed()).toBe(false);
  });

  it("gets at most ten links in five minutes", async () => {
    const ada = await User.register();
    for (let n = 0; n < 10; n++) expect(await ada.call("send_confirmation", {})).toMatchObject({ status: 200 });
    expect(await ada.call("send_confirmation", {})).toMatchObject({ status: 429 });
  });
});

describe("a mail", () => {
  it("that is delivered slowly or not at all delays no response, and the log of a failure has no link", async () => {
    const other = copyAccounts();
    await buildOnce(other.dir, "accounts");
    const file = join(other.dir, "dist/app.mjs"); // edited there, so that no other build is necessary
    const delivery = `async function deliver({ to, text }) {
  console.info(\`Started to \${to}\`);
  if (to.startsWith("slow")) await new Promise(() => undefined);
  throw new Error("The mail server is unreachable");
}`;
    const built = readFileSync(file, "utf8");
    const changed = built.replace(/async function deliver\([\s\S]*?\n}/, () => delivery);
    expect(changed).not.toBe(built);
    writeFileSync(file, changed);
    const server = await startBuilt(other.dir, {
      ...fasterHashing(),
      ACCOUNTS_DATABASE_URL: `file:${join(other.dir, "users.db")}`,
      WEB_AUTH_SECRET: SECRET,
    });
    onTestFinished(async () => {
      await server.stop();
      other.remove();
    });
    const ada = new AccountsUser(server.address, 1);
    for (const email of ["slow@example.com", "failed@example.com"]) {
      await ada.call("register", { email, name: "Ada", password: PASSWORD });
      for (const name of ["forgot_password", "send_link"]) {
        expect(await ada.call(name, { email })).toMatchObject({ status: 200 });
      }
      expect(server.output()).toContain(`Started to ${email}`);
    }
    await expect.poll(() => server.output()).toMatch(/"Choose a new password" was not sent.*unreachable/);
    expect(server.output()).not.toMatch(/token=/);
  });
});
