export { type Document, openapi } from "./document.ts";
