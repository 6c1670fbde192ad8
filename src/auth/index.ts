export { hash_password, verify_password } from "./passwords.ts";
