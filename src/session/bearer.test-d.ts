import type { Authenticate } from "./bearer.ts";

// What authenticate can return.
(async () => ({ sub: "ada" })) satisfies Authenticate;
((token: string) => (token === "" ? null : { sub: "ada", roles: ["admin"], team: { id: 1 } })) satisfies Authenticate;
(async (token) => new Map<string, { sub: string; roles: string[] }>().get(token)) satisfies Authenticate;

// @ts-expect-error the user id is missing
(async () => ({ roles: [] })) satisfies Authenticate;
// @ts-expect-error the user id is a number
(async () => ({ sub: 1 })) satisfies Authenticate;
// @ts-expect-error the session sets exp itself
(async () => ({ sub: "ada", exp: 1 })) satisfies Authenticate;
// @ts-expect-error a Date is no claim
(async () => ({ sub: "ada", born: new Date() })) satisfies Authenticate;
// @ts-expect-error a text is no user
(async () => "ada") satisfies Authenticate;
// @ts-expect-error a token is a string
((token: number) => ({ sub: String(token) })) satisfies Authenticate;
