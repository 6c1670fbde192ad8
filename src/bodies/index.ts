export { prepareForms } from "./multipart.ts";
export {
  adviseMaxBody,
  appendPart,
  BODY_TIMEOUT_SECONDS,
  BodyUsedError,
  checkDeclaredLength,
  checkMaxBody,
  discardBody,
  isJsonType,
  MAX_BODY_BYTES,
  MAX_BODY_BYTES_PER_CLIENT,
  readBody,
  requireIdentityEncoding,
} from "./read-body.ts";
export { type FormValue, formTypeOf, readForm } from "./read-form.ts";
export {
  findUnreadableBody,
  type LimitedRequest,
  withLimitedBody,
  withUploadLimits,
} from "./route-body.ts";
export { UPLOADS, UploadStore } from "./upload-store.ts";
