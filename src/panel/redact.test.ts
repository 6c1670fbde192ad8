import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSecret, isSecretPair, REDACTED, redactPath, redactQuery, redactText, secretMembers } from "./redact.ts";

const SECRETS = [
  ...[
    "password",
    "newPassword",
    "password_confirmation",
    "PASSWORD",
    "passwd",
    "pwd",
    "userPwd",
    "passphrase",
    "passcode",
  ],
  ...[
    "token",
    "accessToken",
    "refresh_token",
    "id-token",
    "csrfToken",
    "tokens",
    "secret",
    "clientSecret",
    "SECRET_KEY",
  ],
  ...[
    "code",
    "codes",
    "otpCode",
    "recoveryCode",
    "recovery_codes",
    "verification-code",
    "smsCode",
    "inviteCode",
    "Code",
  ],
  ...["pin", "newPin", "PIN", "otp", "totp", "mfa", "cvc", "cvv", "iban", "ssn", "seed", "mnemonic", "passkey"],
  ...[
    "apiKey",
    "api_key",
    "apikey",
    "privateKey",
    "private_key",
    "accessKey",
    "encryption-key",
    "signingKeys",
    "masterKey",
  ],
  ...[
    "authorization",
    "Authorization",
    "bearer",
    "jwt",
    "userJwt",
    "cookie",
    "cookies",
    "sid",
    "xsrf",
    "auth",
    "signature",
  ],
  ...["credential", "credentials", "options.password", "users[2].token"],
  ...[
    "session",
    "sessionId",
    "session_id",
    "SESSION-ID",
    "sessionKey",
    "userSession",
    "session_ids",
    "PHPSESSID_token",
  ],
  ...["magic", "magicLink", "magic_url", "loginLink", "reset_url", "inviteLink", "invitation_url", "verificationLink"],
  ...["sig", "nonce", "salt", "assertion", "clientAssertion", "SAMLResponse", "saml", "attestation", "jws", "hotp"],
  ...["code_verifier", "codeVerifier", "code_challenge", "challenge", "authenticatorData", "oauth", "oauth_verifier"],
  ...[
    "pass",
    "userPass",
    "pw",
    "creds",
    "tan",
    "puk",
    "otc",
    "passkeys",
    "dsn",
    "sshKey",
    "sessionKeys",
    "webhook-key",
  ],
  ...["cardNumber", "account_number", "routingNumber", "passport_number", "socialSecurityNumber"],
];

const PLAIN = [
  ...["name", "email", "text", "id", "userId", "quantity", "price", "title", "description", "tags", "options", "page"],
  ...["postcode", "postCode", "zip_code", "zipCode", "countryCode", "country-code", "languageCode", "currency_code"],
  ...["errorCode", "statusCode", "exitCode", "barCode", "productCode", "colorCode", "areaCode", "dialing_code"],
  ...["key", "sortKey", "keys", "keyboard", "monkey", "author", "authors", "pinned", "spinner", "pint", "mapping"],
  ...[
    "codec",
    "encode",
    "barcode",
    "side",
    "inside",
    "seedling",
    "considered",
    "sessions",
    "sessionTitle",
    "session_count",
    "sessionStart",
    "obsession",
    "passenger",
    "compass",
    "bypass",
  ],
  ...["magical", "sign", "design", "assert", "number", "phoneNumber", "orderNumber", "link", "linkUrl", "imageUrl"],
  ...["", "a", "_", "42"],
];

describe("the names of secrets", () => {
  it.each(SECRETS)("include %s", (name) => expect(isSecret(name)).toBe(true));

  it.each(PLAIN)("do not include %j", (name) => expect(isSecret(name)).toBe(false));

  it("include a secret in every notation [DEV-10]", () => {
    const words = fc.array(fc.constantFrom("user", "new", "my", "old"), { maxLength: 3 });
    const secret = fc.constantFrom("password", "token", "secret", "code", "pin", "otp", "jwt", "sid", "iban");
    const upper = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
    fc.assert(
      fc.property(words, secret, (before, word) => {
        const all = [...before, word];
        const notations = [
          all.join("_"),
          all.join("-"),
          all.join("."),
          all.join(" "),
          all.join("_").toUpperCase(),
          all.map(upper).join(""),
          all.map((each, index) => (index === 0 ? each : upper(each))).join(""),
        ];
        expect(notations.filter((name) => !isSecret(name))).toEqual([]);
      }),
    );
  });
});

