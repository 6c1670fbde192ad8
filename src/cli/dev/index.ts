export { runDev } from "./parent.ts";
