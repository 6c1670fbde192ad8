import { server, ValueError } from "tsweb";

/** Greets a visitor by name. It runs on the server, and is called from the browser. */
export const greet = server((name: string) => {
  const visitor = name.trim();
  if (visitor === "") throw new ValueError("Please write your name.");
  return `Hello ${visitor}, from the server.`;
});
