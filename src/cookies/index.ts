export { CookieJar } from "./jar.ts";
