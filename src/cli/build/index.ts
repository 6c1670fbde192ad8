export { build } from "./build.ts";
