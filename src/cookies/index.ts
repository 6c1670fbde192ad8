export { CookieJar } from "./cookie-jar.ts";
