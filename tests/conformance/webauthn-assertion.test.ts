/**
 * Verification of a sign-in with a passkey: valid assertions, each check alone, and the order of the checks. The suite
 * runs with both verifiers.
 */
import { randomBytes } from "node:crypto";
import { encodeCBOR } from "@levischuck/tiny-cbor";
import { describe, expect, it } from "vitest";
import { type AssertionOptions, verify_webauthn_assertion } from "../../src/auth/index.ts";
import { parseSignature } from "../../src/auth/p256.ts";
import { verifyAssertion } from "../../src/auth/webauthn.ts";
import { ValueError } from "../../src/index.ts";
import { type AssertionChanges, FLAGS, Passkey, sha256, verifiers } from "./webauthn-passkey.ts";

const passkey = new Passkey();
const { up, uv, be, bs, at, ed } = FLAGS;

/** A check: how an assertion fails it, and the message of the error. */
interface Check {
  /** Changes that are signed. */
  readonly changes?: AssertionChanges;
  /** Options that replace those of the assertion. */
  readonly options?: Partial<AssertionOptions>;
  readonly message: string;
}

/** All checks, in the order of WebAuthn Level 3, section 7.2. */
const CHECKS: readonly (readonly [string, Check])[] = [
  ["the client data", { changes: { clientDataJson: Buffer.from("{") }, message: "client data are not a JSON object" }],
  ["the type", { changes: { clientData: { type: "webauthn.create" } }, message: "client data are not of a sign-in" }],
  ["the challenge", { options: { expected_challenge: sha256("another") }, message: "answered another challenge" }],
  ["the origin", { options: { expected_origin: "https://example.com" }, message: "on another origin" }],
  ["the frame", { changes: { clientData: { crossOrigin: true } }, message: "in a frame of another origin" }],
  ["the authenticator data", { changes: { rest: Buffer.of(0) }, message: "authenticator data are malformed" }],
  ["the relying party", { options: { rp_id: "example.com" }, message: "of another relying party" }],
  ["presence", { changes: { flags: 0 }, message: "without its user's presence" }],
  ["verification", { options: { require_user_verification: true }, message: "without its user's verification" }],
  ["backup", { changes: { flags: up | bs }, message: "backup flags contradict each other" }],
  [
    "the key",
    { options: { credential_public_key: new Uint8Array(65) }, message: "public key is not a point of P-256" },
  ],
  [
    "the signature's form",
    { options: { signature: new Uint8Array(64) }, message: "signature is not a signature of P-256" },
  ],
  ["the signature", { options: { signature: passkey.sign(Buffer.from("another")) }, message: "signature is wrong" }],
  ["the counter", { options: { prior_sign_count: 7 }, message: "counter did not rise" }],
];

/** Returns an assertion that fails several checks. If two checks need different values, the earlier takes precedence. */
function failingAssertion(checks: readonly (readonly [string, Check])[]): AssertionOptions {
  const changes = checks.map(([, check]) => check.changes ?? {});
  const flags = changes.flatMap((each) => each.flags ?? []).reduce((all, each) => all & each, up | bs);
  const merged: AssertionChanges = {
    ...Object.assign({}, ...changes),
    clientData: Object.assign({}, ...changes.map(({ clientData }) => clientData)),
    flags: changes.some((each) => each.flags !== undefined) ? flags : up,
  };
  return Object.assign({}, passkey.assertion(merged), ...checks.map(([, { options }]) => options ?? {}).reverse());
}

