/**
 * Signatures over P-256: two verifiers held against each other and against public vectors, and the
 * one way in which DER writes a signature.
 */
import { hkdfSync } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSignature } from "../../src/auth/ecdsa-signature.ts";
import { cose_to_raw_point } from "../../src/auth/index.ts";
import { isPoint, ORDER, toNumber, type Verifier } from "../../src/auth/p256.ts";
import { verifyAssertion } from "../../src/auth/webauthn.ts";
import { hex, ORIGIN, Passkey, RP_ID, sha256, verifiers } from "./webauthn-passkey.ts";

const bytesOf = (value: bigint) => hex(value.toString(16).padStart(64, "0"));
const raw = (r: bigint, s: bigint) => Buffer.concat([bytesOf(r), bytesOf(s)]);

/** RFC 6979, A.2.5: the key of all P-256 vectors. */
const RFC_6979_KEY = hex(
  "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299",
);

/** RFC 6979, A.2.5: with SHA-256. */
const RFC_6979 = [
  {
    text: "sample",
    r: 0xefd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716n,
    s: 0xf7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8n,
  },
  {
    text: "test",
    r: 0xf1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367n,
    s: 0x019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083n,
  },
];

/** WebAuthn Level 3, sections 16.2 and 16.3: whole sign-ins, by the names their values are derived under. */
const WEBAUTHN = [
  {
    info: "none.ES256",
    cose: "a5010203262001215820afefa16f97ca9b2d23eb86ccb64098d20db90856062eb249c33a9b672f26df61225820930a56b87a2fca66334b03458abf879717c12cc68ed73290af2e2664796b9220",
    authData: "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b51900000000",
    clientData: `{"type":"webauthn.get","challenge":"OcDnUhQXulTUPo3JUXT0I97pvzzYBP9tZchXyav01Ag","origin":"https://example.org","crossOrigin":false}`,
    signature:
      "3046022100f50a4e2e4409249c4a853ba361282f09841df4dd4547a13a87780218deffcd380221008480ac0f0b93538174f575bf11a1dd5d78c6e486013f937295ea13653e331e87",
    backedUp: true,
  },
  {
    info: "packed-self.ES256",
    cose: "a5010203262001215820eb151c8176b225cc651559fecf07af450fd85802046656b34c18f6cf193843c5225820927b8aa427a2be1b8834d233a2d34f61f13bfd44119c325d5896e183fee484f2",
    authData: "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b50900000000",
    clientData: `{"type":"webauthn.get","challenge":"RHihCxNSNI3RYME1Ow1Gm12xnrkcJ_ffpv7Tn-Jq8gs","origin":"https://example.org","crossOrigin":false,"extraData":"clientDataJSON may be extended with additional fields in the future, such as this: gTb53rz6EhSWomXGzimC1Q"}`,
    signature:
      "304402203310b9431903c401f1be2bdc8d23a4007682dbbddcf846994947b7f465daf84002204e94dd00047b316061b3b99772b7efd95994a83ef584b3b6b825ea3550251b66",
    backedUp: false,
  },
];

/** How that section makes its random values. */
const derived = (info: string, salt: number) =>
  new Uint8Array(hkdfSync("sha256", "WebAuthn test vectors", Uint8Array.of(salt), info, 32));

