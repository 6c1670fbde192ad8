import { visitor } from "tsweb/testing";
import { expect, test } from "vitest";
import app from "../src/app.ts";
import * as codes from "../src/codes/store.server.ts";
import * as passkeys from "../src/passkeys/store.server.ts";
import * as users from "../src/users.server.ts";

/** The address and the name of Ada. Her rows have them, so a response that contains the name shows one of them. */
const [email, name] = ["ada-of-the-rows@example.com", "Ada of the rows"];
const id = "the-passkey-of-ada";

await users.add({ email, name, hash: "not a hash" });
await passkeys.add({ id, email, handle: "ada", point: new Uint8Array(65), signCount: 0, backedUp: false });
await codes.savePending(email, new Uint8Array(20));

/** What Mallory sends to every function: whatever names Ada or one of her rows. */
const FUNCTIONS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  register: { email, name: "Mallory", password: "a long password" },
  login: { email, password: "a long password" },
  logout: {},
  logout_everywhere: {},
  admin_report: {},
  passkey_registration_options: {},
  add_passkey: { clientData: "", authData: "" },
  remove_passkey: { id },
  passkey_sign_in_options: {},
  sign_in_with_passkey: { id, clientData: "", authData: "", signature: "", userHandle: "ada" },
  set_up_codes: {},
  switch_codes_on: { code: "123456" },
  switch_codes_off: { code: "123456" },
  enter_code: { code: "123456" },
  send_link: { email },
  open_link: { token: `sign-in ${email}` },
  forgot_password: { email },
  reset_password: { token: `reset ${email}`, password: "a long password" },
  send_confirmation: {},
  confirm_address: { token: `confirm ${email}` },
};

const rowsOfAda = async () => [
  await users.find(email),
  await passkeys.listPasskeys(email),
  await codes.findSecret(email, "pending"),
];

test("every function is listed above", () => {
  expect(Object.keys(FUNCTIONS).sort()).toEqual([...app.functions].sort());
});

test.each(Object.entries(FUNCTIONS))("%s neither shows nor changes rows of another user", async (fn, args) => {
  const mallory = visitor(app);
  mallory.login("mallory@example.com", { name: "Mallory", roles: [] });
  const before = await rowsOfAda();
  const outcome = await mallory.rpc(fn, args).then(JSON.stringify, String);
  expect(outcome).not.toContain(name);
  expect(await rowsOfAda()).toEqual(before);
  expect((await mallory.get("/account")).text).not.toContain(name);
});
