import { totp } from "tsweb/auth";
import { visitor } from "tsweb/testing";
import { expect, test } from "vitest";
import type * as accounts from "../src/accounts.server.ts";
import app from "../src/app.ts";
import type * as codeFunctions from "../src/codes/codes.server.ts";
import * as codes from "../src/codes/store.server.ts";
import * as users from "../src/users.server.ts";

const PASSWORD = "correct horse battery";

test("signs a registered user in with the password, and refuses a wrong one", async () => {
  expect(await visitor(app).client<typeof accounts>().register("ada@example.com", "Ada", PASSWORD)).toBe(true);
  const ada = visitor(app);
  const { login, logout } = ada.client<typeof accounts>();
  expect(await login("ada@example.com", "wrong")).toBe(false);
  expect((await ada.get("/account")).location).toBe("/");
  expect(await login("ada@example.com", PASSWORD)).toBe(true);
  expect((await ada.get("/account")).text).toContain("ada@example.com");
  expect((await ada.get("/")).location).toBe("/account");
  expect(await logout()).toBeNull();
});

test("shows the list of users to admins only", async () => {
  const guest = visitor(app);
  expect((await guest.get("/admin")).location).toContain("/?next=");
  guest.login("grace@example.com", { name: "Grace", roles: [] });
  expect((await guest.get("/admin")).status).toBe(403);
  guest.login("grace@example.com", { name: "Grace", roles: ["admin"] });
  expect((await guest.get("/admin")).text).toContain("Registered users");
});

test("signs a user out in every browser", async () => {
  const [laptop, phone] = [visitor(app), visitor(app)];
  for (const browser of [laptop, phone]) browser.login("alan@example.com", { name: "Alan", roles: [] });
  expect((await phone.get("/account")).status).toBe(200);
  await laptop.client<typeof accounts>().logout_everywhere();
  expect((await phone.get("/account")).location).toBe("/");
});

test("accepts no code for a sign-in that was started with an earlier password", async () => {
  const email = "mary@example.com";
  await visitor(app).client<typeof accounts>().register(email, "Mary", PASSWORD);
  const user = await users.find(email);
  if (!user) throw new Error("The user was not added.");
  const secret = new Uint8Array(20);
  await codes.savePending(email, secret);
  await codes.activate(email);
  const [mary, thief] = [visitor(app), visitor(app)];
  for (const browser of [mary, thief]) await browser.rpc("login", { email, password: PASSWORD }).catch(() => undefined);
  const now = Date.now() / 1000;
  const codeOf = (seconds: number) => totp(secret, { at: now + seconds });
  expect(await mary.client<typeof codeFunctions>().enter_code(codeOf(0))).toBe(true);
  expect(await users.changeHash(user, "another hash")).toBe(true);
  await expect(thief.rpc("enter_code", { code: codeOf(30) })).rejects.toMatchObject({ code: "unauthenticated" });
  expect((await thief.get("/account")).location).toBe("/");
});
