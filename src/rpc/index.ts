export { answerCall, type CallSettings, checksOf } from "./call.ts";
export { errorJson, functionFailureOf } from "./failure.ts";
export {
  type Definition,
  definitionOf,
  type float,
  type int,
  type ServerFunction,
  type ServerOptions,
  server,
} from "./server.ts";
export { checkSeconds } from "./time-limit.ts";
export { type Checked, isChecked, uncheckedParts } from "./unchecked.ts";
export type { StandardSchema } from "./validate.ts";
