/**
 * The ceremony of a sign-in with a passkey: what passes, and each check, alone and in its order.
 * One suite, over both verifiers.
 */
import { encodeCBOR } from "@levischuck/tiny-cbor";
import { describe, expect, it } from "vitest";
import { type AssertionOptions, verify_webauthn_assertion } from "../../src/auth/index.ts";
import { verifyAssertion } from "../../src/auth/webauthn.ts";
import { ValueError } from "../../src/index.ts";
import { FLAGS, Passkey, type Said, sha256, verifiers } from "./webauthn-passkey.ts";

const passkey = new Passkey();
const { up, uv, be, bs, at, ed } = FLAGS;

/** A check: how an answer fails it, and what is said then. */
interface Check {
  readonly said?: Said;
  readonly given?: Partial<AssertionOptions>;
  readonly message: string;
}

/** All checks, in the ceremony's order. */
const CHECKS: readonly (readonly [string, Check])[] = [
  ["the client data", { said: { clientDataJson: Buffer.from("{") }, message: "client data are not a JSON object" }],
  ["the type", { said: { clientData: { type: "webauthn.create" } }, message: "client data are not of a sign-in" }],
  ["the challenge", { given: { expected_challenge: sha256("another") }, message: "answered another challenge" }],
  ["the origin", { given: { expected_origin: "https://example.com" }, message: "on another origin" }],
  ["the frame", { said: { clientData: { crossOrigin: true } }, message: "in a frame of another origin" }],
  ["the authenticator data", { said: { rest: Buffer.of(0) }, message: "authenticator data are malformed" }],
  ["the relying party", { given: { rp_id: "example.com" }, message: "of another relying party" }],
  ["presence", { said: { flags: 0 }, message: "without its user's presence" }],
  ["verification", { given: { require_user_verification: true }, message: "without its user's verification" }],
  ["backup", { said: { flags: up | bs }, message: "backup flags contradict each other" }],
  ["the key", { given: { credential_public_key: new Uint8Array(65) }, message: "public key is not a point of P-256" }],
  [
    "the signature's form",
    { given: { signature: new Uint8Array(64) }, message: "signature is not one of P-256 in DER" },
  ],
  ["the signature", { given: { signature: passkey.sign(Buffer.from("another")) }, message: "signature is wrong" }],
  ["the counter", { given: { prior_sign_count: 7 }, message: "counter did not rise" }],
];

/** Fails several checks at once. Where two of them need one thing otherwise, the earlier has it. */
function failing(checks: readonly (readonly [string, Check])[]): AssertionOptions {
  const said = checks.map(([, check]) => check.said ?? {});
  const flags = said.flatMap((each) => each.flags ?? []).reduce((all, each) => all & each, up | bs);
  const merged: Said = {
    ...Object.assign({}, ...said),
    clientData: Object.assign({}, ...said.map(({ clientData }) => clientData)),
    flags: said.some((each) => each.flags !== undefined) ? flags : up,
  };
  return Object.assign({}, passkey.assertion(merged), ...checks.map(([, { given }]) => given ?? {}).reverse());
}

