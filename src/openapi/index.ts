export { type Document, openapi, openapiJson, type ProjectInfo } from "./document.ts";