describe.each(verifiers)("a sign-in with a passkey, with its signature verified by %s", (_name, verifySignature) => {
  const verify = (options: AssertionOptions) => verifyAssertion(options, verifySignature);
  const errorOf = (options: AssertionOptions): unknown => {
    try {
      return verify(options);
    } catch (error) {
      return error;
    }
  };
  const expectRefused = (options: AssertionOptions, message: string) => {
    const error = errorOf(options);
    expect(error).toBeInstanceOf(ValueError);
    expect(String(error)).toContain(message);
  };

  it("is accepted if it is valid, and returns counter, verification and backup state", () => {
    expect(verify(passkey.assertion())).toEqual({ sign_count: 0, user_verified: false, backed_up: false });
    const flags = up | uv | be | bs;
    expect(verify({ ...passkey.assertion({ flags, count: 8 }), prior_sign_count: 7 })).toEqual({
      sign_count: 8,
      user_verified: true,
      backed_up: true,
    });
  });

  it.each(CHECKS)(
    "is refused by the check of %s alone, with its own message [SIGNIN-14]",
    (_check, { changes, options, message }) => {
      expectRefused({ ...passkey.assertion(changes), ...options }, message);
    },
  );

  it.each(CHECKS.map(([name], i) => [name, i] as const))("is checked for %s before all later checks", (_name, i) => {
    expectRefused(failingAssertion(CHECKS.slice(i)), CHECKS[i]?.[1].message ?? "");
  });

  it("has a different message for each check", () => {
    expect(new Set(CHECKS.map(([, { message }]) => message)).size).toBe(CHECKS.length);
  });

  it.each([
    ["empty", ""],
    ["an array", "[]"],
    ["null", "null"],
    ["a string", '"webauthn.get"'],
    ["cut off", '{"type":"webauthn.get"'],
    ["nested 60,000 levels deep", "[".repeat(60_000)],
    ["over 64 KiB", JSON.stringify({ type: "webauthn.get", x: "x".repeat(65_536) })],
  ])("is refused if its client data are %s", (_what, text) => {
    expectRefused(passkey.assertion({ clientDataJson: Buffer.from(text) }), "client data are not a JSON object");
  });

  it("is refused if its client data are not UTF-8", () => {
    const clientDataJson = Buffer.from('{"type":"webauthn.get","x":"\xff"}', "latin1");
    expectRefused(passkey.assertion({ clientDataJson }), "client data are not a JSON object");
  });

  it("is accepted with client data of 64 KiB, with unknown members, and with a byte order mark", () => {
    const empty = passkey.assertion({ clientData: { x: "" } }).client_data_json.byteLength;
    const fill = (bytes: number) => passkey.assertion({ clientData: { x: "x".repeat(bytes - empty) } });
    expect(fill(65_536).client_data_json).toHaveLength(65_536);
    expect(verify(fill(65_535))).toBeTruthy();
    expect(verify(fill(65_536))).toBeTruthy();
    expectRefused(fill(65_537), "client data are not a JSON object");
    const marked = Buffer.concat([Buffer.from("\ufeff"), passkey.assertion().client_data_json]);
    expect(verify(passkey.assertion({ clientDataJson: marked }))).toBeTruthy();
  });

  it.each([undefined, null, "", "webauthn.create", "webauthn.Get", "payment.get", 1, ["webauthn.get"]])(
    "is refused with the type %j",
    (type) => expectRefused(passkey.assertion({ clientData: { type } }), "not of a sign-in"),
  );

  it("is accepted with the expected challenge as bytes and as base64url", () => {
    const assertion = passkey.assertion();
    const { challenge } = passkey;
    for (const expected_challenge of [challenge, Uint8Array.from(challenge), challenge.toString("base64url")]) {
      expect(verify({ ...assertion, expected_challenge })).toBeTruthy();
    }
    for (const expected_challenge of [challenge.subarray(1), challenge.subarray(0, 31), "AAAA", sha256(challenge)]) {
      expectRefused({ ...assertion, expected_challenge }, "another challenge");
    }
  });

  it("is accepted with the expected challenge as padded base64url, of every length", () => {
    for (const length of [16, 17, 18]) {
      const challenge = randomBytes(length);
      const text = challenge.toString("base64url");
      const padded = text.padEnd(Math.ceil(text.length / 4) * 4, "=");
      const assertion = passkey.assertion({ clientData: { challenge: text } });
      expect(verify({ ...assertion, expected_challenge: padded })).toBeTruthy();
      for (const expected_challenge of [`${padded}=`, `${text}===`, `=${text}`, "="]) {
        expect(() => verify({ ...assertion, expected_challenge })).toThrow("must be non-empty bytes or base64url");
      }
    }
  });

  it("is accepted with a raw signature of 64 bytes, and refused if that is of something else", () => {
    const assertion = passkey.assertion();
    const [signature = new Uint8Array()] = parseSignature(assertion.signature);
    expect(signature).toHaveLength(64);
    expect(verify({ ...assertion, signature })).toBeTruthy();
    const [other = new Uint8Array()] = parseSignature(passkey.sign(Buffer.from("another")));
    expectRefused({ ...assertion, signature: other }, "signature is wrong");
    expectRefused({ ...assertion, signature: signature.subarray(1) }, "signature is not a signature of P-256");
  });

  it("is refused if its challenge has another encoding", () => {
    const text = passkey.challenge.toString("base64url");
    const forms = [undefined, null, "", `${text}=`, ` ${text}`, passkey.challenge.toString("hex"), [text], { text }];
    for (const challenge of forms) expectRefused(passkey.assertion({ clientData: { challenge } }), "another challenge");
  });

  it.each([
    undefined,
    null,
    "",
    "http://example.org",
    "https://example.org/",
    "https://example.org:443",
    "https://EXAMPLE.org",
    "https://login.example.org",
    "https://example.org.evil.example",
    ["https://example.org"],
  ])("is refused from the origin %j", (origin) =>
    expectRefused(passkey.assertion({ clientData: { origin } }), "another origin"),
  );

  it.each([
    { crossOrigin: true },
    { crossOrigin: "true" },
    { crossOrigin: null },
    { topOrigin: "https://example.com" },
  ])("is refused from a frame: %j", (clientData) =>
    expectRefused(passkey.assertion({ clientData }), "in a frame of another origin"),
  );

  it("is accepted without crossOrigin, which older browsers do not send", () => {
    expect(verify(passkey.assertion({ clientData: { crossOrigin: undefined } }))).toBeTruthy();
  });

  it("is refused if its authenticator data are shorter than their header", () => {
    for (const size of [0, 1, 32, 33, 36]) {
      const auth_data = passkey.assertion().auth_data.subarray(0, size);
      expectRefused({ ...passkey.assertion(), auth_data }, "authenticator data are malformed");
    }
  });

  it("is refused if its authenticator data have more or fewer bytes than their flags require", () => {
    const extensions = encodeCBOR(new Map([["credProtect", 2]]));
    const malformed: AssertionChanges[] = [
      { flags: up | at },
      { flags: up | at, rest: Buffer.concat([Buffer.alloc(18), passkey.cose()]) },
      { flags: up | ed },
      { flags: up | ed, rest: Buffer.of(0x80) },
      { flags: up | ed, rest: extensions.subarray(1) },
      { flags: up | ed, rest: extensions.subarray(0, -1) },
      { flags: up | ed, rest: Buffer.concat([extensions, Buffer.of(0)]) },
      { flags: up, rest: extensions },
    ];
    for (const changes of malformed) expectRefused(passkey.assertion(changes), "authenticator data are malformed");
    expect(verify(passkey.assertion({ flags: up | ed, rest: extensions }))).toBeTruthy();
  });

  it.each(["", "Example.org", "example.org.", "https://example.org", "org", "www.example.org"])(
    "is refused for the relying party %j",
    (rpId) => expectRefused(passkey.assertion({ rpId }), "another relying party"),
  );

  it("is refused without user verification only if the options require it", () => {
    const [without, verified] = [passkey.assertion(), passkey.assertion({ flags: up | uv })];
    for (const require_user_verification of [false, undefined]) {
      expect(
        verify({ ...without, ...(require_user_verification === false && { require_user_verification }) }),
      ).toBeTruthy();
    }
    expect(verify({ ...verified, require_user_verification: true })).toMatchObject({ user_verified: true });
    expectRefused({ ...without, require_user_verification: true }, "user's verification");
  });

  it.each([
    // stored count, received count, whether it is accepted
    [0, 0, true],
    [0, 1, true],
    [0, 0xffff_ffff, true],
    [1, 0, false],
    [1, 1, false],
    [1, 2, true],
    [7, 6, false],
    [0x7fff_ffff, 0x8000_0000, true],
    [0xffff_fffe, 0xffff_ffff, true],
    [0xffff_ffff, 0xffff_ffff, false],
    [0xffff_ffff, 0, false],
  ])(
    "with the stored counter %i and the received counter %i is accepted: %s",
    (prior_sign_count, count, isAccepted) => {
      const options = { ...passkey.assertion({ count }), prior_sign_count };
      if (isAccepted) expect(verify(options)).toMatchObject({ sign_count: count });
      else expectRefused(options, "counter did not rise");
    },
  );

  it("is refused with the key of another passkey, and with any bit of the signed data flipped", () => {
    expectRefused({ ...passkey.assertion(), credential_public_key: new Passkey().point }, "signature is wrong");
    const assertion = passkey.assertion({ count: 5 });
    for (const name of ["auth_data", "client_data_json", "signature"] as const) {
      for (let bit = 0; bit < assertion[name].byteLength * 8; bit += 7) {
        const flipped = Uint8Array.from(assertion[name]);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(errorOf({ ...assertion, [name]: flipped }), `${name}, bit ${bit}`).toBeInstanceOf(ValueError);
      }
    }
  });

  it("is accepted if its byte arrays are parts of larger buffers", () => {
    const inLargerBuffer = (bytes: Uint8Array) => {
      const larger = Buffer.concat([Buffer.of(1, 2, 3), bytes, Buffer.of(4)]);
      return new Uint8Array(larger.buffer, larger.byteOffset + 3, bytes.byteLength);
    };
    const { credential_public_key, auth_data, client_data_json, signature, ...rest } = passkey.assertion({ count: 9 });
    const parts = { auth_data: inLargerBuffer(auth_data), client_data_json: inLargerBuffer(client_data_json) };
    const keys = { credential_public_key: inLargerBuffer(credential_public_key), signature: inLargerBuffer(signature) };
    expect(verify({ ...rest, ...parts, ...keys })).toMatchObject({ sign_count: 9 });
  });
});

