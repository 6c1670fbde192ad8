import { visitor } from "tsweb/testing";
import { expect, test } from "vitest";
import type * as accounts from "../src/accounts.server.ts";
import app from "../src/app.ts";

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
