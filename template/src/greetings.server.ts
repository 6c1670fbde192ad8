import { server, ValueError } from "tsweb";

/** Returns a greeting. It runs on the server and can be called from the browser. */
export const greet = server((name: string) => {
  const trimmed = name.trim();
  if (trimmed === "") throw new ValueError("Please write your name.");
  return `Hello ${trimmed}, from the server.`;
});