describe.each(verifiers)("%s", (_name, isSigned) => {
  it.each(RFC_6979)("takes RFC 6979's signature of “$text”, with either s, and no other", ({ text, r, s }) => {
    const signed = { point: RFC_6979_KEY, message: Buffer.from(text), signature: raw(r, s) };
    expect(isSigned(signed)).toBe(true);
    expect(isSigned({ ...signed, signature: raw(r, ORDER - s) })).toBe(true);
    expect(isSigned({ ...signed, message: Buffer.from(`${text} `) })).toBe(false);
    expect(isSigned({ ...signed, signature: raw(s, r) })).toBe(false);
    expect(isSigned({ ...signed, signature: raw(ORDER - r, s) })).toBe(false);
    expect(isSigned({ ...signed, point: new Passkey().point })).toBe(false);
  });

  it.each(WEBAUTHN)("takes the sign-in $info of the standard's own vectors", (vector) => {
    const point = cose_to_raw_point(hex(vector.cose));
    const options = {
      credential_public_key: point,
      auth_data: hex(vector.authData),
      client_data_json: Buffer.from(vector.clientData),
      signature: hex(vector.signature),
      rp_id: RP_ID,
      expected_origin: ORIGIN,
      expected_challenge: derived(vector.info, 0x07),
      prior_sign_count: 0,
    };
    const { backedUp } = vector;
    expect(verifyAssertion(options, isSigned)).toEqual({ sign_count: 0, user_verified: false, backed_up: backedUp });
    // The vectors are what they are said to be: the key is derived, and the signature follows from it.
    const secret = derived(vector.info, 0x01);
    expect(p256.getPublicKey(secret, false)).toEqual(point);
    const message = Buffer.concat([options.auth_data, sha256(options.client_data_json)]);
    expect(p256.sign(message, secret, { lowS: false })).toEqual(
      Uint8Array.from(readSignature(options.signature) ?? []),
    );
  });

  // Signatures for which a verifier has to do more than the usual steps. Each key is made to fit its
  // signature: Q = (s·R − e·G) / r.
  it.each(EDGES())("is right about a signature $what", ({ r, s, lift }) => {
    const message = Buffer.from("an edge");
    const point = keyFor({ r, s, lift, message });
    expect(isSigned({ point, message, signature: raw(r, s) })).toBe(true);
    expect(isSigned({ point, message: Buffer.from("another"), signature: raw(r, s) })).toBe(false);
  });

  it("takes no nought, and nothing from the order on", () => {
    const message = Buffer.from("sample");
    const [{ r, s }] = RFC_6979 as [(typeof RFC_6979)[0]]; // there is one
    for (const [a, b] of [
      [0n, 0n],
      [0n, s],
      [r, 0n],
      [ORDER, s],
      [r, ORDER],
      [r + 1n, s],
      [r, s + 1n],
    ] as const) {
      expect(isSigned({ point: RFC_6979_KEY, message, signature: raw(a, b) })).toBe(false);
    }
  });
});

interface Edge {
  readonly r: bigint;
  readonly s: bigint;
  /** Whether R's x is r plus the order: it lies between the order and the prime. */
  readonly lift: boolean;
}

function EDGES(): (Edge & { readonly what: string })[] {
  const small = smallestR(0n);
  return [
    { what: "with the smallest r", r: small, s: 12_345n, lift: false },
    { what: "whose point has an x beyond the order", r: smallestR(ORDER), s: 12_345n, lift: true },
    { what: "with s = 1", r: small, s: 1n, lift: false },
    { what: "with the largest s", r: small, s: ORDER - 1n, lift: false },
    { what: "with s = r", r: small, s: small, lift: false },
    { what: "with an s of half the order", r: small, s: ORDER / 2n, lift: false },
    { what: "with an s just above half the order", r: small, s: ORDER / 2n + 1n, lift: false },
  ];
}

/** Finds the smallest number that, added to a base, is the x of a point. */
function smallestR(base: bigint): bigint {
  for (let r = 1n; ; r++) if (pointAt(base + r)) return r;
}

function pointAt(x: bigint) {
  try {
    return p256.Point.fromBytes(Buffer.concat([Buffer.of(0x02), bytesOf(x)]));
  } catch {
    return null; // no point has this x
  }
}

function keyFor({ r, s, lift, message }: Edge & { readonly message: Uint8Array }): Uint8Array {
  const { Fn, BASE } = p256.Point;
  const R = pointAt(lift ? r + ORDER : r);
  if (!R) throw new Error("There is no such point.");
  const e = Fn.create(toNumber(sha256(message)));
  return R.multiply(s).subtract(BASE.multiply(e)).multiply(Fn.inv(r)).toBytes(false);
}

