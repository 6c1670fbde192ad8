/**
 * `tsweb/register`: runs an application's modules with plain Node, compiled as everywhere else.
 *
 * @example node --import tsweb/register scripts/make-admin.ts
 */
import { register } from "node:module";

process.setSourceMapsEnabled(true);
register("./register-hooks.js", import.meta.url, { data: { root: process.cwd() } });
