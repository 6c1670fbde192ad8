import { isPushedBody, isReadableStream, isResponse, type OutboundResponse, PushedBody } from "../http/index.ts";

/** Called once when a response has ended, with the bytes of its body that were sent, or handed to the host. */
export type OnResponseEnd = (bytes: number) => void;

/**
 * Returns a response that calls a function when it has ended, regardless of which side ended it. A response whose body is
 * complete has ended when the host receives it.
 */
export function observeEnd(response: OutboundResponse | Response, onEnd: OnResponseEnd): OutboundResponse | Response {
  const { body } = response;
  if (isResponse(response)) {
    if (response.body === null) return endNow(response, 0, onEnd);
    const { status, statusText, headers } = response;
    return new Response(observeStream(response.body, onEnd), { status, statusText, headers });
  }
  if (body === null) return endNow(response, 0, onEnd);
  if (typeof body === "string" || body instanceof Uint8Array) return endNow(response, Buffer.byteLength(body), onEnd);
  if (isPushedBody(body)) return { ...response, body: observePushed(body, onEnd) };
  return isReadableStream(body) ? { ...response, body: observeStream(body, onEnd) } : response;
}

function endNow<T>(response: T, bytes: number, onEnd: OnResponseEnd): T {
  onEnd(bytes);
  return response;
}

function observePushed(body: PushedBody, onEnd: OnResponseEnd): PushedBody {
  return new PushedBody((sink) => {
    let bytes = 0;
    const producer = body.open({
      write(chunk) {
        bytes += Buffer.byteLength(chunk);
        return sink.write(chunk);
      },
      writeShared(chunk) {
        bytes += chunk.byteLength;
        return sink.writeShared ? sink.writeShared(chunk) : sink.write(chunk);
      },
      end: () => sink.end(),
      destroy: () => sink.destroy(),
    });
    return {
      onDrain: () => producer.onDrain(),
      onClose() {
        producer.onClose();
        onEnd(bytes);
      },
    };
  });
}

/** Reads the stream only when it is read itself, so that a generator behind it does not run ahead of its client. */
function observeStream(body: ReadableStream<Uint8Array>, onEnd: OnResponseEnd): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  let hasEnded = false;
  const end = () => {
    if (!hasEnded) onEnd(bytes);
    hasEnded = true;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            bytes += value.byteLength;
            controller.enqueue(value);
            return;
          }
          controller.close();
          end();
        } catch (error) {
          end();
          throw error; // the stream fails with it
        }
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