describe("the two verifiers", () => {
  const both = (signed: Parameters<Verifier>[0]) => verifiers.map(([, isSigned]) => isSigned(signed));

  it("agree on signatures that are right", () => {
    const passkeys = Array.from({ length: 4 }, () => new Passkey());
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(...passkeys), (message, passkey) => {
        const signature = readSignature(passkey.sign(message));
        expect(signature).not.toBeNull();
        expect(both({ point: passkey.point, message, signature: signature ?? message })).toEqual([true, true]);
      }),
    );
  });

  it("agree on any numbers and any message", () => {
    const number = fc.oneof(
      fc.bigInt({ min: 1n, max: ORDER - 1n }),
      fc.bigInt({ min: 1n, max: 1000n }),
      fc.bigInt({ min: ORDER - 1000n, max: ORDER - 1n }),
      fc.constantFrom(...RFC_6979.flatMap(({ r, s }) => [r, s, ORDER - s])),
    );
    const message = fc.oneof(
      fc.uint8Array({ maxLength: 100 }),
      fc.constantFrom(...RFC_6979.map(({ text }) => Buffer.from(text))),
    );
    fc.assert(
      fc.property(number, number, message, (r, s, message) => {
        const [one, other] = both({ point: RFC_6979_KEY, message, signature: raw(r, s) });
        expect(one).toBe(other);
      }),
      { numRuns: 300 },
    );
  });

  it("agree on which points there are", () => {
    const isNoble = (point: Uint8Array) => {
      try {
        return Boolean(p256.Point.fromBytes(point));
      } catch {
        return false;
      }
    };
    const prime = p256.Point.Fp.ORDER;
    const [x, y] = [RFC_6979_KEY.subarray(1, 33), RFC_6979_KEY.subarray(33)];
    const point = (head: number, ...parts: Uint8Array[]) => Uint8Array.from(Buffer.concat([Buffer.of(head), ...parts]));
    // Where x is small enough, x plus the prime is the same number, written in another way.
    const low = pointAt(5n);
    expect(low && isPoint(low.toBytes(false))).toBe(true);
    const points = [
      RFC_6979_KEY,
      point(0x04, y, x),
      point(0x04, x, bytesOf(prime - toNumber(y))),
      point(0x04, bytesOf(prime), y),
      point(0x04, bytesOf(prime + 5n), (low as NonNullable<typeof low>).toBytes(false).subarray(33)), // asked above
      point(0x04, bytesOf(0n), bytesOf(0n)),
      new Uint8Array(65).fill(0xff),
      new Uint8Array(65),
    ];
    expect(points.map(isPoint)).toEqual([true, false, true, false, false, false, false, false]);
    expect(points.map(isNoble)).toEqual(points.map(isPoint));
    // Forms that are taken nowhere here: compressed, hybrid, infinity, none.
    const forms = [
      point(0x02, x),
      point(0x03, x),
      point(0x06, x, y),
      point(0x07, x, y),
      Uint8Array.of(0),
      new Uint8Array(),
    ];
    for (const form of forms) expect(isPoint(form)).toBe(false);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes) => {
        expect(isPoint(point(0x04, bytes))).toBe(isNoble(point(0x04, bytes)));
      }),
    );
  });
});

