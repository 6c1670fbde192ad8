/** The assistant: it answers from a script, word by word, as a language model would. */
import { setTimeout as wait } from "node:timers/promises";

const WORD_INTERVAL_MS = 55;
const MAX_COUNT = 500;

const SCRIPT: readonly (readonly [topic: RegExp, answer: string])[] = [
  [
    /\b(stop|cancel|interrupt)/i,
    "If you press Stop, your page cancels the stream: the request is aborted, the generator of this answer ends at its " +
      "current word, and its finally block publishes to the room that the answer was stopped. Closing your tab has the " +
      "same effect, because a closed page aborts its requests.",
  ],
  [
    /\b(live|order|lost|miss|offline|reload)/i,
    "The server created a feed for your page before it loaded the messages. Every message that was published since then " +
      "is in the page, in the feed, or in both, and your page shows it once. If you go offline, the feed continues after " +
      "the last message that you received. If messages are missing, your page is reloaded.",
  ],
  [
    /\b(hello|hi|hey|good (morning|evening))\b/i,
    "Hello! I am the assistant of this room, a script with a few answers. Ask me how messages stay in order, what happens " +
      "when I am stopped, or to count to twenty.",
  ],
];

const DEFAULT_ANSWER =
  "I am a script with a few answers, and I write them one word at a time. Each word is stored first and then published " +
  "to the room: everybody here can read it, and users who enter later see the text that I have written so far. Ask me " +
  "how live updates keep their order, what happens when I am stopped, or to count to twenty.";

/** Yields the answer to a question, one word at a time. */
export async function* answer(question: string): AsyncGenerator<string> {
  for (const word of wordsOfAnswer(question)) {
    yield word;
    await wait(WORD_INTERVAL_MS);
  }
}

function wordsOfAnswer(question: string): string[] {
  const [, count] = /\bcount to (\d{1,9})\b/i.exec(question) ?? [];
  if (count) return Array.from({ length: Math.min(Number(count), MAX_COUNT) }, (_, index) => `${index + 1} `);
  const [, text = DEFAULT_ANSWER] = SCRIPT.find(([topic]) => topic.test(question)) ?? [];
  return text.match(/\S+\s*/g) ?? [];
}
