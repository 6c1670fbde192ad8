export { type FormValue, formTypeOf, readForm } from "./read-form.ts";
export { withUploadLimits } from "./route-body.ts";
export { UPLOADS, UploadStore } from "./upload-store.ts";
