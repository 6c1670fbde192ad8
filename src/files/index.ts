/**
 * Files that are sent: ranges, conditional requests, content types, and the names under which browsers save them. Used
 * for the files of a build, and by routes with `send_file`.
 */
export { acceptedCodings, fileResponse, matchesEtag, type OpenFile, openFile } from "./file-response.ts";
export { contentTypeOf, isCompressible, mediaTypeOf, type SendFileOptions, send_file } from "./send-file.ts";
