// The measured servers of calls.
import { fileURLToPath } from "node:url";
import { startApp } from "../lib/app.mjs";
import { startServer } from "../lib/processes.mjs";
import { FORMS, withPrefix } from "./forms.mjs";

const peersFolder = fileURLToPath(new URL("../peers/calls/", import.meta.url));

const peer = (name, form, file, options = {}) => ({
  name,
  form,
  isProtected: false,
  start: ({ env, node }) => startServer([peersFolder + file], { env, node, ...options }),
});

const telefuncFolder = { cwd: `${peersFolder}telefunc` };

const protectedPeer = (...args) => ({ ...peer(...args), isProtected: true });

/** The bare server: all others are compared with it. */
export const bare = peer("bare `node:http`", FORMS.bare, "bare.mjs");

export const tsweb = { name: "tsweb", form: FORMS.tsweb, isProtected: true, limitsBodies: true, start: startApp };

/** The peers as their documentation begins: they validate the arguments. */
const plainPeers = [
  peer("Fastify, JSON schema", FORMS.plain, "fastify.mjs"),
  peer("Hono, zod", FORMS.plain, "hono.mjs"),
  peer("oRPC, zod", FORMS.orpc, "orpc.mjs"),
  peer("tRPC, zod", FORMS.trpc, "trpc.mjs"),
  peer("Telefunc on Hono", FORMS.telefunc, "telefunc/dist/server.js", telefuncFolder),
];

const limitsBodies = (contestant) => ({ ...contestant, limitsBodies: true });

const hono = {
  ...protectedPeer("Hono, protected", FORMS.plain, "protected/hono.mjs"),
  // `csrf()` checks what a form can send. A browser sends JSON to another site only after a preflight request.
  foreignHeaders: { "content-type": "text/plain" },
};

const honoWithBodyLimit = {
  ...limitsBodies(hono),
  name: "Hono, protected, with `bodyLimit`",
  start: ({ env, node }) => hono.start({ env: { ...env, BENCH_LIMIT_BODIES: "1" }, node }),
};

/** The same peers with the official plugins of their server. */
const protectedPeers = [
  limitsBodies(protectedPeer("Fastify, protected", FORMS.plain, "protected/fastify.mjs")),
  hono,
  honoWithBodyLimit,
  protectedPeer("oRPC, protected by Fastify", withPrefix(FORMS.orpc, "/rpc"), "protected/orpc.mjs"),
  protectedPeer("tRPC, protected by Fastify", withPrefix(FORMS.trpc, "/trpc"), "protected/trpc.mjs"),
  protectedPeer("Telefunc, protected by Hono", FORMS.telefunc, "telefunc/dist/protected.js", telefuncFolder),
];

export const contestants = [bare, ...plainPeers, tsweb, ...protectedPeers];