describe("verify_webauthn_assertion", () => {
  it("verifies with node:crypto", () => {
    expect(verify_webauthn_assertion(passkey.assertion())).toMatchObject({ sign_count: 0 });
    expect(() => verify_webauthn_assertion({ ...passkey.assertion(), rp_id: "example.com" })).toThrow(ValueError);
  });

  const notBytes = [
    undefined,
    null,
    "",
    "AAAA",
    42,
    [],
    [1, 2],
    {},
    new ArrayBuffer(65),
    Object.create(Uint8Array.prototype),
  ];
  const notText = [undefined, null, "", 42, [], ["example.org"], Buffer.from("x")];

  it.each([
    ["credential_public_key", notBytes],
    ["auth_data", notBytes],
    ["client_data_json", notBytes],
    ["signature", notBytes],
    ["rp_id", notText],
    ["expected_origin", notText],
    ["expected_challenge", [undefined, null, "", "a=", "AB", "A A", "AA+/", "ä", 42, [], new Uint8Array()]],
    ["prior_sign_count", [undefined, null, "0", -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 32, 0n]],
    ["require_user_verification", [null, "yes", 1, 0]],
  ])("throws a TypeError that names the option %s if it has another type", (name, values) => {
    for (const value of values) {
      const options = { ...passkey.assertion(), [name]: value };
      expect(() => Reflect.apply(verify_webauthn_assertion, null, [options])).toThrow(
        expect.objectContaining({ name: "TypeError", message: expect.stringContaining(name) }),
      );
    }
  });

  it.each([undefined, null, 42, "x"])("throws a TypeError for the options %s", (options) => {
    expect(() => Reflect.apply(verify_webauthn_assertion, null, [options])).toThrow(TypeError);
  });

  it("puts no challenge, signature or key into a message [RESPONSE-20]", () => {
    for (const [, { changes, options: replaced }] of CHECKS) {
      const options = { ...passkey.assertion(changes), ...replaced };
      const secrets = [passkey.challenge, options.signature, options.credential_public_key].flatMap((bytes) =>
        (["base64url", "hex"] as const).map((form) => Buffer.from(bytes).toString(form)),
      );
      try {
        verify_webauthn_assertion(options);
        expect.fail("The assertion was accepted.");
      } catch (error) {
        for (const secret of secrets) expect(String(error)).not.toContain(secret);
      }
    }
  });
});
