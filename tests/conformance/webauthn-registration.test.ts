/**
 * The accounts example's own code around tsweb/auth: it parses the registration of a passkey, and encodes the secret of
 * an authenticator app in base32.
 */
import { encodeCBOR } from "@levischuck/tiny-cbor";
import { describe, expect, it } from "vitest";
import { base32 } from "../../examples/accounts/src/codes/base32.ts";
import { type RegistrationInput, readRegistration } from "../../examples/accounts/src/passkeys/registration.ts";
import { coseKey, FLAGS, hex, ORIGIN, Passkey, RP_ID, sha256 } from "./webauthn-passkey.ts";

const { up, uv, be, bs, at, ed } = FLAGS;
const passkey = new Passkey();
const CHALLENGE = passkey.challenge.toString("base64url");
const ID = sha256("an id");

/** Returns the authenticator data of a registration, with changes. */
function authData({
  rpId = RP_ID,
  flags = up | uv | at,
  count = 0,
  id = ID as Uint8Array,
  key = passkey.cose(),
  rest = "",
}) {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(count, 1);
  const idBytes = Buffer.alloc(2);
  idBytes.writeUInt16BE(id.byteLength);
  return Buffer.concat([sha256(rpId), head, Buffer.alloc(16), idBytes, id, key, hex(rest)]);
}

/** Returns the client data of a registration, with changed members. */
function clientData(changes: object = {}): Uint8Array {
  const members = { type: "webauthn.create", challenge: CHALLENGE, origin: ORIGIN, crossOrigin: false, ...changes };
  return Buffer.from(JSON.stringify(members));
}

const read = (sent: Partial<RegistrationInput>) =>
  readRegistration({
    clientData: clientData(),
    authData: authData({}),
    challenge: CHALLENGE,
    origin: ORIGIN,
    rpId: RP_ID,
    ...sent,
  });

describe("a registration", () => {
  it("is parsed to id, public key, counter and backup state", () => {
    const id = ID.toString("base64url");
    expect(read({})).toEqual({ id, point: passkey.point, signCount: 0, backedUp: false });
    const synced = authData({ flags: up | uv | be | bs | at, count: 7 });
    expect(read({ authData: synced })).toEqual({ id, point: passkey.point, signCount: 7, backedUp: true });
  });

  it("can have extensions after its key, as Chromium sends them", () => {
    const rest = Buffer.from(encodeCBOR(new Map([["credProtect", 2]]))).toString("hex");
    expect(read({ authData: authData({ flags: up | uv | at | ed, rest }) }).point).toEqual(passkey.point);
  });

  it("has an id of 1 to 1,023 bytes", () => {
    for (const size of [1, 1022, 1023]) {
      const id = new Uint8Array(size).fill(1);
      expect(read({ authData: authData({ id }) }).id).toBe(Buffer.from(id).toString("base64url"));
    }
    for (const size of [0, 1024, 65_535]) {
      expect(() => read({ authData: authData({ id: new Uint8Array(size) }) })).toThrow(
        "length of the passkey's id is invalid",
      );
    }
  });

  const otherPasskey = new Passkey();
  it.each([
    ["is not JSON", { clientData: Buffer.from("{") }, "client data are not JSON"],
    ["is JSON, but not an object", { clientData: Buffer.from("null") }, "client data are not JSON"],
    ["is a sign-in", { clientData: clientData({ type: "webauthn.get" }) }, "not the registration"],
    [
      "answers another challenge",
      { clientData: clientData({ challenge: otherPasskey.challenge.toString("base64url") }) },
      "challenge",
    ],
    ["comes from another origin", { clientData: clientData({ origin: "https://example.com" }) }, "another origin"],
    ["comes from a frame", { clientData: clientData({ crossOrigin: true }) }, "another origin"],
    ["is empty", { authData: new Uint8Array() }, "cut short"],
    ["is cut off before its id", { authData: authData({}).subarray(0, 54) }, "cut short"],
    ["is cut off in its key", { authData: authData({}).subarray(0, -1) }, "COSE key cannot be used"],
    ["is of another site", { authData: authData({ rpId: "example.com" }) }, "another site"],
    ["was created without user presence", { authData: authData({ flags: uv | at }) }, "without a finger"],
    ["was created without user verification", { authData: authData({ flags: up | at }) }, "without a finger"],
    ["has no key", { authData: authData({ flags: up | uv }) }, "without a finger"],
    [
      "has an RSA key",
      { authData: authData({ key: coseKey(passkey.point, new Map([[1, 3]])) }) },
      "COSE key cannot be used",
    ],
    [
      "has a point that is not on the curve",
      { authData: authData({ key: coseKey(passkey.point, new Map([[-2, new Uint8Array(32)]])) }) },
      "not on the curve",
    ],
  ] as [string, Partial<RegistrationInput>, string][])("is refused if it %s", (_what, sent, message) => {
    expect(() => read(sent)).toThrow(
      expect.objectContaining({ name: "ValueError", message: expect.stringContaining(message) }),
    );
  });
});

describe("base32", () => {
  it.each([
    // RFC 4648, section 10, without the padding
    ["", ""],
    ["f", "MY"],
    ["fo", "MZXQ"],
    ["foo", "MZXW6"],
    ["foob", "MZXW6YQ"],
    ["fooba", "MZXW6YTB"],
    ["foobar", "MZXW6YTBOI"],
  ])("encodes %j as %j", (text, encoded) => {
    expect(base32(Buffer.from(text))).toBe(encoded);
  });
});
