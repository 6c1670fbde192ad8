/**
 * The entry point `tsweb/register`: compiles an application's modules under plain Node, with the rules of the Vite plugin.
 *
 * @example node --import tsweb/register scripts/make-admin.ts
 */
import { register } from "node:module";
import { checkPreactCopies } from "./rules/index.ts";

checkPreactCopies(process.cwd());

process.setSourceMapsEnabled(true);
register("./register-hooks.js", import.meta.url, { data: { root: process.cwd() } });
