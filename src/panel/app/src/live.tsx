import { state } from "tsweb/browser";
import type { ConnectionInfo, LiveInfo, MessageInfo } from "../../panel-data.ts";
import { Code, Filter, formatJson, formatTime } from "./elements.tsx";
import { clearMessages } from "./panel.server.ts";

/** The open connections with their channels and positions, and the messages that were published. */
export function Live({ live: { connections, messages } }: { readonly live: LiveInfo }) {
  const filter = state({ text: "" });
  const shown = messages
    .filter(({ channel, json }) => `${channel} ${json}`.toLowerCase().includes(filter.text.toLowerCase()))
    .toReversed();
  return (
    <>
      <section aria-labelledby="connections">
        <h2 id="connections">Connections</h2>
        {connections.length === 0 && <p class="soft">No page is connected for live updates.</p>}
        <ul class="rows" aria-label="Live connections">
          {connections.map((connection) => (
            <Connection key={connection.id} connection={connection} />
          ))}
        </ul>
      </section>
      <section aria-labelledby="messages">
        <h2 id="messages">Messages</h2>
        <div class="tools">
          <Filter label="Filter messages" onInput={(text) => (filter.text = text)} />
          <button type="button" onClick={() => clearMessages()}>
            Clear
          </button>
        </div>
        {shown.length === 0 && (
          <p class="soft">
            {messages.length === 0
              ? "No messages yet. They are recorded while this panel is open."
              : "No message matches the filter."}
          </p>
        )}
        <ol class="rows messages" aria-label="Messages">
          {shown.map((message) => (
            <Message key={message.id} message={message} />
          ))}
        </ol>
      </section>
    </>
  );
}

function Connection({ connection: { id, feeds } }: { readonly connection: ConnectionInfo }) {
  return (
    <li>
      <span class="tag">#{id}</span>
      <ul class="feeds">
        {feeds.map(({ channel, position, hasEnded }) => (
          <li key={channel}>
            <code>{channel}</code> <span class="soft">{hasEnded ? "ended after a gap" : <>position {position}</>}</span>
          </li>
        ))}
      </ul>
    </li>
  );
}

function Message({ message: { time, channel, json, bytes } }: { readonly message: MessageInfo }) {
  return (
    <li>
      <details>
        <summary>
          <code>{channel}</code>
          <code class="path soft">{json}</code>
          <span class="soft number">{bytes} bytes</span>
          <time class="soft number" dateTime={new Date(time).toISOString()}>
            {formatTime(time)}
          </time>
        </summary>
        <Code label="Message">{formatJson(json)}</Code>
      </details>
    </li>
  );
}
