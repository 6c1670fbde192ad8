/**
 * Signatures over P-256: two independent verifiers, compared with each other and with public test vectors.
 */
import { hkdfSync } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cose_to_raw_point } from "../../src/auth/index.ts";
import { bytesToBigInt, isCurvePoint, ORDER, parseDerSignature, type SignatureVerifier } from "../../src/auth/p256.ts";
import { verifyAssertion } from "../../src/auth/webauthn.ts";
import { hex, ORIGIN, Passkey, RP_ID, sha256, verifiers } from "./webauthn-passkey.ts";

const bytesOf = (value: bigint) => hex(value.toString(16).padStart(64, "0"));
const raw = (r: bigint, s: bigint) => Buffer.concat([bytesOf(r), bytesOf(s)]);

/** The public key of all P-256 vectors in RFC 6979, A.2.5. */
const RFC_6979_KEY = hex(
  "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299",
);

/** The vectors of RFC 6979, A.2.5, with SHA-256. */
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

/** Complete sign-ins from WebAuthn Level 3, sections 16.2 and 16.3. Their values are derived from `info`. */
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

/** Returns a pseudo-random value of that section. */
const derivedValue = (info: string, salt: number) =>
  new Uint8Array(hkdfSync("sha256", "WebAuthn test vectors", Uint8Array.of(salt), info, 32));

describe.each(verifiers)("the verifier %s", (_name, verifySignature) => {
  it.each(RFC_6979)(
    "accepts the signature of “$text” from RFC 6979, with low and high s, and no other",
    ({ text, r, s }) => {
      const signed = { point: RFC_6979_KEY, message: Buffer.from(text), signature: raw(r, s) };
      expect(verifySignature(signed)).toBe(true);
      expect(verifySignature({ ...signed, signature: raw(r, ORDER - s) })).toBe(true);
      expect(verifySignature({ ...signed, message: Buffer.from(`${text} `) })).toBe(false);
      expect(verifySignature({ ...signed, signature: raw(s, r) })).toBe(false);
      expect(verifySignature({ ...signed, signature: raw(ORDER - r, s) })).toBe(false);
      expect(verifySignature({ ...signed, point: new Passkey().point })).toBe(false);
    },
  );

  it.each(WEBAUTHN)("accepts the sign-in $info of the WebAuthn test vectors", (vector) => {
    const point = cose_to_raw_point(hex(vector.cose));
    const options = {
      credential_public_key: point,
      auth_data: hex(vector.authData),
      client_data_json: Buffer.from(vector.clientData),
      signature: hex(vector.signature),
      rp_id: RP_ID,
      expected_origin: ORIGIN,
      expected_challenge: derivedValue(vector.info, 0x07),
      prior_sign_count: 0,
    };
    const { backedUp } = vector;
    expect(verifyAssertion(options, verifySignature)).toEqual({
      sign_count: 0,
      user_verified: false,
      backed_up: backedUp,
    });
    // Check the vectors themselves: the key is derived as stated, and signing again returns the same signature.
    const secret = derivedValue(vector.info, 0x01);
    expect(p256.getPublicKey(secret, false)).toEqual(point);
    const message = Buffer.concat([options.auth_data, sha256(options.client_data_json)]);
    expect(p256.sign(message, secret, { lowS: false })).toEqual(
      Uint8Array.from(parseDerSignature(options.signature) ?? []),
    );
  });

  // Signatures at the limits of the algorithm. Each key is computed from its signature: Q = (s·R − e·G) / r.
  it.each(edgeCases())("verifies correctly a signature $what", ({ r, s, lift }) => {
    const message = Buffer.from("an edge case");
    const point = keyFor({ r, s, lift, message });
    expect(verifySignature({ point, message, signature: raw(r, s) })).toBe(true);
    expect(verifySignature({ point, message: Buffer.from("another"), signature: raw(r, s) })).toBe(false);
  });

  it("refuses zero, and numbers from the order of the curve on", () => {
    const message = Buffer.from("sample");
    const [{ r, s }] = RFC_6979 as [(typeof RFC_6979)[0]]; // the array has a first item
    for (const [a, b] of [
      [0n, 0n],
      [0n, s],
      [r, 0n],
      [ORDER, s],
      [r, ORDER],
      [r + 1n, s],
      [r, s + 1n],
    ] as const) {
      expect(verifySignature({ point: RFC_6979_KEY, message, signature: raw(a, b) })).toBe(false);
    }
  });
});

/** The numbers of a signature at a limit of the algorithm. */
interface EdgeCase {
  readonly r: bigint;
  readonly s: bigint;
  /** Whether the x of R is r plus the order, between the order and the prime of the field. */
  readonly lift: boolean;
}

