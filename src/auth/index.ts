export { issue_magic_token, type MagicOptions, verify_magic_token } from "./magic.ts";
export { hash_password, verify_password } from "./passwords.ts";
export { type TotpOptions, totp, verify_totp } from "./totp.ts";
