/**
 * The functions that the browser can call. Every change of the room is stored first and then published, so a page
 * that loads in between contains it, and a page that is open receives it.
 */
import { randomUUID } from "node:crypto";
import { type int, publish, RPCError, server, session, who } from "tsweb";
import { answer } from "./assistant.server.ts";
import * as messages from "./messages.server.ts";
import { ASSISTANT, findTextProblem, type Message, type Named, type RoomEvent } from "./room-state.ts";

/** The channel of the room. */
export const ROOM = "room:lobby";

const MAX_NAME_LENGTH = 40;

/** Signs the user in under a name. There are no passwords: a name is taken while its user is in the room. */
export const enter = server(async (name: string) => {
  const displayName = name
    .normalize("NFKC")
    .replace(/\s+/g, " ")
    .replace(/[\p{Cc}\p{Cf}]/gu, "") // Invisible characters would make two names look the same.
    .trim();
  if (!/[\p{L}\p{N}]/u.test(displayName)) throw invalid("name", "Enter a name, with a letter or a digit in it.");
  if (displayName.length > MAX_NAME_LENGTH) {
    throw invalid("name", `Use a name of at most ${MAX_NAME_LENGTH} characters.`);
  }
  const isSame = (other: string) => other.toLowerCase() === displayName.toLowerCase();
  const others = (await who<Named>(ROOM)).filter(({ user }) => user !== session.user()?.sub);
  if (isSame(ASSISTANT) || others.some(({ data }) => isSame(data.name))) {
    throw new RPCError("conflict", "Somebody here goes by that name.", { parameter: "name" });
  }
  session.login(randomUUID(), { name: displayName });
});

export const leave = server((): void => session.logout());

/** Stores and publishes a message, and returns it. A message that is sent again under its id is stored once. */
export const send_message = server({ auth_required: true }, async (id: string, text: string): Promise<Message> => {
  const { sub: from, name } = session.require();
  if (!/^[0-9a-f]{32}$/.test(id)) throw invalid("id", "A message's id is 32 hexadecimal digits.");
  const problem = findTextProblem(text);
  if (problem) throw invalid("text", problem);
  const { message } = await messages.add({ id, from, name, text: text.trim(), state: "complete" });
  if (message.from !== from) throw new RPCError("conflict", "Another user's message has this id.", { parameter: "id" });
  await publishEvent({ kind: "message", message });
  return message;
});

/** Returns the messages before a sequence number, and whether there are earlier ones. */
export const earlier_messages = server(
  { auth_required: true },
  (before: int): Promise<{ messages: Message[]; hasEarlier: boolean }> => messages.listBefore(before),
);

/**
 * Asks the assistant. The events of the answer are published to the room and sent to the caller. The answer stops
 * when the caller cancels the stream or closes the page.
 */
export const ask_assistant = server(
  { auth_required: true },
  async function* (id: string, text: string): AsyncGenerator<RoomEvent> {
    yield { kind: "message", message: await send_message(id, text) };

    const draft = { id: `re:${id}`, from: ASSISTANT, name: "Assistant", text: "", state: "writing" } as const;
    const { message, isNew } = await messages.add(draft);
    if (!isNew) throw new RPCError("conflict", "This question was answered already.", { parameter: "id" });
    let finalState: "complete" | "stopped" = "stopped";
    try {
      yield await publishEvent({ kind: "message", message });
      let offset = 0;
      for await (const chunk of answer(text)) {
        if (!(await messages.append(message.id, chunk))) return;
        yield await publishEvent({ kind: "chunk", id: message.id, offset, text: chunk });
        offset += chunk.length;
      }
      finalState = "complete";
    } finally {
      const ended = await messages.finish(message.id, finalState);
      if (ended) await publishEvent({ kind: "message", message: ended });
    }
  },
);

async function publishEvent(event: RoomEvent): Promise<RoomEvent> {
  await publish(ROOM, event);
  return event;
}

/** Ends the answers of processes that were killed, and publishes that. */
export async function stopAbandoned(): Promise<void> {
  for (const message of await messages.stopAbandoned()) await publishEvent({ kind: "message", message });
}

function invalid(parameter: string, message: string): RPCError {
  return new RPCError("validation_error", message, { parameter });
}
