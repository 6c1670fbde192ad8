// What is checked before anything is measured: that a server does the work of the others, and that its protections work.
import { callOf, signIn } from "./target.mjs";

const ARGS = { text: "The quick brown fox jumps over the lazy dog", n: 42 };

/** The number of calls that a server allows whose rate limit is checked. */
export const TESTED_LIMIT = 3;

/** Checks that a call returns its arguments. */
export async function checkResult(server, args, options) {
  const target = callOf(server, args, options);
  const response = await fetch(target.url, target);
  const text = await response.text();
  if (response.ok && JSON.stringify(JSON.parse(text)) === JSON.stringify(server.form.resultOf(args))) return response;
  throw new Error(`${target.url} responded with ${response.status} ${text.slice(0, 500)}`);
}

/** Checks that a server validates its arguments, as all measured servers but the bare one do. */
export async function checkValidation(server) {
  await refused(server, "an argument of a wrong type", { args: { ...ARGS, n: "three" }, statuses: [400, 422] });
}

/** Checks headers, ids, origin check and session of a server. Returns the headers of a signed-in call. */
export async function checkProtections(server) {
  const [first, second] = [await checkResult(server, ARGS), await checkResult(server, ARGS)];
  if (first.headers.get("x-content-type-options") !== "nosniff")
    throw new Error(`${server.name}: no security headers.`);
  const ids = [first, second].map(({ headers }) => headers.get("x-request-id"));
  if (!ids[0] || ids[0] === ids[1]) throw new Error(`${server.name}: the request ids are ${ids.join(" and ")}.`);
  await checkOrigin(server);
  const headers = await signIn(server);
  await checkResult(server, ARGS, { isSignedIn: true, headers });
  await refused(server, "a call without a session", { isSignedIn: true, statuses: [401, 403] });
  const [name, value] = headers.cookie.split("=");
  const changed = { ...headers, cookie: `${name}=${value.startsWith("A") ? "B" : "A"}${value.slice(1)}` };
  await refused(server, "a changed cookie", { isSignedIn: true, headers: changed, statuses: [401, 403] });
  if (server.limitsBodies)
    await refused(server, "a body over 1 MiB", { args: { text: "x".repeat(2 ** 20), n: 1 }, statuses: [413] });
  const { "x-csrf-token": token, ...withoutToken } = headers;
  if (token !== undefined)
    await refused(server, "a call without its token", { isSignedIn: true, headers: withoutToken, statuses: [403] });
  return headers;
}

/** Checks that a page of another site cannot call. */
async function checkOrigin(server) {
  const headers = { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site", ...server.foreignHeaders };
  await refused(server, "a call of a foreign page", { headers, statuses: [403] });
}

/** Checks that a server counts the calls of a client. It was started with {@link TESTED_LIMIT}. */
export async function checkLimit(server) {
  for (let i = 0; i < TESTED_LIMIT; i++) await checkResult(server, ARGS);
  await refused(server, "a call above the limit", { statuses: [429] });
}

async function refused(server, what, { args = ARGS, statuses, ...options }) {
  const target = callOf(server, args, options);
  const { status } = await fetch(target.url, target);
  if (statuses.includes(status)) return;
  throw new Error(`${server.name} answers ${what} with ${status} instead of ${statuses.join(" or ")}.`);
}