function edgeCases(): (EdgeCase & { readonly what: string })[] {
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

/** Returns the smallest r for which `base + r` is the x of a point. */
function smallestR(base: bigint): bigint {
  for (let r = 1n; ; r++) if (pointAt(base + r)) return r;
}

/** Returns a point with this x, or `null` if there is none. */
function pointAt(x: bigint) {
  try {
    return p256.Point.fromBytes(Buffer.concat([Buffer.of(0x02), bytesOf(x)]));
  } catch {
    return null; // no point has this x
  }
}

/** Returns the public key for which a message has this signature. */
function keyFor({ r, s, lift, message }: EdgeCase & { readonly message: Uint8Array }): Uint8Array {
  const { Fn, BASE } = p256.Point;
  const R = pointAt(lift ? r + ORDER : r);
  if (!R) throw new Error("No point has this x.");
  const e = Fn.create(bytesToBigInt(sha256(message)));
  return R.multiply(s).subtract(BASE.multiply(e)).multiply(Fn.inv(r)).toBytes(false);
}

describe("the two verifiers", () => {
  const verifyWithBoth = (signed: Parameters<SignatureVerifier>[0]) =>
    verifiers.map(([, verifySignature]) => verifySignature(signed));

  it("accept all valid signatures", () => {
    const passkeys = Array.from({ length: 4 }, () => new Passkey());
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(...passkeys), (message, passkey) => {
        const signature = parseDerSignature(passkey.sign(message));
        expect(signature).not.toBeNull();
        expect(verifyWithBoth({ point: passkey.point, message, signature: signature ?? message })).toEqual([
          true,
          true,
        ]);
      }),
    );
  });

  it("return the same result for any numbers and any message", () => {
    const anyNumber = fc.oneof(
      fc.bigInt({ min: 1n, max: ORDER - 1n }),
      fc.bigInt({ min: 1n, max: 1000n }),
      fc.bigInt({ min: ORDER - 1000n, max: ORDER - 1n }),
      fc.constantFrom(...RFC_6979.flatMap(({ r, s }) => [r, s, ORDER - s])),
    );
    const anyMessage = fc.oneof(
      fc.uint8Array({ maxLength: 100 }),
      fc.constantFrom(...RFC_6979.map(({ text }) => Buffer.from(text))),
    );
    fc.assert(
      fc.property(anyNumber, anyNumber, anyMessage, (r, s, message) => {
        const [first, second] = verifyWithBoth({ point: RFC_6979_KEY, message, signature: raw(r, s) });
        expect(first).toBe(second);
      }),
      { numRuns: 300 },
    );
  });

  it("accept the same points", () => {
    const isCurvePointOfNoble = (point: Uint8Array) => {
      try {
        return Boolean(p256.Point.fromBytes(point));
      } catch {
        return false;
      }
    };
    const prime = p256.Point.Fp.ORDER;
    const [x, y] = [RFC_6979_KEY.subarray(1, 33), RFC_6979_KEY.subarray(33)];
    const point = (head: number, ...parts: Uint8Array[]) => Uint8Array.from(Buffer.concat([Buffer.of(head), ...parts]));
    // A small x plus the prime of the field is another encoding of the same x.
    const low = pointAt(5n);
    expect(low && isCurvePoint(low.toBytes(false))).toBe(true);
    const points = [
      RFC_6979_KEY,
      point(0x04, y, x),
      point(0x04, x, bytesOf(prime - bytesToBigInt(y))),
      point(0x04, bytesOf(prime), y),
      point(0x04, bytesOf(prime + 5n), (low as NonNullable<typeof low>).toBytes(false).subarray(33)), // checked above
      point(0x04, bytesOf(0n), bytesOf(0n)),
      new Uint8Array(65).fill(0xff),
      new Uint8Array(65),
    ];
    expect(points.map(isCurvePoint)).toEqual([true, false, true, false, false, false, false, false]);
    expect(points.map(isCurvePointOfNoble)).toEqual(points.map(isCurvePoint));
    // Encodings that are not accepted: compressed, hybrid, infinity, empty.
    const forms = [
      point(0x02, x),
      point(0x03, x),
      point(0x06, x, y),
      point(0x07, x, y),
      Uint8Array.of(0),
      new Uint8Array(),
    ];
    for (const form of forms) expect(isCurvePoint(form)).toBe(false);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes) => {
        expect(isCurvePoint(point(0x04, bytes))).toBe(isCurvePointOfNoble(point(0x04, bytes)));
      }),
    );
  });
});
