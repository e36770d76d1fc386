/**
 * HTTP/1.1 over one kept-open socket, with as little work for this side as can be, so that the server is what is
 * busy. One request at a time; answers have a Content-Length.
 */
import { connect, type Socket } from 'node:net';

export interface Answer {
  status: number;
  /** status line and headers, as they came */
  head: string;
  body: Buffer;
}

/** A request without an answer for this long counts as a failure of the server. */
const DEADLINE_MS = 60_000;
const HEAD_END = Buffer.from('\r\n\r\n');

export class Connection {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  /** bytes of the answer that is coming; undefined until its head is here */
  #wanted: number | undefined;
  #headSize = 0;
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
  }

  /** Sends a whole request as it goes over the wire, opening the connection where need be. */
  send(request: string): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#waiting = { resolve, reject };
    this.#socket ??= this.#open();
    this.#socket.write(request, 'utf8');
    return promise;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Socket {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
    socket.setTimeout(DEADLINE_MS, () =>
      socket.destroy(new Error(`no answer within ${DEADLINE_MS / 1000} s`)),
    );
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    const ended = (error: Error) => {
      if (this.#socket !== socket) return; // one that we closed ourselves, or is told of already
      this.#socket = undefined;
      this.#fail(error);
    };
    socket.on('error', ended);
    socket.on('close', () => ended(new Error('the server closed the connection before it answered')));
    return socket;
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#wanted === undefined) this.#readHead();
    if (this.#wanted === undefined || this.#size < this.#wanted) return;
    const whole = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    const head = whole.toString('latin1', 0, this.#headSize);
    const body = whole.subarray(this.#headSize + HEAD_END.length, this.#wanted);
    this.#reset();
    if (/\r\nconnection: close\b/i.test(head)) this.close();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status: Number(head.slice(9, 12)), head, body });
  }

  #readHead(): void {
    const soFar = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    const end = soFar.indexOf(HEAD_END);
    if (end < 0) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(soFar.toString('latin1', 0, end))?.[1];
    if (length === undefined) {
      this.#socket?.destroy(new Error('an answer without Content-Length'));
      return;
    }
    this.#headSize = end;
    this.#wanted = end + HEAD_END.length + Number(length);
  }

  #reset(): void {
    this.#chunks = [];
    this.#size = 0;
    this.#wanted = undefined;
  }

  #fail(error: Error): void {
    this.#reset();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }
}
