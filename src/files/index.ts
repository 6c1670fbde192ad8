/**
 * Files that are sent: ranges, conditional requests, content types, and the names under which browsers save them. Used
 * for the files of a build, and by routes with `send_file`.
 */
export { acceptedCodings } from "./conditional-request.ts";
export { contentTypeOf, isCompressible, mediaTypeOf } from "./content-types.ts";
export { fileResponse } from "./file-response.ts";
export { type OpenFile, openFile } from "./open-file.ts";
export { type SendFileOptions, send_file } from "./send-file.ts";
