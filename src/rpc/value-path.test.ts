import { describe, expect, it } from "vitest";
import { isSecretName } from "./validate.ts";

describe("a name that looks like a secret", () => {
  it.each([
    "password",
    "newPassword",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "user_pwd",
    "client_secret",
    "accessToken",
    "credentials",
    "private_key",
    "privateKey",
    "apiKey",
    "pin",
    "card.pin",
    "card.cvc",
    "cvv2",
    "otp",
  ])("is %s", (name) => expect(isSecretName(name)).toBe(true));

  it.each(["email", "shipping", "spinner", "passenger", "key", "keyboard"])("is not %s", (name) =>
    expect(isSecretName(name)).toBe(false),
  );
});
