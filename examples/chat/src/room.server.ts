/**
 * What the browser can call. What happens in the room is stored first and then published: whoever
 * comes in between finds it in the page, and whoever is here hears of it.
 */
import { randomUUID } from "node:crypto";
import { type int, publish, RPCError, server, session } from "tsweb";
import { answer } from "./assistant.server.ts";
import * as messages from "./messages.server.ts";
import { ASSISTANT, flaw, type Message, type News } from "./news.ts";
import * as people from "./people.server.ts";

/** The channel of the room. */
export const ROOM = "room:lobby";

const MAX_NAME = 40;

/** Lets somebody in by a name. There is no password: a name is whose it is for as long as they are here. */
export const enter = server(async (name: string) => {
  const shown = name
    .normalize("NFKC")
    .replace(/\s+/g, " ")
    .replace(/[\p{Cc}\p{Cf}]/gu, "") // unseen, they would make one name look like another
    .trim();
  if (!/[\p{L}\p{N}]/u.test(shown)) throw wrong("name", "Enter a name, with a letter or a digit in it.");
  if (shown.length > MAX_NAME) throw wrong("name", `Use a name of at most ${MAX_NAME} characters.`);
  await depart();
  await sweep();
  const person = shown.toLowerCase() === ASSISTANT ? undefined : await people.enter(randomUUID(), shown);
  if (!person) throw new RPCError("conflict", "Somebody here goes by that name.", { parameter: "name" });
  session.login(person.id, { name: person.name });
  await tell({ kind: "joined", person });
});

/** Signs somebody out, and tells those who stay. */
export const leave = server(async () => {
  await depart();
  session.logout();
});

/** Notes that somebody has the room before their eyes. Pages say so every 20 seconds. */
export const here = server({ auth_required: true }, async () => {
  const { sub, name } = session.require();
  await sweep();
  const person = await people.note(sub, name);
  if (person) await tell({ kind: "joined", person });
});

/** Says something, and gives it as it stands in the room. Sent again, under the same id, it is said once. */
export const say = server({ auth_required: true }, async (id: string, text: string): Promise<Message> => {
  const { sub: from, name } = session.require();
  if (!/^[0-9a-f]{32}$/.test(id)) throw wrong("id", "A message's id is 32 hexadecimal digits.");
  const problem = flaw(text);
  if (problem) throw wrong("text", problem);
  const { message } = await messages.add({ id, from, name, text: text.trim(), state: "said" });
  if (message.from !== from) throw new RPCError("conflict", "That id is another's message.", { parameter: "id" });
  await tell({ kind: "message", message });
  return message;
});

/** Gives the messages before a place, and whether there are more. */
export const earlier = server({ auth_required: true }, (place: int) => messages.before(place));

/**
 * Asks the assistant. The answer grows in the room, before everybody's eyes; the caller gets the same
 * news. It ends with the caller: when they cancel, or close the page.
 */
export const ask = server({ auth_required: true }, async function* (id: string, text: string): AsyncGenerator<News> {
  yield { kind: "message", message: await say(id, text) };

  const draft = { id: `re:${id}`, from: ASSISTANT, name: "Assistant", text: "", state: "writing" } as const;
  const { message, isNew } = await messages.add(draft);
  if (!isNew) throw new RPCError("conflict", "That was answered already.", { parameter: "id" });
  let outcome: "said" | "stopped" = "stopped";
  try {
    yield await tell({ kind: "message", message });
    let at = 0;
    for await (const piece of answer(text)) {
      if (!(await messages.grow(message.id, piece))) return;
      yield await tell({ kind: "piece", id: message.id, at, text: piece });
      at += piece.length;
    }
    outcome = "said";
  } finally {
    const ended = await messages.end(message.id, outcome);
    if (ended) await tell({ kind: "message", message: ended });
  }
});

async function tell(news: News): Promise<News> {
  await publish(ROOM, news);
  return news;
}

async function depart(): Promise<void> {
  const user = session.user();
  const person = user && (await people.leave(user.sub));
  if (person) await tell({ kind: "left", person });
}

/** Tells of what ended without a word: people who are gone, and answers whose process is. */
async function sweep(): Promise<void> {
  for (const person of await people.leaveSilent()) await tell({ kind: "left", person });
  for (const message of await messages.endSilent()) await tell({ kind: "message", message });
}

function wrong(parameter: string, message: string): RPCError {
  return new RPCError("validation_error", message, { parameter });
}