describe("a signature in DER", () => {
  const [R, S] = [RFC_6979[0]?.r ?? 0n, RFC_6979[1]?.s ?? 0n];
  const integer = (digits: string) => `02${(digits.length / 2).toString(16).padStart(2, "0")}${digits}`;
  const sequence = (body: string) => `30${(body.length / 2).toString(16).padStart(2, "0")}${body}`;
  const one = integer("01");
  const big = integer(`00${R.toString(16)}`);
  const small = integer(S.toString(16).padStart(64, "0"));

  it.each([
    ["a high bit, and so a nought before it", sequence(big + small), raw(R, S)],
    ["the shortest there is", sequence(one + one), raw(1n, 1n)],
    ["numbers of different lengths", sequence(integer("0080") + integer("7f")), raw(0x80n, 0x7fn)],
    [
      "the longest there is",
      sequence(integer(`00${(ORDER - 1n).toString(16)}`).repeat(2)),
      raw(ORDER - 1n, ORDER - 1n),
    ],
  ])("is read: %s", (_what, der, expected) => {
    expect(Buffer.from(readSignature(hex(der)) ?? [])).toEqual(expected);
  });

  it.each([
    ["nothing", ""],
    ["an empty sequence", "3000"],
    ["64 bytes, as WebCrypto has them", raw(R, S).toString("hex")],
    ["64 bytes that begin like a sequence", `303e${"01".repeat(62)}`],
    ["another tag", `31${sequence(big + small).slice(2)}`],
    ["another tag inside", sequence(`03${one.slice(2)}${one}`)],
    ["a length too small", `3005${one}${one}`],
    ["a length too large", `3007${one}${one}`],
    ["a length in two bytes that fits into one", `308106${one}${one}`],
    ["a length in three bytes", `30820006${one}${one}`],
    ["no length", `3080${one}${one}0000`],
    ["a length inside in two bytes", sequence(`028101${"01"}${one}`)],
    ["a length inside that goes beyond the end", sequence(`${one}0202${"01"}`)],
    ["an integer without a digit", sequence(`0200${one}`)],
    ["something behind", `${sequence(one + one)}00`],
    ["something behind, inside", sequence(`${one}${one}00`)],
    ["a third integer", sequence(one + one + one)],
    ["one integer", sequence(one)],
    ["cut short", sequence(big + small).slice(0, -2)],
    ["r = 0", sequence(integer("00") + one)],
    ["s = 0", sequence(one + integer("00"))],
    ["a negative r", sequence(integer("ff") + one)],
    ["a negative s", sequence(one + integer(R.toString(16)))],
    ["a nought too many", sequence(integer("0001") + one)],
    ["two noughts too many", sequence(integer("000080") + one)],
    ["r of the order", sequence(integer(`00${ORDER.toString(16)}`) + one)],
    ["s of the order", sequence(one + integer(`00${ORDER.toString(16)}`))],
    ["r beyond 256 bits", sequence(integer(`01${"00".repeat(32)}`) + one)],
    ["r plus the order", sequence(integer((R + ORDER).toString(16).padStart(66, "0")) + one)],
    ["73 bytes", "30".padEnd(146, "0")],
    ["a megabyte", "30".padEnd(2_000_000, "0")],
  ])("is refused: %s", (_what, der) => {
    expect(readSignature(hex(der))).toBeNull();
  });

  it("is written in one way: what is read, written again, is the same bytes", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 80 }),
      fc
        .tuple(fc.uint8Array({ maxLength: 34 }), fc.uint8Array({ maxLength: 34 }))
        .map(([a, b]) =>
          hex(sequence(integer(Buffer.from(a).toString("hex")) + integer(Buffer.from(b).toString("hex")))),
        ),
    );
    const write = (number: Uint8Array) => {
      const digits = toNumber(number).toString(16);
      const even = digits.length % 2 === 0 ? digits : `0${digits}`;
      return integer(even >= "80" ? `00${even}` : even);
    };
    fc.assert(
      fc.property(bytes, (der) => {
        const read = readSignature(der);
        if (read === null) return;
        expect(sequence(write(read.subarray(0, 32)) + write(read.subarray(32)))).toBe(Buffer.from(der).toString("hex"));
      }),
      { numRuns: 2000 },
    );
  });

  it("is not read with any one of its bytes changed, but as other numbers", () => {
    const der = hex(sequence(big + small));
    const [before] = [Buffer.from(readSignature(der) ?? []).toString("hex")];
    for (let at = 0; at < der.length; at++) {
      for (let value = 0; value < 256; value++) {
        if (der[at] === value) continue;
        const changed = Uint8Array.from(der);
        changed[at] = value;
        const read = readSignature(changed);
        if (read && Buffer.from(read).toString("hex") === before) expect.fail(`${value} at ${at} changed nothing`);
      }
    }
  });
});
