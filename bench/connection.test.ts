import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { Connection } from './connection.ts';

let server: Server;
let connection: Connection;

/** Answers every request with these bytes, in as many pieces. */
async function answering(...pieces: string[]): Promise<void> {
  server = createServer((socket) => {
    socket.on('data', async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise(setImmediate);
      }
      if (pieces.at(-1) === '') socket.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  connection = new Connection('127.0.0.1', (server.address() as { port: number }).port);
}

afterEach(() => {
  connection.close();
  server.close();
});

test('an answer in pieces is put together, and the next one follows on the same socket', async () => {
  await answering('HTTP/1.1 200 OK\r\nContent-', 'Length: 5\r\n\r', '\nhe', 'llo');
  for (let i = 0; i < 2; i++) {
    const { status, head, body } = await connection.send('GET / HTTP/1.1\r\n\r\n');
    expect([status, head, body.toString()]).toEqual([200, 'HTTP/1.1 200 OK\r\nContent-Length: 5', 'hello']);
  }
});

test('a connection that the server ends after its answer is opened again', async () => {
  await answering('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n', '');
  for (let i = 0; i < 2; i++) expect((await connection.send('GET / HTTP/1.1\r\n\r\n')).status).toBe(404);
});

test('one that ends without an answer, or with one of unknown length, is an error', async () => {
  await answering('HTTP/1.1 200', '');
  await expect(connection.send('GET / HTTP/1.1\r\n\r\n')).rejects.toThrow('closed the connection');
  server.close();
  await answering('HTTP/1.1 200 OK\r\n\r\n');
  await expect(connection.send('GET / HTTP/1.1\r\n\r\n')).rejects.toThrow('without Content-Length');
});
