import { Abort, getContext } from "telefunc";

// Telefunc generates the checks of the arguments from their types.

export async function onEcho(text: string, n: number) {
  return { text, n };
}

export async function onEchoSignedIn(text: string, n: number) {
  if (!getContext<{ user: string | undefined }>().user) throw Abort();
  return { text, n };
}
