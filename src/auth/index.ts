/**
 * The entry point `tsweb/auth`: passwords, one-time codes, magic links, passkeys, OpenID Connect user info and hashes of tokens.
 */

export { oidc_userinfo, type Userinfo } from "./oidc-userinfo.ts";
export { cose_to_raw_point } from "./p256.ts";
export { hash_password, verify_password } from "./passwords.ts";
export { hash_token, issue_magic_token, type MagicOptions, verify_magic_token } from "./tokens.ts";
export { type TotpOptions, totp, verify_totp } from "./totp.ts";
export { type Assertion, type AssertionOptions, verify_webauthn_assertion } from "./webauthn.ts";
