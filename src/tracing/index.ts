export { Tracing } from "./tracing.ts";
