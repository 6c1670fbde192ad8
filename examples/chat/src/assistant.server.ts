/** The assistant: it answers from a script, word by word, as a language model would. */
import { setTimeout as wait } from "node:timers/promises";

const WORD_INTERVAL_MS = 55;
const MAX_COUNT = 500;

const SCRIPT: readonly (readonly [topic: RegExp, answer: string])[] = [
  [
    /\b(stop|cancel|interrupt)/i,
    "Press Stop, and the loop that reads me is cancelled: the request is aborted, my generator is closed at the word it " +
      "stands at, and its finally block publishes to the room that I was stopped. Closing your tab does the same, since " +
      "a closed page stops reading. No other clean-up is needed.",
  ],
  [
    /\b(live|order|lost|miss|offline|reload)/i,
    "Your page was given a feed that knows where the channel stood before its messages were loaded. So whatever was " +
      "published since is in the page, in the feed, or in both, and what is in both is shown once. Go offline, come back, " +
      "and the feed continues after the last message you saw. If that can no longer be kept, your page is told, and loads " +
      "itself anew.",
  ],
  [
    /\b(hello|hi|hey|good (morning|evening))\b/i,
    "Hello! I am the assistant of this room: a script of a few lines, to be honest. Ask me how messages arrive, what " +
      "happens when I am stopped, or to count to twenty.",
  ],
];

const DEFAULT_ANSWER =
  "I am a script with a few answers, and I write them one word at a time. Each word is stored first and then published " +
  "to the room: everybody here reads along, and users who enter later see what I have written so far. Ask me how live " +
  "updates keep their order, what happens when I am stopped, or to count to twenty.";

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