describe.each(verifiers)("a sign-in with a passkey, its signature verified by %s", (_name, isSigned) => {
  const verify = (options: AssertionOptions) => verifyAssertion(options, isSigned);
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

  it("that is right in every point passes, and says what is to be known of it", () => {
    expect(verify(passkey.assertion())).toEqual({ sign_count: 0, user_verified: false, backed_up: false });
    const flags = up | uv | be | bs;
    expect(verify({ ...passkey.assertion({ flags, count: 8 }), prior_sign_count: 7 })).toEqual({
      sign_count: 8,
      user_verified: true,
      backed_up: true,
    });
  });

  it.each(CHECKS)("fails by %s alone, with its own message", (_check, { said, given, message }) => {
    expectRefused({ ...passkey.assertion(said), ...given }, message);
  });

  it.each(CHECKS.map(([name], i) => [name, i] as const))("is checked by %s before all that follows", (_name, i) => {
    expectRefused(failing(CHECKS.slice(i)), CHECKS[i]?.[1].message ?? "");
  });

  it("has a message for each check", () => {
    expect(new Set(CHECKS.map(([, { message }]) => message)).size).toBe(CHECKS.length);
  });

  it.each([
    ["empty", ""],
    ["a list", "[]"],
    ["null", "null"],
    ["a text", '"webauthn.get"'],
    ["cut short", '{"type":"webauthn.get"'],
    ["nested without end", "[".repeat(60_000)],
    ["over 64 KiB", JSON.stringify({ type: "webauthn.get", x: "x".repeat(65_536) })],
  ])("is refused with client data that are %s", (_what, text) => {
    expectRefused(passkey.assertion({ clientDataJson: Buffer.from(text) }), "client data are not a JSON object");
  });

  it("is refused with client data that are not UTF-8", () => {
    const clientDataJson = Buffer.from('{"type":"webauthn.get","x":"\xff"}', "latin1");
    expectRefused(passkey.assertion({ clientDataJson }), "client data are not a JSON object");
  });

  it("takes client data of 64 KiB, with fields that nobody knows yet, and a mark before them", () => {
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

  it("takes the challenge as bytes and as base64url", () => {
    const assertion = passkey.assertion();
    const { challenge } = passkey;
    for (const expected_challenge of [challenge, Uint8Array.from(challenge), challenge.toString("base64url")]) {
      expect(verify({ ...assertion, expected_challenge })).toBeTruthy();
    }
    for (const expected_challenge of [challenge.subarray(1), challenge.subarray(0, 31), "AAAA", sha256(challenge)]) {
      expectRefused({ ...assertion, expected_challenge }, "another challenge");
    }
  });

  it("is refused where the challenge comes back in another form", () => {
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

  it("passes where the browser is too old to speak of frames", () => {
    expect(verify(passkey.assertion({ clientData: { crossOrigin: undefined } }))).toBeTruthy();
  });

  it("is refused with authenticator data shorter than their head", () => {
    for (const size of [0, 1, 32, 33, 36]) {
      const auth_data = passkey.assertion().auth_data.subarray(0, size);
      expectRefused({ ...passkey.assertion(), auth_data }, "authenticator data are malformed");
    }
  });

  it("is refused with authenticator data that hold more or less than their flags say", () => {
    const extensions = encodeCBOR(new Map([["credProtect", 2]]));
    const malformed: Said[] = [
      { flags: up | at },
      { flags: up | at, rest: Buffer.concat([Buffer.alloc(18), passkey.cose()]) },
      { flags: up | ed },
      { flags: up | ed, rest: Buffer.of(0x80) },
      { flags: up | ed, rest: extensions.subarray(1) },
      { flags: up | ed, rest: extensions.subarray(0, -1) },
      { flags: up | ed, rest: Buffer.concat([extensions, Buffer.of(0)]) },
      { flags: up, rest: extensions },
    ];
    for (const said of malformed) expectRefused(passkey.assertion(said), "authenticator data are malformed");
    expect(verify(passkey.assertion({ flags: up | ed, rest: extensions }))).toBeTruthy();
  });

  it.each(["", "Example.org", "example.org.", "https://example.org", "org", "www.example.org"])(
    "is refused where the authenticator was asked by %j",
    (rpId) => expectRefused(passkey.assertion({ rpId }), "another relying party"),
  );

  it("asks for verification only where it is to", () => {
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
    // before, now, whether it passes
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
  ])("with the counter at %i, then at %i: %s", (prior_sign_count, count, passes) => {
    const options = { ...passkey.assertion({ count }), prior_sign_count };
    if (passes) expect(verify(options)).toMatchObject({ sign_count: count });
    else expectRefused(options, "counter did not rise");
  });

  it("is refused with another's key, and with any one bit of what is signed turned", () => {
    expectRefused({ ...passkey.assertion(), credential_public_key: new Passkey().point }, "signature is wrong");
    const assertion = passkey.assertion({ count: 5 });
    for (const name of ["auth_data", "client_data_json", "signature"] as const) {
      for (let bit = 0; bit < assertion[name].byteLength * 8; bit += 7) {
        const turned = Uint8Array.from(assertion[name]);
        turned[bit >> 3] = (turned[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(errorOf({ ...assertion, [name]: turned }), `${name}, bit ${bit}`).toBeInstanceOf(ValueError);
      }
    }
  });

  it("reads parts of larger buffers, and those parts alone", () => {
    const within = (bytes: Uint8Array) => {
      const larger = Buffer.concat([Buffer.of(1, 2, 3), bytes, Buffer.of(4)]);
      return new Uint8Array(larger.buffer, larger.byteOffset + 3, bytes.byteLength);
    };
    const { credential_public_key, auth_data, client_data_json, signature, ...rest } = passkey.assertion({ count: 9 });
    const parts = { auth_data: within(auth_data), client_data_json: within(client_data_json) };
    const keys = { credential_public_key: within(credential_public_key), signature: within(signature) };
    expect(verify({ ...rest, ...parts, ...keys })).toMatchObject({ sign_count: 9 });
  });
});

describe("verify_webauthn_assertion", () => {
  it("is the ceremony with node:crypto", () => {
    expect(verify_webauthn_assertion(passkey.assertion())).toMatchObject({ sign_count: 0 });
    expect(() => verify_webauthn_assertion({ ...passkey.assertion(), rp_id: "example.com" })).toThrow(ValueError);
  });

  const noBytes = [
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
  const noText = [undefined, null, "", 42, [], ["example.org"], Buffer.from("x")];

  it.each([
    ["credential_public_key", noBytes],
    ["auth_data", noBytes],
    ["client_data_json", noBytes],
    ["signature", noBytes],
    ["rp_id", noText],
    ["expected_origin", noText],
    ["expected_challenge", [undefined, null, "", "a=", "AB", "A A", "AA+/", "ä", 42, [], new Uint8Array()]],
    ["prior_sign_count", [undefined, null, "0", -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 32, 0n]],
    ["require_user_verification", [null, "yes", 1, 0]],
  ])("throws a TypeError that names %s, when it is of another kind", (name, values) => {
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

  it("tells no challenge, no signature and no key in a message", () => {
    for (const [, { said, given }] of CHECKS) {
      const options = { ...passkey.assertion(said), ...given };
      const secrets = [passkey.challenge, options.signature, options.credential_public_key].flatMap((bytes) =>
        (["base64url", "hex"] as const).map((form) => Buffer.from(bytes).toString(form)),
      );
      try {
        verify_webauthn_assertion(options);
        expect.fail("it passed");
      } catch (error) {
        for (const secret of secrets) expect(String(error)).not.toContain(secret);
      }
    }
  });
});