describe("the secret members of an object", () => {
  it.each<[string, object, string[]]>([
    ["none", { name: "Ada", value: "tea" }, []],
    ["those that are named so", { password: "x", name: "Ada" }, ["password"]],
    ["the value of a name", { name: "password", value: "x" }, ["value"]],
    ["the value of a key", { key: "apiToken", value: "x", type: "text" }, ["value"]],
    ["the value of a field", { field: "otp", text: "123456" }, ["text"]],
    ["the value of a header", { header: "Authorization", values: ["x"] }, ["values"]],
    ["the value of a path", { op: "replace", path: "/user/password", value: "x" }, ["value"]],
    ["both values of a change", { name: "pin", before: "1234", after: "4321" }, ["before", "after"]],
    ["a name in capitals", { Name: "PASSWORD", Value: "x" }, ["Value"]],
    ["nothing for a name that is no text", { name: { password: 1 }, value: "x" }, []],
    ["nothing for another member that mentions a secret", { title: "password", value: "x" }, []],
    ["not the other members", { name: "password", value: "x", required: true, minLength: 8 }, ["value"]],
  ])("are %s", (_, object, members) => {
    expect([...secretMembers(Object.entries(object))]).toEqual(members);
  });

  it.each<[readonly unknown[], boolean]>([
    [["password", "x"], true],
    [["X-Api-Key", "x"], true],
    [["name", "Ada"], false],
    [["password"], false],
    [["password", "x", "y"], false],
    [[1, "password"], false],
    [[], false],
  ])("are in a list of a name and a value: %j is %s", (list, isSecret) => {
    expect(isSecretPair(list)).toBe(isSecret);
  });
});

describe("a query", () => {
  it.each([
    ["", ""],
    ["?q=tea&page=2", "?q=tea&page=2"],
    ["?token=abc&q=tea", `?token=${REDACTED}&q=tea`],
    ["?q=tea&code=123456", `?q=tea&code=${REDACTED}`],
    ["?reset%54oken=abc", `?reset%54oken=${REDACTED}`],
    ["?token=a%26b=c", `?token=${REDACTED}`],
    ["?a[password]=x", `?a[password]=${REDACTED}`],
    ["?%E0%A4%A=1", "?%E0%A4%A=1"],
    ["?next=eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln", `?next=${REDACTED}`],
  ])("%s is shown as %s", (query, shown) => expect(redactQuery(query)).toBe(shown));
});

describe("a path", () => {
  it.each([
    ["/orders/7", "/orders/:id", "/orders/7"],
    ["/reset/abc", "/reset/:token", `/reset/${REDACTED}`],
    ["/reset/abc/done", "/reset/:token/done", `/reset/${REDACTED}/done`],
    ["/shop/join/abc", "/shop/join/:inviteCode", `/shop/join/${REDACTED}`],
    ["/keys/a/b/c", "/keys/**:secret", `/keys/${REDACTED}`],
    ["/files/a/b/c", "/files/**:path", "/files/a/b/c"],
    ["/reset", "/reset/:token", "/reset"],
    ["/x/eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln", "", `/x/${REDACTED}`],
  ])("%s of %s is shown as %s", (path, pattern, shown) => expect(redactPath(path, pattern)).toBe(shown));
});

describe("a text", () => {
  it.each([
    ["Authorization: Bearer abcdef123456", `Authorization: ${REDACTED}`],
    ["Basic dXNlcjpwYXNz", REDACTED],
    ["a eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln b", `a ${REDACTED} b`],
    ["a token that was cut off: eyJhbGciOiJIUzI1NiJ9.eyJzdW", `a token that was cut off: ${REDACTED}`],
    ["the bearer of this, a basic text", "the bearer of this, a basic text"],
    ["GET /reset?token=abc&page=2 failed", `GET /reset?token=${REDACTED}&page=2 failed`],
    ["https://a.example/?q=1&X-Amz-Signature=abc%20d", `https://a.example/?q=1&X-Amz-Signature=${REDACTED}`],
    ['\'{"password":"x","name":"Ada"}\'', `'{"password":"${REDACTED}","name":"Ada"}'`],
    ['{"pin" : 1234, "size": 3}', `{"pin" : "${REDACTED}", "size": 3}`],
    ['{"password":"a\\"b", "c": 1}', `{"password":"${REDACTED}", "c": 1}`],
    ['cut off: {"password":"hunt', `cut off: {"password":"${REDACTED}"`],
    ["Unexpected token: } in the code: a=b", "Unexpected token: } in the code: a=b"],
    ["what? a=1", "what? a=1"],
  ])("%s is shown as %s", (text, shown) => expect(redactText(text)).toBe(shown));
});

it("secrets are found in a long text in less than one second of CPU, whatever it is", () => {
  const start = process.cpuUsage();
  for (const text of ["-eyJabcdefgh", "Bearer ", "Basic a ", "eyJ.", "&pin=", "?a", '"pin":"', '"pin":"\\', '"a'])
    redactText(text.repeat(80_000));
  const { user } = process.cpuUsage(start);
  expect(user / 1e6).toBeLessThan(1); // second of CPU: elapsed time depends on the load of the machine
});
