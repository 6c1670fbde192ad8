export { nats } from "./bus.ts";
